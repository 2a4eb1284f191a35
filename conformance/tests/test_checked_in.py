"""What is checked in: readers, expectations, findings, cases and gold dumps agree with each other."""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from built import ROOT
from test_matrix import case

from hprof_conformance import (
    cases,
    expectations,
    findings,
    gold,
    main,
    outcomes,
    verified,
)
from hprof_conformance.command import RefusedError
from hprof_conformance.producers import read_producers
from hprof_conformance.protocol import COUNTS
from hprof_conformance.readers import Reader, read_readers
from hprof_corpus.digest import PARTS
from hprof_corpus.walk import FramingError

CORPUS = ROOT / "corpus"


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


ALL_FINDINGS = findings.read_findings(ROOT)
PINNED = findings.pinned(ROOT)


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


def test_a_reader_that_is_not_asked_for_what_it_gives_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "conformance" / "readers" / "jol"
    folder.mkdir(parents=True)
    text = (ROOT / "conformance/readers/jol/reader.toml").read_text(encoding="utf-8")
    (asked,) = re.findall(r"(?m)^instance_bytes = .*\n", text)
    (folder / "reader.toml").write_text(text.replace(asked, ""), encoding="utf-8")
    with pytest.raises(RefusedError, match=r"and the counts and digests differ: instance_bytes$"):
        read_readers(tmp_path)


def test_a_finding_that_does_not_stand_cannot_be_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    withdrawn = next(one.number for one in ALL_FINDINGS if one.withdrawn)
    for number in (withdrawn, 9999):
        monkeypatch.setattr(sys, "argv", ["reproduce", str(number)])
        with pytest.raises(RefusedError, match=f"no finding has the number {number}"):
            findings._reproduce()
