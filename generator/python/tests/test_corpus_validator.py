"""The validator against the corpus: HPROF_VALIDATE names the program, without it nothing here runs.

Exactly the findings of the manifest, at their offsets, whatever way the bytes arrive, and the verdict of every profile.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import random
import struct
import subprocess
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from some_cases import TAKES_SOME, any_one, some

from hprof_corpus import layouts
from hprof_corpus.assembler import assemble_file
from hprof_corpus.build import severity_in, verdict_in
from hprof_corpus.rules import PROFILES, read_rules
from tests.conftest import CORPUS, RULES_DEF, manifest_files

VALIDATE = os.environ.get("HPROF_VALIDATE", "")
pytestmark = pytest.mark.skipif(not VALIDATE, reason="HPROF_VALIDATE does not name a validator")

Entry = dict[str, Any]
Report = dict[str, Any]

ENTRIES = manifest_files()
RULES = read_rules(RULES_DEF)
SMALL = [entry for entry in ENTRIES if entry["checked_in"]]
LARGE = [entry for entry in ENTRIES if not entry["checked_in"] and entry["bytes"] < 1 << 30]
HUGE = [entry for entry in ENTRIES if not entry["checked_in"] and entry["bytes"] >= 1 << 30]


def is_plain_and_valid(entry: Entry) -> bool:
    return entry["file"].startswith("valid/") and not entry["compressed"] and entry["bytes"] > 1


def name(entry: Entry) -> str:
    file: str = entry["file"]
    return file


def validate(*arguments: str | Path, data: bytes | None = None) -> tuple[int, list[Report]]:
    command = [VALIDATE, "--profile", "strict", "--format", "json", "--max-errors", "0", *map(str, arguments)]
    run = subprocess.run(command, input=data, capture_output=True, check=False)
    assert run.stderr == b""
    return run.returncode, json.loads(run.stdout)["files"]


@functools.cache
def reports(profile: str) -> dict[str, Report]:
    """All files in one run."""
    paths = [CORPUS / entry["file"] for entry in SMALL]
    _, files = validate("--profile", profile, *paths)
    return {Path(report["file"]).relative_to(CORPUS).as_posix(): report for report in files}


def found(report: Report) -> list[tuple[str, int | None, str]]:
    return sorted((one["rule"], one["offset"], one["severity"]) for one in report["findings"])


def expected(entry: Entry, profile: str) -> list[tuple[str, int | None, str]]:
    severities = ((one, severity_in(entry, one, RULES[one["rule"]], profile)) for one in entry["findings"])
    return sorted((one["rule"], one["offset"], severity) for one, severity in severities if severity != "off")


@pytest.mark.parametrize("profile", PROFILES)
def test_findings(profile: str) -> None:
    for entry in SMALL:
        report = reports(profile)[entry["file"]]
        assert found(report) == expected(entry, profile), entry["file"]
        assert report["valid"] == (verdict_in(entry, RULES, profile) == "valid"), entry["file"]


@pytest.mark.parametrize("profile", PROFILES)
def test_what_strict_accepts_without_a_warning_is_valid_in_every_profile(profile: str) -> None:
    accepted = [file for file, report in reports("strict").items() if report["valid"] and report["warnings"] == 0]
    assert len(accepted) > 100
    assert [file for file in accepted if not reports(profile)[file]["valid"]] == []


@pytest.mark.parametrize("entry", SMALL, ids=name)
def test_clauses_and_totals(entry: Entry) -> None:
    report = reports("strict")[entry["file"]]
    for one in report["findings"]:
        assert (one["name"], one["clause"]) == (RULES[one["rule"]].name, RULES[one["rule"]].clause)
    rules = [rule for rule, _, _ in expected(entry, "strict")]
    assert {rule: total for rule, total in report["totals"].items() if total} == {r: rules.count(r) for r in rules}


@pytest.mark.parametrize("entry", [entry for entry in SMALL if entry["file"].startswith("valid/")], ids=name)
def test_counts(entry: Entry) -> None:
    """Of each record and sub-record, as many as the text has."""
    report = reports("strict")[entry["file"]]
    names = {record.name for record in (*layouts.RECORDS, *layouts.SUBRECORDS)}
    spots = assemble_file(CORPUS / entry["text"]).spots
    found = {name: count for name, count in report["counts"].items() if name in names and count}
    assert found == Counter(spot.label for spot in spots if spot.label in names)
    assert found == {**entry["counts"]["records"], **entry["counts"]["sub_records"]}
    assert report["sound_until"] == report["bytes"]


@pytest.mark.parametrize("entry", SMALL, ids=name)
def test_findings_lie_within_the_file(entry: Entry) -> None:
    report = reports("strict")[entry["file"]]
    size = max(report["bytes"], report["file_bytes"])
    assert all(0 <= one["offset"] <= size for one in report["findings"])
    assert report["sound_until"] <= size


RECORD_NAMES = {record.name for record in layouts.RECORDS}
SUBRECORD_NAMES = {record.name for record in layouts.SUBRECORDS}
FRAMED = [entry for entry in SMALL if not entry["compressed"] and entry["bytes"] > 31 and not entry["file"].startswith("several/")]


@pytest.mark.parametrize("entry", FRAMED, ids=name)
def test_paths_name_the_record_and_the_object(entry: Entry) -> None:
    """What the text wrote last at or before the offset. Framing rules are about what cannot be named so."""
    data = (CORPUS / entry["file"]).read_bytes()
    id_size = int.from_bytes(data[19:23], "big")
    spots = [spot for spot in assemble_file(CORPUS / entry["text"]).spots if spot.label in RECORD_NAMES | SUBRECORD_NAMES]
    for one in reports("strict")[entry["file"]]["findings"]:
        around = [spot for spot in spots if one["offset"] is not None and spot.offset <= one["offset"]]
        if not around or not one["path"] or one["rule"].startswith("REC-"):
            continue
        assert around[-1].label in one["path"], one
        if f"{around[-1].label} 0x" in one["path"]:  # Uses that are reported when all is known have no ID in their path.
            at = around[-1].offset + 1
            assert f"{around[-1].label} {int.from_bytes(data[at : at + id_size], 'big'):#x}" in one["path"], one


EACH = some(SMALL)  # each of these runs the program once for a file


@pytest.mark.parametrize("entry", EACH, ids=name)
def test_exit_status(entry: Entry) -> None:
    status, _ = validate(CORPUS / entry["file"])
    assert status == (0 if entry["verdict"] == "valid" else 1)


def without(report: Report, *keys: str) -> Report:
    """The report without what may differ: the name, and, of a pipe, what only a second look can find: offsets, and what names a
    missing object."""
    findings = [{key: value for key, value in one.items() if key not in keys} for one in report["findings"]]
    for one in findings:
        one["found"] = one["found"].partition("; named by ")[0]
    return {**report, "file": "", "findings": findings}


@pytest.mark.parametrize("entry", EACH, ids=name)
def test_pipe(entry: Entry) -> None:
    _, [piped] = validate("-", data=(CORPUS / entry["file"]).read_bytes())
    read = reports("strict")[entry["file"]]
    for one, other in zip(piped["findings"], read["findings"], strict=True):
        assert one["offset"] == other["offset"] or (one["rule"] == "REF-002" and one["offset"] is None)
        assert one.get("related_offset") in (other.get("related_offset"), None)
    may_lack = ("offset", "related_offset")
    assert without(piped, *may_lack) == without(read, *may_lack)


@pytest.mark.parametrize("entry", [entry for entry in EACH if not entry["compressed"]], ids=name)
def test_gzip(entry: Entry, tmp_path: Path) -> None:
    packed = tmp_path / "dump"
    packed.write_bytes(gzip.compress((CORPUS / entry["file"]).read_bytes()))
    _, [report] = validate(packed)
    plain = reports("strict")[entry["file"]]
    assert report["compressed"]
    assert not plain["compressed"]
    container = {"compressed": None, "file_bytes": None}
    assert without(report) | container == without(plain) | container


@pytest.mark.parametrize("entry", LARGE + any_one(HUGE), ids=name)
def test_those_that_are_not_checked_in(entry: Entry, tmp_path: Path) -> None:
    dump = tmp_path / "large.hprof"
    try:
        assemble_file(CORPUS / entry["text"]).file.save(dump)
        for profile in ("strict", random.choice(PROFILES)):  # some are read for seconds
            status, [report] = validate("--profile", profile, dump)
            assert status == (0 if verdict_in(entry, RULES, profile) == "valid" else 1)
            assert found(report) == expected(entry, profile)
    finally:
        dump.unlink(missing_ok=True)


def member(data: bytes, instead: bytes) -> bytes:
    """A gzip member that says it holds `data`, and holds something else."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    trailer = struct.pack("<II", zlib.crc32(data), len(data))
    return bytes.fromhex("1f8b08000000000000ff") + packer.compress(instead) + packer.flush() + trailer


