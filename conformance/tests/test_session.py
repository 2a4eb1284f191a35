"""Crashes, hangs, memory and breaches of the protocol end the reader's process, and the next dump is read all the same."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from hprof_conformance import jvms, protocol, serve
from hprof_conformance.adapters import rust
from hprof_conformance.calibration import KNOWN, calibrate, tiny_dump
from hprof_conformance.cases import counts_of
from hprof_conformance.protocol import Hello, ProtocolError, Reply, parse_hello, parse_reply
from hprof_conformance.readers import Reader
from hprof_conformance.session import Limits, Session, error_line
from hprof_corpus.digest import PARTS
from hprof_corpus.truth import FEATURES, holds

READER = Path(__file__).parent / "made_reader.py"
PROTOCOL = Path(__file__).resolve().parents[1] / "PROTOCOL.md"


def session(how: str, folder: Path, seconds: float = 5.0) -> Session:
    return Session([sys.executable, str(READER), how], folder, Limits(seconds=seconds, memory=100 << 20))


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump"
    file.write_bytes(b"12345")
    return file


@pytest.mark.parametrize(
    ("how", "outcome", "message"),
    [
        ("crash", "crashed", "SIGABRT: Segmentation fault, as it were"),
        ("hang", "hung", "no answer after 5 s"),
        ("memory", "out of memory", "more than"),
        ("daemon", "out of memory", "more than"),
        ("out-of-memory", "out of memory", "OutOfMemoryError"),
        ("breach", "crashed", "breach of the protocol"),
        ("other-case", "crashed", ", answered another"),
        ("ends", "crashed", "status 3: nothing on standard error"),
        ("any-order", "crashed", "status 3"),  # of the names in its hello, as of a set
        ("closes", "crashed", "did not end"),
        ("nested", "crashed", "no JSON object: [["),
        ("endless-line", "crashed", "a line of more than 1048576 bytes"),
        ("endless-errors", "crashed", "more than 1048576 bytes on standard error"),
        ("surrogate", "crashed", "?"),
        ("leaves-child", "crashed", "status 3"),
        ("deletes", "crashed", "status 3"),
    ],
)
def test_what_goes_wrong_is_a_reply_and_the_reader_is_started_again(
    how: str, outcome: str, message: str, tmp_path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hprof_conformance.session._PATIENCE", 1.0)
    for limit in ("MOST_IN_A_LINE", "MOST_ERRORS"):
        monkeypatch.setattr(f"hprof_conformance.session.{limit}", 1 << 20)
    own = tmp_path / "own"
    own.mkdir()
    bad_dump = Path(shutil.copy(dump, own / "bad"))
    one = session(how, own)
    try:
        assert one.ask("good", dump).counts == {"instances": 5}
        bad = one.ask("bad", bad_dump)
        assert (bad.outcome, message in bad.message) == (outcome, True), bad.message
        assert one.ask("good", dump).outcome == "accepted"
        assert one.starts == (1 if how == "surrogate" else 2)
    finally:
        one.stop()


@pytest.mark.parametrize(
    ("how", "words"), [("abort-after", "signal SIGABRT"), ("garbage-after", "and one thing more"), ("well", "")]
)
def test_what_a_reader_does_after_its_last_answer_is_its_end(how: str, words: str, tmp_path: Path, dump: Path) -> None:
    one = session(how, tmp_path)
    try:
        assert one.ask("bad", dump.rename(dump.with_name("bad"))).outcome == "accepted"
        time.sleep(0.5)
        ended = one.end()
        assert words in ended if words else not ended
    finally:
        one.stop()


@pytest.mark.parametrize(("how", "words"), [("abort-after", "ended with signal SIGABRT"), ("garbage-after", "and one thing more")])
def test_what_a_reader_does_between_two_dumps_is_no_fault_of_the_second(how: str, words: str, tmp_path: Path, dump: Path) -> None:
    bad = Path(shutil.copy(dump, tmp_path / "bad"))
    one = session(how, tmp_path)
    try:
        assert one.ask("bad", bad).outcome == "accepted"
        time.sleep(0.5)
        assert one.ask("good", dump).outcome == "accepted"
        assert len(one.between) == 1 and one.between[0].startswith("after bad: ") and words in one.between[0]
        assert one.ask("good", dump).outcome == "accepted" and len(one.between) == 1
    finally:
        one.stop()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("later-status", "ended with status 3"),
        ("later-abort", "ended with signal SIGABRT"),
        ("later-hang", "no answer after 1 s"),
    ],
)
def test_a_reader_that_has_not_taken_a_request_is_asked_again(how: str, words: str, tmp_path: Path, dump: Path) -> None:
    bad = Path(shutil.copy(dump, tmp_path / "bad"))
    one = session(how, tmp_path, seconds=1.0)
    try:
        for number in (1, 2):
            assert one.ask("bad", bad).outcome == "accepted"
            assert one.ask("good", dump).outcome == "accepted"
            assert len(one.between) == number and one.between[-1].startswith("after bad: ") and words in one.between[-1]
    finally:
        one.stop()


def test_what_a_reader_printed_for_another_dump_says_nothing_of_this_one(tmp_path: Path, dump: Path) -> None:
    bad, worse = (Path(shutil.copy(dump, tmp_path / name)) for name in ("bad", "worse"))
    one = session("errors", tmp_path)
    try:
        assert one.ask("bad", bad).outcome == "accepted"
        found = one.ask("worse", worse)
        assert (found.outcome, found.message) == ("crashed", "ended with status 3: nothing on standard error")
    finally:
        one.stop()


def test_an_answer_that_is_there_when_the_runner_looks_is_in_time(
    tmp_path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a machine that is too busy for the runner to look before the limit."""

    def slow(*_: object) -> int:
        time.sleep(0.5)
        return 0

    one = session("well", tmp_path, seconds=0.3)
    try:
        one.start()
        monkeypatch.setattr("hprof_conformance.session._resident", slow)
        assert one.ask("good", dump).outcome == "accepted"
    finally:
        one.stop()


