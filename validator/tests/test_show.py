"""--show prints in the notation of the corpus, which assembles to the same bytes."""

import gzip
import json
import random
import re
import struct
from collections import Counter
from pathlib import Path

import pytest
from dumps import OBJECT, OBJECTS, VALID, class_dump, dump, instance, load_class, object_array, record, utf8
from losses import MANY_BYTES, ONE_FAULT, draws, read, repair
from some_cases import SHARE, any_one, some
from tool import SOURCE, on_a_terminal, run

from hprof_conformance import gold
from hprof_corpus.assembler import assemble

HEADER = 31
ROW = re.compile(r"^.( *0x[0-9a-f]+)  +(?P<bytes>[0-9a-f]{2}(?: {1,2}[0-9a-f]{2})*)  ")
TEXT = re.compile(r"^[> ](?: *0x[0-9a-f]+| +)  (?P<text>.*)$")
DAMAGE = re.compile(r"^[> ] *(0x[0-9a-f]+)  +raw +# damage: ([0-9]+) bytes; ")
SMALL = [
    path
    for path in sorted((SOURCE / "corpus/valid").glob("*.hprof"))
    if HEADER < path.stat().st_size < 8000 and path.read_bytes().startswith(b"JAVA")
]


def show(where: str, path: Path) -> list[str]:
    done = run("--show", where, path)
    assert (done.status, done.err) == (0, "")
    return done.out.splitlines()


def here(where: str, path: Path) -> list[str]:
    """The lines that are marked."""
    return [line for line in show(where, path) if line.startswith(">")]


def test_assembles_to_the_same_bytes() -> None:
    """The records that are shown completely."""
    assembled = 0
    paths = some(SMALL)
    for path in paths:
        data = path.read_bytes()
        lines = [line for line in show("0:1000", path) if not ROW.match(line)]
        if any(re.search(r"# [0-9]+ more$|a body of|not known", line) for line in lines):
            continue
        text = "\n".join(match["text"] for line in lines if (match := TEXT.match(line)))
        assert assemble(text).file.to_bytes() == data, path
        assembled += 1
    assert assembled > len(paths) / 3


def test_rows_are_the_bytes_of_the_dump(tmp_path: Path) -> None:
    path = tmp_path / "dump.hprof"
    path.write_bytes(VALID)
    for offset in some(range(len(VALID))):
        marked = here(f"{offset:#x}:0", path)
        rows = [match for line in marked if (match := ROW.match(line))]
        assert len(rows) == 1
        first = int(rows[0][1], 16)
        row = bytes.fromhex(rows[0]["bytes"])
        assert first <= offset < first + len(row)
        assert VALID[first:].startswith(row)


def test_names_of_fields_and_classes(tmp_path: Path) -> None:
    """Instances have their own fields first, then those of the superclass."""
    names = utf8(3, "Point") + utf8(4, "x") + utf8(5, "next") + utf8(6, "Base") + load_class(3, 0x30, 3) + load_class(4, 0x38, 6)

    def with_field(class_id: int, super_id: int, name: int, kind: int) -> bytes:
        return class_dump(class_id, super_id)[:-2] + struct.pack(">HQB", 1, name, kind)

    fields = with_field(0x38, OBJECT, 5, 2) + with_field(0x30, 0x38, 4, 10)
    point = struct.pack(">BQIQI", 0x21, 0x100, 0, 0x30, 12) + struct.pack(">iQ", -7, 0x108)
    whole = dump(fields, point, instance(0x108, OBJECT))
    path = tmp_path / "dump.hprof"
    path.write_bytes(whole[:HEADER] + names + whole[HEADER:])
    at = path.read_bytes().index(point)
    shown = "\n".join(show(f"{at}:0", path))
    assert re.search(r"instance-dump 0x100 trace 0 class 0x30 \[ +# Point\n", shown)
    assert re.search(r"int -7 +# x\n", shown)
    assert re.search(r"object 0x108 +# next\n", shown)
    (text, row) = here(f"{at + 25}:0", path)
    assert "int -7" in text and ROW.match(row)


def test_count_is_of_records_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "dump.hprof"
    path.write_bytes(dump(*[instance(0x1000 + 8 * i, OBJECT) for i in range(50)]))
    at = path.read_bytes().index(instance(0x1000 + 8 * 20, OBJECT))
    for count, shown in (("", 5), (":0", 1), (":3", 7), (":29", 50 + 2 + 1)):
        lines = [line for line in show(f"{at}{count}", path) if re.search(r"  (instance|class)-dump |  end", line)]
        assert len(lines) == shown if count != ":29" else len(lines) >= 50
        assert [line for line in lines if line.startswith(">")] == [line for line in lines if "0x10a0 " in line]


