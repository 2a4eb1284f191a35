"""A directory means the dumps in it: one line a file, and a total."""

import gzip
import os
import re
import subprocess
from pathlib import Path

import pytest
from dumps import DUPLICATE, TRUNCATED, VALID
from tool import SOURCE, TOOL, Arg, obey_permissions, report, run


def fill(folder: Path) -> None:
    for name, data in {
        "b.hprof": DUPLICATE,
        "a/z.hprof": VALID,
        "a/deep/er/c.hprof.gz": gzip.compress(VALID),
        "a/b.hprof": TRUNCATED,
        "notes.txt": b"no dump",
        "hprof": b"no dump",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


NAMES = ["dumps/a/b.hprof", "dumps/a/deep/er/c.hprof.gz", "dumps/a/z.hprof", "dumps/b.hprof"]


def test_a_line_for_each_file_and_a_total(tmp_path: Path) -> None:
    fill(tmp_path / "dumps")
    done = run("dumps", cwd=tmp_path)
    *lines, empty, total = done.out.splitlines()
    assert done.status == 1
    assert [line.split(": ")[0] for line in lines] == NAMES
    assert (empty, total) == ("", "4 files: 2 valid, 2 invalid")


def test_every_format_has_the_files(tmp_path: Path) -> None:
    fill(tmp_path / "dumps")
    (tmp_path / "one.hprof").write_bytes(VALID)
    assert [file["file"] for file in report("one.hprof", "dumps", cwd=tmp_path)["files"]] == ["one.hprof", *NAMES]
    verbose = run("--verbose", "dumps", cwd=tmp_path).out
    assert all(name in verbose for name in NAMES)


def test_links_are_not_followed_but_the_directory_itself_may_be_one(tmp_path: Path) -> None:
    fill(tmp_path / "real")
    (tmp_path / "dumps").symlink_to("real")
    (tmp_path / "real/a/loop").symlink_to("..")
    assert [file["file"] for file in report("dumps", cwd=tmp_path)["files"]] == NAMES


def test_a_directory_without_dumps_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("empty", cwd=tmp_path)
    assert done.status == 3
    assert "empty" in done.err


def test_an_unreadable_directory_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "dumps")
    (tmp_path / "dumps/closed").mkdir(mode=0)
    done = run("dumps", cwd=tmp_path, preexec_fn=obey_permissions)
    assert done.status == 3
    assert "dumps/closed" in done.err


@pytest.mark.parametrize("form", ["concise", "full", "lines", "github", "json", "jsonl", "sarif", "junit"])
def test_several_at_once_are_reported_like_one_after_the_other(form: str, tmp_path: Path) -> None:
    """With any number of threads, and with unreadable files between the others."""

    def without_times(text: str) -> str:
        return re.sub(r"[0-9.]+ s\b|[0-9.]+ [kMG]?B/s|time=\"[^\"]*\"|timestamp=\"[^\"]*\"|Utc\": \"[^\"]*\"", "", text)

    corpus = SOURCE / "corpus"
    files: list[Arg] = ["missing", corpus / "invalid/OBJ-004", corpus / "either", "missing too", corpus / "invalid/GZ-001"]
    one = run("--format", form, "--jobs", "1", *files)
    for jobs in ("2", "7", "1000"):
        many = run("--format", form, "--jobs", jobs, *files)
        assert (many.status, many.err) == (one.status, one.err)
        assert without_times(many.out) == without_times(one.out)


def test_each_file_reaches_the_limit(tmp_path: Path) -> None:
    fill(tmp_path / "dumps")
    assert run("--jobs", "3", "--max-memory", "1K", "dumps", cwd=tmp_path).status == 4


def peak_memory(folder: Path, jobs: int) -> int:
    """In KiB."""
    with subprocess.Popen([TOOL, "-qq", f"--jobs={jobs}", folder]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def test_threads_keep_few_results_of_many_files(tmp_path: Path) -> None:
    """What one file needs until its turn comes is some KiB; not every file needs it at once."""
    count = 20_000
    (tmp_path / "0.hprof").write_bytes(VALID)
    for i in range(1, count):
        (tmp_path / f"{i}.hprof").hardlink_to(tmp_path / "0.hprof")
    assert peak_memory(tmp_path, 2) < peak_memory(tmp_path, 1) + count
