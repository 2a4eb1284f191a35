"""The command line of hprof-gen: every option, every exit status, files that are there when they are complete, and whatever a
shell can do to it. What is in its dumps is test_both.py's, what their manifests say is test_manifest.py's."""

import errno
import fcntl
import gzip
import itertools
import json
import os
import re
import resource
import select
import signal
import struct
import subprocess
import termios
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gen_tool import (
    IS_SLOW,
    LIKES,
    LOADS,
    SHAPES,
    SOURCE,
    TOOL,
    VALIDATOR,
    Arg,
    dump,
    run,
    truth,
)
from some_cases import some
from terminals import terminal

IS_SANITIZED = "HPROF_SANITIZED" in os.environ
ENDLESS = "--objects=1e12"


# ---- Running ---------------------------------------------------------------------------------------------------------


@contextmanager
def running(*args: Arg, **kwargs: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """A run that ends with the test at the latest: some would fill the disk."""
    with subprocess.Popen([TOOL, *args], **kwargs) as process:
        try:
            yield process
        finally:
            process.kill()


def wrong_usage(*args: Arg, cwd: Path | None = None) -> str:
    """The message about a wrong command line."""
    done = run(*args, cwd=cwd)
    assert (done.status, done.out) == (2, b"")
    sentence, hint = done.err.splitlines()
    assert hint == "Try 'hprof-gen --help'."
    assert sentence.startswith("hprof-gen: ")
    assert not sentence.endswith(".")
    return sentence.removeprefix("hprof-gen: ")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ---- Wrong usage -----------------------------------------------------------------------------------------------------

SIZES = "a size above 0 in bytes, or with K, M, G or T (of 1024) such as 512M or 1.5G"
COUNTS = "a whole number, such as 1000000, 1_000_000 or 1e6"
MEANS = "a mean of at most three decimals, such as 2.5"
PLACES = "a number from 0 (the first place) to 1 (the last), of at most nine decimals"


@pytest.mark.parametrize(
    ("option", "values", "allowed"),
    [
        ("objects", ["", "-1", "x", "1.5", "1e", "1e-1", "1e99x", "1 000", "0x10"], COUNTS),
        ("bytes", ["", "0", "-1", "1.0001", "G", "2GB", "1X", "16777216T"], SIZES),
        ("seed", ["", "-1", "1.5", "18446744073709551616"], "a whole number below 2^64"),
        ("id-size", ["", "5", "16", "-4", "eight"], "4 or 8"),
        ("segment-size", ["", "0", "1Q"], SIZES),
        ("segment-size", ["4G"], "at most 4294967295 bytes: a length has 32 bits"),
        ("heap-dumps", ["", "0", "1000001"], "a whole number from 1 to 1000000"),
        ("like", ["", "zzz"], LIKES),
        ("shape", ["", "circle"], SHAPES),
        ("load", ["", "game"], LOADS),
        ("classes", ["", "-1", "1.5"], COUNTS),
        ("threads", ["", "-1"], COUNTS),
        ("stack-depth", ["", "-1"], COUNTS),
        ("references", ["", "-1", "1.0001", "1e20", "many"], MEANS),
        ("array-length", ["", "1.2.3"], MEANS),
        ("string-length", ["", "nan"], MEANS),
        ("records", ["", "none"], "heap, sites, samples or all"),
        ("at", ["", "1.1", "-0.5", "0.1234567891", "middle"], PLACES),
        ("violations", ["", "0", "1000001"], "a whole number from 1 to 1000000"),
        ("gz", ["", "0", "10", "best"], "a level from 1 (fast) to 9 (small)"),
    ],
)
def test_wrong_values(option: str, values: list[str], allowed: str) -> None:
    for value in values:
        assert wrong_usage(f"--{option}", value) == f"--{option} is {allowed}, not '{value}'"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--dump-version=1.0.4"], "--dump-version is 1.0.1, 1.0.2 or 1.0.3, not '1.0.4'"),
        (["--dump-version", "abc"], "--dump-version is 1.0.1, 1.0.2 or 1.0.3, not 'abc'"),
        (["-o", ""], "--output is the name of a file, or -, not ''"),
        (["--manifest="], "--manifest is the name of a file, not ''"),
        (["--dump-version", "1.0"], "--dump-version is 1.0.1, 1.0.2 or 1.0.3, not '1.0'"),
        (["--progress=maybe"], "--progress is auto, always or never, not 'maybe'"),
        (["--like=hotpot"], f"--like is {LIKES}, not 'hotpot'; did you mean 'hotspot'?"),
        (["--like=HotSpot"], f"--like is {LIKES}, not 'HotSpot'; did you mean 'hotspot'?"),
        (["--shape=LIST"], f"--shape is {SHAPES}, not 'LIST'; did you mean 'list'?"),
        (["--records=smaples"], "--records is heap, sites, samples or all, not 'smaples'; did you mean 'samples'?"),
        (
            ["--violate=REF-002,obj-04"],
            "--violate: no rule is called 'obj-04' (--list-violations shows them all); did you mean 'OBJ-004'?",
        ),
        (
            ["--violate=REF-002/feild"],
            "--violate: REF-002 has no variant 'feild' (--list-violations shows them all); did you mean 'field'?",
        ),
        (["--nonsense"], "there is no option '--nonsense'"),
        (["--viol=REF-002"], "'--viol=REF-002' is short for --violate and --violations"),
        (["--object=3", "--manfest=x"], "there is no option '--manfest=x'; did you mean '--manifest'?"),
        (["-classes", "300"], "there is no option '-c'; did you mean '--classes'?"),
        (["--quiet=yes"], "option '--quiet=yes' takes no argument"),
        (["-x"], "there is no option '-x'"),
        (["--quiet", "-xh"], "there is no option '-x'"),
        (["--objects"], "option '--objects' needs an argument"),
        (["-o"], "option '-o' needs an argument"),
        (["dump.hprof"], "unexpected 'dump.hprof': the dump goes to -o FILE, or to standard output"),
        (["--objects=1", "--bytes=1M"], "--bytes does not go with --objects: each says how much"),
        (["--like=android", "--dump-version=1.0.2"], "--like android: its dumps are of version 1.0.3"),
        (["--like=graalvm", "--dump-version=1.0.1"], "--like graalvm: its dumps are of version 1.0.2"),
        (["--like=android", "--id-size=8"], "--like android: its IDs have 4 bytes"),
        (
            ["--like=hotspot", "--records=samples"],
            "--like hotspot: it never writes CPU_SAMPLES, and takes --records heap",
        ),
        (["--dump-version=1.0.1", "--segment-size=1M"], "--segment-size: version 1.0.1 has no segments"),
        (
            ["--shape=strings", "--references=2"],
            "--references means nothing to --shape strings: mixed, list, tree, graph, arrays, wide, deep and threads take it",
        ),
        (["--shape=tree", "--array-length=2"], "--array-length means nothing to --shape tree: mixed and arrays take it"),
        (["--shape=graph", "--string-length=2"], "--string-length means nothing to --shape graph: mixed and strings take it"),
        (["--load=map", "--shape=list"], "--load says what --shape mixed is like, and does not go with another"),
        (["--load=none", "--bytes=1M"], "--bytes does not go with --load: without a load the heap does not grow"),
        (["--load=map", "--classes=20"], "--classes: too few for this --load"),
        (["--objects=1000000000001"], "--objects: up to 1e12"),
        (["--objects=18446744073709551614"], "--objects: up to 1e12"),
        (["--objects=1e30"], "--objects: up to 1e12"),
        (["--objects=1.5e+30"], "--objects: up to 1e12"),
        (["--objects=18446744073709551615"], "--objects: up to 1e12"),
        (["--objects=1_000_000_000_000_000_000_000"], "--objects: up to 1e12"),
        (
            ["--heap-dumps=10", "--objects=3"],
            "--heap-dumps does not go with fewer --objects: each heap dump has at least one",
        ),
        (["--from=a", "--dump-version=1.0.1"], "--dump-version does not go with --from: the dump that is read says it"),
        (["--classes=10000001"], "--classes of mixed: 200 to 10,000,000"),
        (["--shape=list", "--classes=17"], "--classes of a list: 18 to 10,000,000, or from 19 on if .* is no whole number"),
        (["--threads=1000001"], "--threads: up to 1,000,000"),
        (["--stack-depth=1000001"], "--stack-depth: up to 1,000,000, and up to 1e9 frames in all threads together"),
        (["--threads=2000", "--stack-depth=500001"], "--stack-depth: up to 1,000,000, and up to 1e9 frames .*"),
        (["--array-length=18446744073709551"], "--array-length: up to 100,000,000 on average"),
        (["--shape=arrays", "--references=18446744073709551"], "--references of arrays: on average, 4 to .*"),
        (["--references=18446744073709551"], "--references of mixed: 0.5 to 100 of an object on average"),
        (["--bytes=100"], "--bytes: a dump of this kind without any object has [0-9]+ bytes"),
        (
            ["--at=0.3"],
            "--at and --violations say where and how often --violate is to break a rule, which is not given",
        ),
        (["--manifest=-"], "--manifest takes the name of a file: standard output is for the dump"),
        (["-o", "a", "--manifest=a"], "the dump and its manifest cannot both be 'a'"),
        (["--from=a", "--objects=3"], "--objects does not go with --from: the dump that is read says it"),
        (["--like", "x\n\x1b[31m"], rf"--like is {LIKES}, not 'x\n\x1b[31m'"),
    ],
)
def test_wrong_usage(args: list[str], sentence: str, tmp_path: Path) -> None:
    said = wrong_usage(*args, cwd=tmp_path)
    assert said == sentence or re.fullmatch(sentence, said)
    assert names(tmp_path) == []


