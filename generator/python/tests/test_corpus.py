"""The corpus as it is checked in: made from its texts, complete, and free of doubt about what is meant."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hprof_corpus.build import differences
from hprof_corpus.rules import read_rules
from tests.conftest import CORPUS, RULES_DEF

Files = list[dict[str, Any]]

RULES = read_rules(RULES_DEF)

# Rules that a version or an ID size has no say in; or that cannot be broken in 1.0.1, or only there.
ANY_ID_SIZE = {"HDR-001", "HDR-004", "HDR-005", "GZ-001", "GZ-002", "GZ-003", "GZ-004", "GZ-005", "GZ-006", "GZ-007", "GZ-008"}


def by_rule(manifest: Files) -> dict[str, Files]:
    found: dict[str, Files] = defaultdict(list)
    for entry in manifest:
        if entry["file"].startswith(("invalid/", "warning/")):
            found[entry["file"].split("/")[1]].append(entry)
    return found


def test_binaries_and_manifest_are_those_of_the_texts() -> None:
    assert differences(CORPUS, RULES) == []


def test_every_rule_has_its_files(manifest: Files) -> None:
    found = by_rule(manifest)
    assert set(found) == set(RULES)
    for rule, files in found.items():
        assert len(files) >= (3 if RULES[rule].is_error else 2), rule


def test_both_id_sizes(manifest: Files) -> None:
    for rule, files in by_rule(manifest).items():
        if rule not in ANY_ID_SIZE:
            assert {entry["id_size"] for entry in files} == {4, 8}, rule


def test_invalid_files_break_the_rule_of_their_folder_and_no_other(manifest: Files) -> None:
    for rule, files in by_rule(manifest).items():
        for entry in files:
            assert {finding["rule"] for finding in entry["findings"]} == {rule}, entry["file"]


def test_files_of_several_break_several_rules(manifest: Files) -> None:
    files = [entry for entry in manifest if entry["file"].startswith("several/")]
    assert files
    for entry in files:
        assert len({finding["rule"] for finding in entry["findings"]}) > 1, entry["file"]


def test_at_least_sixty_legal_oddities(manifest: Files) -> None:
    valid = [entry for entry in manifest if entry["file"].startswith("valid/")]
    assert len({entry["about"] for entry in valid}) >= 60
    for entry in valid:
        assert entry["findings"] == [], entry["file"]
        assert entry["reader"]["should"] == "accept"


def test_the_folder_is_the_verdict_in_strict(manifest: Files) -> None:
    folders = {"valid": ("valid", False), "warning": ("valid", True), "invalid": ("invalid", True)}
    for entry in manifest:
        folder = entry["file"].split("/")[0]
        if folder in folders:
            assert (entry["verdict"], bool(entry["findings"])) == folders[folder], entry["file"]


def test_a_file_in_the_wrong_folder_is_refused(tmp_path: Path) -> None:
    text = (CORPUS / "warning/HDR-007").glob("*.txt").__next__()
    (tmp_path / "invalid").mkdir()
    shutil.copy(text, tmp_path / "invalid")
    with pytest.raises(SystemExit, match="belongs to warning/"):
        differences(tmp_path, RULES)


def test_the_manifest_is_as_its_schema_says() -> None:
    schema = json.loads((CORPUS / "manifest.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8")))


def test_pairs_differ_in_the_fault(manifest: Files) -> None:
    """The other file is valid, and of most faults there is one."""
    valid = {entry["file"] for entry in manifest if entry["verdict"] == "valid" and not entry["findings"]}
    pairs = [entry["pair"] for entry in manifest if entry["pair"]]
    assert set(pairs) <= valid
    assert len(pairs) > sum(bool(entry["findings"]) for entry in manifest) / 2


def test_what_is_said_of_a_file_ends_with_a_full_stop(manifest: Files) -> None:
    for entry in manifest:
        assert entry["reader"]["why"].endswith("."), entry["file"]
        assert entry["about"].endswith("."), entry["file"]


def test_a_series_of_segments_without_an_end_is_to_be_reported(manifest: Files) -> None:
    """SPEC.md 1.4. A reader may reject the file for another fault as well."""
    files = [entry for entry in manifest if any(finding["rule"] == "REC-007" for finding in entry["findings"])]
    assert files
    for entry in files:
        assert entry["reader"]["should"] == "report", entry["file"]


def test_small(manifest: Files) -> None:
    sizes = [entry["bytes"] for entry in manifest if entry["checked_in"]]
    assert max(sizes) < 48 << 10
    assert sum(sizes) < 1_000_000
    assert sum(not entry["checked_in"] for entry in manifest) <= 7