def test_a_reader_that_replaces_its_folder_by_a_file_is_the_only_one_that_suffers(tmp_path: Path, dump: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    one = session("folder-replaced", own)
    try:
        assert one.ask("bad", dump.rename(dump.with_name("bad"))).outcome == "accepted"
        time.sleep(0.5)
        assert one.ask("good", dump.with_name("bad")).outcome == "crashed"
        assert one.ask("good", dump.with_name("bad")).message == "cannot be started again: File exists"
    finally:
        one.stop()


def test_a_request_does_not_tell_the_name_of_the_case(tmp_path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    original = protocol.request

    def kept(case: str, file: Path) -> str:
        asked.append(case)
        return original(case, file)

    monkeypatch.setattr("hprof_conformance.session.request", kept)
    one = session("well", tmp_path)
    try:
        assert {one.ask("invalid/REC-002", dump).case for _ in range(3)} == {"invalid/REC-002"}
    finally:
        one.stop()
    assert len({*asked}) == 3 and not any("REC" in each for each in asked)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"case": "c", "outcome": "accepted", "outcome": "rejected"}', "outcome is there twice"),
        ('{"case": "c", "outcome": "accepted", "counts": {"instances": 3.0}}', "3.0 is no integer"),
        ('{"case": "c", "outcome": "accepted", "counts": {"instances": NaN}}', "NaN is no integer"),
        ('{"case": "c", "outcome": "accepted", "counts": {"instances": 1, "instances": 2}}', "instances is there twice"),
    ],
)
def test_what_json_leaves_open_is_a_breach(line: str, words: str) -> None:
    with pytest.raises(ProtocolError, match=words):
        parse_reply(line, "c")


def test_long_messages_are_cut() -> None:
    reply = parse_reply(
        json.dumps({"case": "c", "outcome": "accepted", "message": "m" * 10**6, "notices": ["n" * 3000] * 5000}), "c"
    )
    assert len(reply.message) == 2000 and len(reply.notices) == 1000 and len(reply.notices[0]) == 2000


