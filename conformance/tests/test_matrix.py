"""From replies to outcomes, expectations, the report and what is made of it."""

from __future__ import annotations

import argparse
import errno
import json
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from built import ROOT, needs_tool

from hprof_conformance import (
    cases,
    diff,
    expectations,
    findings,
    gold,
    jvms,
    main,
    matrix,
    outcomes,
    page,
    producers,
    readers,
    report,
    steps,
    texts,
    verified,
    ways,
)
from hprof_conformance.cases import Case, Truth
from hprof_conformance.command import RefusedError
from hprof_conformance.everything import FailedError
from hprof_conformance.expectations import Accept, Expectations, Expected, Seen
from hprof_conformance.jvms import NotBuiltError, NotHereError
from hprof_conformance.producers import read_producers
from hprof_conformance.protocol import COUNTS, Entry, Hello, Reply
from hprof_conformance.readers import Reader, read_readers
from hprof_conformance.session import Limits
from hprof_corpus.digest import PARTS
from hprof_corpus.truth import ROOTS
from hprof_corpus.walk import FramingError

CORPUS = ROOT / "corpus"
NOTHING, ONE = Entry(0, "0" * 32), Entry(1, "1" * 32)


def case(should: str, requires: list[str] | None = None, instances: int = 2) -> Case:
    counts = {"instances": instances, "objects": instances, "classes": 1, "ends": 0}
    exact = {"object_arrays": ONE, "instances": ONE}
    resolved = {"object_arrays": NOTHING, "instances": ONE}
    return Case("a/b", Path("x"), None, "about", should, ["OBJ-004"], requires or [], 10, Truth(counts, exact, resolved))


def hello(references: str = "exact", digests: list[str] | None = None) -> Hello:
    return Hello("r", "1", "", {"gzip": "none"}, ["instances"], ["object_arrays"] if digests is None else digests, references)


def accepted(instances: int = 2, entry: Entry = ONE, notices: list[str] | None = None) -> Reply:
    return Reply("a/b", "accepted", "", notices or [], {"instances": instances}, {"object_arrays": entry})


@pytest.mark.parametrize(
    ("should", "reply", "outcome"),
    [
        ("accept", accepted(), outcomes.RIGHT),
        ("accept", accepted(instances=1), outcomes.WRONG_COUNTS),
        ("accept", accepted(entry=NOTHING), outcomes.WRONG_CONTENT),
        ("accept", Reply("a/b", "accepted", "", [], {"instances": 2}, {}), outcomes.WRONG_CONTENT),
        ("accept", Reply("a/b", "rejected", "no"), outcomes.REFUSED),
        ("accept", Reply("a/b", "crashed", "no"), outcomes.CRASHED),
        ("reject", Reply("a/b", "rejected", "no"), outcomes.REJECTED),
        ("reject", accepted(), outcomes.TOLERATED),
        ("reject", accepted(instances=1, notices=["the end is missing"]), outcomes.NOTICED),
        ("reject", accepted(instances=1), outcomes.SILENT_LOSS),
        ("reject", accepted(entry=NOTHING), outcomes.SILENT_LOSS),
        ("reject", Reply("a/b", "hung", "no"), outcomes.HUNG),
        ("report", Reply("a/b", "rejected", "no"), outcomes.REJECTED),
        ("report", accepted(notices=["the end is missing"]), outcomes.NOTICED),
        ("report", accepted(), outcomes.UNREPORTED),
        ("report", accepted(instances=1), outcomes.SILENT_LOSS),
        ("report", Reply("a/b", "crashed", "no"), outcomes.CRASHED),
        ("accept", Reply("a/b", "accepted", counts={"instances": 2}, failed={"object_arrays": "no"}), outcomes.REFUSED_PARTLY),
        ("accept", Reply("a/b", "accepted", counts={"instances": 1}, failed={"object_arrays": "no"}), outcomes.WRONG_COUNTS),
        ("reject", Reply("a/b", "accepted", counts={"instances": 1}, failed={"object_arrays": "no"}), outcomes.NOTICED),
        ("reject", Reply("a/b", "accepted", counts={"instances": 1}, digests={"object_arrays": ONE}, failed={"statics": "no"}),
         outcomes.SILENT_LOSS),  # it never gives static fields
        ("accept", Reply("a/b", "accepted", digests={"object_arrays": ONE}, failed={"instances": "no"}), outcomes.REFUSED_PARTLY),
        ("accept", Reply("a/b", "accepted", digests={"object_arrays": NOTHING}, failed={"instances": "no"}),
         outcomes.WRONG_CONTENT),
        ("reject", Reply("a/b", "accepted", digests={"object_arrays": ONE}, failed={"instances": "no"}), outcomes.NOTICED),
        ("either", accepted(), outcomes.COUNTS_RIGHT),
        ("either", accepted(entry=NOTHING), outcomes.COUNTS_RIGHT),
        ("either", accepted(instances=1), outcomes.WRONG_COUNTS),
        ("either", Reply("a/b", "rejected", "no"), outcomes.REJECTED),
        ("either", Reply("a/b", "out of memory", "no"), outcomes.OUT_OF_MEMORY),
    ],
)  # fmt: skip
def test_outcomes(should: str, reply: Reply, outcome: str) -> None:
    assert outcomes.assess(case(should), hello(), reply).outcome == outcome


@pytest.mark.parametrize(
    ("should", "counts", "outcome"),
    [
        ("accept", ["instances"], outcomes.COUNTS_RIGHT),
        ("reject", ["instances"], outcomes.COUNTS_ONLY),
        ("accept", [], outcomes.NOT_COMPARED),
        ("reject", [], outcomes.NOT_COMPARED),
        ("report", [], outcomes.UNREPORTED),
    ],
)
def test_what_is_not_compared_is_never_right(should: str, counts: list[str], outcome: str) -> None:
    one = Hello("r", "1", "", {}, counts, [], "exact")
    assert outcomes.assess(case(should), one, Reply("a/b", "accepted", counts=dict.fromkeys(counts, 2))).outcome == outcome


def test_a_notice_counts_if_valid_dumps_are_read_without_it() -> None:
    valid = [accepted(notices=["object 0x7 is odd"])] * 20
    notices = outcomes.notices_of_valid(hello(), valid)
    for words, outcome in (("object 0x9ab is odd", outcomes.TOLERATED), ("object 0x9ab is gone", outcomes.NOTICED)):
        assert outcomes.assess(case("reject"), hello(), accepted(notices=[words]), notices).outcome == outcome
    noise = outcomes.notices_of_valid(hello(), [accepted(notices=["x" * number]) for number in range(1, 21)])
    assert outcomes.assess(case("reject"), hello(), accepted(notices=["the end is missing"]), noise).outcome == outcomes.TOLERATED


@pytest.mark.parametrize("pattern", ["warning/REF-00*", "valid/names-*"])
def test_there_are_controls_whatever_is_chosen(pattern: str, tmp_path: Path) -> None:
    """A dump that breaks a rule is none, even if a reader should accept it."""
    chosen = cases.read_cases(ROOT, tmp_path, [pattern])
    controls = [*cases.read_controls(ROOT, tmp_path, chosen), *(one for one in chosen if one.is_control)]
    assert len(controls) == 20 and all(one.should == "accept" and not one.rules for one in controls)


def test_a_reader_that_gives_the_end_of_a_series_has_reported_that_it_is_missing() -> None:
    end, other = replace(case("report"), rules=["REC-007"]), case("report")
    for one, counts, outcome in (
        (end, ["ends"], outcomes.NOTICED),
        (end, [], outcomes.UNREPORTED),
        (other, ["ends"], outcomes.UNREPORTED),  # of another fault the number of ends says nothing
    ):
        says = Hello("r", "1", "", {}, counts, ["object_arrays"], "exact")
        reply = Reply("a/b", "accepted", counts=dict.fromkeys(counts, 0), digests={"object_arrays": ONE})
        assert outcomes.assess(one, says, reply).outcome == outcome


