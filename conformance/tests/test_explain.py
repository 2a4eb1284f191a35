"""Where the digests of a reader differ, the report says in words what is wrong, or gives the two digests."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from built import ROOT

from hprof_conformance.explain import Explainer, Kept, Parts, _Bytes
from hprof_corpus.assembler import assemble
from hprof_corpus.digest import PARTS, Content, Digest, identity, part


def words(right: str, change: tuple[bytes, bytes], entry: str) -> str:
    """Of a reader that reads a dump as if some of its bytes were others."""
    data = (ROOT / "corpus" / f"{right}.hprof").read_bytes()
    old, new = change
    assert data.count(old) == 1
    truth, found = identity(Content(memoryview(data)), "exact"), identity(Content(memoryview(data.replace(old, new))), "exact")
    told = [f"{one[entry].count} items, {one[entry].sum:032x}" for one in (found, truth)]
    return Explainer(memoryview(data), "exact").explain(entry, *told)


ARRAY = "primitive-array-dump 0x10 type boolean [ 0 1 !0xff 2 ]  # OBJ-009: two values"
POINT = "warning/CLS-017/smaller-101-id4"  # a Point at 0x300018 whose x is 5
FIVE = struct.pack(">II", 4, 5)


@pytest.mark.parametrize("wrong", [0, 4, 6])
def test_a_number_of_one_field(wrong: int) -> None:
    said = words(POINT, (FIVE, struct.pack(">II", 4, wrong)), "instances")
    assert said.removeprefix("each number is 0: ") == f"field x of Point 0x300018 is {wrong}, not 5"


def test_what_no_guess_leads_to_has_no_words() -> None:
    assert not words(POINT, (FIVE, struct.pack(">II", 4, 77)), "instances")


def test_booleans_that_are_given_as_they_are() -> None:
    """PROTOCOL.md 1.1 makes each 0 or 1."""
    text = "\n".join(['hprof "JAVA PROFILE 1.0.1" id-size 4 time 0', "heap-dump {", ARRAY, "}", ""])
    data = memoryview(assemble(text).file.to_bytes())
    truth, read = identity(Content(data), "exact")["primitive_arrays"], Digest()
    read.add(b"".join(map(part, [b"primitive array", (16).to_bytes(8, "big"), b"\x04", b"\0\1\xff\2"])))
    told = [f"{one.count} items, {one.sum:032x}" for one in (read, truth)]
    said = "each boolean is the byte that the dump has: element 2 of primitive array 0x10 of boolean is 0xff, not True"
    assert Explainer(data, "exact").explain("primitive_arrays", *told) == said


def test_a_boolean_field_that_is_given_as_it_is() -> None:
    data = memoryview(min((ROOT / "corpus/warning/OBJ-010").glob("instance-field-*.hprof")).read_bytes())
    truth, read = identity(Content(data), "exact")["instances"], identity(_Bytes(data), "exact")["instances"]
    assert truth != read
    told = [f"{one.count} items, {one.sum:032x}" for one in (read, truth)]
    assert Explainer(data, "exact").explain("instances", *told).startswith("each boolean is the byte that the dump has: field ")


def test_an_item_that_is_missing() -> None:
    data = memoryview((ROOT / "corpus" / f"{POINT}.hprof").read_bytes())
    truth = identity(Content(data), "exact")["instances"]
    explainer = Explainer(data, "exact")
    said = explainer.explain("instances", f"0 items, {0:032x}", f"{truth.count} items, {truth.sum:032x}")
    assert said == "instance 0x300018 of Point is missing"


def dump_of(*texts: str) -> memoryview:
    """Strings, by their bytes in hexadecimal."""
    lines = [f"utf8 $s{number} 0x{text}" for number, text in enumerate(texts)]
    return memoryview(assemble("\n".join(['hprof "JAVA PROFILE 1.0.2" id-size 4 time 0', *lines, ""])).file.to_bytes())


@pytest.mark.parametrize("times", [1, 3])
def test_strings_that_are_read_as_standard_utf_8(times: int) -> None:
    mark = "efbfbd"
    dump, read = dump_of("c08061", "eda080", "62"), dump_of(f"{mark * 2}61", mark * times, "62")
    truth, found = (identity(Content(one), "exact")["strings"] for one in (dump, read))
    said = Explainer(dump, "exact").explain("strings", *(f"{one.count} items, {one.sum:032x}" for one in (found, truth)))
    assert said.startswith("as standard UTF-8: ")
    assert "\\ufffd\\ufffda, not \\u0000a" in said


def test_two_faults_at_once() -> None:
    """A name of a surrogate pair, and a char that is half of one."""

    def read(name: str, value: str) -> memoryview:
        lines = ['utf8 $A "A"', f"utf8 $x 0x{name}", "load-class serial 1 class @A name $A"]
        lines += ["segment {", "class-dump @A super null {", f"static $x char {value}", "}", "}", "end", ""]
        return memoryview(assemble("\n".join(['hprof "JAVA PROFILE 1.0.2" id-size 4 time 0', *lines])).file.to_bytes())

    dump = read("eda081edb080", "0xd800")
    truth, found = (identity(Content(one), "exact")["statics"] for one in (dump, read("efbfbdefbfbd", "0xfffd")))
    said = Explainer(dump, "exact").explain("statics", *(f"{one.count} items, {one.sum:032x}" for one in (found, truth)))
    assert said.startswith("names: each half of a surrogate pair is U+FFFD; each half of a surrogate pair is U+FFFD: ")


LONGS = """hprof "JAVA PROFILE 1.0.2" id-size 4 time 0
utf8 $A "A"
utf8 $x "x"
load-class serial 1 class @A name $A
segment {
  class-dump @A super null {
    field $x long
  }
  instance-dump @a class @A [ long FIRST ]
  instance-dump @b class @A [ long SECOND ]
}
end
"""


@pytest.mark.parametrize(("read", "words"), [("-1", ""), ("4294967295", " without a sign")])
def test_longs_that_are_read_as_ints(read: str, words: str) -> None:
    def of(first: str, second: str) -> memoryview:
        text = LONGS.replace("FIRST", first).replace("SECOND", second)
        return memoryview(assemble(text).file.to_bytes())

    right, wrong = of("8589934591", "12884901889"), of(read, "1")  # their low halves are -1 and 1
    truth, found = (identity(Content(one), "exact")["instances"] for one in (right, wrong))
    said = Explainer(right, "exact").explain("instances", *(f"{one.count} items, {one.sum:032x}" for one in (found, truth)))
    assert said.startswith(f"each long is read as an int{words}: field x of A 0x") and f"is {read}, not 8589934591" in said, said


def test_all_instances_of_a_class_are_missing() -> None:
    text = LONGS.replace("FIRST", "1").replace("SECOND", "2")
    data = memoryview(assemble(text).file.to_bytes())
    truth = identity(Content(data), "exact")["instances"]
    said = Explainer(data, "exact").explain("instances", f"0 items, {0:032x}", f"{truth.count} items, {truth.sum:032x}")
    assert said.startswith("all 2 of one kind are missing, such as instance 0x") and said.endswith(" of A"), said


def told_missing(data: memoryview, entry: str, left: Callable[[Parts], bool], *kinds: str) -> str:
    """Of a reader that gives some of the items, and of roots those of some kinds."""
    found = Kept()
    items = {name: Kept() for name in PARTS}
    identity(Content(data), "exact", items)
    truth = Kept()
    for item in items[entry].items:
        if not kinds or item[1].decode() in kinds:
            truth.add(b"".join(map(part, item)))
            if left(item):
                found.add(b"".join(map(part, item)))
    said, right = (f"{one.count} items, {one.sum:032x}" for one in (found, truth))
    return Explainer(data, "exact").explain(entry, said, right, kinds)


def test_all_items_of_several_kinds_are_missing() -> None:
    data = memoryview((ROOT / "corpus" / "valid/thread-root-after-locals-102-id8.hprof").read_bytes())
    assert told_missing(data, "roots", lambda _: False) == "all 5 are missing, such as ROOT_JAVA_FRAME of 0x300010"


def test_roots_of_some_kinds() -> None:
    """A reader is compared by those that it counts."""
    data = memoryview((ROOT / "corpus" / "valid/thread-root-after-locals-102-id8.hprof").read_bytes())
    kinds = ("ROOT_JAVA_FRAME", "ROOT_NATIVE_STACK", "ROOT_STICKY_CLASS")
    said = told_missing(data, "roots", lambda item: item[1] != b"ROOT_JAVA_FRAME", *kinds)
    assert said == "ROOT_JAVA_FRAME of 0x300010 is missing"


def test_of_the_items_of_a_class_one_is_left() -> None:
    data = memoryview((ROOT / "corpus" / "valid/statics-and-constants-many.hprof").read_bytes())
    seen: list[Parts] = []

    def third(item: Parts) -> bool:
        seen.append(item)
        return len(seen) == 3

    assert told_missing(data, "statics", third).startswith("of 400 of one kind one is left, static field ")


def test_names_and_classes_that_a_reader_makes_up() -> None:
    right = IDS.replace("id-size 4", "id-size 8")
    said = of_texts(right, right.replace("0x40 class 0x10", "0x40 class 0xffffffffffffffff"), "object_arrays")
    assert said == "the class is made up: the class of object array 0x40 of A is 0xffffffffffffffff, not A"
    said = of_texts(right, right.replace('$B "B"', '$B "unknown-name@0x20"'), "classes")
    assert said == "the name is made up: class B: unknown-name@0x20, not B"


IDS = """hprof "JAVA PROFILE 1.0.2" id-size 4 time 0
utf8 $A "A"
utf8 $B "B"
load-class serial 1 class 0x10 name $A
load-class serial 2 class 0x20 name $B
segment {
  class-dump 0x10 super null {
    constant 3 int 5
    constant 4 object 0x20
  }
  class-dump 0x20 super 0x10 {
  }
  instance-dump 0x80000030 class 0x20 [ ]
  object-array-dump 0x40 class 0x10 [ 0x80000030 null ]
  root-unknown 0x40
}
end
"""


@pytest.mark.parametrize(
    ("entry", "change", "said"),
    [
        ("constants", ("int 5", "int 4"), "constant 3 of class A is 4, not 5"),
        ("constants", ("int 5", "int 0"), "each number is 0: constant 3 of class A is 0, not 5"),
        ("constants", ("object 0x20", "object null"), "each reference is null: constant 4 of class A is null, not 0x20"),
        ("classes", ("super 0x10", "super null"), "the superclass is none: the superclass of class B is null, not A"),
        ("classes", ("super 0x10", "super 0x20"), "the superclass of class B is B, not A"),
        ("instances", ("class 0x20 [", "class 0x10 ["), "the class of instance 0x80000030 of B is A, not B"),
        (
            "instance_bytes",
            ("class 0x20 [", "class null ["),
            "the instance has no class: the class of instance 0x80000030 of B is null, not B",
        ),
        ("object_arrays", ("dump 0x40", "dump 0x41"), "the ID of object array 0x40 of A is 0x41, not 0x40"),
        ("object_arrays", ("dump 0x40", "dump null"), "the ID is 0: the ID of object array 0x40 of A is null, not 0x40"),
        ("roots", ("root-unknown 0x40", "root-unknown 0x3f"), "the object of ROOT_UNKNOWN of 0x40 is 0x3f, not 0x40"),
    ],
)
def test_a_constant_and_an_id_that_are_wrong(entry: str, change: tuple[str, str], said: str) -> None:
    assert IDS.count(change[0]) == 1
    assert of_texts(IDS, IDS.replace(*change), entry) == said


def test_ids_of_4_bytes_that_have_a_sign() -> None:
    wrong = IDS.replace("id-size 4", "id-size 8").replace("0x80000030", "0xffffffff80000030")
    said = "each ID is extended by its sign: the ID of instance 0x80000030 of B is 0xffffffff80000030, not 0x80000030"
    assert of_texts(IDS, wrong, "instances") == said
    assert of_texts(IDS, wrong, "object_arrays") == said.replace(
        "the ID of instance 0x80000030 of B", "element 0 of object array 0x40 of A"
    )


def of_texts(right: str, wrong: str, entry: str) -> str:
    """Of a reader that reads one text as the other."""
    data, other = (memoryview(assemble(text).file.to_bytes()) for text in (right, wrong))
    truth, found = (identity(Content(one), "exact")[entry] for one in (data, other))
    return Explainer(data, "exact").explain(entry, *(f"{one.count} items, {one.sum:032x}" for one in (found, truth)))
