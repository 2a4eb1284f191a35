"""hprof-serve: the listener that checks the agent of JDK 8 accepts it, and errors are reported."""

from __future__ import annotations

import itertools
import lzma
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

AGENT8 = Path(__file__).resolve().parents[2] / "conformance/producers/agent8"
sys.path.insert(0, str(AGENT8))

from answers import ask_heap, ask_samples, ask_sites, facts_of  # noqa: E402
from facts import Facts, read_text_data  # noqa: E402
from live import BinaryCheck, TextCheck  # noqa: E402
from session import Session, serve_session  # noqa: E402
from wire import (  # noqa: E402
    Command,
    Record,
    Stream,
    StreamError,
    Tag,
    alloc_sites,
    command,
    control,
    cpu_samples,
    fault_of,
    read_samples,
    read_sites,
    read_summary,
)

GEN = Path(os.environ["HPROF_GEN"])
SERVE = Path(os.environ["HPROF_SERVE"])


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Of the agent, by the number of objects."""
    folder = tmp_path_factory.mktemp("dumps")
    made = {objects: folder / f"{objects}.hprof" for objects in (500, 3000, 300_000)}
    for objects, path in made.items():
        options = ["--like=jdk8-agent", "--records=all", f"--objects={objects}", "--stack-depth=4"]
        subprocess.run([GEN, *options, "-o", path], check=True)
    return made


@pytest.fixture
def session(dumps: dict[int, Path]) -> Iterator[Session]:
    with serve_session(SERVE, dumps[500]) as one:
        yield one


def test_the_listener_passes(dumps: dict[int, Path]) -> None:
    done = subprocess.run(
        [sys.executable, AGENT8 / "listen", "--serve", SERVE, dumps[3000]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") >= 26


def test_the_text_says_what_the_records_say(dumps: dict[int, Path]) -> None:
    """Of the same dump: objects, fields and elements that are not null, arrays, statics, superclasses, sites, traces, threads."""
    facts, sites, samples = [], [], []
    for binary in (True, False):
        with serve_session(SERVE, dumps[3000], binary=binary) as one:
            facts.append(ask_heap(one))
            sites.append([row for row in ask_sites(one).rows if row.trace not in (0, 300000)])
            samples.append(ask_samples(one))
            assert one.stream.finish_check() == ""
    for name in ("supers", "statics", "instances", "fields", "arrays", "elements", "started", "traces"):
        records, text = (getattr(one, name) for one in facts)
        assert records, name
        if isinstance(records, dict):
            records, text = ({key: value for key, value in values.items() if value} for values in (records, text))
        assert text == records, name
    assert sites[0] == sites[1]
    assert samples[0] == samples[1]


SPINS = 3


def ended_text(dump: Path, *options: str) -> bytes:
    """The program spins, and ends."""
    with serve_session(SERVE, dump, "--orders", *options, binary=False) as one:
        for _ in range(SPINS):
            one.order("s", "spun")
        assert one.finish() == 0
        one.stream.wait_end()
        assert one.stream.finish_check() == ""
        return bytes(one.stream.data)


def sampled(dump: Path) -> tuple[Facts, dict[int, int]]:
    with serve_session(SERVE, dump, binary=False) as one:
        samples = ask_samples(one)[1]
        return facts_of(one.stream), samples


def test_times_are_those_of_the_samples(dumps: dict[int, Path]) -> None:
    """A call for each sample, and one for each spin, which are all of the trace with most samples."""
    facts, samples = sampled(dumps[3000])
    hot = max(samples, key=lambda trace: samples[trace])
    text = ended_text(dumps[3000], "--cpu", "times")
    expected: dict[str, int] = {}
    for trace, count in samples.items():
        method = facts.traces[trace].frames[0].method
        expected[method] = expected.get(method, 0) + count + (SPINS if trace == hot else 0)
    assert dict(read_text_data(text)[0].calls) == expected
    assert int(text.partition(b"CPU TIME (ms) BEGIN (total = ")[2].partition(b")")[0]) == 10 * (sum(samples.values()) + 30 * SPINS)


def test_pairs_are_those_of_the_samples(dumps: dict[int, Path]) -> None:
    facts, samples = sampled(dumps[3000])
    hot = max(samples, key=lambda trace: samples[trace])
    text = ended_text(dumps[3000], "--cpu", "old")
    expected: dict[tuple[str, str], int] = {}
    for trace, count in samples.items():
        methods = [*(frame.method for frame in facts.traces[trace].frames), "<unknown caller>"]
        for pair in itertools.pairwise(methods):
            expected[pair] = expected.get(pair, 0) + count + (SPINS if trace == hot else 0)
    assert dict(read_text_data(text)[0].pairs) == expected
    counts = [int(line.split()[0]) for line in text.partition(b"count callee caller time\n")[2].splitlines()]
    assert counts == sorted(counts, reverse=True)


def test_monitors_are_owned_and_awaited(dumps: dict[int, Path]) -> None:
    """Threads in Object.wait() await the first monitor, and have said so; another waits to enter it, and did so at each spin."""
    text = ended_text(dumps[3000], "--monitor", "--cpu", "times")
    facts = read_text_data(text)[0]
    assert list(facts.blocks) == ["waits", "monitor dump", "monitor times", "heap dump", "times"]
    states = re.findall(rb"^    THREAD (\d+), trace (\d+), status: (\w+)$", text, re.MULTILINE)
    asleep = [thread for thread, trace, _ in states if facts.traces[int(trace)].frames[0].method == "java.lang.Object.wait"]
    assert [thread for thread, _, state in states if state == b"CW"] == asleep != []
    assert re.findall(rb"^WAIT: MONITOR .*, timeout=0, thread (\d+)$", text, re.MULTILINE) == asleep
    waiting = re.findall(rb"^\twaiting to (?:enter|be notified):(.*)$", text, re.MULTILINE)
    entering, notified, *others = (re.findall(rb"\d+", threads) for threads in waiting)
    assert [thread for thread, _, state in states if state == b"MW"] == entering
    assert len(entering) == 1
    assert notified == asleep
    assert others and not any(others)
    owners = set(re.findall(rb"^\towner: thread (\d+), entry count: 1$", text, re.MULTILINE))
    assert owners == {states[0][0]}
    assert sum(facts.contended.values()) == SPINS


def blocks(text: bytes) -> list[bytes]:
    found = re.findall(rb"^(?:(.*) BEGIN .*|MONITOR DUMP BEGIN|(count callee caller time))$", text, re.MULTILINE)
    return [b"".join(groups) for groups in found]


@pytest.mark.skipif("HPROF_AGENT" not in os.environ, reason="built without the agent: no jvmti.h")
@pytest.mark.parametrize("cpu", ["times", "old"])
def test_the_agent_writes_the_same_blocks(cpu: str, dumps: dict[int, Path]) -> None:
    from agent_tool import LIMIT, jdks, ready_java

    with ready_java(jdks()[-1]) as java, socket.create_server(("127.0.0.1", 0)) as server:
        options = f"net=127.0.0.1:{server.getsockname()[1]},heap=dump,cpu={cpu},monitor=y"
        process = java.start(java.command(options, "Calls"), java.directory())
        with java.ended_in_time(process):
            connection, _ = server.accept()
            with connection:
                stream = Stream(connection, binary=False)
                assert process.wait(LIMIT) == 0
                stream.wait_end()
    assert blocks(bytes(stream.data)) == blocks(ended_text(dumps[3000], "--monitor", "--cpu", cpu))


def test_a_stream_is_checked_while_it_comes() -> None:
    """The pipe to the validator holds 64 KiB: it has read the rest before the stream ends."""
    binary = BinaryCheck()
    binary.take(b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQ", 4, 0))
    binary.take(struct.pack(">BIII", Tag.UTF8, 0, 4 << 20, 1) + bytes((4 << 20) - 4))
    binary.take(struct.pack(">BII", Tag.HEAP_SUMMARY, 0, 3) + bytes(3))
    assert "PRF-006" in binary.finish()
    text = TextCheck()
    text.take(b"JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 2026\n\n--------\n\nTHREAD END (id = 7)\n")
    for _ in range(1000):
        if text.findings.kept:
            break
        time.sleep(0.02)
    assert [one.rule.id for one in text.findings.kept] == ["ASC-014"]
    assert text.finish() == "hprof-ascii finds ASC-014 at line 5"


def record(tag: Tag, when: int, body: bytes) -> Record:
    return Record(tag, when, body)


@pytest.mark.parametrize(
    ("one", "fault"),
    [
        (record(Tag.HEAP_SUMMARY, 5, bytes(24)), ""),
        (record(Tag.HEAP_SUMMARY, 3, bytes(24)), "the time 3 after 4"),
        (record(Tag.HEAP_SUMMARY, 9_000_000, bytes(24)), "the time 9000000, 1.0 s after the start"),
        (record(Tag.TRACE, 5, struct.pack(">IIII", 1, 0, 1, 7)), ""),
        (record(Tag.TRACE, 5, struct.pack(">IIII", 1, 0, 2, 7)), "TRACE with 2 parts in 16 bytes"),
        (record(Tag.CPU_SAMPLES, 5, struct.pack(">IIII", 3, 2, 1, 7)), "CPU_SAMPLES with 2 parts in 16 bytes"),
        (record(Tag.ALLOC_SITES, 5, bytes(33)), "ALLOC_SITES with -1 parts in 33 bytes"),
    ],
)
def test_counts_and_times_of_records(one: Record, fault: str) -> None:
    assert fault_of(one, 4, 1.0) == fault


def test_a_stream_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wire.MOST", 1000)
    here, there = socket.socketpair()
    with here, there:
        stream = Stream(here)
        there.sendall(b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQBII", 4, 0, Tag.UTF8, 0, 0xFFFFFFFF) + bytes(2000))
        stream.wait_end()
        assert stream.finish_check() == "more than 1000 bytes"


def test_a_program_that_ignores_orders_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session.PATIENCE", 0.1)
    here, there = socket.socketpair()
    pipe = subprocess.PIPE
    with here, there, subprocess.Popen(["sleep", "60"], stdin=pipe, stdout=pipe) as process:
        with pytest.raises(StreamError, match="does not say 'dropped'"):
            Session(Stream(here), process).order("d", "dropped")
        process.kill()
        there.close()


def test_text_of_a_client_that_goes_away(dumps: dict[int, Path]) -> None:
    with serve_session(SERVE, dumps[300_000], binary=False) as session:
        session.stream.stop_at = 100_000
        session.stream.send(command(Command.DUMP_HEAP))
        assert session.wait() == 0


def test_what_is_cleared_is_empty(session: Session) -> None:
    assert read_sites(session.stream.ask(alloc_sites(), Tag.ALLOC_SITES)[0]).rows
    assert read_samples(session.stream.ask(cpu_samples(), Tag.CPU_SAMPLES)[0])[0] > 0
    thread = struct.pack(">I", 0)
    session.stream.send(control(1) + control(2) + control(3, thread) + control(4, thread) + control(5) + control(6))
    session.stream.send(control(7, b"\0\x09") + control(99) + command(Command.GC))
    assert read_sites(session.stream.ask(alloc_sites(), Tag.ALLOC_SITES)[0]).rows == []
    assert read_samples(session.stream.ask(cpu_samples(), Tag.CPU_SAMPLES)[0]) == (0, {})


def test_changed_sites_are_none(session: Session) -> None:
    assert read_sites(session.stream.ask(alloc_sites(1), Tag.ALLOC_SITES)[0]).rows
    assert read_sites(session.stream.ask(alloc_sites(1), Tag.ALLOC_SITES)[0]).rows == []


def test_the_end_of_commands_ends_it(session: Session) -> None:
    session.stream.fence()
    session.stream.send(bytes([Command.EOF]))
    assert session.wait() == 0
    session.stream.wait_end()
    assert len(session.stream.data) == session.stream.taken


@pytest.mark.parametrize("sent", [b"", b"\x02", b"\x03\0\0\0\0\0\0\0\6\0\0", b"\x08\0\0\0\0\0\0\0\2\0\x07\0"])
def test_a_client_that_goes_away_ends_it(session: Session, sent: bytes) -> None:
    session.stream.fence()
    session.stream.send(sent)
    session.stream.connection.shutdown(socket.SHUT_WR)
    assert session.wait() == 0


def test_a_client_that_goes_away_within_an_answer_ends_it(dumps: dict[int, Path]) -> None:
    with serve_session(SERVE, dumps[300_000]) as session:
        session.stream.stop_at = len(session.stream.data) + 100_000
        session.stream.send(command(Command.DUMP_HEAP))
        assert session.wait() == 0


def refusal(*words: str | Path, program: Path = SERVE) -> tuple[int, str]:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_nobody_listens(dumps: dict[int, Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    status, said = refusal(f"127.0.0.1:{port}", dumps[500])
    assert status == 3
    assert "Connection refused" in said


def test_only_loopback_addresses(dumps: dict[int, Path]) -> None:
    status, said = refusal("192.0.2.1:80", dumps[500])
    assert status == 3
    assert "not a loopback address" in said


WRONG_PORTS = ["localhost:0", "localhost:65536", "localhost:http", "localhost:1e3"]


@pytest.mark.parametrize("value", ["4711", "localhost:", ":4711", "", "x" * 300 + ":1", *WRONG_PORTS])
def test_a_host_and_a_port(value: str) -> None:
    status, said = refusal(value, "dump")
    assert status == 2
    assert "the client is HOST:PORT" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "which client, and which dump?"),
        (["localhost:1"], "which client, and which dump?"),
        (["localhost:1", "dump", "more"], "one client and one dump"),
        (["--format", "c", "localhost:1", "dump"], "--format is b (records) or a (text)"),
        (["--cpu", "times", "localhost:1", "dump"], "--cpu times and --cpu old need --format a"),
        (["--monitor", "localhost:1", "dump"], "--monitor needs --format a"),
        (["--cpu", "all", "localhost:1", "dump"], "--cpu is off, samples, times or old"),
    ],
)
def test_wrong_usage(words: list[str], sentence: str) -> None:
    status, said = refusal(*words)
    assert status == 2
    assert sentence in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--like=jdk8-agent", "--records=sites"], "it has no CPU_SAMPLES: the agent writes it with heap=all,cpu=samples"),
        (["--like=jdk8-agent", "--records=samples"], "it has no ALLOC_SITES"),
        (["--like=hotspot"], "not a valid dump of the agent"),
        (["--like=plain"], "its IDs have 8 bytes"),
        (["--like=jdk8-agent", "--records=all", "--gz=1"], "the dump is compressed"),
        (["--like=jdk8-agent", "--records=all", "--violate=OBJ-004"], "not a valid dump of the agent"),
    ],
)
def test_dumps_that_cannot_be_served(options: list[str], sentence: str, tmp_path: Path) -> None:
    """No client is asked: nobody listens."""
    subprocess.run([GEN, "--objects=500", *options, "-o", tmp_path / "dump"], check=True)
    status, said = refusal("localhost:1", tmp_path / "dump")
    assert status == 3
    assert said.startswith(f"hprof-serve: {tmp_path / 'dump'}: ")
    assert sentence in said


def test_no_dump_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, said = refusal("localhost:1", tmp_path / "pipe")
    assert status == 3
    assert "no regular file" in said
    status, said = refusal("localhost:1", tmp_path / "none")
    assert status == 3
    assert "No such file" in said


def heap_records(dump: bytes) -> list[bytes]:
    """The bodies of the HEAP_DUMP records."""
    found, at = [], dump.index(0) + 13
    while at < len(dump):
        tag, _, length = struct.unpack_from(">BII", dump, at)
        at += 9
        if tag == Tag.HEAP_DUMP:
            found.append(dump[at : at + length])
        at += length
    return found


def test_a_dump_of_the_agent_itself(tmp_path: Path) -> None:
    """The heap is that of the file. The agent writes no HEAP_SUMMARY into files; its numbers are those of the sites."""
    dump = tmp_path / "agent.hprof"
    dump.write_bytes(lzma.decompress((AGENT8 / "gold/heap.hprof.xz").read_bytes()))
    with serve_session(SERVE, dump, "--cpu", "off") as one:
        summary = read_summary(one.stream.ask(command(Command.HEAP_SUMMARY), Tag.HEAP_SUMMARY)[0])
        sites = read_sites(one.stream.ask(alloc_sites(), Tag.ALLOC_SITES)[0])
        assert summary.live_bytes == sites.live_bytes > 0
        assert one.stream.ask(command(Command.DUMP_HEAP), Tag.HEAP_DUMP)[0].body == heap_records(dump.read_bytes())[0]
        assert one.stream.finish_check() == ""


# ---- The options of hprof-gen that became hprof-serve


def test_the_old_options_work_with_a_warning() -> None:
    """The text is that of hprof-serve: one reader gets it from both."""
    texts = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        for words in (["--records", "sites"], ["--cpu", "times", "--monitor"]):
            process = subprocess.Popen(
                [GEN, "--serve", address, "--objects", "3000", "--stack-depth=4", "--format", "a", "--orders", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            connection, _ = server.accept()
            with connection:
                assert process.stdin is not None
                process.stdin.write(b"s")
                out, err = process.communicate()
                text = b"".join(iter(lambda c=connection: c.recv(1 << 16), b""))  # type: ignore[misc]
            assert (process.returncode, out) == (0, b"spun\n")
            assert err.decode() == f"hprof-gen: --serve is a tool now: hprof-serve {address} DUMP\n"
            texts.append(blocks(text))
    assert [b"CPU TIME (ms)" in blocks for blocks in texts] == [False, True]


@pytest.mark.parametrize(
    "words",
    [["-o", "x"], ["--manifest", "x"], ["--like", "sa"], ["--heap-dumps", "2"], ["--id-size", "8"],
     ["--violate", "OBJ-004"], ["--gz", "1"], ["--from", "x"]],
)  # fmt: skip
def test_old_options_that_do_not_go_together(words: list[str]) -> None:
    status, said = refusal("--serve", "localhost:1", *words, program=GEN)
    assert status == 2
    assert "does not go with" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--serve", "localhost:1", "--records", "heap"],
            "--serve takes --records sites, as the agent without cpu=samples, or all",
        ),
        (["--serve", "localhost:1", "--records", "samples"], "--serve takes --records sites"),
        (["--serve", "localhost:1", "--cpu", "samples", "--records", "sites"], "--cpu does not go with --records"),
        (["--serve", "localhost", "--objects", "10"], "hprof-serve: the client is HOST:PORT"),
        (["--format", "a"], "--format is an option of hprof-serve"),
        (["--cpu", "times"], "--cpu is an option of hprof-serve"),
        (["--monitor"], "--monitor is an option of hprof-serve"),
        (["--orders"], "--orders is an option of hprof-serve"),
    ],
)
def test_old_options_alone(words: list[str], sentence: str) -> None:
    status, said = refusal(*words, program=GEN)
    assert status in (2, 3)
    assert sentence in said


# ---- Orders


def test_the_end_of_orders_is_that_of_the_program(dumps: dict[int, Path]) -> None:
    """Also while commands have not been read."""
    for sent in (b"", bytes([Command.EOF]), b"\x04", bytes([Command.EOF]) * 100):
        with serve_session(SERVE, dumps[500], "--orders") as session:
            session.stream.send(sent)
            assert session.finish() == 0
            session.stream.wait_end()
            assert len(session.stream.of(Tag.HEAP_DUMP)) == 1
            assert len(session.stream.data) == session.stream.taken


def test_half_a_command_holds_nothing_up(dumps: dict[int, Path]) -> None:
    """Orders are answered meanwhile, and their end is that of the program."""
    for half in (b"\x04", b"\x05", alloc_sites()[:-1], control(7)):
        with serve_session(SERVE, dumps[500], "--orders") as session:
            session.stream.fence()
            session.stream.send(half)
            time.sleep(0.05)
            session.order("d", "dropped")
            assert session.finish() == 0
            session.stream.wait_end()
            assert len(session.stream.of(Tag.HEAP_DUMP)) == 1


def test_orders_are_answered(dumps: dict[int, Path]) -> None:
    with serve_session(SERVE, dumps[500], "--orders", "--cpu", "off") as session:
        stream = session.stream
        stream.fence()
        flags, _ = struct.unpack(">IH", stream.of(Tag.CONTROL_SETTINGS)[0].body)
        assert flags & 3 == 1
        assert read_samples(stream.ask(cpu_samples(), Tag.CPU_SAMPLES)[0]) == (0, {})
        before = read_summary(stream.ask(command(Command.HEAP_SUMMARY), Tag.HEAP_SUMMARY)[0])
        for _ in range(3):
            session.order("d", "dropped")
        session.order("xs", "spun")  # unknown orders have no answer
        after = read_summary(stream.ask(command(Command.HEAP_SUMMARY), Tag.HEAP_SUMMARY)[0])
        assert after.live - before.live == after.allocated - before.allocated == 6000
        assert after.live_bytes - before.live_bytes == after.allocated_bytes - before.allocated_bytes == 96000
        sites = read_sites(stream.ask(alloc_sites(4), Tag.ALLOC_SITES)[0])
        assert sites.live_bytes == before.live_bytes
        assert sum(row[6] - row[4] for row in sites.rows) >= 6000


def test_an_address_of_version_6(dumps: dict[int, Path]) -> None:
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    with server:
        process = subprocess.Popen([SERVE, f"[::1]:{server.getsockname()[1]}", dumps[500]])
        connection, _ = server.accept()
        with connection:
            assert connection.recv(18) == b"JAVA PROFILE 1.0.1"
            connection.sendall(bytes([Command.EOF]))
            while connection.recv(1 << 16):
                pass
        assert process.wait() == 0