def test_the_body_of_a_heap_dump_end_is_no_loss() -> None:
    """Its text writes an instance; a reader that goes by lengths finds none."""
    (one,) = cases.read_cases(ROOT, ROOT / "build" / "conformance" / "truth", ["invalid/REC-008/with-segment-102-id4"])
    for instances, outcome in ((0, outcomes.COUNTS_ONLY), (1, outcomes.COUNTS_ONLY), (2, outcomes.SILENT_LOSS)):
        reply = Reply(one.name, "accepted", counts={"instances": instances})
        assert outcomes.assess(one, hello(digests=[]), reply).outcome == outcome


def test_what_is_given_did_not_fail() -> None:
    """Whatever the reader says of it."""
    reply = replace(accepted(instances=1), failed={"instances": "no"})
    assert outcomes.assess(case("reject"), hello(digests=["object_arrays"]), reply).outcome == outcomes.SILENT_LOSS


def test_a_call_that_always_fails_reports_no_loss_elsewhere() -> None:
    """Nor does it make one: what it would give is not compared."""
    reader = hello(digests=["object_arrays", "instances"])

    def reply(entry: Entry, error: str) -> Reply:
        return Reply("a/b", "accepted", counts={"instances": 2}, digests={"object_arrays": entry}, failed={"instances": error})

    notices = outcomes.notices_of_valid(reader, [reply(ONE, "no 12")] * 20)
    for entry, error, outcome in (
        (NOTHING, "no 34", outcomes.SILENT_LOSS),
        (NOTHING, "another", outcomes.NOTICED),
        (ONE, "no 34", outcomes.NOTICED),
    ):
        assert outcomes.assess(case("reject"), reader, reply(entry, error), notices).outcome == outcome


def test_an_entry_that_failed_excuses_no_other_that_is_wrong() -> None:
    reader = hello(digests=["object_arrays", "instances"])
    reply = Reply("a/b", "accepted", counts={"instances": 2}, digests={"object_arrays": NOTHING}, failed={"instances": "no"})
    assert outcomes.assess(case("accept"), reader, reply).outcome == outcomes.WRONG_CONTENT


@pytest.mark.parametrize("entry", PARTS)
def test_of_a_malformed_dump_only_what_no_class_decides_is_compared(entry: str) -> None:
    """A fault in a class leaves open what the fields are, and never what roots, arrays and bytes are."""
    one = replace(case("reject"), truth=Truth({"instances": 2}, {entry: ONE}, {entry: ONE}))
    reply = Reply("a/b", "accepted", counts={"instances": 2}, digests={entry: NOTHING})
    is_loss = entry in ("roots", "object_arrays", "primitive_arrays", "instance_bytes")
    expected = outcomes.SILENT_LOSS if is_loss else outcomes.COUNTS_ONLY
    assert outcomes.assess(one, hello(digests=[entry]), reply).outcome == expected


@pytest.mark.parametrize(("dumps", "kinds", "are_noise"), [(20, 5, False), (20, 6, True), (100, 10, False), (100, 11, True)])
def test_a_reader_that_says_many_different_things_of_valid_dumps_reports_nothing(dumps: int, kinds: int, are_noise: bool) -> None:
    """More than five, and more than a tenth of their number: PROTOCOL.md 2.1."""
    valid = [accepted(notices=["x" * (number % kinds + 1)]) for number in range(dumps)]
    assert outcomes.notices_of_valid(hello(), valid).are_noise == are_noise


def test_a_root_of_no_object_may_be_left_out() -> None:
    """One of the two threads has none: a thread of JNI."""
    (one,) = cases.read_cases(ROOT, ROOT / "build" / "conformance" / "truth", ["either/agent-style"])
    assert (one.truth.counts["ROOT_THREAD_OBJECT"], one.truth.null_roots) == (2, {"ROOT_THREAD_OBJECT": 1, "roots": 1})
    for kind, number in (("ROOT_THREAD_OBJECT", 2), ("roots", one.truth.counts["roots"])):
        assert [one.truth.allows(kind, found) for found in range(number - 2, number + 2)] == [False, True, True, False]


def test_the_objects_of_roots_are_compared_by_the_kinds_that_are_counted() -> None:
    (one,) = cases.read_cases(ROOT, ROOT / "build" / "conformance" / "truth", ["valid/all-roots-102-id8"])
    assert one.truth.exact is not None
    one_kind, all_kinds = one.truth.exact["ROOT_MONITOR_USED"], one.truth.exact["roots"]
    assert (one_kind.count, all_kinds.count) == (1, 9)
    for kinds, right in ((["ROOT_MONITOR_USED"], one_kind), ([], all_kinds), ([*ROOTS], all_kinds)):
        counts = {kind: one.truth.counts.get(kind, 0) for kind in kinds}
        reader = replace(hello(digests=["roots"]), counts=kinds)
        for entry, outcome in ((right, outcomes.RIGHT), (replace(right, sum="0" * 32), outcomes.WRONG_CONTENT)):
            reply = Reply(one.name, "accepted", counts=counts, digests={"roots": entry})
            assert outcomes.assess(one, reader, reply).outcome == outcome


def test_a_dangling_reference_may_look_like_null_if_the_reader_says_so() -> None:
    found = outcomes.assess(case("accept"), hello("resolved"), accepted(entry=NOTHING))
    assert found.outcome == outcomes.RIGHT


def test_what_is_unsupported_may_crash_but_not_hang() -> None:
    one = case("accept", ["gzip"])
    crashed = outcomes.assess(one, hello(), Reply("a/b", "crashed", ""))
    assert (crashed.outcome, crashed.beneath) == (outcomes.UNSUPPORTED, outcomes.CRASHED)
    for outcome in (outcomes.HUNG, outcomes.OUT_OF_MEMORY):
        assert outcomes.assess(one, hello(), Reply("a/b", outcome, "")).outcome == outcome


# ---- expectations

RIGHT = Seen("right", True, "")
HUNG, CRASHED, OUT_OF_MEMORY = (Seen(outcome, False, "") for outcome in ("hung", "crashed", "out of memory"))
LOST = Seen("wrong counts", False, "", {"instances": "1"})
NONE = Accept()


def lines(*found: tuple[str, str]) -> Expectations:
    return Expectations("1", {name: Expected(name, outcome, f"because of {name}", 7) for name, outcome in found})


def test_a_case_that_fails_unlisted_a_listed_one_that_passes_and_one_that_is_gone_are_surprises() -> None:
    known = lines(("passes now", "crashed"), ("as listed", "hung"), ("gone", "hung"), ("other", "crashed"))
    seen = {"passes now": RIGHT, "as listed": HUNG, "new": CRASHED, "other": HUNG}
    found = {one.case for one in expectations.compare(known, {**seen, "well": RIGHT}, set(seen), complete=True)}
    assert found == {"passes now", "gone", "new", "other"}
    assert {one.case for one in expectations.compare(known, seen, set(seen), complete=False)} == found - {"gone"}


@pytest.mark.parametrize(
    ("differs", "is_surprise"),
    [({"instances": "1"}, False), ({"instances": "0"}, True), ({}, True), ({"instances": "1", "statics": "0 items"}, True)],
)
def test_a_line_pins_the_value_of_the_reader(differs: dict[str, str], is_surprise: bool) -> None:
    known = Expectations("1", {"a": Expected("a", "wrong counts", "it loses one", 7, {"instances": "1"})})
    found = expectations.compare(known, {"a": Seen("wrong counts", False, "", differs)}, {"a"}, complete=True)
    assert bool(found) == is_surprise
    kept = expectations.updated(known, "1", {"a": Seen("wrong counts", False, "", differs)}, {"a"}, NONE)
    assert kept == known  # without --accept nothing changes


SOME_LOST = {"instances of Node": "0", "Node.next": "none"}