def test_too_much_for_its_ids() -> None:
    assert re.fullmatch(
        "--objects: IDs of 4 bytes can name [0-9]+ of them in a heap dump, beside these classes",
        wrong_usage("--id-size=4", "--objects=5e9"),
    )


def test_too_many_to_fill_so_much() -> None:
    """--objects was not given, so the message does not name it."""
    assert wrong_usage("--bytes=16777215T") == "--bytes: this size takes more objects than are possible: up to 1e12"
    assert re.fullmatch(
        "--bytes: this size takes more objects than are possible: IDs of 4 bytes can name [0-9]+ of them in a heap dump, beside .*",
        wrong_usage("--bytes=1T", "--id-size=4", "--shape=list"),
    )


def test_too_long_for_a_length() -> None:
    """Known before a byte is written: the dump is measured first."""
    assert wrong_usage("--dump-version=1.0.1", "--shape=arrays", "--array-length=1e6", "--objects=2000") == (
        "HEAP_DUMP would be longer than 4 GiB, and its length field has 32 bits: take fewer objects, or HEAP_DUMP_SEGMENTs, "
        "which version 1.0.2 has"
    )
    assert wrong_usage("--dump-version=1.0.1", "--objects=1e12").startswith("HEAP_DUMP would be longer than 4 GiB")