def test_far_in_an_array(tmp_path: Path) -> None:
    elements = [0x100000 + 8 * i for i in range(100_000)]
    array = object_array(0x28, OBJECT, elements)
    path = tmp_path / "dump.hprof"
    path.write_bytes(dump(array))
    at = path.read_bytes().index(array) + 25 + 8 * 77_777
    lines = here(f"{at}:0", path)
    assert any(f"{elements[77_777]:#x}" in line for line in lines)
    assert len(show(f"{at}:0", path)) < 50


def test_gzip_is_shown_like_a_plain_dump(tmp_path: Path) -> None:
    plain, packed = tmp_path / "dump.hprof", tmp_path / "dump.hprof.gz"
    plain.write_bytes(VALID)
    packed.write_bytes(gzip.compress(VALID[:100]) + gzip.compress(VALID[100:]))
    note, *lines = show("0xa0", packed)
    assert show("0xa0", plain) == lines
    assert note.startswith(f"# {packed} is compressed: offsets are of the dump in it; ")


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 132])
def test_it_fits_the_terminal(columns: int, tmp_path: Path) -> None:
    """The same words and bytes, in lines that are not wider; a line of a terminal has fewer bytes, if it is narrow."""
    path = tmp_path / "dump.hprof"
    texts = [utf8(9, "wide\u00e9" * 30), utf8(10, "words and words " * 12)]
    whole = dump(instance(0x1000, OBJECT), object_array(0x28, OBJECT, range(8, 800, 8)))
    path.write_bytes(whole[:31] + b"".join(texts) + whole[31:])
    for offset in (0, 50, 250, len(whole) - 30, path.stat().st_size - 40):
        given = run("--show", f"{offset}:9", path).out.splitlines()
        shown = on_a_terminal("--color=never", "--show", f"{offset}:9", path, cwd=tmp_path, columns=columns).replace("\r", "")
        assert max(map(len, shown.splitlines())) <= columns

        def words(lines: list[str]) -> str:
            """The texts without the margin and spaces, in which lines may be broken."""
            return "".join("".join(TEXT.sub(r"\g<text>", line).split()) for line in lines if not ROW.match(line))

        def row_bytes(lines: list[str]) -> bytes:
            return b"".join(bytes.fromhex(match["bytes"]) for line in lines if (match := ROW.match(line)))

        assert words(shown.splitlines()) == words(given)
        assert row_bytes(shown.splitlines()) == row_bytes(given)
        marked = [match for line in shown.splitlines() if line.startswith(">") and (match := ROW.match(line))]
        assert len(marked) == 1


def texts(where: str, path: Path) -> dict[str, str]:
    """The lines of records and sub-records, by their offsets, without names and what else is remarked."""
    lines = run("--show", where, path).out.splitlines()
    found = [(line[1:].split()[0], TEXT.match(line)) for line in lines if not ROW.match(line)]
    return {where: match["text"].partition(" # ")[0].strip() for where, match in found if match and where.startswith("0x")}


def damage(path: Path) -> list[tuple[int, int]]:
    """The offset and the size of each stretch that is stepped over in a short dump."""
    found = [DAMAGE.match(line) for line in run("--show", "0:1000", path).out.splitlines()]
    return [(int(match[1], 16), int(match[2])) for match in found if match]


def test_bytes_that_no_length_leads_to_are_shown(tmp_path: Path) -> None:
    good = instance(0x1000, OBJECT)
    path = tmp_path / "dump.hprof"
    path.write_bytes(dump(good, b"\x77" + bytes(range(40))) + record(0x01, struct.pack(">Q", 9) + b"later"))
    at = path.read_bytes().index(b"\x77\x00\x01\x02")
    done = run("--show", f"{at + 20}", path)
    assert done.status == 1
    assert done.err.startswith(f"hprof-validate: {path}: ") and "0x77" in done.err
    assert re.search(r"^>.* 13 ", done.out, re.MULTILINE)
    assert "instance-dump 0x1000" in done.out
    assert '"later"' in done.out  # the length of the segment leads to the following records
    assert damage(path) == [(at, 41)]


