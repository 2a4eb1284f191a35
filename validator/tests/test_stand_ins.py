"""Stand-ins of --repair: objects are kept whose class, name or stack trace is lost, and nothing else is invented."""

import json
import os
import random
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from dumps import OBJECT, OBJECTS, VALID, class_dump, instance, load_class, object_array, record, utf8
from killed import ROOTS_OF_THREADS, THREAD_OBJECT, Content, read_content, serial_of
from tool import SOURCE, run

from hprof_conformance import gold

HEADER = 31
GOLD = ("agent8", "jdk8", "jdk17", "jdk25", "sa17")
END = record(0x2C, b"")


def repair(data: bytes, folder: Path, *options: str) -> tuple[bytes, str]:
    (folder / "broken").write_bytes(data)
    done = run(*options, "--force", "--repair", "copy", "broken", cwd=folder)
    assert (done.status, done.err) == (0, "")
    check = run("--allow-incomplete", "--profile", "strict", "--disable", "REF,CLS-017", "copy", cwd=folder)
    assert "error[" not in check.out or "profile strict" not in done.out, check.out
    return (folder / "copy").read_bytes(), done.out


def content(data: bytes) -> Content:
    found = Content()
    read_content(data, struct.unpack_from(">I", data, 19)[0], found, part=False)
    return found


def definitions(data: bytes, tag: int) -> list[tuple[int, int]]:
    """Where the records of the tag are."""
    found, at = list[tuple[int, int]](), HEADER
    while at < len(data):
        end = at + 9 + int(struct.unpack_from(">I", data, at + 5)[0])
        if data[at] == tag:
            found.append((at, end))
        at = end
    return found


def without(data: bytes, one: bytes) -> bytes:
    """The dump without a sub-record, in a heap dump record of the right length."""
    at = data.index(one)
    heap = next(start for tag in (0x0C, 0x1C) for start, end in definitions(data, tag) if start < at < end)
    length = int(struct.unpack_from(">I", data, heap + 5)[0]) - len(one)
    return data[: heap + 5] + struct.pack(">I", length) + data[heap + 9 : at] + data[at + len(one) :]