def corrupted(data: bytes, dice: random.Random) -> bytes:
    """Other bytes: the first, a few bits, or all."""
    match dice.randrange(3):
        case 0:
            return bytes([data[0] ^ dice.randrange(1, 256)]) + data[1:]
        case 1:
            at, bit = dice.randrange(min(len(data), 16)), dice.randrange(8)
            return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
        case _:
            return bytes([data[0] ^ 0xFF]) + dice.randbytes(len(data) - 1)


def test_the_consequences_of_a_damaged_member_are_not_reported(tmp_path: Path) -> None:
    """A valid dump in two gzip members, the second of which is corrupt: the only error is its checksum."""
    dice = random.Random(1)
    files = [tmp_path / entry["file"].replace("/", "-") for entry in SMALL if is_plain_and_valid(entry)]
    assert len(files) > 60
    for turn in range(3 if TAKES_SOME else 10):
        for file in files:
            data = (CORPUS / "valid" / file.name.removeprefix("valid-")).read_bytes()
            at = dice.randrange(1, min(32, len(data)) if turn < 2 else len(data))
            file.write_bytes(member(data[:at], data[:at]) + member(data[at:], corrupted(data[at:], dice)))
        _, reports = validate(*files)
        for report in reports:
            errors = [one["rule"] for one in report["findings"] if one["severity"] == "error"]
            assert errors == ["GZ-003"], report["file"]