@pytest.mark.parametrize(
    ("how", "outcome"),
    [("daemon", "out of memory"), ("daemon-and-crash", "crashed")],  # the second before the daemon can be seen
)
def test_a_daemon_ends_with_the_reader(how: str, outcome: str, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    dump = Path(shutil.copy(READER, own / "bad"))
    one = session(how, own)
    try:
        assert one.ask("bad", dump).outcome == outcome
    finally:
        one.stop()
    stat = Path("/proc", (own / "daemon.pid").read_text(encoding="ascii"), "stat")
    assert not stat.exists() or ") Z " in stat.read_text(encoding="utf-8")


def test_a_reader_ends_with_a_run_that_is_killed(tmp_path: Path) -> None:
    """Also a daemon of it, whose parent has ended."""
    reader = tmp_path / "reader"
    names = {"name": "r", "version": "1", "bugs": "", "unsupported": {}, "counts": [], "digests": [], "references": "exact"}
    hello = json.dumps({"protocol": 1, **names})
    text = f"#!/bin/sh\nsetsid sleep 600 &\necho $! >{tmp_path}/daemon\necho $$ >{tmp_path}/pid\necho '{hello}'\nsleep 600\n"
    reader.write_text(text, encoding="utf-8")
    reader.chmod(0o755)
    lines = ["import signal, sys", "from pathlib import Path", "from hprof_conformance.session import Session"]
    lines += [f"Session([{str(reader)!r}], Path({str(tmp_path / 'own')!r})).start()", "print(flush=True)", "signal.pause()"]
    with subprocess.Popen([sys.executable, "-c", "\n".join(lines)], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None and run.stdout.readline() == b"\n"
        run.kill()
    stats = [Path("/proc", (tmp_path / name).read_text(encoding="ascii").strip(), "stat") for name in ("pid", "daemon")]
    until = time.monotonic() + 60

    def runs(stat: Path) -> bool:
        with contextlib.suppress(OSError):  # it has ended
            return ") Z " not in stat.read_text(encoding="utf-8")
        return False

    while any(map(runs, stats)):
        assert time.monotonic() < until
        time.sleep(0.1)


HANGS = """
package there;

public class Hangs {
    static void forEver() {
        for (long i = 0; i >= 0; i++) {
            Thread.yield();
        }
    }

    public static void main(String[] arguments) {
        System.out.println(arguments[0]);
        forEver();
    }
}
"""


def test_of_a_jvm_that_hangs_the_message_names_the_methods(tmp_path: Path, dump: Path) -> None:
    source = tmp_path / "Hangs.java"
    source.write_text(HANGS, encoding="utf-8")
    java = jvms.any_home(PROTOCOL.parents[1]) / "bin" / "java"
    hello = Hello("test", "1", "", {}, [], [], "exact")
    line = json.dumps({"protocol": protocol.VERSION, **asdict(hello)})
    one = Session([str(java), "-XX:+DisplayVMOutputToStderr", str(source), line], tmp_path, Limits(seconds=2.0))
    try:
        bad = one.ask("bad", dump)
        assert bad.outcome == "hung"
        assert re.search(r"no answer after 2 s at Hangs.forEver:\d+ from Hangs.main:\d+", bad.message), bad.message
    finally:
        one.stop()


def test_one_process_serves_many_dumps(tmp_path: Path, dump: Path) -> None:
    one = session("well", tmp_path)
    try:
        assert all(one.ask(f"case {i}", dump).outcome == "accepted" for i in range(20))
        assert one.starts == 1
    finally:
        one.stop()


@pytest.mark.parametrize(
    ("errors", "line"),
    [
        ("", ""),
        ("Segmentation fault", "Segmentation fault"),
        ('Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 7\n', "KeyError: 7"),
        ("panic: no class\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/main.go:7 +0x1\nexit status 2\n", "panic: no class"),
        (
            'Exception in thread "main" a.B: c\n\tat a.B.main(B.java:1)\nCaused by: a.IOException: d\n\tat a.C.e(C.java:2)',
            "Caused by: a.IOException: d",
        ),
        ("/a.js:3\n  throw new Error('b')\n\nError: b\n    at c (/a.js:3:1)\n\nNode.js v20.0.0\n", "Error: b"),
        (
            "thread 'main' panicked at a.rs:1:2:\nno class\nnote: run with `RUST_BACKTRACE=1`\n",
            "thread 'main' panicked at a.rs:1:2: no class",
        ),
    ],
)
def test_the_line_of_an_error_is_found_in_what_many_languages_print(errors: str, line: str) -> None:
    assert error_line(errors) == line


@pytest.mark.parametrize(
    ("script", "outcome", "in_rust"),
    [
        ("exit 0", "accepted", "accepted"),
        ("echo 'record 5 is out of memory bounds' >&2; exit 1", "rejected", "out of memory"),
        ("exit 101", "rejected", "crashed"),
        ("echo \"thread 'main' (7) panicked at /x/registry/src/y/a.rs:1\" >&2; exit 1", "rejected", "crashed"),
        ("kill -SEGV $$", "crashed", "crashed"),
    ],
)
def test_of_a_program_that_takes_a_file_only_the_exit_status_counts(script: str, outcome: str, in_rust: str) -> None:
    command = ["sh", "-c", script]
    assert serve.run(command, "c")[0].outcome == outcome
    found, _ = rust.run(command, "c")
    assert found.outcome == in_rust and "/x/" not in found.message


def test_a_hello_that_changes_names_what_changed(tmp_path: Path, dump: Path) -> None:
    one = session("another-hello", tmp_path)
    try:
        assert one.ask("good", dump).outcome == "accepted"
        assert one.ask("bad", dump.rename(dump.with_name("bad"))).outcome == "crashed"
        assert (
            one.ask("good", dump.with_name("bad")).message
            == "breach of the protocol: another hello than at the first start: version"
        )
    finally:
        one.stop()


def test_a_reader_has_to_say_hello(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hprof_conformance.session._START_TIMEOUT", 0.5)
    for how in ("no-hello", "silent"):
        one = session(how, tmp_path)
        with pytest.raises(ProtocolError):
            one.start()
        one.stop()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, ""),
        ({"counts": ["instances", "roots"]}, "counts: instances in the hello, instances, roots in reader.toml"),
        ({"digests": ["strings"]}, "digests: none in the hello, strings in reader.toml"),
        ({"unsupported": {"gzip": "no"}}, "unsupported: none in the hello, gzip in reader.toml"),
        ({"references": "resolved"}, "references: exact in the hello, resolved in reader.toml"),
    ],
)
def test_an_adapter_has_to_declare_what_the_list_says(change: dict[str, Any], found: str, tmp_path: Path) -> None:
    listed = Reader("test", "Test", "1", "test", "", "", "java", tmp_path, {}, counts=["instances"])
    one = session("well", tmp_path)
    try:
        (step,) = (step for step in calibrate(one, tmp_path, replace(listed, **change), []) if "the list" in step.what)
    finally:
        one.stop()
    assert (step.passed, step.found) == (not found, found)


