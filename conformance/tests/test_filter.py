"""A program that reads a dump and writes one: what it drops is found, and so is a secret that a redactor leaves."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from built import ROOT, needs_tool

from hprof_conformance import producers, tools, ways
from hprof_conformance.expectations import outcome_of_dump
from hprof_conformance.secrets import FORMS, Planted, planted
from hprof_corpus.layouts import BASIC_TYPES

REDACTOR = ROOT / "conformance" / "example" / "redact.py"
SMALL = "planted*,valid/arrays-all-types-*,valid/fields-all-types-*,valid/statics-*"


KEPT = "(out.blank if {} else out.keep)({})"
INHERITED = """\
            if each != OBJECT and not out.fields.get(kind, (0,))[0]:
                out.keep(WIDTHS[each])
            elif each == OBJECT:"""
SKIPS = "for tag, at, length in all_records if not last else all_records[:-2]:\n            out"  # the second part


def any_planted() -> Planted:
    return planted(random.choice([*FORMS]), random.randrange(1 << 32))


def run(command: str, folder: Path, cases: str = SMALL) -> tuple[int, dict[str, str]]:
    """The status, and by case what the content is."""
    program = [sys.executable, "-m", "hprof_conformance.main", "--quiet", "--filter", command, "--cases", cases]
    found = subprocess.run([*program, "--report", str(folder / "report")], capture_output=True, text=True, check=False)
    made = json.loads((folder / "report" / "report.json").read_text())["producers"][0]
    assert made["ran"], found.stdout + found.stderr
    return found.returncode, {one["how"]: one["content"] for one in made["dumps"]}


def changed(folder: Path, old: str, new: str) -> str:
    source = REDACTOR.read_text(encoding="utf-8")
    assert old in source
    copy = folder / "redact"
    copy.write_text(source.replace(old, new), encoding="utf-8")
    copy.chmod(0o755)
    return str(copy)


@needs_tool
def test_the_redactor_of_the_example_passes(tmp_path: Path) -> None:
    status, content = run(f"{REDACTOR} IN OUT", tmp_path, f"{SMALL},gold/sa17")
    assert status == 0, content
    assert set(content.values()) == {""} and "planted" in content and "gold/sa17" in content


@needs_tool
def test_a_copy_passes(tmp_path: Path) -> None:
    assert run("/bin/cp", tmp_path, f"{SMALL},gold/sa17")[0] == 0


@needs_tool
@pytest.mark.parametrize(
    ("old", "new", "case", "words"),
    [
        ("out.blank(width)  # a static field", "out.keep(width)", "planted", "a static long: the secret"),
        ("out.blank(number * WIDTHS[kind])", "out.keep(number * WIDTHS[kind])", "planted", "a String of char: the secret"),
        ("out.blank(number * WIDTHS[kind])", KEPT.format("kind != 10", "number * WIDTHS[kind]"), "planted", "an int[]: the secret"),
        ("out.blank(width)  # a static field", KEPT.format("kind != 9", "width"), "planted-101-id4", "a static short: the secret"),
        (
            "            out.blank(width)\n",
            f"            {KEPT.format('kind != 4', 'width')}\n",
            "planted",
            "a constant of type boolean",
        ),
        ("out.blank(WIDTHS[each])", KEPT.format("each != 6", "WIDTHS[each]"), "planted", "a field of type float: the secret"),
        (
            "            if each == OBJECT:",
            INHERITED,
            "planted-101-id4",
            "an inherited field of type byte: the secret",
        ),
        ("for tag, at, length in all_records:\n            out", SKIPS, "planted", "a field of type int (2): the secret"),
        ("for tag, at, length in all_records:\n            out", SKIPS, "planted-101-id4", "a field of type char (2): the secret"),
        ("out.keep(number * out.id_size)", "out.blank(number * out.id_size)", "gold/sa17", "object_arrays"),
        ("out.keep(ids * out.id_size + more)", "out.blank(ids * out.id_size + more)", "gold/sa17", "roots: "),
    ],
)
def test_what_it_leaves_and_what_it_loses_is_found(old: str, new: str, case: str, words: str, tmp_path: Path) -> None:
    status, content = run(changed(tmp_path, old, new), tmp_path, case)
    assert status == 1 and words in content[case], content


def script(folder: Path, text: str) -> str:
    file = folder / "filter"
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


@needs_tool
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'cp {ROOT}/corpus/valid/arrays-of-arrays.hprof "$2"; cp "$2" "$1"', "it has changed the dump that it was given"),
        ('mv "$1" "$2"', "it has changed the dump that it was given"),
        ('ln -s "$1" "$2"', "is no regular file"),
        ('mkfifo "$2"', "is no regular file"),
        ('ln -s /dev/zero "$2"', "is no regular file"),
        ('mkdir "$2"', "is no regular file"),
    ],
)
def test_a_filter_writes_a_file_and_leaves_the_dump_as_it_is(text: str, words: str, tmp_path: Path) -> None:
    status, content = run(script(tmp_path, text), tmp_path)
    assert status == 1 and len(content) > 5 and all(words in each for each in content.values()), content


@needs_tool
def test_what_a_filter_leaves_running_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    status, content = run(script(tmp_path, f'cp "$1" "$2"; sleep 700 & echo $! >{pid}'), tmp_path)
    assert status == 0, content
    stat = Path("/proc", pid.read_text().strip(), "stat")
    assert not stat.exists() or ") Z " in stat.read_text()


@needs_tool
def test_a_secret_in_the_header_of_gzip_is_found(tmp_path: Path) -> None:
    program = tmp_path / "hide.py"
    program.write_text(
        "import gzip, subprocess, struct, sys\n"
        f"subprocess.run([sys.executable, {str(REDACTOR)!r}, sys.argv[1], 'redacted'], check=True)\n"
        "packed, hidden = gzip.compress(open('redacted', 'rb').read()), open(sys.argv[1], 'rb').read()[:60000]\n"
        "extra = b'HD' + struct.pack('<H', len(hidden)) + hidden\n"
        "data = packed[:3] + bytes([packed[3] | 4]) + packed[4:10] + struct.pack('<H', len(extra)) + extra + packed[10:]\n"
        "open(sys.argv[2], 'wb').write(data)\n",
        encoding="utf-8",
    )
    status, content = run(script(tmp_path, f'cd {tmp_path} && exec {sys.executable} {program} "$1" "$2"'), tmp_path, "planted")
    assert status == 1 and "a String of char: the secret" in content["planted"], content


@needs_tool
def test_the_report_has_the_seed_of_the_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redactor that fails for one draw fails again."""
    monkeypatch.setenv("HPROF_SEED", "7")
    kept = tmp_path / "kept"
    run(script(tmp_path, f'cp "$1" "$2"; case "$1" in */planted/*) cp "$1" {kept} ;; esac'), tmp_path, "planted")
    assert kept.read_bytes() == planted("planted", 7).dump
    assert json.loads((tmp_path / "report" / "report.json").read_text())["producers"][0]["seed"] == 7


