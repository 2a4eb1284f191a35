"""From replies to outcomes, expectations, the report and what is made of it."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from built import ROOT

from hprof_conformance import (
    cases,
    diff,
    expectations,
    main,
    matrix,
    outcomes,
    page,
    report,
    texts,
)
from hprof_conformance.cases import Case, Truth
from hprof_conformance.expectations import Accept, Expectations, Expected, Seen
from hprof_conformance.protocol import Entry, Hello, Reply
from hprof_conformance.readers import Reader
from hprof_conformance.session import Limits
from hprof_corpus.digest import PARTS
from hprof_corpus.truth import ROOTS

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
    for entry, outcome in ((ONE, outcomes.RIGHT), (NOTHING, outcomes.WRONG_CONTENT)):
        reply = replace(accepted(entry=entry), failed={"object_arrays": "no"})
        assert outcomes.assess(case("accept"), hello(), reply).outcome == outcome


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


def test_a_count_and_an_entry_of_one_name_are_both_pinned() -> None:
    reply = Reply("a/b", "accepted", counts={"instances": 1}, digests={"instances": NOTHING})
    verdict = outcomes.assess(case("accept"), hello(digests=["instances"]), reply)
    pinned = {"instances": f"1; 0 items, {NOTHING.sum}"}
    assert report.outcome_and_differences(verdict) == (outcomes.WRONG_COUNTS, pinned)


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