@pytest.mark.parametrize(
    ("outcome", "differs", "is_surprise"),
    [
        ("content differs", SOME_LOST, False),
        ("content differs", {**SOME_LOST, "instances of Thread": "7"}, False),
        ("content differs", {"instances of Thread": "0"}, False),
        ("REF-002", {}, False),
        ("content differs", {"instances of Node": "0"}, True),  # of what is lost together, some is not
        ("content differs", {**SOME_LOST, "instances of Node": "1"}, True),
        ("content differs", {**SOME_LOST, "instances of Other": "0"}, True),
        ("content differs", {"instances of Thread": "22"}, True),  # more than there are
        ("content differs", {"instances of Thread": "none"}, True),
        ("OBJ-009; content differs", SOME_LOST, True),
        ("invalid; REF-002; content differs", SOME_LOST, True),
    ],
)
def test_what_is_lost_varies_as_the_line_says(outcome: str, differs: dict[str, str], is_surprise: bool) -> None:
    line = Expected("a", "content differs or REF-002", "it loses some", 25, SOME_LOST, {"instances of Thread": 21})
    found = expectations.compare(Expectations("1", {"a": line}), {"a": Seen(outcome, False, "", differs)}, {"a"}, complete=True)
    assert bool(found) == is_surprise
    assert all("Thread is 7" not in one.what for one in found)


def test_a_line_may_allow_several_outcomes_where_load_decides() -> None:
    known = lines(("slow", "hung or out of memory"))
    for outcome in (HUNG, OUT_OF_MEMORY, CRASHED):
        found = expectations.compare(known, {"slow": outcome}, {"slow"}, complete=True)
        assert bool(found) == (outcome == CRASHED)
        kept = expectations.updated(known, "1", {"slow": outcome}, {"slow"}, Accept(["slow"], 7)).cases["slow"]
        assert (kept == known.cases["slow"]) == (outcome != CRASHED)


def test_an_update_removes_lines_and_adds_only_what_is_accepted(tmp_path: Path) -> None:
    known = lines(("as listed", "hung"), ("passes now", "crashed"), ("other", "crashed"), ("not run", "hung"), ("gone", "hung"))
    seen = {"as listed": HUNG, "passes now": RIGHT, "other": HUNG, "new": LOST}
    every = {*seen, "not run"}
    found = expectations.updated(known, "2", seen, every, NONE)
    assert found.cases == {name: known.cases[name] for name in ("as listed", "not run", "other")}
    assert {one.case for one in expectations.compare(found, seen, every, complete=True)} == {"other", "new"}
    found = expectations.updated(known, "2", seen, every, Accept(["o*", "new"], 9, 'says "no"\n'))
    assert found.cases["other"] == Expected("other", "hung", 'says "no"\n', 9)
    assert found.cases["new"] == Expected("new", "wrong counts", 'says "no"\n', 9, {"instances": "1"})
    expectations.write(tmp_path / "r.toml", "R", found)
    assert expectations.read(tmp_path / "r.toml") == found
    assert not expectations.compare(found, seen, every, complete=True)


def test_each_count_and_each_entry_that_a_reader_gave_once_is_missed() -> None:
    """Several counts and entries have one name, so what is left of them hides nothing."""
    gave = replace(hello(), counts=["classes"], digests=["object_arrays", "statics"])
    known = expectations.also_compared(Expectations(), gave)
    assert not expectations.no_longer(known, gave)
    for lost, name in (({"counts": []}, "classes"), ({"digests": ["statics"]}, "object_arrays")):
        (surprise,) = expectations.no_longer(known, replace(gave, **lost))
        assert surprise.what == f"no longer compared: {name}"


# ---- a whole run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> report.Json:
    """Of a reader that takes any file for one of as many instances as it has bytes."""
    reader = Reader("test", "Test", "1", "test", "", "", "own", Path(__file__).parent / "own-reader", {})
    some = cases.read_cases(ROOT, tmp_path_factory.mktemp("truth"), ["valid/gzip-one-*"])
    assert len(some) == 3
    row = matrix.run_reader(ROOT, Path("/nonexistent"), reader, matrix.Cases(some), Limits())
    assert row.why_not.startswith("calibration: ")  # whose counts are wrong never counts
    row.why_not = ""
    row.cells = [matrix.Cell(one, (reply := accepted()), outcomes.assess(one, hello(), reply), 0.1) for one in some]
    return report.make([row], some, {}, {"test": [expectations.Surprise(some[0].name, "wrong <counts>")]}, [])


def test_each_outcome_is_in_the_score_that_it_belongs_to(made: report.Json) -> None:
    """And in no other: an unsupported case is apart, and a real dump that a reader may refuse is not among those to be read."""
    found = [
        *(("gold/a", "accept", outcomes.RIGHT, ""), ("gold/b", "either", outcomes.COUNTS_RIGHT, "")),
        *(("a", "reject", outcomes.NOTICED, ""), ("b", "reject", outcomes.REJECTED, ""), ("c", "report", outcomes.CRASHED, "")),
        *(("d", "accept", outcomes.UNSUPPORTED, one) for one in (outcomes.WRONG_COUNTS, outcomes.WRONG_CONTENT)),
        *(("e", "reject", outcomes.UNSUPPORTED, one) for one in (outcomes.SILENT_LOSS, outcomes.CRASHED, outcomes.REJECTED)),
    ]
    row = matrix.Row(Reader("a", "A", "1", "a", "", "", "none", ROOT, {}), hello())
    row.cells = [
        matrix.Cell(replace(case(should), name=name), accepted(), outcomes.Verdict(outcome, "", [], beneath), 0.1)
        for name, should, outcome, beneath in found
    ]
    scores = report.scores(row)
    expected = {"cases": 10, "unsupported": 5, "unsupported_losses": 3, "unsupported_crashes": 1, "real": 1, "real_right": 1}
    expected |= {"valid": 1, "content": 1, "invalid": 3, "invalid_rejected": 2, "crashes": 1, "silent_losses": 0, "hangs": 0}
    assert {name: scores[name] for name in expected} == expected


def test_the_share_of_objects_that_are_covered() -> None:
    for number, of, words in ((3, 4, "75 %"), (0, 4, "0 %"), (0, 0, "none")):
        assert texts.covered({"covered": number, "objects": of}) == words


@pytest.mark.parametrize("is_other", [False, True])
def test_a_surprise_fails_the_run_unless_the_version_is_another(is_other: bool, made: report.Json, tmp_path: Path) -> None:
    result = {**made, "readers": [{**made["readers"][0], "another_version": is_other, "ran": True, "calibration": []}]}
    asked = argparse.Namespace(producer=None, filter=None)
    assert result["readers"][0]["surprises"] and main._conclude(asked, result, tmp_path) == (0 if is_other else 1)


def test_the_report_is_as_its_schema_says(made: report.Json) -> None:
    jsonschema.Draft202012Validator(json.loads(report.SCHEMA.read_text(encoding="utf-8"))).validate(json.loads(json.dumps(made)))


def test_the_schema_and_the_page_know_all_outcomes() -> None:
    result = json.loads(report.SCHEMA.read_text(encoding="utf-8"))["properties"]["readers"]["items"]["properties"]["results"]
    assert set(result["items"]["properties"]["outcome"]["enum"]) == set(outcomes.OUTCOMES)
    colours = page.TEMPLATE.read_text(encoding="utf-8").split("const colour = {")[1].split("}")[0]
    assert set(re.findall(r'"([^"]+)":', colours)) == set(outcomes.OUTCOMES)


def test_the_junit_file_fails_for_a_surprise(made: report.Json) -> None:
    suite = ElementTree.fromstring(texts.junit(made))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.get("message") == "wrong <counts>"


def test_the_junit_file_has_all_surprises_and_fails_as_the_run_does(made: report.Json) -> None:
    surprises = [{"case": "the hello", "what": what} for what in ("no longer compared: roots", "no longer supported: gzip")]
    for other, failures, skipped in ((False, "1", "0"), (True, "0", "1")):
        reader = {**made["readers"][0], "surprises": surprises, "another_version": other}
        suite = ElementTree.fromstring(texts.junit({**made, "readers": [reader]}))[0]
        assert (suite.get("failures"), suite.get("skipped")) == (failures, skipped)
        (found,) = [*suite.iter("skipped" if other else "failure")]
        assert all(one["what"] in (found.get("message") or "") for one in surprises)