@pytest.mark.parametrize("form", FORMS)
def test_secrets_are_fresh_and_in_all_places_of_the_dump(form: str) -> None:
    seed = random.randrange(1 << 32)
    first, second = planted(form, seed), planted(form, seed + 1)
    places = first.left_in(first.dump)
    assert places[: len(first.words) + len(first.numbers)] == [*first.words, *first.numbers] and not second.left_in(first.dump)
    for each in BASIC_TYPES.keys() - {"object"}:
        kinds = [f"{article} {each}[]" for article in ("a", "an") if f"{article} {each}[]" in places]
        assert len(kinds) == 1 and f"{kinds[0]} (2)" in places
        for kind in ("a constant of type", "a static", "a field of type", "an inherited field of type"):
            assert f"{kind} {each}" in places
            assert (f"{kind} {each} (2)" in places) == ("field" in kind or form == "planted-101-id4")
    packed = gzip.compress(first.dump)
    assert first.left_in(packed) == places


def test_the_half_of_a_secret_is_one() -> None:
    """A redactor that masks one character of each word, or the last bit of each number, has left the rest."""
    secrets = any_planted()
    data = secrets.dump
    for word in secrets.words.values():
        for form in ("latin-1", "utf-16-be", "utf-16-le"):
            data = data.replace(word.encode(form), f"{word[:8]}*{word[9:]}".encode(form))
    for number in secrets.numbers.values():
        data = data.replace(number, number[:-1] + bytes([number[-1] ^ 1]))
    left = [*secrets.words, *secrets.numbers]
    assert secrets.left_in(data)[: len(left)] == left
    as_text = b"".join(word.encode("utf-16-le") for word in secrets.words.values())
    assert secrets.left_in(as_text) == [*secrets.words]


def test_a_number_in_the_other_order_of_bytes_is_a_secret() -> None:
    secrets = any_planted()
    assert secrets.left_in(b"".join(number[::-1] for number in secrets.numbers.values())) == [*secrets.numbers]


@needs_tool
def test_a_dump_from_which_objects_are_missing_is_not_invalid() -> None:
    """Its outcome names the finding, so that nobody reads that the producer breaks the format."""
    file = ROOT / "corpus/warning/REF-002/segment-lost-102-id8.hprof"
    found = producers.check(tools.built(ROOT, "hprof-validate", "validator"), ways.Dump("plain", file, "hotspot"), says=False)
    assert not found["fine"]
    assert outcome_of_dump(found) == "REF-002"


def test_a_seed_that_is_no_number_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPROF_SEED", "many")
    program = [sys.executable, "-m", "hprof_conformance.main", "--quiet", "--filter", "/bin/cp"]
    found = subprocess.run([*program, "--report", str(tmp_path)], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr.strip()) == (2, "conformance/run: HPROF_SEED: many is no number")


@needs_tool
def test_a_filter_that_writes_half_of_a_gzip_file_ends_no_run(tmp_path: Path) -> None:
    script = tmp_path / "half"
    script.write_text(
        f"#!{sys.executable}\n"
        "import gzip, sys\n"
        "data = gzip.compress(open(sys.argv[1], 'rb').read())\n"
        "open(sys.argv[2], 'wb').write(data[: len(data) // 2])\n"
    )
    script.chmod(0o755)
    status, content = run(f"{script} IN OUT", tmp_path)
    assert status == 1 and all(content.values())