class Spoken(Session):
    """A reader that knows the tiny dump, and takes an empty file for a heap with its classes."""

    def __init__(self, folder: Path, of_nothing: int = 0) -> None:
        super().__init__([], folder)
        self.asked: list[bytes] = []
        self._of_nothing = of_nothing

    def start(self) -> Hello:
        return Hello("a", "1", "", {"gzip": "no"}, ["classes"], [], "exact")

    def ask(self, case: str, file: Path) -> Reply:
        data = file.read_bytes()
        self.asked.append(data)
        return Reply(case, "accepted", counts={"classes": KNOWN["classes"] if data else self._of_nothing})


def test_a_calibration_asks_for_the_tiny_dump_again_after_the_half_of_it(tmp_path: Path) -> None:
    one = Spoken(tmp_path)
    assert all(step.passed for step in calibrate(one, tmp_path, None, [[]]))
    tiny, nothing, half, again = one.asked
    assert nothing == b"" and half == tiny[: len(tiny) // 2] and again == tiny


def test_what_a_reader_finds_in_an_empty_file_and_few_claims_fail_its_calibration(tmp_path: Path) -> None:
    failed = [step.what for step in calibrate(Spoken(tmp_path, 1), tmp_path, None, [[]]) if not step.passed]
    assert failed == ["an empty file has no content"]
    for others, passed in ((9, True), (10, False)):  # a tenth of all cases
        needs = [[], *([["gzip"]] * others)]
        (step,) = (step for step in calibrate(Spoken(tmp_path), tmp_path, None, needs) if "claims" in step.what)
        assert step.passed == passed


@pytest.mark.parametrize(("name", "size", "seconds"), [("a", 9, 10), ("a.gz", 9, 60), ("a", (1 << 20) - 1, 10), ("a", 1 << 20, 60)])
def test_a_large_and_a_compressed_dump_have_more_time(name: str, size: int, seconds: float, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(bytes(size))
    assert Limits().for_file(file) == seconds


@pytest.mark.parametrize("version", ["1.0.1", "1.0.2", "1.0.3"])
def test_a_reader_of_one_version_calibrates(version: str) -> None:
    others = {f"version-{one}": "no" for one in ("1.0.1", "1.0.2", "1.0.3") if one != version}
    data, known = tiny_dump(Hello("a", "1", "", others, [], [], "exact"))
    assert version.encode() in data[:20]
    held = counts_of(holds(memoryview(data)))
    assert {name: held.get(name, 0) for name in known} == known


HELLO = {
    "protocol": 1,
    "name": "a",
    "version": "1",
    "bugs": "",
    "unsupported": {},
    "counts": [],
    "digests": [],
    "references": "exact",
}


@pytest.mark.parametrize(
    "change",
    [
        {"protocol": 2},
        {"name": ""},
        {"unsupported": {"flying": "cannot"}},
        {"unsupported": {"gzip": ""}},
        {"counts": ["wishes"]},
        {"digests": ["instances", "instances"]},
        {"references": "some"},
        {"more": 1},
    ],
)
def test_a_hello_that_the_schema_refuses(change: dict[str, object]) -> None:
    assert parse_hello(json.dumps(HELLO)).name == "a"
    with pytest.raises(ProtocolError):
        parse_hello(json.dumps({**HELLO, **change}))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "[]",
        '{"case": "c"}',
        '{"case": "c", "outcome": "perfect"}',
        '{"case": "c", "outcome": "accepted", "counts": {"instances": -1}}',
        '{"case": "c", "outcome": "accepted", "digests": {"instances": {"count": 1, "sum": "12"}}}',
    ],
)
def test_a_reply_that_the_schema_refuses(reply: str) -> None:
    with pytest.raises(ProtocolError):
        parse_reply(reply, "c")


def test_the_schema_and_the_page_name_what_the_program_names() -> None:
    schema = json.loads(protocol.SCHEMA.read_text(encoding="utf-8"))["$defs"]
    assert tuple(schema["features"]["enum"]) == FEATURES
    assert set(schema["counts"]["enum"]) == set(protocol.COUNTS)
    assert tuple(schema["digests"]["enum"]) == PARTS
    page = PROTOCOL.read_text(encoding="utf-8")
    section = page.split("### 2.2")[1].split("### 2.3")[0]
    assert set(re.findall(r"`([a-z][a-z0-9.-]+)`(?=[^\n]*\|)", section)) - {"reader.toml"} == set(FEATURES)
    entries = page.split("### 1.2 identity")[1].split("An instance whose")[0]
    assert tuple(re.findall(r"^\| `(\w+)`", entries, re.MULTILINE)) == PARTS