def test_files_that_are_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    os.link(tmp_path / "a", tmp_path / "b")
    assert wrong_usage("-o", "a", "--manifest=b", cwd=tmp_path) == "the dump and its manifest cannot both be 'a'"
    assert wrong_usage("--from=a", "-o", "b", cwd=tmp_path) == "the dump that is read would be overwritten: 'a'"


def test_files_that_are_not_there_yet_may_be_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    for manifest in ("./a", "link", tmp_path / "a"):
        assert wrong_usage("-o", "a", "--manifest", manifest, cwd=tmp_path) == "the dump and its manifest cannot both be 'a'"
        assert names(tmp_path) == ["link"]


def test_standard_output_is_a_file_too(tmp_path: Path) -> None:
    a = tmp_path / "a"
    a.write_bytes(dump("--shape=list"))
    for mode in ("r+b", "ab"):
        with a.open(mode) as file:
            done = run("--from", a, stdout=file)
            assert (done.status, done.err.splitlines()[0]) == (
                2,
                f"hprof-gen: the dump that is read would be overwritten: '{a}'",
            )
            done = run("--objects=10", "--manifest", a, stdout=file)
            assert (done.status, done.err.splitlines()[0]) == (
                2,
                f"hprof-gen: the dump and its manifest cannot both be '{a}'",
            )
    assert a.read_bytes() == dump("--shape=list")


def test_a_terminal_is_refused() -> None:
    _, theirs = terminal()
    done = run("--objects=10", stdout=theirs)
    assert done.status == 2
    assert done.err.startswith("hprof-gen: a dump is nothing for a terminal: give -o FILE")


# ---- Values ----------------------------------------------------------------------------------------------------------


def test_numbers_as_people_type_them() -> None:
    plain = dump(objects=2500)
    for written in ("2500", "2.5e3", "2_500", "25e2", "0.0025e6"):
        assert run(f"--objects={written}").out == plain