@pytest.mark.parametrize("name", GOLD)
@pytest.mark.parametrize("tag", [1, 2, 5, 0x20])
def test_what_is_defined_by_a_lost_record_is_kept(name: str, tag: int, tmp_path: Path) -> None:
    """Some UTF8, LOAD_CLASS, TRACE or CLASS_DUMP of a real dump are taken out: all else is in the copy, and only they are new."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    data = gold.read(SOURCE, name)
    (i,) = struct.unpack_from(">I", data, 19)
    before = content(data)
    if tag == 0x20:
        lost = dice.sample([one for one in before.objects.values() if one[0] == 0x20], 5)
        broken = data
        for one in lost:
            broken = without(broken, one)
    else:
        chosen = definitions(data, tag)
        chosen = sorted(dice.sample(chosen, min(5, len(chosen))), reverse=True)
        broken, lost = data, [data[at:end] for at, end in chosen]
        for at, end in chosen:
            broken = broken[:at] + broken[end:]
    copy, text = repair(broken, tmp_path)
    after = content(copy)
    ids = {int.from_bytes(one[1 : 1 + i], "big") for one in lost} if tag == 0x20 else set()
    wrong = [key for key, one in before.objects.items() if key not in ids and after.objects.get(key) != one]
    assert not wrong, f"seed {seed}: {len(wrong)} lost or changed, such as {wrong[0]:#x}: {text}"
    new = [key for key, one in after.objects.items() if key not in before.objects and one[0] != 0x20]
    assert not new, f"seed {seed}"
    assert not before.roots - after.roots and not after.roots - before.roots, f"seed {seed}"
    for string in after.records - before.records:
        assert string[0] != 1 or re.match(rb"\[*L?unknown|java/lang/Object$|\[[ZCFDBSIJ]$|\(\)V$", string[1 + i :]), string


def test_an_instance_without_its_class_has_its_bytes(tmp_path: Path) -> None:
    """The class has fields as long as most of its instances are; the others are left out."""
    start = VALID[: -len(END)]
    one = struct.pack(">BQIQI", 0x21, 0x1000, 0, 0x500, 11) + bytes(range(11))
    two = struct.pack(">BQIQI", 0x21, 0x1008, 0, 0x500, 11) + bytes(11)
    odd = struct.pack(">BQIQI", 0x21, 0x1010, 0, 0x500, 3) + bytes(3)
    array = object_array(0x1018, 0x600, [0x1000, 0x1008])
    copy, text = repair(start + record(0x1C, one + odd + two + array) + END, tmp_path)
    found = content(copy)
    assert [found.objects.get(key) for key in (0x1000, 0x1008, 0x1010, 0x1018)] == [one, two, None, array]
    assert b"unknown/Class_0x500" in copy and b"[Lunknown/Class_0x600;" in copy
    fields = found.objects[0x500][-4 * 9 :]
    assert [fields[9 * n + 8] for n in range(4)] == [11, 8, 8, 8]  # a long, three bytes
    assert "class lost: 4 objects are kept\n" in text or "class lost: 3 objects are kept\n" in text
    copy, text = repair(start + record(0x1C, one + odd + two + array) + END, tmp_path, "--no-stand-ins")
    assert copy == VALID
    assert "stand-in" not in text and "class lost" not in text


def test_a_lost_superclass_has_what_its_subclasses_lack(tmp_path: Path) -> None:
    """An instance tells how long the superclass is: it has what the class itself does not declare."""
    start = VALID[: VALID.index(b"\x1c\0\0\0\0")] + utf8(7, "Sub") + load_class(7, 0x508, 7) + load_class(8, 0x500, 7)
    heap = VALID[VALID.index(b"\x1c\0\0\0\0") + 9 : -len(END)]
    below = class_dump(0x508, 0x500, 20, 1)  # an int of its own
    one = struct.pack(">BQIQI", 0x21, 0x1000, 0, 0x508, 20) + bytes(20)
    copy, text = repair(start + record(0x1C, heap + below + one) + END, tmp_path)
    found = content(copy)
    assert (found.objects[0x508], found.objects[0x1000]) == (below, one)
    assert found.objects[0x500].count(b"\x0b", 71) >= 2  # two longs
    assert "added: 1 stand-in for lost class, " in text


def loaded_as(name: str, heap: bytes) -> bytes:
    """A dump in which a class 0x500 has this name."""
    empty = VALID.index(b"\x1c\0\0\0\0")
    head, rest = VALID[:empty], VALID[empty + 9 : -len(END)]
    return head + utf8(7, name) + load_class(7, 0x500, 7) + record(0x1C, rest + class_dump(0x500, OBJECT) + heap) + END


def ints(object_id: int) -> bytes:
    return struct.pack(">BQIIBI", 0x23, object_id, 0, 1, 10, 7)


@pytest.mark.parametrize("name", ["[I", "[Ljava/lang/String;"])
def test_most_objects_of_a_class_do_not_fit_its_name_so_it_gets_another(name: str, tmp_path: Path) -> None:
    """A second repair changes nothing."""
    objects = {0x1000: instance(0x1000, 0x500), 0x1010: instance(0x1010, 0x500), 0x2000: ints(0x2000)}
    copy, text = repair(loaded_as(name, b"".join(objects.values())), tmp_path)
    found = content(copy)
    assert {at: found.objects[at] for at in objects} == objects
    assert found.objects[0x500] == class_dump(0x500, OBJECT)
    assert "1 LOAD_CLASS\n" in text and "INSTANCE" not in text
    again, text = repair(copy, tmp_path)
    assert again == copy and "stand-in" not in text


@pytest.mark.parametrize(
    ("name", "fitting", "misfit"),
    [
        ("[I", [ints(0x2000), ints(0x2010)], instance(0x1000, 0x500)),
        ("[I", [ints(0x2000), ints(0x2010)], object_array(0x1000, 0x500, [0x2000, 0])),
        ("[Ljava/lang/String;", [object_array(0x2000, 0x500, []), object_array(0x2010, 0x500, [])], instance(0x1000, 0x500)),
        ("com/example/A", [instance(0x2000, 0x500), instance(0x2010, 0x500)], object_array(0x1000, 0x500, [0x2000, 0])),
        ("com/example/A", [instance(0x2000, 0x500), class_dump(0x600, 0x500)], object_array(0x1000, 0x500, [0x2000, 0])),
    ],
)
def test_one_object_does_not_fit_the_name_of_its_class_so_it_gets_another(
    name: str, fitting: list[bytes], misfit: bytes, tmp_path: Path
) -> None:
    """The class is that of the other objects. All bytes but the class ID are kept."""
    data = loaded_as(name, b"".join([*fitting, misfit]))
    copy, text = repair(data, tmp_path, "--profile", "strict")
    found = content(copy)
    assert all(one in copy for one in fitting)
    kept = found.objects[0x1000]
    at = 13 if misfit[0] == 0x21 else 17
    assert kept[:at] + kept[at + 8 :] == misfit[:at] + misfit[at + 8 :]
    other = int.from_bytes(kept[at : at + 8], "big")
    assert other != 0x500 and other in found.objects
    assert "stand-in for lost class" in text and "LOAD_CLASS" not in text
    again, text = repair(copy, tmp_path, "--profile", "strict")
    assert again == copy and "stand-in" not in text


@pytest.mark.parametrize("options", [[], ["--no-stand-ins"]])
def test_arrays_of_the_class_of_their_elements_in_many_heap_dumps(options: list[str], tmp_path: Path) -> None:
    """Some producers write them so. All are mended, or left out, together: not one in each pass."""
    arrays = b"".join(object_array(0x1000 + 16 * n, OBJECT, [0x20]) for n in range(300))
    empty = VALID.index(b"\x1c\0\0\0\0")
    heap = record(0x1C, VALID[empty + 9 : -len(END)] + arrays) + END
    copy, text = repair(VALID[:empty] + heap * 250, tmp_path, "--profile", "strict", *options)
    assert copy.count(arrays[:9]) == (0 if options else 250)
    assert ("OBJECT_ARRAY" in text) == bool(options)


def test_readers_that_refuse_a_dump_without_classes_are_named(tmp_path: Path) -> None:
    """As a VM leaves it that is killed while it writes objects. The readers were tried with such a dump."""
    start = VALID[: VALID.index(b"\x1c\0\0\0\0")]
    heap = b"".join(struct.pack(">BQIQI", 0x21, 0x1000 + 8 * n, 0, 0x500, 8) + bytes(8) for n in range(20))
    text = repair(start[:HEADER] + utf8(7, "a") + record(0x1C, heap) + END, tmp_path)[1]
    assert "VisualVM, which needs the one, and MAT, which needs the other, refuse the copy; VisualVM's heap library and" in text
    assert "refuse" not in repair(start + VALID[len(start) :], tmp_path)[1]
    arrays = b"".join(struct.pack(">BQIIB", 0x23, 0x1000 + 8 * n, 0, 1, 8) + b"\0" for n in range(20))
    text = repair(start[:HEADER] + utf8(7, "a") + record(0x1C, arrays) + END, tmp_path, "--no-stand-ins")[1]
    assert "no class has its name; VisualVM refuses the copy; repaired without --no-stand-ins, it opens\n" in text


def test_a_reference_to_a_class_is_no_class_dump(tmp_path: Path) -> None:
    """Where all class dumps are lost, the bytes of an instance that refers to a class may begin like one: 0x20, its ID, and a stack
    trace that is known. They take no objects for entries of a class."""
    seed = random.randrange(1 << 32)
    gen = [os.environ["HPROF_GEN"], "--like=hotspot-17", "--objects=400000", f"--seed={seed}", "--output=whole"]
    subprocess.run(gen, cwd=tmp_path, check=True)
    data = (tmp_path / "whole").read_bytes()
    heaps = definitions(data, 0x1C)
    first, rest = heaps[0][0] + 9, data[heaps[1][0] :]
    assert data[first] == 0x20
    (tmp_path / "broken").write_bytes(data[:first] + rest)
    done = run("--format", "json", "--repair", "copy", "broken", cwd=tmp_path)
    kept = json.loads(done.out)["kept"]["objects"]
    objects = content(data[: heaps[0][0]] + rest).objects
    assert (kept, done.err) == (len(objects), ""), seed
    assert objects.items() <= content((tmp_path / "copy").read_bytes()).objects.items(), seed


def traces_of(data: bytes) -> dict[int, set[int]]:
    """The stack traces that name each thread."""
    found: dict[int, set[int]] = {}
    for at, _ in definitions(data, 5):
        trace, thread = struct.unpack_from(">II", data, at + 9)
        found.setdefault(thread, set()).add(trace)
    return found


@pytest.mark.parametrize("name", [*GOLD, "jdk8-i386", "jdk28", "sa28"])
def test_a_root_whose_thread_is_lost_is_kept(name: str, tmp_path: Path) -> None:
    """Some ROOT_THREAD_OBJECTs of a real dump are taken out, and a byte follows its end. OpenJDK's parser refuses roots of a
    thread that it has not met. So each gets one that names no object, with the stack trace that alone names the thread; all else
    is as it was."""
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    data = gold.read(SOURCE, name)
    (i,) = struct.unpack_from(">I", data, 19)
    before = content(data)
    roots: dict[int, list[bytes]] = {}
    for one in before.roots.elements():
        if one[0] in ROOTS_OF_THREADS:
            roots.setdefault(serial_of(one, i), []).append(one)
    threads = {serial_of(one, i): one for one in before.roots if one[0] == THREAD_OBJECT}
    started = {int(struct.unpack_from(">I", data, at + 9)[0]) for at, _ in definitions(data, 0x0A)}
    traces = traces_of(data)
    chosen = dice.sample(sorted(roots.keys() & threads.keys()), dice.randint(1, len(roots.keys() & threads.keys())))
    # Not all producers number threads and traces alike: those that stay say whether this one does.
    others = [(serial, int.from_bytes(one[5 + i :], "big")) for serial, one in threads.items() if serial not in chosen]
    others = [(serial, trace) for serial, trace in others if len(traces.get(serial, ())) == 1 and any(threads[serial][1 : 1 + i])]
    named = [traces[serial] == {trace} for serial, trace in others]
    if not named or not all(named):
        traces = {serial: {0} for serial in traces}
    doubtful = [serial for serial in chosen if len(roots[serial]) == 1 and serial not in started | traces.keys()]
    rescued = [serial for serial in chosen if serial not in doubtful]
    broken = data
    for serial in chosen:
        broken = without(broken, threads[serial])
    copy, text = repair(broken + b"\x01", tmp_path)
    after = content(copy)
    lost, new = before.roots - after.roots, after.roots - before.roots
    gone = [threads[serial] for serial in chosen] + [one for serial in doubtful for one in roots[serial]]
    assert sorted(lost.elements()) == sorted(gone), f"seed {seed}"
    assert sorted(new) == sorted(
        struct.pack(">B", 8) + bytes(i) + struct.pack(">II", serial, alone.pop() if len(alone) == 1 else 0)
        for serial, alone in ((serial, traces.get(serial, set[int]()).copy()) for serial in rescued)
    ), f"seed {seed}"
    assert (after.objects, after.records) == (before.objects, before.records), f"seed {seed}"
    n = len(rescued)
    if n == 0:
        return
    assert f"added: {n} stand-in{'s'[: n > 1]} for lost thread{'s'[: n > 1]}, which other roots name\n" in text, text
    assert re.search(rf"^lost:\n(    .*\n)*    {n} of {len(threads) - len(doubtful)} threads\n", text, re.M), text
    assert max(map(copy.index, new)) < min(copy.index(one) for one in after.roots if one[0] in ROOTS_OF_THREADS)
    again, text = repair(copy, tmp_path)
    assert again == copy and "stand-in" not in text


@pytest.mark.parametrize("tag", ROOTS_OF_THREADS)
def test_a_thread_is_known_in_its_heap_dump_only(tag: int, tmp_path: Path) -> None:
    """Two heap dumps: a ROOT_THREAD_OBJECT of the first is none of the second. A START_THREAD is one of the whole file."""
    start = VALID[: definitions(VALID, 0x1C)[0][0]]
    if tag == 0x8E:
        start = start.replace(b"1.0.2", b"1.0.3")
    root = struct.pack(">BQI", tag, 0x1000, 7) + (b"" if tag in (4, 6) else struct.pack(">i", -1 if tag < 4 else 0))
    thread = struct.pack(">BQII", 8, 0, 7, 0)
    heap = class_dump(OBJECT, 0) + class_dump(OBJECTS, OBJECT) + instance(0x1000, OBJECT)
    one, many = (record(0x1C, heap + roots) + END for roots in (thread + root, root * 300))
    profile = ("--profile", "strict" if tag != 0x8E else "android")
    for between, threads in ((b"", 2), (record(0x0A, struct.pack(">IQIQQQ", 7, 0, 0, 1, 0, 0)), 1)):
        copy, text = repair(start + one + between + many, tmp_path, *profile)
        assert (copy.count(thread), copy.count(root)) == (threads, 301), text
        assert ("1 stand-in for lost thread" in text) == (threads == 2)
    copy, text = repair(start + one + many, tmp_path, "--no-stand-ins", *profile)
    assert (copy.count(thread), copy.count(root)) == (1, 1 if tag != 0x8E else 301), text


def test_a_dump_that_lacks_nothing_gets_no_stand_ins(tmp_path: Path) -> None:
    broken = VALID[: -len(END)] + record(0x1C, instance(0x1000, OBJECT) + instance(0x1008, OBJECT)[:-3])
    _, text = repair(broken, tmp_path)
    assert "stand-in" not in text
    if "HPROF_GEN" in os.environ:
        subprocess.run([os.environ["HPROF_GEN"], "--like", "hotspot", "--objects", "300", "-o", tmp_path / "whole"], check=True)
        whole = (tmp_path / "whole").read_bytes()
        _, text = repair(whole[: len(whole) * 2 // 3], tmp_path)
        assert "stand-in" not in text or "stack trace" in text
    done = run("--no-stand-ins", "broken", cwd=tmp_path)
    assert (done.status, "--no-stand-ins goes with --repair" in done.err) == (2, True)


@pytest.mark.parametrize("profile", ["auto", "strict"])
@pytest.mark.parametrize("tag", [1, 2, 0x20])
@pytest.mark.parametrize("name", ["jdk8", "sa17"])
def test_without_stand_ins_only_strict_drops_objects_for_a_name(name: str, tag: int, profile: str, tmp_path: Path) -> None:
    """An object whose class is not dumped is left out."""
    data, dice = gold.read(SOURCE, name), random.Random(seed := random.randrange(1 << 32))
    objects = content(data).objects
    used = {int.from_bytes(one[13:21], "big") for one in objects.values() if one[0] == 0x21}
    chosen = {dice.choice([*used]).to_bytes(8, "big") for _ in range(3)}
    loads = [(at, end) for at, end in definitions(data, 2) if data[at + 13 : at + 21] in chosen]
    names = {data[at + 25 : at + 33] for at, _ in loads}
    lost = {1: [(at, end) for at, end in definitions(data, 1) if data[at + 9 : at + 17] in names], 2: loads}.get(tag, [])
    broken = data
    for at, end in reversed(lost):
        broken = broken[:at] + broken[end:]
    for one in chosen if tag == 0x20 else []:
        broken = without(broken, objects[int.from_bytes(one, "big")])
    copy, _ = repair(broken, tmp_path, "--profile", profile, "--no-stand-ins")
    kept = content(copy).objects
    there = {one for one in objects.values() if one[0] == 0x21 and one[13:21] in chosen} & set(kept.values())
    assert bool(there) == (tag != 0x20 and profile == "auto"), f"seed {seed}"
    assert tag == 0x20 or profile == "strict" or kept == objects, f"seed {seed}"


@pytest.mark.parametrize("tag", [1, 2])
@pytest.mark.parametrize("name", ["jdk21", "jdk25", "jdk28"])
def test_the_list_of_the_archive_may_have_lost_the_name_of_its_class(name: str, tag: int, tmp_path: Path) -> None:
    """What its elements name was never in the dump, so it is not missing from the copy. Lost names show no version."""
    data, dice = gold.read(SOURCE, name), random.Random(seed := random.randrange(1 << 32))
    string = next(at for at, end in definitions(data, 1) if data[at + 17 : end] == b"[Ljava/lang/Object;")
    places = {2: [(at, end) for at, end in definitions(data, 2) if data[at + 25 : at + 33] == data[string + 9 : string + 17]]}
    places[1] = [(string, string + 9 + 8 + len("[Ljava/lang/Object;"))]
    lost = places[tag] + dice.sample(definitions(data, 2), dice.randrange(40))
    broken = bytearray(data)
    for at, end in sorted(set(lost), reverse=True):
        del broken[at:end]
    repair(bytes(broken), tmp_path)
    found = json.loads(run("--format", "json", "copy", cwd=tmp_path).out)["files"][0]
    whole = json.loads(run("--format", "json", "-", stdin=data).out)["files"][0]
    assert (found["complete"], found["missing_objects"]) == (True, 0), f"seed {seed}"
    assert found["producer"] in ("HotSpot", whole["producer"]), f"seed {seed}"


@pytest.mark.parametrize("name", [*GOLD, "jdk17-i386", "jdk28"])
def test_a_dump_whose_first_bytes_are_lost_keeps_the_rest(name: str, tmp_path: Path) -> None:
    """A header is made, over what is left of the real one and of the first records; the producer is known by what follows."""
    data = gold.read(SOURCE, name)
    (i,) = struct.unpack_from(">I", data, 19)
    lost = random.SystemRandom().choice([*range(1, HEADER + 1), random.SystemRandom().randrange(HEADER, 10_000)])
    (tmp_path / "broken").write_bytes(data[lost:])
    found = json.loads(run("--format", "json", "--repair", "copy", "broken", cwd=tmp_path).out)
    if name != "sa17":  # which its first record tells from HotSpot
        assert found["profile"] == json.loads(run("--format", "json", "-", stdin=data).out)["files"][0]["profile"], lost
    before, after = content(data), content((tmp_path / "copy").read_bytes())
    assert after.objects == before.objects, lost
    assert not before.roots - after.roots, lost
    new = after.roots - before.roots
    assert all(one[0] == 8 and not any(one[1 : 1 + i]) for one in new), (lost, new)
    ends, at = [HEADER], HEADER
    while at < lost + HEADER:  # the header that is made takes as many bytes of what follows
        at += 9 + int(struct.unpack_from(">I", data, at + 5)[0])
        ends.append(at)
    at += 9 + int(struct.unpack_from(">I", data, at + 5)[0])  # and where a record begins after that is not known
    places = [(tag, start, end) for tag in (1, 2, 4, 5, 14) for start, end in definitions(data, tag)]
    kept = Counter(bytes([tag]) + data[start + 9 : end] for tag, start, end in places if start >= at)
    assert not kept - after.records, (lost, len(kept - after.records))


def test_an_object_whose_class_is_an_object_gets_a_class_of_its_own(tmp_path: Path) -> None:
    """A stand-in for a class does not take the ID of an object."""
    data = gold.read(SOURCE, random.choice(GOLD))
    (i,) = struct.unpack_from(">I", data, 19)
    before = content(data)
    dice = random.Random(seed := random.randrange(1 << 32))
    others = [key for key, one in before.objects.items() if one[0] in (0x21, 0x22, 0x23)]
    key, other = dice.choice([key for key, one in before.objects.items() if one[0] in (0x21, 0x22)]), dice.choice(others)
    one = before.objects[key]
    at = 5 + i if one[0] == 0x21 else 9 + i
    wrong = one[:at] + other.to_bytes(i, "big") + one[at + i :]
    copy, text = repair(data.replace(one, wrong), tmp_path)
    after = content(copy)
    assert after.again == 0 and "added: 1 stand-in for lost class" in text, f"seed {seed}"
    assert {k: v for k, v in after.objects.items() if k in before.objects and k != key} == {
        k: v for k, v in before.objects.items() if k != key
    }, f"seed {seed}"
    assert after.objects[key][:at] == one[:at] and after.objects[key][at + i :] == one[at + i :], f"seed {seed}"
    assert int.from_bytes(after.objects[key][at : at + i], "big") not in before.objects, f"seed {seed}"


def test_a_root_that_alone_names_its_thread_is_left_out(tmp_path: Path) -> None:
    """Bytes beside damage look like it. Other roots, a TRACE or a START_THREAD say that there was a thread."""
    thread = struct.pack(">BQII", 8, 0, 7, 0)
    root, other = (struct.pack(">BQIi", tag, 0x1000, 7, -1) for tag in (2, 3))
    start = VALID[: definitions(VALID, 0x1C)[0][0]]
    heap = class_dump(OBJECT, 0) + class_dump(OBJECTS, OBJECT) + instance(0x1000, OBJECT)
    of_trace = struct.pack(">BQII", 8, 0, 7, 9)
    known = struct.pack(">BQII", 8, 0x1000, 3, 8)  # thread 3 and its trace say that TRACE records number threads alike
    traces = record(5, struct.pack(">III", 8, 3, 0)) + record(5, struct.pack(">III", 9, 7, 0))
    for more, roots, kept in (
        (b"", root, []),
        (b"", root + other, [thread, root, other]),
        (b"", root + root, [thread, root, root]),
        (traces, root, [thread, root]),
        (traces, root + known, [of_trace, root, known]),
    ):
        copy, text = repair(start + more + record(0x1C, heap + roots) + END, tmp_path, "--profile", "hotspot")
        assert sorted(content(copy).roots.elements()) == sorted(kept), text