def test_another_version_is_one_that_the_expectations_do_not_name() -> None:
    reader, none = Reader("a", "A", "2", "a", "", "", "none", ROOT, {}), {"name": "p", "version": "", "ran": False}
    for versions, other in (({"a": "1"}, True), ({"a": "2"}, False), ({"a": ""}, False), ({}, False)):
        found = report.make([matrix.Row(reader)], [], {}, {}, [dict(none)], versions={**versions, "p": "1"})
        assert (found["readers"][0]["another_version"], found["producers"][0]["another_version"]) == (other, False)


def test_the_junit_file_fails_for_a_reader_that_fails_its_calibration(made: report.Json) -> None:
    reader = {**made["readers"][0], "ran": False, "why_not": "calibration: hello", "results": [], "surprises": []}
    suite = ElementTree.fromstring(texts.junit({**made, "readers": [reader]}))[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")


def test_the_table_has_a_line_for_each_reader(made: report.Json) -> None:
    assert sum(line.startswith("| Test | 1 |") for line in texts.matrix(made).splitlines()) == 1


def test_the_difference_of_two_runs(made: report.Json) -> None:
    assert not list(diff.differences(made, made))
    other: dict[str, Any] = json.loads(json.dumps(made))
    other["readers"][0]["version"] = "2"
    other["readers"][0]["results"][0]["outcome"] = "hung"
    found = list(diff.differences(made, other))
    assert len(found) == 2 and "version 1 before, 2 now" in found[0] and found[1].endswith("before, hung now")
    assert list(diff.differences(made, {**made, "readers": []})) == ["test: only in the old run"]
    stopped = {**made, "readers": [{**made["readers"][0], "ran": False}]}
    assert list(diff.differences({**stopped, "readers": [{**stopped["readers"][0], "ran": True}]}, stopped)) == [
        "test: ran before, does not run now"
    ]


@pytest.mark.parametrize(
    ("dump", "outcome"),
    [
        ({"fine": True, "content": "complete until 5 of 7 bytes"}, "fine"),
        ({"bytes": 0, "valid": False}, "no dump"),
        ({"valid": False, "in_profile": {"OBJ-004": 3, "REF-002": 1}}, "invalid; OBJ-004, REF-002"),
        ({"in_profile": {"REF-002": 1}, "differs": {"instances of Node": "0"}}, "content differs"),
        ({"in_profile": {"REF-002": 1, "OBJ-009": 1}, "differs": {"instances of Node": "0"}}, "OBJ-009; content differs"),
        ({"valid": False, "in_profile": {"REC-002": 1}, "content": "sound until 3 instead of 5 of 7 bytes"},
         "invalid; REC-002; content differs"),
        ({"content": "complete until 5 of 7 bytes"}, "neither error nor warning though interrupted"),
    ],
)  # fmt: skip
def test_the_outcome_of_a_dump_does_not_change_with_numbers(dump: report.Json, outcome: str) -> None:
    whole = {"bytes": 7, "valid": True, "in_profile": {}, "content": "", "differs": {}, "fine": False, **dump}
    assert expectations.outcome_of_dump(whole) == outcome


def test_dumps_of_two_runs_differ_by_their_outcome() -> None:
    def run(content: str, fine: bool) -> report.Json:
        dump = {
            "how": "killed",
            "bytes": 7,
            "valid": False,
            "in_profile": {"REC-002": 1},
            "content": content,
            "differs": {},
            "fine": fine,
        }
        producer = {"name": "p", "ran": True, "version": "1", "dumps": [dump]}
        return {"readers": [], "producers": [producer]}

    first, second = run("complete until 5 of 7 bytes", True), run("complete until 4 of 6 bytes", True)
    assert not list(diff.differences(first, second))
    third = run("sound until 3 instead of 5 of 7 bytes", False)
    assert list(diff.differences(first, third)) == ["p: killed: fine before, invalid; REC-002; content differs now"]


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "No such file or directory"), ("{", "Expecting property name"), ('{"readers": []}', "not a report of conformance/run")],
)
def test_the_difference_to_a_file_that_is_no_report(text: str | None, words: str, tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    if text is not None:
        old.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "hprof_conformance.diff", str(old), str(old)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert re.fullmatch(rf"conformance/diff: {re.escape(str(old))}: {words}.*\n", found.stderr), found.stderr


# ---- what is checked in


def test_every_reader_is_described_and_expectations_name_existing_cases() -> None:
    names = {one["file"].removesuffix(".hprof") for one in json.loads((ROOT / "corpus/manifest.json").read_text())["files"]}
    known = {reader.name: reader for reader in read_readers(ROOT)}
    assert len(known) >= 9
    assert {"shark-graph", "visualvm", "jol"} <= set(known)
    for reader in known.values():
        assert reader.kind in ("java", "program", "none")
        assert bool(reader.why) == (reader.kind == "none" or bool(reader.installed))
    producers = {producer.name for producer in read_producers(ROOT)}
    for path in sorted((ROOT / main.EXPECTATIONS).glob("*.toml")):
        assert path.stem in known or path.stem in producers
        found = expectations.read(path)
        if path.stem in known:
            assert found.version == known[path.stem].version or known[path.stem].installed
            assert not [case for case in found.cases if not case.startswith("gold/") and case not in names], path
        for one in found.cases.values():
            assert one.reason and not set(one.outcome.split(" or ")) & outcomes.AS_IT_SHOULD_BE


def test_differences_of_this_trees_generator_count() -> None:
    """They would not fail if its expectations named another version."""
    found = re.search(r"^## ([0-9.]+), ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert found and expectations.read(ROOT / main.EXPECTATIONS / "hprof-gen.toml").version == found[1]


GOLD = {"about": "About.", "should": "accept", "rules": [], "requires": [], "producer": "a"}
DUMP = (ROOT / "corpus" / "valid" / "gzip-one-member-101-id4.hprof").read_bytes()


def test_whoever_reads_a_gold_file_that_is_made_anew_has_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "conformance").mkdir()
    for about in ("old", "new"):
        gold.keep(tmp_path, "a", [gold.Gold("a-b", about, "accept", [], [], about.encode(), [])], ["a-b"])
        if about == "old":
            files = [path.open("rb") for path in sorted(gold.folder_of(tmp_path).iterdir())]
    assert gold.read(tmp_path, "a-b") == b"new"
    archive, index = (file.read() for file in files)
    assert b"old" in lzma.decompress(archive) and json.loads(index)["a-b"]["about"] == "old"
    assert len([*gold.folder_of(tmp_path).iterdir()]) == 2
    for file in files:
        file.close()


def test_no_reader_runs_while_gold_files_are_made() -> None:
    asked = argparse.Namespace(reader=None, producer=None, filter=None, gold=True, readers=None)
    assert not main.chosen_readers(asked, read_readers(ROOT))


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.hprof.xz", lzma.compress(DUMP)[:-9], "damaged: Compressed data ended"),
        ("a.hprof.xz", DUMP, "damaged: Input format not supported"),
        ("a.hprof.gz", DUMP[:-9], "damaged: 0x0: "),
        ("a.hprof.xz", None, "No such file"),
    ],
)
def test_a_damaged_gold_file_is_named(name: str, data: bytes | None, words: str, tmp_path: Path) -> None:
    gold = tmp_path / "conformance" / "gold"
    gold.mkdir(parents=True)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "manifest.json").write_text('{"files": []}', encoding="utf-8")
    (gold / "index.json").write_text(json.dumps({"a": {**GOLD, "file": name}}), encoding="utf-8")
    if data is not None:
        (gold / name).write_bytes(data)
    with pytest.raises((RefusedError, OSError), match=words) as found:
        cases.read_cases(tmp_path, tmp_path / "truth", [])
    assert name in str(found.value)


