"""The digests against the worked examples of conformance/PROTOCOL.md, whose sums are computed here from the items alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hprof_corpus.assembler import assemble
from hprof_corpus.digest import Digest, class_name, digests
from hprof_corpus.reader import decompressed
from hprof_corpus.source import is_gzip
from hprof_corpus.walk import FramingError, Shapes, read_header, records, subrecords
from tests.conftest import CORPUS, ROOT, manifest_files

PROTOCOL = ROOT / "conformance" / "PROTOCOL.md"
TOKEN = re.compile(r'u"(?P<units>[^"]*)"|"(?P<ascii>[^"]*)"|(?P<bytes>[0-9a-f]+)|(?P<mark>[<>{}])')


def sha(parts: list[bytes]) -> bytes:
    return hashlib.sha256(b"".join(len(one).to_bytes(4, "big") + one for one in parts)).digest()[:16]


def parts_of(tokens: list[re.Match[str]], end: str = "") -> list[bytes]:
    """The parts up to the mark that closes them."""
    found: list[bytes] = []
    while tokens:
        token = tokens.pop(0)
        mark = token["mark"]
        if mark == end and mark:
            return found
        if mark == "<":
            found.append(b"".join(parts_of(tokens, ">")))
        elif mark == "{":
            found.append(sha(parts_of(tokens, "}")))
        elif token["units"] is not None:
            found.append(token["units"].encode("utf-16-be"))
        elif token["ascii"] is not None:
            found.append(token["ascii"].encode("ascii"))
        else:
            found.append(bytes.fromhex(token["bytes"]))
    assert not end
    return found


@dataclass
class Example:
    title: str
    text: str
    stated: dict[tuple[str, str], str] = field(default_factory=dict)  # form and entry, count and sum
    items: dict[tuple[str, str], list[bytes]] = field(default_factory=dict)


def examples() -> list[Example]:
    found = []
    for section in PROTOCOL.read_text(encoding="utf-8").split("\n#### ")[1:]:
        title, text, rest = re.split(r"\n```\n(.*?)```\n", section.split("\n## ")[0], maxsplit=1, flags=re.DOTALL)
        example = Example(title.split("\n")[0], text)
        for line in rest.splitlines():
            if heading := re.fullmatch(r"    (\w+) (\w+) +(\d+ [0-9a-f]{32})", line):
                key = (heading[1], heading[2])
                example.stated[key], example.items[key] = heading[3], []
            elif line.startswith("      "):
                tokens = list(TOKEN.finditer(line))
                assert "".join(token[0] for token in tokens).replace(" ", "") == line.replace(" ", ""), line
                example.items[key].append(sha(parts_of(tokens)))
        found.append(example)
    return found


def in_words(count: int, total: int) -> str:
    return f"{count} {total % (1 << 128):032x}"


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.title)
def test_worked_examples(example: Example) -> None:
    found = digests(memoryview(assemble(example.text).file.to_bytes()))
    assert example.stated
    for (form, entry), stated in example.stated.items():
        items = example.items[form, entry]
        assert in_words(len(items), sum(int.from_bytes(one, "big") for one in items)) == stated
        computed: Digest = getattr(found, form)[entry]
        assert in_words(computed.count, computed.sum) == stated, (form, entry)


def test_there_are_eleven_examples() -> None:
    assert len(examples()) == 11


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("java.lang.String", "java/lang/String"),
        ("char[]", "[C"),
        ("java.lang.String[][]", "[[Ljava/lang/String;"),
        ("[Ljava.lang.String;", "[Ljava/lang/String;"),
        ("[[I", "[[I"),
        ("int", "int"),
        ("[]", "[L;"),
        ("", ""),
    ],
)
def test_names_of_classes(name: str, expected: str) -> None:
    assert class_name(name) == expected


FIRST = examples()[0].text


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ("load-class serial 1 class @A name $A\nload-class serial 2 class @A name $B", "A"),
        ("load-class serial 1 class @A name $A\nunload-class serial 1\nload-class serial 2 class @A name $B", "B"),
        ("load-class serial 1 class @A name $A\nload-class serial 2 class @A name $A\nunload-class serial 1", "C"),
        ("load-class serial 1 class @A name $A\nload-class serial 2 class @A name $A\nunload-class serial 2", "A"),
        ("load-class serial 1 class @A name $A\nunload-class serial 1", "C"),
        ("load-class serial 1 class @A name $A\nunload-class serial 7", "A"),
        ("", "C"),
    ],
)
def test_the_name_of_a_class_is_that_of_its_life(records: str, expected: str) -> None:
    text = f"""hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\nutf8 $A "A"\nutf8 $B "B"\nutf8 $C "C"\n{records}