def test_values_in_words_of_their_own() -> None:
    assert dump("--dump-version", "1.0.1", "--progress", "never").startswith(b"JAVA PROFILE 1.0.1\0")


def test_no_objects_at_all() -> None:
    assert dump(objects=0).startswith(b"JAVA PROFILE 1.0.2\0")


@pytest.mark.parametrize("shape", some(SHAPES.replace(" or ", ", ").split(", ")))
def test_heap_dumps_share_the_objects(shape: str, tmp_path: Path) -> None:
    """The number of heap dumps; each is a whole heap."""
    for dumps, objects in ((3, 1000), (7, 7), (4, 16487)):
        manifest = truth(f"--objects={objects}", f"--heap-dumps={dumps}", f"--shape={shape}", folder=tmp_path)
        assert (manifest["heap_dumps"], manifest["objects"]) == (dumps, objects)
        report = subprocess.run(
            [VALIDATOR, "--profile=strict", "--format=json", tmp_path / "dump.hprof"], stdout=subprocess.PIPE, check=False
        )
        assert json.loads(report.stdout)["files"][0]["totals"] == {}


def test_bytes_are_those_of_all_heap_dumps(tmp_path: Path) -> None:
    manifest = truth("--bytes=5M", "--heap-dumps=3", folder=tmp_path)
    assert (5 << 20) * 0.99 < manifest["bytes"] <= 5 << 20
    assert len(dump("--heap-dumps=3", objects=manifest["objects"] + 1)) > 5 << 20


@pytest.mark.parametrize("shape", ["mixed", "list", "strings"])
@pytest.mark.parametrize("size", ["5M", "6_000_001", "40M"])
def test_bytes_are_filled(shape: str, size: str, tmp_path: Path) -> None:
    """The most objects that fit."""
    wanted = {"5M": 5 << 20, "6_000_001": 6000001, "40M": 40 << 20}[size]
    manifest = truth(f"--bytes={size}", f"--shape={shape}", folder=tmp_path)
    assert wanted * 0.95 < manifest["bytes"] <= wanted
    filled = (tmp_path / "dump.hprof").read_bytes()
    assert len(filled) == manifest["bytes"]
    objects = manifest["objects"]
    assert dump(f"--shape={shape}", objects=objects) == filled
    assert len(dump(f"--shape={shape}", objects=objects + 1)) > wanted


def test_bytes_far_above_the_memory_take_few_looks(tmp_path: Path) -> None:
    manifest = truth("--bytes=150M", "--shape=arrays", folder=tmp_path)
    assert 150 * 2**20 * 0.998 <= manifest["bytes"] <= 150 * 2**20


MEAN_NUMBERS = [1, 1.5, 2, 4.75, 20, 80.125]


@pytest.mark.parametrize(
    ("shape", "mean"), some(itertools.product(["mixed", "list", "threads", "deep", "wide", "graph", "arrays"], MEAN_NUMBERS))
)
def test_references_are_as_many_as_asked_for(shape: str, mean: float, tmp_path: Path) -> None:
    """The count of the manifest. Few references are static fields, which no option changes."""
    args = {"arrays": ["--array-length=100"], "wide": ["--objects=20000"], "mixed": ["--objects=5e5"]}.get(shape, [])
    if shape == "arrays" and mean < 4:
        assert wrong_usage(f"--shape={shape}", f"--references={mean}", *args).startswith("--references of arrays: on average, 4 to")
        return
    manifest = truth("--objects=50000", f"--shape={shape}", f"--references={mean}", "--threads=2", *args, folder=tmp_path)
    references = manifest["references"] / manifest["objects"]
    if shape == "graph":
        references = manifest["elements"]["object"] / manifest["object_arrays"]
    elif shape == "arrays":
        references = (manifest["references"] - manifest["null_references"]) / manifest["object_arrays"]
    assert references == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize("shape", some(SHAPES.replace(" or ", ", ").split(", ")))
def test_classes_are_as_many_as_asked_for(shape: str, tmp_path: Path) -> None:
    """With those of every heap. The producer adds one or two for its quirks."""
    dumped = truth("--objects=3000", f"--shape={shape}", "--classes=456", folder=tmp_path)["class_dumps"]
    assert 456 <= dumped <= 458