def test_a_file_of_the_corpus_that_the_manifest_does_not_describe_is_named(tmp_path: Path) -> None:
    (one,) = (
        one for one in json.loads((ROOT / "corpus/manifest.json").read_text())["files"] if one["file"] == "valid/names-odd.hprof"
    )
    (tmp_path / "corpus" / "valid").mkdir(parents=True)
    (tmp_path / "corpus" / "manifest.json").write_text(json.dumps({"files": [one]}), encoding="utf-8")
    copy = tmp_path / "corpus" / one["file"]
    copy.write_bytes((ROOT / "corpus" / one["file"]).read_bytes())
    assert [found.name for found in cases.read_cases(tmp_path, tmp_path / "truth", [])] == ["valid/names-odd"]
    copy.write_bytes(copy.read_bytes()[:-1])
    with pytest.raises(RefusedError, match=r"names-odd\.hprof: not the file that corpus/manifest.json describes"):
        cases.read_cases(tmp_path, tmp_path / "truth", [])


def test_content_that_the_manifest_has_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a fault of the Python reader would make each cell of a file fall back to its counts."""

    def raises(data: memoryview) -> None:
        raise FramingError(0, "a fault")

    monkeypatch.setattr(cases, "Content", raises)
    with pytest.raises(RefusedError, match=r"names-odd\.hprof: the Python reader does not read its content"):
        cases.read_cases(ROOT, tmp_path, ["valid/names-odd"])


OF_A_JVM = [name for name in COUNTS if name.startswith("ROOT_")][:9]


@pytest.mark.parametrize("reader", [one for one in read_readers(ROOT) if one.kind != "none"], ids=lambda one: one.name)
def test_what_a_reader_is_not_asked_for_is_named(reader: Reader) -> None:
    assert {*reader.digests} | {*reader.not_asked} >= {*PARTS}
    assert {*OF_A_JVM} <= {*reader.counts, *reader.not_asked} or not any(one in OF_A_JVM for one in reader.counts)
    assert all(one["says"] in ("the reader", "we") and one["why"] for one in reader.not_asked.values())


def test_a_reader_that_is_not_asked_for_what_it_gives_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "conformance" / "readers" / "jol"
    folder.mkdir(parents=True)
    text = (ROOT / "conformance/readers/jol/reader.toml").read_text(encoding="utf-8")
    (asked,) = re.findall(r"(?m)^instance_bytes = .*\n", text)
    (folder / "reader.toml").write_text(text.replace(asked, ""), encoding="utf-8")
    with pytest.raises(RefusedError, match=r"and the counts and digests differ: instance_bytes$"):
        read_readers(tmp_path)


ALL_FINDINGS = findings.read_findings(ROOT)
PINNED = findings.pinned(ROOT)


def test_a_finding_that_does_not_stand_cannot_be_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    withdrawn = next(one.number for one in ALL_FINDINGS if one.withdrawn)
    for number in (withdrawn, 9999):
        monkeypatch.setattr(sys, "argv", ["reproduce", str(number)])
        with pytest.raises(RefusedError, match=f"no finding has the number {number}"):
            findings._reproduce()


def test_every_expectation_has_a_finding_that_stands() -> None:
    standing = {one.number for one in ALL_FINDINGS if not one.withdrawn}
    assert set(PINNED) <= standing, set(PINNED) - standing
    assert len({one.number for one in ALL_FINDINGS}) == len(ALL_FINDINGS)


@pytest.mark.parametrize("one", ALL_FINDINGS, ids=lambda one: str(one.number))
def test_a_finding_has_a_clause_a_file_and_a_command(one: findings.Finding) -> None:
    if one.withdrawn:
        return
    assert one.title and one.clause and one.expected and one.actual
    cases_of = PINNED.get(one.number, {})
    assert cases_of or one.often
    if one.readers:  # each reader that it names is known to fail by it, and no other is; each has a command of its own
        assert set(one.readers) == set(cases_of) or (one.case and not cases_of)
        commands = findings.shown(ROOT, one, cases_of)
        assert [each.reader for each in commands] == one.readers
        assert all(f"/show {each.reader} " in each.command for each in commands)
        assert all(findings.kept_of_reader(ROOT, one.number, each).stat().st_size for each in commands)
    else:
        assert one.command
    if one.real and one.readers:  # a dump that is kept shows it; or those of a killed VM, which are not, as `often` says
        kept = any(case.startswith("gold/") for some in cases_of.values() for case in some)
        assert kept or ("HotSpot" in one.often and re.search("killed|ended too early", one.often))


def plain(text: str) -> str:
    """Without the marks and line breaks of Markdown, and with the text of a link alone."""
    return " ".join(re.sub(r"[`*]", "", re.sub(r"\[([^]]*)\](\([^)]*\))?", r"\1", text)).split())


def sections_of_spec() -> dict[str, str]:
    """By number: the text of a section, with that of its subsections."""
    heads = re.split(r"(?m)^#{2,4} (\d[\d.]*) ", (ROOT / "SPEC.md").read_text(encoding="utf-8").split("\n## Appendix")[0])[1:]
    own = dict(zip(heads[::2], heads[1::2], strict=True))
    return {number: plain("".join(text for other, text in own.items() if f"{other}.".startswith(f"{number}."))) for number in own}


def test_a_clause_names_sections_and_rules_that_exist_and_quotes_the_words_of_a_section() -> None:
    sections, rules = sections_of_spec(), (ROOT / "validator" / "RULES.md").read_text(encoding="utf-8")
    quotes = 0
    for one in ALL_FINDINGS:
        assert one.withdrawn or re.search(r"our reading|\d\.\d|[A-Z]{2,4}-\d{3}", one.clause), one.number
        where = ""
        for section, quote in re.findall(r'(\d+(?:\.\d+)+)|"([^"]*)"', one.clause):
            where = section or where
            assert where in sections, (one.number, where)
            for part in quote.split("..."):
                quotes += bool(part)
                assert plain(part) in sections[where], (one.number, where, part)
        assert all(rule in rules for rule in re.findall(r"[A-Z]{2,4}-\d{3}", one.clause)), one.number
    assert quotes > 40


@pytest.mark.parametrize("one", [one for one in ALL_FINDINGS if one.readers], ids=lambda one: str(one.number))
def test_the_file_of_a_finding_is_the_smallest_of_its_cases(one: findings.Finding) -> None:
    cases_of = PINNED.get(one.number, {})
    for each in findings.shown(ROOT, one, cases_of):
        beside = {path.with_suffix("").relative_to(CORPUS).as_posix() for path in (CORPUS / one.case).parent.glob("*.hprof")}
        known = beside if one.case else cases_of[each.reader]
        sizes = {case: (CORPUS / f"{case}.hprof").stat().st_size for case in known if not case.startswith("gold/")}
        assert not sizes or sizes.get(each.case) == min(sizes.values())


def test_what_cannot_be_shown_here_is_not_tried(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("MAT_HOME", raising=False)
    monkeypatch.setattr(sys, "argv", ["reproduce", "93"])
    assert findings.main() == 0
    assert capsys.readouterr().out == (
        "0 commands, 0 print otherwise or nothing, 1 not tried\nnot tried: 93 on eclipse-mat: MAT_HOME names no folder\n"
    )


def test_a_reader_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else its finding would seem to be another one now."""
    for name in ("findings", "expectations", "readers", "gold"):
        (tmp_path / "conformance" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "conformance" / name).symlink_to(ROOT / "conformance" / name)
    (tmp_path / "corpus").symlink_to(CORPUS)
    monkeypatch.setattr(cases, "source_tree", lambda: tmp_path)
    monkeypatch.setattr(sys, "argv", ["reproduce", "9"])
    assert findings.main() == 2
    assert capsys.readouterr().err == (
        "conformance/findings/reproduce: not installed: heaptrail: "
        "conformance/run --readers heaptrail --producers none --cases valid/names-odd\n"
    )