@pytest.mark.parametrize("packed", [False, True])
def test_damage_is_stepped_over(packed: bool, tmp_path: Path) -> None:
    """What the damage did not touch is shown as without it, and the check skips the same bytes."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    objects = [
        instance(0x1000 + 8 * i, OBJECT) if dice.randrange(3) else object_array(0x1000 + 8 * i, OBJECTS, [0x1000] * i)
        for i in range(40)
    ]
    whole, path = dump(*objects), tmp_path / "dump.hprof"
    path.write_bytes(whole)
    before = texts("0:1000", path)
    first, count = dice.randrange(1, 20), dice.randrange(1, 4)
    at = whole.index(objects[first])
    end = at + sum(map(len, objects[first : first + count]))
    broken = whole[:at] + b"\x77" + dice.randbytes(end - at - 1) + whole[end:]
    path.write_bytes(gzip.compress(broken) if packed else broken)
    assert damage(path) == [(at, end - at)], f"seed {seed}"
    after = texts("0:1000", path)
    untouched = {where: text for where, text in before.items() if not at <= int(where, 16) < end}
    assert after == untouched | {hex(at): "raw"}, f"seed {seed}"
    report = json.loads(run("--format", "json", path).out)
    assert report["files"][0]["skipped"] == end - at, f"seed {seed}"
    in_damage, next_one = (run("--show", f"{where}:0", path) for where in (end - 1, end))
    assert (in_damage.status, next_one.status) == (1, 0)


def test_a_heap_dump_record_whose_header_is_lost(tmp_path: Path) -> None:
    objects = [instance(0x1000 + 8 * i, OBJECT) for i in range(30)]
    whole = dump(*objects)
    at, path = whole.index(b"\x1c\0\0\0\0"), tmp_path / "dump.hprof"
    path.write_bytes(whole[:at] + b"\x58" * 9 + whole[at + 9 :])
    assert damage(path) == [(at, 9)]
    shown = run("--show", f"{whole.index(objects[7])}:1", path)
    assert shown.status == 0
    assert [line.split()[2] for line in shown.out.splitlines() if "instance-dump" in line] != []
    assert re.search(r"^ +segment \{ +# its header is lost$", shown.out, re.MULTILINE)
    assert "instance-dump 0x1038 " in next(line for line in shown.out.splitlines() if line.startswith(">"))


def test_a_record_whose_length_is_wrong(tmp_path: Path) -> None:
    """Its kind gives it a length, and the records after it are read."""
    good, path = load_class(1, OBJECT, 1), tmp_path / "dump.hprof"
    at = VALID.index(good)
    path.write_bytes(VALID.replace(good, good[:5] + struct.pack(">I", len(good) - 5) + good[9:]))
    shown = run("--show", f"{at + 3}:1", path)
    assert (shown.status, damage(path)) == (1, [])
    assert shown.err.endswith(f"the length of the record should be {len(good) - 9}\n")
    assert [line.split()[1] for line in shown.out.splitlines() if "-class " in line or "utf8" in line] != []
    assert "load-class serial 2" in shown.out
    assert run("--show", f"{at + len(good)}:0", path).status == 0


def test_an_instance_whose_length_is_wrong(tmp_path: Path) -> None:
    """Its class gives it a size."""
    objects = [instance(0x1000 + 8 * i, OBJECT) for i in range(30)]
    wrong = objects[7][:-4] + struct.pack(">I", 0x7000)
    path = tmp_path / "dump.hprof"
    path.write_bytes(dump(*objects[:7], wrong, *objects[8:]))
    (text, _) = here(f"{path.read_bytes().index(wrong)}:0", path)
    assert "instance-dump 0x1038 " in text and "a length of 28672 bytes" in text
    (text, _) = here(f"{path.read_bytes().index(objects[8])}:0", path)
    assert "instance-dump 0x1040 " in text


def test_a_sub_record_that_crosses_segments(tmp_path: Path) -> None:
    objects = [instance(0x1000 + 8 * i, OBJECT) for i in range(30)]
    whole = dump(*objects)
    segment, cut = whole.index(b"\x1c\0\0\0\0"), whole.index(objects[10]) + 12
    heap = whole[segment + 9 : -9]
    split = cut - segment - 9
    path = tmp_path / "dump.hprof"
    path.write_bytes(whole[:segment] + record(0x1C, heap[:split]) + record(0x1C, heap[split:]) + whole[-9:])
    for at, part in ((cut - 1, 1), (cut + 9, 2)):
        (text, _) = here(f"{at}:0", path)
        assert f"part {part} of a sub-record that crosses the end of its segment" in text
    (text, _) = here(f"{cut + 9 + len(objects[10]) - 12}:0", path)
    assert "instance-dump 0x1058 " in text
    assert damage(path) == []


@pytest.mark.parametrize("name", any_one(["agent8", "jdk17", "sa17"]))
def test_what_a_repair_keeps_is_shown(name: str, tmp_path: Path) -> None:
    """Of dumps of real JDKs with damage: sub-records near it that a repair keeps are shown, by the same decisions."""
    original = read(gold.read(SOURCE, name))
    (tmp_path / "original.hprof").write_bytes(original.data)
    seed = random.SystemRandom().randrange(1 << 32)
    number = Counter(original.data[s.at : s.end] for s in original.heap)
    shown = 0
    for i, kind, damages in draws(original, tuple(some(ONE_FAULT + MANY_BYTES)), 1, seed):
        if repair(original, damages, tmp_path).status:
            continue
        kept = read((tmp_path / "copy.hprof").read_bytes())
        contents = {kept.data[s.at : s.end] for s in kept.heap}
        after = next((n for n, s in enumerate(original.heap) if s.at >= damages[-1].end), 0)
        shift = sum(len(d.by) - (d.end - d.at) for d in damages)
        for s in original.heap[after : after + 12 : 4]:
            content = original.data[s.at : s.end]
            if s.at < damages[-1].end or number[content] > 1 or content not in contents:
                continue
            was = texts(f"{s.at}:0", tmp_path / "original.hprof")[hex(s.at)]
            where = s.at + shift
            done = run("--show", f"{where}:0", tmp_path / "broken.hprof")
            assert done.status == 0, f"seed {seed}, draw {i}, {kind.__name__}, {where:#x}: {done.err}"
            assert texts(f"{where}:0", tmp_path / "broken.hprof")[hex(where)] == was, f"seed {seed}, {kind.__name__}"
            shown += 1
    assert shown > 5 or SHARE > 1


def test_truncated(tmp_path: Path) -> None:
    path = tmp_path / "dump.hprof"
    array = object_array(0x28, OBJECT, range(8, 800, 8))
    path.write_bytes(dump(array).partition(array)[0] + array[:200])
    size = path.stat().st_size
    done = run("--show", hex(size - 1), path)
    assert done.status == 1
    assert "ends within a sub-record" in done.err
    done = run("--show", hex(size), path)
    assert (done.status, done.out) == (2, "")
    assert done.err == f"hprof-validate: {path}: the offset is beyond the end of the dump, which has {size} bytes\n"


def test_an_offset_that_may_be_of_the_compressed_file(tmp_path: Path) -> None:
    (tmp_path / "dump.gz").write_bytes(gzip.compress(VALID))
    done = run("--show", hex(len(VALID)), "dump.gz", cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "offsets of the rules GZ are of the compressed file" in done.err


def test_decimal(tmp_path: Path) -> None:
    """Only the offsets differ: IDs stay hexadecimal."""
    path = tmp_path / "dump.hprof"
    path.write_bytes(dump(*[instance(0x1000 + 8 * i, OBJECT) for i in range(50)]))
    offset = re.compile(r"^([> ] *)(0x[0-9a-f]+|[0-9]+)(?=  )")
    hexadecimal = run("--show", "1000", path).out.splitlines()
    decimal = run("--decimal", "--show", "1000", path).out.splitlines()
    assert len(hexadecimal) == len(decimal)
    for line, other in zip(hexadecimal, decimal, strict=True):
        found, same = offset.match(line), offset.match(other)
        assert (found is None) == (same is None)
        if found is not None and same is not None:
            assert (int(same[2]), other[same.end() :]) == (int(found[2], 16), line[found.end() :])
    starts = [line.index("  ", 2) for line in decimal if offset.match(line)]
    assert starts == [1 + 1 + len("1000")] * len(starts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--show", "0x1f"], "--show takes one FILE"),
        (["--show", "0x1f", "a", "b"], "--show takes one FILE"),
        (["--show", "near", "a"], "--show takes an offset"),
        (["--show", "0x1f:", "a"], "--show takes an offset"),
        (["--show", "-1", "a"], "--show takes an offset"),
        (["--show", "0x1ffffffffffffffff", "a"], "--show takes an offset"),
        (["--show", "0x1f", "--format", "json", "a"], "has the format concise only"),
        (["--show", "0x1f", "--list-rules"], "do not go together"),
    ],
)
def test_usage(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert message in done.err


def test_what_cannot_be_shown(files: Path) -> None:
    assert run("--show", "0x1f", "missing", cwd=files).status == 3
    assert run("--show", "0x1f", ".", cwd=files).status == 3
    (files / "empty").touch()
    (files / "text").write_text("no dump at all, but long enough to have a header\n")
    for name, why in (("text", "the file does not begin with a valid header"), ("empty", "the file is empty")):
        done = run("--show", "0x1f" if name == "text" else "0", name, cwd=files)
        assert (done.status, done.out, done.err) == (1, "", f"hprof-validate: {name}: not a heap dump: {why}\n")
    bad = run("--show", "19", "text", cwd=files)
    assert (bad.status, bad.err) == (1, "hprof-validate: text: not a valid header\n")
    assert "6e 6f 20 64 75 6d 70 20" in bad.out
    piped = run("--show", "0x1f", "-", stdin=VALID)
    assert (piped.status, piped.out) == (2, "")
    assert "regular file" in piped.err