# ---- Files -----------------------------------------------------------------------------------------------------------


def test_output_and_standard_output_are_the_same(tmp_path: Path) -> None:
    for args in (["-o", "a"], ["--output", "a"], ["--output=a"]):
        assert run("--objects=1000", *args, cwd=tmp_path).status == 0
        assert (tmp_path / "a").read_bytes() == dump() == dump("-o", "-")
    assert names(tmp_path) == ["a"]


def test_a_target_that_is_there_is_replaced_when_the_dump_is_complete(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with running(ENDLESS, "-o", tmp_path / "a") as process:
        wait_until(lambda: any(path.suffix == ".part" and path.stat().st_size for path in tmp_path.iterdir()))
        assert (tmp_path / "a").read_text() == "old"
        process.terminate()
        process.wait(60)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"
    assert run("--objects=1000", "-o", tmp_path / "a").status == 0
    assert (tmp_path / "a").read_bytes() == dump()


def test_a_link_goes_on_leading_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/real").write_text("old")
    (tmp_path / "link").symlink_to("folder/real")
    assert run("--objects=1000", "-o", tmp_path / "link").status == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder/real").read_bytes() == dump()
    assert names(tmp_path / "folder") == ["real"]


def test_a_link_to_what_is_not_there_leads_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "first").symlink_to("folder/second")
    (tmp_path / "folder/second").symlink_to("real")
    assert run("--objects=1000", "-o", "first", cwd=tmp_path).status == 0
    assert (tmp_path / "folder/real").read_bytes() == dump()
    assert (tmp_path / "first").is_symlink()
    assert names(tmp_path / "folder") == ["real", "second"]


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    done = run("--objects=10", "-o", "a", cwd=tmp_path)
    assert (done.status, done.err) == (3, "hprof-gen: a: Too many levels of symbolic links\n")


def test_names_as_long_as_names_can_be(tmp_path: Path) -> None:
    assert run("--objects=1000", "-o", "n" * 255, cwd=tmp_path).status == 0
    assert (tmp_path / ("n" * 255)).read_bytes() == dump()
    assert len(names(tmp_path)) == 1


def test_permissions_are_those_of_the_file_before(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o600)
    assert run("--objects=10", "-o", "a", cwd=tmp_path).status == 0
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    if os.getuid() != 0:  # who may write everything
        (tmp_path / "a").chmod(0o400)
        done = run("--objects=10", "-o", "a", cwd=tmp_path)
        assert (done.status, done.err) == (3, "hprof-gen: a: Permission denied\n")


def test_what_cannot_be_read_twice(tmp_path: Path) -> None:
    """It is refused at once, without waiting for what comes through it."""
    os.mkfifo(tmp_path / "fifo")
    for source in ("fifo", "/dev/zero"):
        done = run("--from", source, "-o", "a", cwd=tmp_path)
        assert (done.status, done.err) == (
            3,
            f"hprof-gen: {source}: it cannot be read twice, as is needed: give a file, no pipe\n",
        )
    done = run("--fit", "fifo", "-o", "a", cwd=tmp_path)
    assert (done.status, done.err) == (3, "hprof-gen: fifo: it cannot be read twice, as is needed: give a file, no pipe\n")
    assert names(tmp_path) == ["fifo"]


def test_what_is_no_regular_file_is_written_as_it_is(tmp_path: Path) -> None:
    assert run("--objects=1000", "-o", "/dev/null").status == 0
    os.mkfifo(tmp_path / "fifo")
    with running("--objects=1000", "-o", tmp_path / "fifo") as process:
        assert (tmp_path / "fifo").read_bytes() == dump()
        assert process.wait(60) == 0
    assert names(tmp_path) == ["fifo"]


@pytest.mark.parametrize("target", ["no/such/folder", "no/", "."])
def test_what_cannot_be_opened(target: str, tmp_path: Path) -> None:
    reason = "Is a directory" if target == "." else "No such file or directory"
    for args in (["-o", target], ["-o", "dump", "--manifest", target]):
        done = run("--objects=1000", *args, cwd=tmp_path)
        assert (done.status, done.err) == (3, f"hprof-gen: {target}: {reason}\n")
        assert names(tmp_path) == []


