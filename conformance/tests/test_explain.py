"""Where the digests of a reader differ, the report says in words what is wrong, or gives the two digests."""

from __future__ import annotations

import struct

import pytest
from built import ROOT

from hprof_conformance.explain import Explainer
from hprof_corpus.assembler import assemble
from hprof_corpus.digest import Content, identity


def words(right: str, change: tuple[bytes, bytes], entry: str) -> str:
    """Of a reader that reads a dump as if some of its bytes were others."""
    data = (ROOT / "corpus" / f"{right}.hprof").read_bytes()
    old, new = change
    assert data.count(old) == 1
    truth, found = identity(Content(memoryview(data)), "exact"), identity(Content(memoryview(data.replace(old, new))), "exact")
    told = [f"{one[entry].count} items, {one[entry].sum:032x}" for one in (found, truth)]
    return Explainer(memoryview(data), "exact").explain(entry, *told)


POINT = "warning/CLS-017/smaller-101-id4"  # a Point at 0x300018 whose x is 5
FIVE = struct.pack(">II", 4, 5)


@pytest.mark.parametrize("wrong", [0, 4, 6])
def test_a_number_of_one_field(wrong: int) -> None:
    said = words(POINT, (FIVE, struct.pack(">II", 4, wrong)), "instances")
    assert said.removeprefix("each number is 0: ") == f"field x of Point 0x300018 is {wrong}, not 5"


def test_what_no_guess_leads_to_has_no_words() -> None:
    assert not words(POINT, (FIVE, struct.pack(">II", 4, 77)), "instances")


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
