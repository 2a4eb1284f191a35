"""hprof-diff --assert-redacted: what a redactor of the tree makes passes; each value and each text that is put back is found."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from gen_tool import LIKES, SOURCE, truth

from hprof_corpus.assembler import assemble

TOOL = os.environ["HPROF_DIFF"]
SCHEMA = jsonschema.Draft202012Validator(json.loads((SOURCE / "validator/redacted.schema.json").read_text()))
REDACT = SOURCE / "conformance/example/redact.py"


def check(*args: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [TOOL, "--assert-redacted", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, errors="replace")


def report(a: Path, b: Path, *args: str) -> Any:
    done = check("--format=json", *args, a, b)
    assert (done.returncode in (0, 1), done.stderr) == (True, ""), (done.returncode, done.stderr)
    found = json.loads(done.stdout)
    SCHEMA.validate(found)
    assert found["redacted"] == (done.returncode == 0) == (not any(found["counts"].values()))
    assert check("--quiet", *args, a, b).returncode == done.returncode
    return found


def redact(a: Path, b: Path) -> None:
    subprocess.run([sys.executable, REDACT, a, b], check=True)


@pytest.mark.parametrize(
    "like", [name for name in LIKES.replace(" or ", ", ").split(", ") if name not in ("android", "jvmpi-agent")]
)
def test_the_redactor_of_the_tree_passes_and_its_input_does_not(like: str, tmp_path: Path) -> None:
    manifest = truth(f"--like={like}", "--shape=strings", "--objects=3000", folder=tmp_path)
    a, b = tmp_path / "dump.hprof", tmp_path / "redacted.hprof"
    redact(a, b)
    found = report(a, b)
    assert (found["redacted"], found["leaks"]) == (True, [])
    assert found["remains"]["arrays"] == manifest["object_arrays"] + manifest["primitive_arrays"]
    same = report(a, a, "--max-differences=3")
    assert same["counts"]["values"] > 100
    assert same["counts"]["texts"] > 0
    assert len([leak for leak in same["leaks"] if leak["kind"] == "values"]) == 3


# ---- One thing put back ----------------------------------------------------------------------------------------------

TEXT = """hprof "JAVA PROFILE 1.0.1" id-size 8 time 2026-01-01T00:00:00Z
utf8 $Object "java/lang/Object"
utf8 $Point "Point"
utf8 $x "x"
utf8 $y "<NAME>"
utf8 $text "<TEXT>"
load-class serial 1 class @Object name $Object
load-class serial 2 class @Point name $Point
heap-dump {
  class-dump @Object super null
  class-dump @Point super @Object {
    constant 1 int <CONSTANT>
    static $y int <STATIC>
    field $x int
    field $y object
    field $x double
  }
  instance-dump @p class @Point [ int <X> object @p double <DOUBLE> ]
  primitive-array-dump @c type char [ <CHARS> ]
  primitive-array-dump @b type byte [ <BYTES> ]
  primitive-array-dump @l type long [ <LONGS> ]
}
"""
EMPTY = {
    "NAME": "y",
    "TEXT": "******",
    "CONSTANT": "0",
    "STATIC": "0",
    "X": "0",
    "DOUBLE": "0.0",
    "CHARS": "0 0",
    "BYTES": "0 0",
    "LONGS": "0",
}
FULL = {
    "NAME": "y",
    "TEXT": "some literal",
    "CONSTANT": "1",
    "STATIC": "2",
    "X": "3",
    "DOUBLE": "4.5",
    "CHARS": '"password1"',
    "BYTES": '"hunter2 and more" 0 "kept0"',
    "LONGS": "-1",
}


def dump_of(values: dict[str, str]) -> bytes:
    text = TEXT
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return assemble(text).file.to_bytes()


WIDE = " ".join(f"0 {ord(c)}" for c in "hunter2 and more")
NARROW = " ".join(f"{ord(c)}" for c in "password1")


@pytest.mark.parametrize(
    ("name", "value", "counts", "words"),
    [
        ("TEXT", "other words", (0, 1, 0), "other words"),
        ("TEXT", r"\u{0}\u{0}\u{0}", (0, 0, 0), ""),  # two bytes each
        ("TEXT", "\u4e2d\u4e2d", (0, 0, 0), ""),
        ("TEXT", "\u4e2d\u4e2e", (0, 1, 0), "string"),
        ("TEXT", r"\u{0}.", (0, 1, 0), "string"),
        ("TEXT", "some literal", (0, 1, 1), "some literal"),
        ("TEXT", "(some literal)", (0, 1, 1), "some literal"),
        ("TEXT", "my password1", (0, 1, 1), '"password1"'),
        ("NAME", "hunter2 and more", (0, 0, 1), '"hunter2 and more"'),
        ("NAME", "renamed", (0, 0, 0), ""),
        ("CONSTANT", "7", (1, 0, 0), "constant Point.without name: int 0x7"),
        ("STATIC", "-1", (1, 0, 0), "static field Point.y: int 0xffffffff"),
        ("X", "9", (1, 0, 0), "instance field Point.x: int 0x9"),
        ("DOUBLE", "-0.0", (1, 0, 0), "instance field Point.x: double 0x8000000000000000"),
        ("LONGS", "0 0 5", (1, 0, 0), ", element 2: 0x5"),
        ("CHARS", '0 "password1"', (1, 0, 1), '"password1"'),
        ("CHARS", '"hunter2 and more"', (1, 0, 1), '"hunter2 and more"'),
        ("CHARS", '"passw"', (1, 0, 0), "char[]"),
        ("BYTES", NARROW, (1, 0, 1), '"password1"'),
        ("BYTES", WIDE, (1, 0, 1), '"hunter2 and more"'),
        ("BYTES", "1 " + WIDE[2:], (1, 0, 0), "byte[]"),
    ],
)
def test_what_is_put_back_is_found(name: str, value: str, counts: tuple[int, int, int], words: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(dump_of(FULL))
    (tmp_path / "b").write_bytes(dump_of(EMPTY | {name: value}))
    found = report(tmp_path / "a", tmp_path / "b")
    assert (found["counts"]["values"], found["counts"]["strings"], found["counts"]["texts"]) == counts, found
    assert not words or any(words in leak["text"] for leak in found["leaks"]), found["leaks"]
    text = check(tmp_path / "a", tmp_path / "b").stdout
    assert words in text
    assert text.endswith(": NOT redacted\n" if any(counts) else ": redacted\n")


def write_with_long_array(file: Path, zeros: int) -> None:
    """The dump FULL, whose byte[] begins with so many zeros, which take no space on the disk."""
    data = bytearray(dump_of(FULL))
    array, heap = data.index(b"hunter2 and more"), data.index(b"\x0c\0\0\0\0")
    for at in (array - 5, heap + 5):  # the number of elements, and the length of the record
        data[at : at + 4] = (int.from_bytes(data[at : at + 4], "big") + zeros).to_bytes(4, "big")
    with file.open("wb") as out:
        out.write(data[:array])
        out.seek(zeros, os.SEEK_CUR)
        out.write(data[array:])


@pytest.mark.parametrize("filler", [".", "\u00e9", "\u4e2d"])
def test_text_at_the_end_of_what_is_long_is_found(filler: str, tmp_path: Path) -> None:
    """Bodies are read in pieces of 1 MiB. The text of B goes over into the second one; the array of A has it there."""
    size = len(filler.encode())
    write_with_long_array(tmp_path / "a", 1 << 20)
    for start in random.SystemRandom().sample(range((1 << 20) - 16, (1 << 20) + 2), 2):
        text = "." * (start % size) + filler * (start // size) + "hunter2 and more"
        (tmp_path / "b").write_bytes(dump_of(EMPTY | {"TEXT": text}))
        found = report(tmp_path / "a", tmp_path / "b")
        assert (found["counts"]["strings"], found["counts"]["texts"]) == (1, 1), start
        assert [leak["text"] for leak in found["leaks"] if leak["kind"] == "texts"] == ['"hunter2 and more"'], start


def test_long_arrays_take_no_memory(tmp_path: Path) -> None:
    write_with_long_array(tmp_path / "a", 1 << 28)
    (tmp_path / "b").write_bytes(dump_of(EMPTY | {"TEXT": "(hunter2 and more)"}))
    has_sanitizer = "sanitize" in os.environ.get("HPROF_C_FLAGS", "")  # which reserves much more
    limit = [] if has_sanitizer else ["bash", "-c", 'ulimit -v 524288; exec "$@"', "bash"]
    command = [*limit, TOOL, "--assert-redacted", "--jobs=1", str(tmp_path / "a"), str(tmp_path / "b")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert '"hunter2 and more"' in done.stdout


def test_each_value_that_is_put_back_is_found(tmp_path: Path) -> None:
    """Bytes of the input, at random offsets where the redactor changed them."""
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    truth("--like=hotspot", "--objects=2000", f"--seed={seed}", folder=tmp_path)
    a, b, c = (tmp_path / name for name in ("dump.hprof", "redacted.hprof", "leaky.hprof"))
    redact(a, b)
    whole, redacted = a.read_bytes(), b.read_bytes()
    changed = [i for i in range(len(whole)) if whole[i] != redacted[i]]
    for at in dice.sample(changed, 25):
        c.write_bytes(redacted[:at] + whole[at : at + 1] + redacted[at + 1 :])
        found = report(a, c)
        assert found["counts"]["values"] + found["counts"]["strings"] == 1, (seed, at)


def test_the_names_that_remain_are_listed(tmp_path: Path) -> None:
    (tmp_path / "a.hprof").write_bytes(dump_of(FULL))
    (tmp_path / "b.hprof").write_bytes(dump_of(EMPTY))
    names = ["Point", "java/lang/Object", "x", "y"]  # y twice, and the text is no name
    a, b = tmp_path / "a.hprof", tmp_path / "b.hprof"
    assert report(a, b, "--names")["remains"]["names"] == names
    assert "names" not in report(a, b)["remains"]
    lines = check("--names", a, b).stdout.splitlines()
    assert [line.removeprefix("  name ") for line in lines if line.startswith("  name ")] == names
    without = check(a, b).stdout.splitlines()
    assert without == [line for line in lines if not line.startswith("  name ")]
    refused = subprocess.run([TOOL, "--names", a, b], capture_output=True, text=True, check=False)
    assert (refused.returncode, "--names goes with --assert-redacted" in refused.stderr) == (2, True)


def test_other_constants(tmp_path: Path) -> None:
    values = EMPTY | {
        "X": "-7",
        "STATIC": "-7",
        "CONSTANT": "-7",
        "DOUBLE": "1.5",
        "CHARS": '"**"',
        "LONGS": "1",
        "BYTES": "-128 -128",
    }
    (tmp_path / "a").write_bytes(dump_of(FULL))
    (tmp_path / "b").write_bytes(dump_of(values))
    given = "--constants=int=-7,double=1.5,char=42,long=1,byte=-128"
    assert report(tmp_path / "a", tmp_path / "b", given)["redacted"]
    assert report(tmp_path / "a", tmp_path / "b")["counts"]["values"] == 7
    for wrong in ("int", "int=", "int=x", "byte=300", "object=0", "int=1,", "double=1.5.2"):
        assert check(f"--constants={wrong}", tmp_path / "a", tmp_path / "b").returncode == 2, wrong
    plain = subprocess.run([TOOL, given, tmp_path / "a", tmp_path / "b"], capture_output=True, check=False)
    assert plain.returncode == 2


def test_what_is_hidden_elsewhere(tmp_path: Path) -> None:
    """In undefined records, after the end, and in the header of gzip."""
    (tmp_path / "a").write_bytes(dump_of(FULL))
    empty = dump_of(EMPTY)
    secret = b"hunter2 and more"
    record = bytes([0x77, 0, 0, 0, 0]) + len(secret).to_bytes(4, "big") + secret
    for hidden in (empty + record, empty + b"tail", empty[:31] + record + empty[31:]):
        (tmp_path / "b").write_bytes(hidden)
        assert report(tmp_path / "a", tmp_path / "b")["counts"]["records"] == 1
    (tmp_path / "b").write_bytes(gzip.compress(empty))
    done = check(tmp_path / "a", tmp_path / "b")
    assert (done.returncode, done.stdout) == (2, "")
    assert "compressed" in done.stderr


def test_an_interrupt_of_the_redactor_is_silent(tmp_path: Path) -> None:
    pipe, target = tmp_path / "pipe", tmp_path / "target"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, REDACT, pipe, target], stderr=subprocess.PIPE) as process, pipe.open("wb"):
        process.send_signal(signal.SIGINT)  # it has opened the pipe, and waits for its end
        _, messages = process.communicate()
    assert (process.returncode, messages, target.exists()) == (130, b"", False)