def test_standard_output_that_is_closed(tmp_path: Path) -> None:
    done = run("--objects=10", preexec_fn=lambda: os.close(1))
    assert (done.status, done.err) == (3, "hprof-gen: standard output: Bad file descriptor\n")
    assert run("--objects=1000", "-o", tmp_path / "a", preexec_fn=lambda: os.close(1)).status == 0
    assert (tmp_path / "a").read_bytes() == dump()


def test_messages_do_not_get_into_the_dump(tmp_path: Path) -> None:
    done = run("--objects=1000", "--progress=always", "-o", tmp_path / "a", preexec_fn=lambda: os.close(2))
    assert done.status == 0
    assert (tmp_path / "a").read_bytes() == dump()


# ---- A disk that is full, a reader that goes away, a signal --------------------------------------------------------------


def test_a_full_device() -> None:
    for args in (["-o", "/dev/full"], ["-o", "/dev/full", "--gz=1"]):
        done = run("--objects=1e5", *args)
        assert (done.status, done.err) == (3, "hprof-gen: /dev/full: No space left on device\n")
    with Path("/dev/full").open("wb") as full:
        done = run("--objects=1e5", stdout=full)
    assert (done.status, done.err) == (3, "hprof-gen: standard output: No space left on device\n")


def test_a_file_that_must_not_grow(tmp_path: Path) -> None:
    """The message says how much was written. The incomplete file is removed, and the earlier one stays."""
    (tmp_path / "a").write_text("old")
    limit = 3 << 20
    done = run(
        "--objects=1e6",
        "-o",
        "a",
        "--manifest=b",
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.status == 3
    assert done.err == "hprof-gen: a: File too large, after 3.15 MB, which are taken away again\n"
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_manifest_that_cannot_be_written(tmp_path: Path) -> None:
    """The dump is removed, too. The earlier files with these names stay."""
    (tmp_path / "a").write_bytes(b"before")
    done = run("--objects=1000", "-o", "a", "--manifest=/dev/full", cwd=tmp_path)
    assert (done.status, done.err) == (3, "hprof-gen: /dev/full: No space left on device\n")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"before"


@pytest.mark.parametrize("args", [[], ["--gz=1"], ["--manifest=truth"], ["--shape=arrays"], ["--heap-dumps=1000"]])
def test_a_reader_that_goes_away(args: list[str], tmp_path: Path) -> None:
    for wanted in (1, 1 << 20):
        with running(ENDLESS, *args, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            assert len(process.stdout.read(wanted)) == wanted
            process.stdout.close()
            assert process.wait(60) == 0
            assert process.stderr.read() == b""
    assert names(tmp_path) == []


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    with running(ENDLESS, "-o", "a", "--manifest", "b", cwd=tmp_path, stderr=subprocess.PIPE) as process:
        wait_until(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
        assert [re.sub("[0-9]+", "N", name) for name in names(tmp_path)] == ["a.N.part", "b.N.part"]
        process.send_signal(number)
        assert process.wait(60) == -number
        assert process.stderr and process.stderr.read() == b""
    assert names(tmp_path) == []


def test_nohup(tmp_path: Path) -> None:
    """A signal that is ignored goes on being ignored."""

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with running(ENDLESS, "-o", "a", cwd=tmp_path, preexec_fn=ignore) as process:
        wait_until(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM
    assert names(tmp_path) == []


# ---- gzip ------------------------------------------------------------------------------------------------------------


def members(data: bytes) -> list[tuple[bytes | None, bytes]]:
    """The comment and the bytes of each member (RFC 1952)."""
    found = []
    while data:
        magic, method, flags = struct.unpack_from("<HBB", data)
        assert (magic, method) == (0x8B1F, 8)
        assert flags in (0, 0x10)
        comment = data[10 : data.index(0, 10)] if flags else None
        stream = zlib.decompressobj(wbits=31)
        body = stream.decompress(data)
        assert stream.eof
        found.append((comment, body))
        data = stream.unused_data
    return found


def test_gzip_is_hotspots() -> None:
    plain = dump("--like=hotspot", objects=60000)
    for level in (1, 6, 9):
        packed = dump("--like=hotspot", f"--gz={level}", objects=60000)
        assert gzip.decompress(packed) == plain
        first, *others = members(packed)
        assert first[0] == b"HPROF BLOCKSIZE=1048576"
        assert len(others) > 2
        assert {comment for comment, _ in others} == {None}
        *full, last = [len(body) for _, body in (first, *others)]
        assert set(full) == {1 << 20}
        assert 0 < last <= 1 << 20
    assert len(dump("--gz=9", objects=60000)) < len(dump("--gz=1", objects=60000)) < len(plain)


def test_a_compressed_file_is_the_same_on_one_processor_and_on_all() -> None:
    """With damage to its members, too, which are numbered."""
    one = min(os.sched_getaffinity(0))
    for args in (["--gz=1"], ["--gz=6", "--damage=gz-lose-member@0.6"], ["--gz=1", "--damage=gz-cut@0.5"]):
        command = ["--like=hotspot", "--objects=400000", *args]
        done = [run(*command), run(*command, preexec_fn=lambda: os.sched_setaffinity(0, {one}))]
        assert [(each.status, each.err) for each in done] == [(0, "")] * 2
        assert len(done[0].out) > 1 << 20
        assert done[0].out == done[1].out, args


def test_what_is_compressed_for_a_violation_is_laid_out_as_with_gz(tmp_path: Path) -> None:
    """SA has other segments then."""
    segments = [
        truth("--objects=500", "--like=sa", *args, folder=tmp_path)["records"]["HEAP_DUMP_SEGMENT"]
        for args in ([], ["--gz=6"], ["--violate=GZ-001"])
    ]
    assert segments[0] < segments[1] == segments[2]


# ---- Memory ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(IS_SANITIZED, reason="the sanitizer's own memory")
def test_memory_that_runs_out(tmp_path: Path) -> None:

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (32 << 20, 32 << 20))

    for args in (["--classes=1e7"], ["--shape=deep", "--classes=1e7"], ["--violate=OBJ-004", "--violations=1000000"]):
        done = run("--objects=1e4", *args, "-o", "a", cwd=tmp_path, preexec_fn=limit)
        assert (done.status, done.err) == (4, "hprof-gen: dump: out of memory\n")
        assert names(tmp_path) == []


@pytest.mark.skipif(IS_SLOW, reason="memory of a sanitizer's own; minutes to count lines")
@pytest.mark.parametrize(
    "args",
    [
        ["--manifest=truth"],
        ["--shape=list"],
        ["--shape=strings"],
        ["--dump-version=1.0.1"],
        ["--like=jdk8-agent"],
        ["--gz=1", "--manifest=truth"],
    ],
)
def test_memory_is_bounded(args: list[str], tmp_path: Path) -> None:
    command = [TOOL, "--objects=1e7", "-o", "/dev/null", *args]
    # All memory that does not come from a file: whole stacks of threads, allocated memory that was never used.

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))

    assert subprocess.run(command, cwd=tmp_path, preexec_fn=limit, check=False).returncode == 0


# ---- What is shown ---------------------------------------------------------------------------------------------------


def on_a_terminal(*args: Arg, cwd: Path, columns: int = 100, stdout: bool = False, status: int = 0) -> str:
    """What the tool shows on a terminal that is its standard error, and on request its standard output."""
    ours, theirs = terminal()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    shown = b""
    with running(*args, cwd=cwd, stdout=theirs if stdout else subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        while select.select([ours], [], [], 60)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError as error:  # the other end was closed
                assert error.errno == errno.EIO
                break
            shown += piece
        assert process.wait(60) == status
    os.close(ours)
    return shown.decode()


def test_summary(tmp_path: Path) -> None:
    assert run("--objects=1000", "-o", "a", cwd=tmp_path).err == ""
    shown = on_a_terminal("--objects=1000", "-o", "a", cwd=tmp_path)
    assert re.fullmatch(r"a: 1,000 objects, [0-9.]+ [KM]B; [0-9.]+ s(, [0-9.]+ .B/s)?\r\n", shown)
    assert on_a_terminal("--objects=1000", "-o", "a", "--quiet", cwd=tmp_path) == ""


def test_progress(tmp_path: Path) -> None:
    assert re.search(r"\ra: .*[KM]B", run("--progress", "--objects=1e5", "-o", "a", cwd=tmp_path).err)
    assert re.search(r"\ra: \[[#.]{20}\]", run("--progress=always", "--bytes=6M", "-o", "a", cwd=tmp_path).err)
    assert run("--progress=never", "--objects=1e5", "-o", "a", cwd=tmp_path).err == ""
    assert "\r" not in on_a_terminal("--progress=never", "--objects=1e3", "-o", "a", cwd=tmp_path).replace("\r\n", "")


def test_help_fits_one_screen() -> None:
    lines = run("--help").out.decode().splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    shown = {found[0] for line in lines if (found := re.match("  --[a-z-]+", line))}
    assert {form.strip() for form in shown} <= set(re.findall("--[a-z-]+", run("--help", "all").out.decode()))
    names = {name for words in (LIKES, SHAPES) for name in words.replace(" or ", ", ").split(", ")}
    assert names <= set("\n".join(lines).split())


def test_help() -> None:
    done = run("--help", "all")
    text = done.out.decode()
    assert (done.status, done.err) == (0, "")
    assert run("--help=all").out == done.out
    assert run("-h").out == run("--help").out
    assert max(len(line) for line in text.splitlines()) <= 80
    for name in (*LIKES.replace(" or ", ", ").split(", "), *SHAPES.replace(" or ", ", ").split(", ")):
        assert re.search(f"^ +{name} +[A-Za-z1-9]", text, re.MULTILINE), name
    options = re.findall(
        r'^    \{OPTION_[A-Z_]+, "([a-z-]+)", ', (SOURCE / "generator/cli/option_table.c").read_text(), re.MULTILINE
    )
    assert len(options) > 20
    assert [name for name in options if f"--{name}" not in text] == []
    with Path("/dev/full").open("wb") as full:
        assert run("--help", stdout=full).status == 3


@pytest.mark.parametrize(
    ("option", "columns"),
    [("--help=all", 80), ("--help=all", 100), *(("--list-violations", columns) for columns in (50, 69, 70, 80, 100))],
)
def test_lists_fit_the_terminal(option: str, columns: int, tmp_path: Path) -> None:
    shown = on_a_terminal(option, cwd=tmp_path, columns=columns, stdout=True).replace("\r", "")
    assert columns - 20 < max(len(line) for line in shown.splitlines()) <= columns
    assert shown.split() == run(option).out.decode().split()


@pytest.mark.parametrize("columns", [40, 80, 132])
@pytest.mark.parametrize(
    "args",
    [("--like", "nothing"), ("--violate", "NOT-001"), ("--from", "a file that is not there and has a long name " * 3)],
)
def test_messages_break_at_words(args: tuple[str, str], columns: int, tmp_path: Path) -> None:
    whole = run(*args, "-o", "x", cwd=tmp_path)
    shown = on_a_terminal(*args, "-o", "x", cwd=tmp_path, columns=columns, status=whole.status).replace("\r", "")
    assert shown.split() == whole.err.split()
    assert max(len(line) for line in shown.splitlines()) <= columns < max(len(line) for line in whole.err.splitlines()) or (
        shown == whole.err
    )


def test_the_list_of_faults_has_a_line_for_each_in_a_pipe() -> None:
    lines = run("--list-violations").out.decode().splitlines()
    assert all(re.match(r"[A-Z]+-[0-9]{3} +\S+ +\S", line) for line in lines)


def test_without_arguments_there_is_help_and_no_dump() -> None:
    """Standard output may lead to a reader of dumps."""
    done = run()
    assert (done.status, done.out) == (2, b"")
    assert done.err == run("--help").out.decode()


def test_version_is_that_of_the_tool() -> None:
    header = (SOURCE / "validator/include/hprof/hprof.h").read_text()
    version = re.findall('^#define HPROF_VERSION "(.*)"', header, re.MULTILINE)
    for args in (["--version"], ["-V"], ["--version", "--objects=3"], ["--objects=3", "--version"]):
        assert run(*args).out.decode().split() == ["hprof-gen", *version]


def test_version_of_the_dump() -> None:
    assert dump("--dump-version", "1.0.1") == dump("--dump-version=1.0.1")
    assert dump("--dump-version", "1.0.1").startswith(b"JAVA PROFILE 1.0.1\0")
    assert dump("--dump-version=1.0.2") == dump()


def test_the_old_form_of_dump_version_works_and_warns() -> None:
    wanted = run("--dump-version=1.0.1", "--objects=10", "-o-").out
    for args in (["--version=1.0.1"], ["--version", "1.0.1"]):
        done = run(*args, "--objects=10", "-o-")
        assert (done.status, done.out) == (0, wanted)
        assert "--version 1.0.1 is --dump-version 1.0.1 now" in done.err