def test_the_smallest_real_dump_need_not_be_in_the_smallest_archive() -> None:
    sizes = {f"gold/{name}": len(gold.read(ROOT, name)) for name in ("jdk11-odd-supplementary", "jdk17-odd-supplementary")}
    assert sizes[findings.smallest(ROOT, [*sizes])] == min(sizes.values())


@pytest.mark.parametrize("reader", [one for one in read_readers(ROOT) if one.kind != "none"], ids=lambda one: one.name)
def test_of_a_new_row_each_outcome_finding_and_message_is_drawn(reader: Reader) -> None:
    """Also those of cases that the reader does not claim to support: a hang is a line of the expectations there, too."""
    lines = expectations.read(ROOT / "conformance" / "expectations" / f"{reader.name}.toml").cases
    known = [replace(case("reject", requires=[*reader.unsupported]), name=name) for name in lines]
    accused, others = verified.cells(ROOT, reader, known)
    assert not others
    found = verified.one_of_each([(accused, [verified.Cell(reader, case("accept"), None)])], random.Random(1))
    drawn = [cell.expected for cell in found if cell.expected]
    assert {(one.outcome, one.finding, one.reason) for one in drawn} == {
        (one.outcome, one.finding, one.reason) for one in lines.values()
    }


def test_findings_md_is_made_from_what_is_checked_in() -> None:
    assert (ROOT / "conformance" / "FINDINGS.md").read_text(encoding="utf-8") == findings.markdown(ROOT)


# ---- the program


def run(*options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "hprof_conformance.main", "--quiet", *options]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def test_a_program_that_takes_a_file_is_a_reader(tmp_path: Path) -> None:
    reader = tmp_path / "my-reader"
    reader.write_text('#!/bin/sh\nhead -c 4 "$1" | grep -q JAVA || { echo "no dump" >&2; exit 1; }\n')
    reader.chmod(0o755)
    status, out = run("--reader", str(reader), "--cases", "valid/names-*,HDR-001", "--report", str(tmp_path / "report"))
    found = json.loads((tmp_path / "report" / "report.json").read_text())["readers"][0]
    results = {one["case"]: one["outcome"] for one in found["results"]}
    assert status == 0, out
    assert results["valid/names-odd"] == outcomes.NOT_COMPARED
    assert "rejected" in results.values()
    for name in ("matrix.md", "junit.xml", "index.html"):
        assert (tmp_path / "report" / name).stat().st_size > 0


def test_a_reader_of_ones_own_fails_for_what_it_does_not_report(tmp_path: Path) -> None:
    reader = tmp_path / "my-reader"
    reader.write_text('#!/bin/sh\ntest "$(head -c 4 "$1")" = JAVA\n')
    reader.chmod(0o755)
    found = run("--reader", str(reader), "--cases", "REC-007", "--report", str(tmp_path / "report"))
    made = json.loads((tmp_path / "report" / "report.json").read_text())["readers"][0]
    assert found[0] == 1, found[1]
    assert {one["outcome"] for one in made["results"]} == {"accepted without notice"}
    assert made["scores"]["unreported"] == made["scores"]["invalid"] > 0


def test_a_reader_of_ones_own_fails_for_a_valid_dump_that_it_refuses(tmp_path: Path) -> None:
    reader = tmp_path / "jol"  # the expectations of JOL, of another version, do not hold for it
    reader.write_text('#!/bin/sh\nif grep -q bytes "$1"; then exit 1; fi\n')
    reader.chmod(0o755)
    status, out = run("--reader", str(reader), "--cases", "valid/arrays-all-types-*", "--report", str(tmp_path / "report"))
    assert status == 1
    assert "refused, and no line expects it" in out


@needs_tool
@pytest.mark.parametrize(
    ("script", "status", "words"),
    [
        ("cp corpus/valid/names-odd.hprof $1", 0, "| not compared |"),
        ("cp corpus/invalid/OBJ-004/two-instances-102-id8.hprof $1", 1, "dump: invalid; OBJ-004, and no line expects it"),
        ("echo no heap >&2; exit 3", 1, "ended with 3: no heap"),
        ("exit 0", 1, "nothing is left"),
    ],
)
def test_a_producer_of_ones_own(script: str, status: int, words: str, tmp_path: Path) -> None:
    producer = tmp_path / "my-dump"
    producer.write_text(f"#!/bin/sh\ncd {ROOT} && {script}\n")
    producer.chmod(0o755)
    found = run("--producer", str(producer), "--report", str(tmp_path / "report"))
    assert found[0] == status and words in found[1], found[1]


def test_a_count_and_an_entry_of_one_name_are_both_pinned() -> None:
    reply = Reply("a/b", "accepted", counts={"instances": 1}, digests={"instances": NOTHING})
    verdict = outcomes.assess(case("accept"), hello(digests=["instances"]), reply)
    pinned = {"instances": f"1; 0 items, {NOTHING.sum}"}
    assert report.outcome_and_differences(verdict) == (outcomes.WRONG_COUNTS, pinned)