segment {{\n  class-dump @A super null\n}}\nend\nunload-class serial 2\nload-class serial 9 class @A name $C\n"""
    found = digests(memoryview(assemble(text).file.to_bytes())).content["classes"]
    item = sha([b"class", expected.encode("utf-16-be"), b""])
    assert (found.count, found.sum) == (1, int.from_bytes(item, "big"))


def test_the_digest_of_a_compressed_dump_is_that_of_the_dump() -> None:
    plain = assemble(FIRST).file.to_bytes()
    for zeros in (0, 1, 1000):
        assert digests(memoryview(gzip.compress(plain) + bytes(zeros))) == digests(memoryview(plain))


def test_identity_depends_on_ids_and_content_does_not() -> None:
    here = digests(memoryview(assemble(FIRST).file.to_bytes()))
    moved = FIRST.replace("id-size 4 time 0\n", "id-size 8 time 0\nid @A 0x9000\nid @a 0x12345678900\nid $x 0x77\n")
    there = digests(memoryview(assemble(moved).file.to_bytes()))
    assert here.content == there.content
    assert {name for name in here.exact if here.exact[name] != there.exact[name]} == {
        *("strings", "classes", "loaders", "instances", "instance_bytes")
    }


VALID = [entry for entry in manifest_files() if entry["checked_in"] and entry["file"].startswith("valid/")]


@pytest.mark.parametrize("entry", VALID, ids=lambda entry: entry["file"])
def test_whatever_value_changes_so_does_an_entry(entry: dict[str, str]) -> None:
    """The last byte of the values of each object, and of its ID."""
    data = decompressed_dump(entry["file"])
    before = digests(memoryview(data)).exact
    for name, id_at, stop in objects_of(data):
        for at in (id_at, stop - 1):
            changed = bytearray(data)
            changed[at] ^= 2 if at == id_at else 0x80
            after = digests(memoryview(changed)).exact
            kind = {"INSTANCE_DUMP": "instance_bytes", "OBJECT_ARRAY_DUMP": "object_arrays"}.get(name, "primitive_arrays")
            assert before[kind].sum != after[kind].sum, (name, hex(at))
            assert {each: one.count for each, one in before.items()} == {each: one.count for each, one in after.items()}


def decompressed_dump(file: str) -> bytes:
    data = (CORPUS / file).read_bytes()
    return bytes(decompressed(memoryview(data))) if is_gzip(memoryview(data)) else data


def objects_of(data: bytes) -> list[tuple[str, int, int]]:
    """The first objects with a value: their sub-record, the last byte of their ID, where they end."""
    header = read_header(data)
    assert header is not None
    shapes = Shapes(header.id_size)
    found = []
    for framed in records(data, header.size):
        if framed.tag in (0x0C, 0x1C):
            for shape, at, fields, tail, stop in subrecords(data, framed.body, framed.end, shapes):
                booleans = shape.record.name == "PRIMITIVE_ARRAY_DUMP" and fields[3] == 4  # any byte may be the same true
                if shape.record.name in OBJECTS and tail < stop and not booleans:
                    found.append((shape.record.name, at + header.id_size, stop))
    return found[:8]


OBJECTS = ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP")


def test_as_a_program(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_bytes(assemble(FIRST).file.to_bytes())
    command = [sys.executable, "-m", "hprof_corpus.digest"]
    run = subprocess.run([*command, dump], capture_output=True, check=True)
    assert json.loads(run.stdout) == digests(memoryview(dump.read_bytes())).to_json()
    broken = subprocess.run([*command, "-"], input=dump.read_bytes()[:-1], capture_output=True)
    assert (broken.returncode, broken.stdout) == (1, b"")
    assert subprocess.run([*command, tmp_path / "none"], capture_output=True).returncode == 3


def test_a_fault_of_framing_is_raised() -> None:
    with pytest.raises(FramingError):
        digests(memoryview(b"JAVA PROFILE 1.0.2\0"))