def test_what_ends_one_reader_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a full disk. Neither a reader nor a producer that takes long is waited for."""
    first, second = read_readers(ROOT)[:2]
    monkeypatch.setattr(steps, "stopping", threading.Event())

    def run_reader(root: Path, build: Path, reader: Reader, *_: object) -> matrix.Row:
        if reader == second:
            raise OSError(errno.ENOSPC, "No space left on device")
        assert steps.stopping.wait(60)
        return matrix.Row(reader)

    monkeypatch.setattr(matrix, "run_reader", run_reader)
    for seconds in (None, 1):
        steps.stopping.clear()
        with (
            pytest.raises(OSError, match="No space left"),
            matrix.running(ROOT, ROOT, [first, second], matrix.Cases([]), Limits(), 2) as finished,
        ):
            finished(seconds)


def test_a_reader_that_cannot_be_built_fails(tmp_path: Path) -> None:
    """A reader whose tools are not here is left out."""
    (jol,) = (one for one in read_readers(ROOT) if one.name == "jol")
    broken = replace(jol, replace={"class": "clas"}, folder=tmp_path)
    (tmp_path / "Jol.java").write_text("clas Jol {}", encoding="utf-8")
    (tmp_path / "pom.xml").write_text((jol.folder / "pom.xml").read_text(encoding="utf-8"), encoding="utf-8")
    row = matrix.run_reader(ROOT, tmp_path / "build", broken, matrix.Cases([]), Limits())
    made = report.make([row], [], {}, {}, [])
    assert report.fails_calibration(made["readers"][0]) and "ended with" in row.why_not
    absent = matrix.run_reader(ROOT, tmp_path, replace(jol, kind="none", why="no"), matrix.Cases([]), Limits())
    assert not report.fails_calibration(report.make([absent], [], {}, {}, [])["readers"][0])


@needs_tool
@pytest.mark.parametrize(
    ("error", "surprises"),
    [(FailedError("it ended"), 1), (NotBuiltError("cmake ended with 1"), 1), (NotHereError("needs a JDK"), 0)],
)
def test_a_producer_that_fails_is_a_surprise(
    error: Exception, surprises: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(setting: ways.Setting) -> list[ways.Dump]:
        raise error

    (one,) = (each for each in read_producers(ROOT) if each.name == "hprof-gen")
    monkeypatch.setitem(ways.KINDS, "hprof-gen", raises)
    found = producers.run(ROOT, tmp_path, one, None, False)
    assert (found["ran"], found["why_not"], len(found["surprises"])) == (False, str(error), surprises)


@needs_tool
def test_a_producer_that_no_longer_says_what_it_dumped_is_a_surprise() -> None:
    dump = ways.Dump("plain", ROOT / "corpus/valid/fields-all-types-102-id8.hprof", "strict")
    tool = ways.built(ROOT, "hprof-validate", "validator")
    assert producers.check(tool, dump, says=False)["fine"]
    found = producers.check(tool, dump, says=True)
    assert not found["fine"] and expectations.outcome_of_dump(found) == "content differs"


@needs_tool
def test_an_interrupted_dump_needs_a_finding_and_the_right_offset(tmp_path: Path) -> None:
    """A whole heap dump of 1.0.1 has no end that could be missing: nothing shows that it was interrupted."""
    tool, whole = ways.built(ROOT, "hprof-validate", "validator"), ROOT / "corpus/valid/arrays-all-types-101-id4.hprof"
    found = producers.check(tool, ways.Dump("killed", whole, "strict", interrupted=True), says=False)
    assert not found["fine"] and expectations.outcome_of_dump(found) == "neither error nor warning though interrupted"
    cut, size = tmp_path / "dump", whole.stat().st_size - 1
    cut.write_bytes(whole.read_bytes()[:-1])
    assert producers.check(tool, ways.Dump("killed", cut, "strict", interrupted=True), says=False)["fine"]
    right = producers._validate(tool, cut, "strict")["sound_until"]
    for until in (right - 1, right + 1):
        said = producers._whole(cut, {"sound_until": until, "bytes": size})
        assert said == f"sound until {until} instead of {right} of {size} bytes"


@needs_tool
def test_a_producer_that_cannot_be_started_fails(tmp_path: Path) -> None:
    producer = tmp_path / "my-dump"
    producer.touch(mode=0o755)
    status, out = run("--producer", str(producer), "--report", str(tmp_path / "report"))
    assert status == 1 and "Exec format error" in out


@needs_tool
def test_a_jvm_that_does_not_run_is_no_other_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences of another version than the expectations name do not fail the run."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\necho broken >&2; exit 1\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.99"\n')
    monkeypatch.setenv("HPROF_JDK17", str(tmp_path))
    status, out = run("--readers", "none", "--producers", "jdk17:small", "--report", str(tmp_path / "report"))
    assert status == 1 and "jdk17: the run: " in out, out


def test_a_tool_that_the_environment_names_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPROF_VALIDATE", "/nonexistent")
    status, out = run("--readers", "none", "--producers", "hprof-gen", "--report", str(tmp_path / "report"))
    assert (status, out) == (2, "conformance/run: HPROF_VALIDATE: /nonexistent: no such file\n")


@pytest.mark.parametrize("options", [["--list"], ["--readers", "none", "--producers", "hprof-gen"]])
def test_a_jdk_that_the_environment_names_is_one_of_this_version(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the run does not need it: without it, the run would take another JDK."""
    monkeypatch.setenv("HPROF_JDK17", str(tmp_path))
    assert run(*options) == (2, f"conformance/run: HPROF_JDK17: {tmp_path}: no home of a JDK\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_402"\n')
    assert run(*options) == (2, f"conformance/run: HPROF_JDK17: {tmp_path}: the home of JDK 8\n")
    monkeypatch.setenv("HPROF_JDK8", str(tmp_path))
    monkeypatch.setenv("HPROF_JDK17", "")  # as if it were not set
    assert run("--list")[0] == 0
    with pytest.raises(RefusedError):
        monkeypatch.setenv("HPROF_JDK17", str(tmp_path))
        jvms.find(ROOT, 17)


def _every_mount_is_shared(folder: Path) -> bool:
    """If the root is no mount point, nobody within can change that a mount of a namespace of its own is seen outside."""
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return False
    script = 'mount -t tmpfs none "$0" && touch "$0/file"'
    own = ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", script, str(folder)]
    subprocess.run(own, stderr=subprocess.DEVNULL, check=False)
    if not list(folder.iterdir()):
        return False
    subprocess.run(["umount", folder], check=True)
    return True


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_mounts_end_with_the_run_even_if_it_is_killed(tmp_path: Path) -> None:
    within, was = tmp_path / "within", tmp_path / "was"
    mounts_and_dies = tmp_path / "python"
    mounts_and_dies.write_text(f"#!/bin/sh\nmount -t tmpfs none {within} && touch {within}/file {was}\nkill -9 $$\n")
    mounts_and_dies.chmod(0o755)
    within.mkdir()
    if _every_mount_is_shared(within):
        pytest.skip("a chroot in a machine whose mounts are shared")
    subprocess.run([ROOT / "conformance" / "run"], env={**os.environ, "HPROF_PYTHON": str(mounts_and_dies)}, check=False)
    if not was.exists():
        pytest.skip("mounting is forbidden here")
    assert not list(within.iterdir())


FAKE_PYTHON = """#!/bin/sh
folder=$4
mkdir -p "$folder/bin"
echo '#!/bin/sh' | tee "$folder/bin/pip" >"$folder/bin/python3"
echo 'echo "$@"' >>"$folder/bin/python3"
chmod +x "$folder"/bin/*
"""


@pytest.mark.parametrize(("script", "module"), [("run", "main"), ("fuzz-reader", "fuzz")])
def test_a_script_makes_the_environment_that_it_needs(script: str, module: str, tmp_path: Path) -> None:
    (tmp_path / "conformance").mkdir()
    (tmp_path / "ci").mkdir()
    for name in (script, "python", "requirements.txt"):
        shutil.copy(ROOT / "conformance" / name, tmp_path / "conformance")
    for name, text in (("ci/packages", "#!/bin/sh\n"), ("python3", FAKE_PYTHON), ("cargo", "#!/bin/sh\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HPROF_PYTHON": ""}
    command = [str(tmp_path / "conformance" / script), "jol"]
    for _ in range(2):  # the second time it is there
        found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert found.stdout == f"-m hprof_conformance.{module} jol\n", found.stderr
        (tmp_path / "python3").unlink(missing_ok=True)


def test_the_first_part_of_a_name_means_all_that_begin_with_it() -> None:
    known = read_readers(ROOT)

    def chosen(*names: str) -> list[str]:
        asked = argparse.Namespace(reader=None, producer=None, filter=None, gold=False, readers=[*names])
        return [one.name for one in main.chosen_readers(asked, known)]

    assert chosen("shark", "jol") == ["jol", "shark-graph", "shark-stream"]
    assert chosen("gridkit") == ["gridkit"]  # a name of its own
    with pytest.raises(RefusedError):
        chosen("shar")


def test_dumps_of_more_than_2_gb_are_made_on_demand() -> None:
    known = read_producers(ROOT)
    asked = {"reader": None, "producer": None, "filter": None, "producers": ["jdk17"], "gold": False}
    for huge in (False, True):
        (one,) = main.chosen_producers(argparse.Namespace(**asked, huge=huge), known)
        assert ("huge" in one.ways) == huge and "jcmd" in one.ways


def test_the_name_of_a_dump_follows_that_of_its_producer() -> None:
    known = read_producers(ROOT)

    def chosen(*names: str) -> dict[str, list[str]]:
        asked = {"reader": None, "producer": None, "filter": None, "producers": [*names], "gold": False, "huge": False}
        return {one.name: one.ways for one in main.chosen_producers(argparse.Namespace(**asked), known)}

    assert chosen("sa8:*lain", "agent8:odd-nan", "agent8:small") == {"agent8": ["small", "odd-nan"], "sa8": ["plain"]}
    nobody = next(one.name for one in known if one.kind == "none")
    assert chosen(nobody) == {nobody: []}
    with pytest.raises(RefusedError, match="no dump of sa8 matches 'small-gz'"):
        chosen("sa8:small-gz")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--readers", "nobody"], "no reader is called 'nobody'; --list shows all"),
        (["--producers", "nobody"], "no producer is called 'nobody'; --list shows all"),
        (["--cases", "valid/*,nothing/*", "--readers", "jol"], "no case matches 'nothing/*'; --list shows all"),
        (["--cases", "nothing/*", "--list"], "no case matches 'nothing/*'; --list shows all"),
        (["--cases", "nothing", "--filter", "/bin/cp IN OUT"], "no dump for filters matches 'nothing'; --list shows all"),
        (["--accept", "nothing", "--update", "--finding", "1"], "no case matches 'nothing'; --list shows all"),
        (["--accept", "valid/*", "--update", "--finding", "9999"], "no finding of FINDINGS.md has the number 9999"),
        (["--accept", "valid/*", "--update", "--finding", "8"], "no finding of FINDINGS.md has the number 8"),
        (["--reader", "/nonexistent"], "/nonexistent: no such file"),
        (["--reader", __file__], f"{__file__}: not an executable file"),
        (["--producer", "/"], "/: not an executable file"),
        (["--report", f"{__file__}/report"], f"{__file__}/report: Not a directory"),
        (["--report", "/proc/report"], "/proc/report: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(options: list[str], words: str) -> None:
    assert run("--producers", "none", *options) == (2, f"conformance/run: {words}\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--timeout", "0s"], "'0s' is not a number of seconds above 0"),
        (["--timeout", "soon"], "'soon' is not"),
        (["--cases", ","], "names nothing"),
        (["--reader", "/bin/true", "--readers", "jol"], "exclude each other"),
        (["--reader", "/bin/true", "--update"], "--update with --reader needs --failures"),
        (["--reader", "/bin/true", "--producer", "/bin/true"], "--reader and --producer exclude each other"),
        (["--reader", "/bin/true", "--producers", "jdk17"], "--reader and --producers exclude each other"),
        (["--reader", "/bin/true", "--producers", "none", "--failures", "a", "--finding", "1"], "--failures and --finding exclude"),
        (["--producer", "/bin/true", "--readers", "jol"], "--producer and --readers exclude each other"),
        (["--producer", "/bin/true", "--filter", "/bin/true"], "--producer and --filter exclude each other"),
        (["--producer", "/bin/true", "--update"], "--producer and --update exclude each other"),
        (["--producer", "/bin/true", "--cases", "valid/*"], "--producer and --cases exclude each other"),
        (["--filter", "/bin/true", "--huge"], "--filter and --huge exclude each other"),
        (["--gold", "--readers", "jol"], "--gold and --readers exclude each other"),
        (["--failures", "a"], "--failures needs --reader"),
        (["--accept", "valid/*", "--finding", "1"], "--accept needs --update"),
        (["--accept", "valid/*", "--update"], "--accept needs --finding, or --failures with --reason"),
        (["--accept", "valid/*", "--update", "--reason", "so it is"], "--accept needs --finding, or --failures with --reason"),
        (["--accept", "valid/*", "--update", "--reader", "a", "--failures", "b"], "--accept with --failures needs --reason"),
        (["--finding", "1", "--update"], "--finding needs --accept"),
        (["--reason", "so it is"], "--reason needs --accept"),
    ],
)
def test_options_that_mean_nothing(
    options: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run", *options])
    with pytest.raises(SystemExit) as ended:
        main.arguments()
    assert ended.value.code == 2 and words in capsys.readouterr().err


def test_a_time_limit_for_small_dumps_is_one_for_large_ones_too() -> None:
    assert [(one.seconds, one.seconds_large) for one in map(main.limits, (None, 20.0, 120.0))] == [(10, 60), (20, 60), (120, 120)]


def test_what_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program that a run starts, or that it takes to build what the run starts."""
    for name in ("HPROF_VALIDATE", "HPROF_GEN", "HPROF_AGENT", "HPROF_JDK28", "HPROF_JDK_ROOT", "HPROF_JDK11"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    named = {one.name: one for one in read_producers(ROOT)}
    own = "cmake, ninja, cc, pkg-config"
    assert producers.lacks(tmp_path, named["hprof-repair"]).startswith(f"not here: {own} (")
    assert producers.lacks(tmp_path, named["shark"]).startswith(f"not here: {own} (")
    assert ", Maven" in producers.lacks(tmp_path, named["shark"])
    conv = replace(named["hprof-conv"], start=[str(tmp_path / "hprof-conv"), "IN", "OUT"])
    assert producers.lacks(tmp_path, conv).startswith(f"not here: {own}, hprof-conv (")
    assert "JDK 11 i386 (" in producers.lacks(tmp_path, named["jdk11-i386"])
    for name in ("hprof-validate", "hprof-gen", "mvn", "javac", "hprof-conv"):
        (tmp_path / name).touch(mode=0o755)
    for one in (named["hprof-repair"], named["hprof-gen"], named["hprof-gen-from"], named["shark"], conv):
        assert not producers.lacks(tmp_path, one)
    assert producers.lacks(tmp_path, named["libhprof28"]).startswith(f"not here: {own} (")


def test_which_readers_are_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAT_HOME", "HPROF_JDK8", "HPROF_JDK_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("hprof_conformance.jvms.lacks", lambda major: [f"JDK {major}"])  # whatever this machine has
    named = {one.name: one for one in read_readers(ROOT)}
    assert readers.lacks(named["google-hprof-parser"]) == named["google-hprof-parser"].why != ""
    assert readers.lacks(named["hprof-slurp"]) == "not here: Cargo"
    for name, more in (("jol", ""), ("jhat", ", JDK 8"), ("eclipse-mat", ", a folder named by MAT_HOME")):
        assert readers.lacks(named[name]).startswith("not here: Maven") and readers.lacks(named[name]).endswith(more), name
    for name in ("cargo", "mvn", "javac"):
        (tmp_path / name).touch(mode=0o755)
    for name, found in (("jol", ""), ("jhat", "not here: JDK 8"), ("hprof-slurp", "")):
        assert readers.lacks(named[name]) == found
    monkeypatch.setenv("MAT_HOME", str(tmp_path))
    assert not readers.lacks(named["eclipse-mat"])


def test_the_list() -> None:
    status, out = run("--list")
    assert status == 0 and "shark-graph" in out and "cases" in out
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "hprof_conformance.main", "--list"]
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (found.returncode, found.stderr) == (2, "conformance/run: [Errno 28] No space left on device\n")


# Python reports each process that it starts, and each connection, before it does so.
WATCHED = """
import sys
def watch(event, arguments):
    if event.startswith(("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "socket.")):
        print(f"began {event} {arguments}", file=sys.stderr)
sys.addaudithook(watch)
from hprof_conformance import main
sys.argv[0] = "run"
sys.exit(main.main())
"""


@pytest.mark.parametrize(
    ("options", "is_a_run"),
    [
        (["--list"], False),
        (["--list", "--cases", "gold/*,REC-002"], False),
        (["--help"], False),
        (["--reader", "/bin/true", "--cases", "valid/names-odd"], True),  # so the watch sees what a run starts
    ],
)
def test_a_list_starts_no_program_and_asks_no_network(options: list[str], is_a_run: bool, tmp_path: Path) -> None:
    """So it takes no longer where a JVM, a registry or the whole machine is slow."""
    command = [sys.executable, "-c", WATCHED, "--quiet", "--report", str(tmp_path), *options]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout
    assert ("began subprocess.Popen" in found.stderr) == is_a_run == bool(found.stderr), found.stderr


@pytest.mark.parametrize("option", ["--list", "--help"])
def test_the_script_starts_nothing_for_a_list(option: str, tmp_path: Path) -> None:
    """It finds each program that a run would start, and each of them leaves a mark."""
    programs, mark = tmp_path / "bin", tmp_path / "mark"
    programs.mkdir()
    for name in ("bash", "dirname", "realpath", "unshare", "true"):
        path = shutil.which(name)
        assert path
        (programs / name).symlink_to(path)
    for name in ("java", "javac", "mvn", "cargo", "cmake", "ninja", "cc", "pkg-config", "pip", "python3", "git", "curl", "apt-get"):
        (programs / name).write_text(f'#!/bin/sh\necho "$0 $*" >>{mark}\nexit 1\n')
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": str(programs), "HPROF_PYTHON": sys.executable}
    command = [str(ROOT / "conformance" / "run"), option]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (found.returncode, found.stderr) == (0, "") and found.stdout
    assert not mark.exists(), mark.read_text()
