"""The agent of generator/agent in a VM that runs: methods, monitors, requests, commands, attachment, and what goes wrong."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import MSG_WAITALL, create_server, socket

import pytest

if "HPROF_AGENT" not in os.environ:
    pytest.skip("built without the agent: no jvmti.h", allow_module_level=True)

from agent_dump import Dump, plain
from agent_tool import AGENT8, LIMIT, Java, Jdk, Run, errors_of, facts_of, jdks, ready_java

sys.path.insert(0, str(AGENT8))

from facts import Facts, read_text_data
from truth import PAIRS, check_contended, check_waits
from wire import (
    SUMMARY,
    Command,
    Stream,
    Tag,
    alloc_sites,
    command,
    control,
    cpu_samples,
    read_samples,
    read_sites,
    read_summary,
)

SANITIZED = "HPROF_SANITIZED" in os.environ


@pytest.fixture(scope="module", params=jdks(), ids=str)
def java(request: pytest.FixtureRequest) -> Iterator[Java]:
    jdk = request.param
    assert isinstance(jdk, Jdk)
    with ready_java(jdk) as ready:
        yield ready


def facts_of_valid(run: Run) -> Facts:
    assert run.status == 0, run.errors
    assert not run.said
    (path,) = run.files.values()
    assert errors_of(path) == []
    return facts_of(path)


# ---- times

CALLS = {"leaf": 151, "caller": 1, "thrower": 100, "catcher": 100, "fibonacci": 1973, "hot": 1, "cold": 1, "main": 1}


def test_calls_are_exact(java: Java) -> None:
    run = java.run("cpu=times,cutoff=0,depth=7,file=m.txt", "Calls")
    facts = facts_of_valid(run)
    assert facts.longest_trace == 7
    assert {name: facts.calls[f"Calls.{name}"] for name in CALLS} == CALLS
    header = run.files["m.txt"].read_text().partition("--------")[0]
    assert "The code ran\n    interpreted: shares are not those of compiled code." in header


def test_times_are_of_the_method_itself(java: Java) -> None:
    """A machine that does other work may slow one method down in one run, but not in three."""
    for _ in range(3):
        run = java.run("cpu=times,file=m.txt", "Calls")
        assert facts_of_valid(run).blocks["times"] == 1
        lines = [line.split() for line in run.files["m.txt"].read_text().splitlines() if " Calls." in line and "%" in line]
        shares = Counter({words[5]: float(words[1][:-1]) for words in lines})
        hot, caller = (shares[name] / shares["Calls.cold"] for name in ("Calls.hot", "Calls.caller"))
        if 5 < hot < 20 and 2 < caller < 10 and shares["Calls.main"] + shares["Calls.leaf"] < 5:
            return
        print(shares)
    pytest.fail("no run has the right shares")


def test_pairs_of_calls(java: Java) -> None:
    began = time.monotonic()
    run = java.run("cpu=old,file=o.txt")
    most = (time.monotonic() - began) * 1000
    facts = facts_of_valid(run)
    ours = {pair: count for pair, count in facts.pairs.items() if pair[0].startswith("Truth")}
    # Unlike the agent of JDK 8, a call that never ends is counted.
    assert ours == {**PAIRS, ("Truth$Waiter.run", "<unknown caller>"): 1}
    times = re.findall(
        r"^1 Truth\.(spin|main)\(\S+ (?:Truth\.main\(\S+|<unknown caller>) (\d+)$", run.files["o.txt"].read_text(), re.M
    )
    taken = {name: int(time) for name, time in times}
    assert 100 <= taken["spin"] <= taken["main"] <= min(2 * taken["spin"] + 5000, most)
    run = java.run("cpu=old,file=o.txt", "Calls")
    times = re.findall(r"^1 Calls\.(hot|cold)\(\)V \S+ (\d+)$", run.files["o.txt"].read_text(), re.M)
    taken = {name: int(time) for name, time in times}
    assert taken["hot"] > taken["cold"] > 0  # a late call, too


def total_of(run: Run, table: str) -> int:
    """Of the only file."""
    (path,) = run.files.values()
    return int(path.read_text().partition(f"{table} BEGIN (total = ")[2].split()[0].rstrip(")"))


def test_rows_of_methods_are_those_of_the_agent_of_jdk_8(java: Java) -> None:
    """The same program, in gold/times.txt, which has no rows below the cutoff."""
    theirs = read_text_data((AGENT8 / "gold/times.txt").read_bytes())[0].calls
    began = time.monotonic()
    run = java.run("cpu=times,cutoff=0,file=m.txt")
    facts = facts_of_valid(run)
    assert 100 <= total_of(run, "CPU TIME (ms)") <= (time.monotonic() - began) * 1000 * len(facts.started)
    rows = {name: count for name, count in theirs.items() if name.startswith("Truth")}
    assert rows
    assert {name: facts.calls[name] for name in rows} == rows


def test_lambdas(java: Java) -> None:
    """At the first one the agent of JDK 8 ends the VM."""
    run = java.run("cpu=times,file=m.txt", "Lambda")
    assert "called" in run.output
    facts_of_valid(run)


# ---- monitors


def test_contention_and_waits(java: Java) -> None:
    began = time.monotonic()
    run = java.run("monitor=y,file=n.txt")
    most = (time.monotonic() - began) * 1000
    facts = facts_of_valid(run)
    check_waits(facts)
    assert facts.contended["Truth$Gate"] == 3
    assert 3 * 50 <= total_of(run, "MONITOR TIME") <= most * len(facts.started)


def test_many_contended_entries(java: Java) -> None:
    check_contended(facts_of_valid(java.run("monitor=y,file=n.txt", "Crowd", "300", "300")), 300)


def test_times_of_contended_entries(java: Java) -> None:
    """Five threads wait for two seconds, and cannot have waited longer than the VM ran."""
    began = time.monotonic()
    run = java.run("monitor=y,file=n.txt", "Crowd", "5", "2000")
    most = (time.monotonic() - began) * 1000
    facts_of_valid(run)
    assert 5 * 1800 <= total_of(run, "MONITOR TIME") <= 5 * most
    text = run.files["n.txt"].read_text()
    (trace,) = re.findall(r"^ +1 100\.00% 100\.00% +5 (\d+) Crowd\$Door \(Java\)$", text, re.MULTILINE)
    assert f"TRACE {trace}:\n\tCrowd$Member.run(Crowd.java:" in text


def test_monitor_dump_on_request(java: Java) -> None:
    run = run_with_signal(java, "monitor=y,file=n.txt", "Crowd", "5", "6000")
    facts = facts_of_valid(run)
    door = facts.monitors[0]["LCrowd$Door;"]
    assert (door.owner, door.entries) == ("main", 1)
    assert door.to_enter == tuple(f"crowd-{i}" for i in range(5))
    assert door.to_be_notified == ("crowd-sleeper",)
    assert len(facts.monitors) == 2
    door = facts.monitors[1]["LCrowd$Door;"]
    assert (door.owner, door.to_enter, door.to_be_notified) == ("", (), ("crowd-sleeper",))
    text = run.files["n.txt"].read_text()
    first = text.partition("MONITOR DUMP BEGIN\n")[2].partition("MONITOR DUMP END")[0]
    states = [line.rpartition(" ")[2].rpartition("|")[2] for line in first.splitlines() if "status:" in line]
    assert states.count("MW") == 5
    assert states.count("CW") >= 1


def serials_of_threads(text: str) -> dict[str, str]:
    return {name: serial for serial, name in re.findall(r'^THREAD START \(obj=\S+ id = (\d+), name="(.*?)"', text, re.M)}


def states_of_held(text: str) -> dict[str, str]:
    states = dict(re.findall(r"^    THREAD (\d+), trace \d+, status: (\S+)$", text, re.M))
    return {name: states[serial] for name, serial in serials_of_threads(text).items() if name == "main" or name.startswith("held-")}


def test_states_of_threads(java: Java) -> None:
    with started(java, "monitor=y,doe=n,file=n.txt", "Held") as (process, directory):
        assert "executed successfully" in jcmd(java, process.pid, "JVMTI.data_dump")
        run = ended(process, directory)
    facts = facts_of_valid(run)
    text = run.files["n.txt"].read_text()
    serials = serials_of_threads(text)
    assert states_of_held(text) == {"main": "intr|native|R", "held-waiter": "CW", "held-sleeper": "SL", "held-enterer": "MW"}
    (trace,) = re.findall(rf"^    THREAD {serials['held-waiter']}, trace (\d+), status: CW$", text, re.MULTILINE)
    assert re.search(rf"^TRACE {trace}:.*\n\tjava\.lang\.Object\.wait", text, re.MULTILINE)
    lock = facts.monitors[0]["LHeld$Lock;"]
    assert (lock.owner, lock.entries) == ("main", 2)
    assert (lock.to_enter, lock.to_be_notified) == (("held-enterer",), ("held-waiter",))
    waits = re.findall(rf"^WAIT: MONITOR LHeld\$Lock;, timeout=(\d+), thread {serials['main']}$", text, re.M)
    waited = re.findall(rf"^WAITED: MONITOR LHeld\$Lock;, time_waited=(\d+), thread {serials['main']}$", text, re.M)
    assert waits == ["300"]
    assert [290 <= int(time) < 100_000 for time in waited] == [True]


def jdwp(connection: socket, command_set: int, command: int, data: bytes = b"") -> bytes:
    """The answer of a debugger's agent to a command."""
    connection.sendall(struct.pack(">IIBBB", 11 + len(data), 1, 0, command_set, command) + data)
    with connection.makefile("rb") as stream:
        while True:  # events come in between
            size, _, flags, error = struct.unpack(">IIBH", stream.read(11))
            answer = stream.read(size - 11)
            if flags & 0x80:
                assert error == 0
                return answer


def suspend(connection: socket, names: set[str]) -> None:
    (count,) = struct.unpack_from(">I", threads := jdwp(connection, 1, 4))
    for i in range(count):
        thread = threads[4 + 8 * i : 12 + 8 * i]
        if jdwp(connection, 11, 1, thread)[4:].decode() in names:
            jdwp(connection, 11, 2, thread)


def test_states_of_suspended_threads(java: Java) -> None:
    """A debugger suspends them."""
    expected = {"main": "intr|native|R", "held-waiter": "S|CW", "held-sleeper": "S|SL", "held-enterer": "S|MW"}
    with create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LIMIT)
        debugger = f"-agentlib:jdwp=transport=dt_socket,suspend=n,address=127.0.0.1:{server.getsockname()[1]}"
        directory = java.directory()
        process = java.start(java.command("monitor=y,doe=n,file=n.txt", "Held", java=(debugger,)), directory)
        with java.ended_in_time(process):
            connection, _ = server.accept()
            connection.settimeout(LIMIT)
            with connection:
                connection.sendall(b"JDWP-Handshake")
                assert connection.recv(14, MSG_WAITALL) == b"JDWP-Handshake"
                assert process.stdout is not None
                assert "ready\n" in process.stdout
                suspend(connection, {name for name, state in expected.items() if state.startswith("S|")})
                assert "executed successfully" in jcmd(java, process.pid, "JVMTI.data_dump")
            run = ended(process, directory)
    assert states_of_held(run.files["n.txt"].read_text()) == expected


# ---- requests


def wait_for(condition: object, what: str) -> None:
    assert callable(condition)
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def order(process: subprocess.Popen[str], letter: str, answer: str) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(letter)
    process.stdin.flush()
    # After SIGQUIT the VM lists its threads there, too, and writes lines piece by piece: the answer may be within one, as JDK 11
    # ends it with a second write. It is not a method on a stack.
    for line in process.stdout:
        if re.search(rf"(?<!\.){answer}|{answer}(?!\()", line):
            return
    raise AssertionError(f"the program does not say {answer!r}")


@contextmanager
def started(
    java: Java, options: str | None, *program: str, vm: tuple[str, ...] = ()
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The program has said that it is ready."""
    directory = java.directory()
    process = java.start(java.command(options, *program, java=vm), directory)
    with java.ended_in_time(process):
        assert process.stdout is not None
        assert "ready\n" in process.stdout  # after warnings of the VM
        yield process, directory


def ended(process: subprocess.Popen[str], directory: Path) -> Run:
    output, errors = process.communicate(timeout=LIMIT)
    return Run(process.returncode, output, errors, directory, {path.name: path for path in sorted(directory.iterdir())})


def run_with_signal(java: Java, options: str, *program: str) -> Run:
    with started(java, options, *program) as (process, directory):
        process.send_signal(signal.SIGQUIT)
        return ended(process, directory)


def jcmd(java: Java, pid: int, *words: str) -> str:
    home = java.jdk.home
    done = subprocess.run(
        java.within([f"{home}/bin/jcmd", str(pid), *words], java.work), capture_output=True, text=True, timeout=LIMIT, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", ["t.txt", "t.hprof"])
@pytest.mark.parametrize("way", ["SIGQUIT", "jcmd"])
def test_dumps_on_request(java: Java, name: str, way: str) -> None:
    binary = ",format=b" if name == "t.hprof" else ""
    options = f"heap=all,cpu=samples,file={name}{binary}"
    if way == "SIGQUIT":
        run = run_with_signal(java, options, "Crowd", "3", "1500")
    else:
        with started(java, options, "Truth", "wait") as (process, directory):
            assert "executed successfully" in jcmd(java, process.pid, "JVMTI.data_dump")
            run = ended(process, directory)
    facts = facts_of_valid(run)
    assert facts.blocks["heap dump"] == facts.blocks["sites"] == facts.blocks["samples"] == 2


SIZES = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3, 17: 5, 18: 5, 19: 3, 20: 3}  # by their tags


def literals_of(class_file: bytes) -> dict[int, str]:
    """The strings of a constant pool, by their indices."""
    texts, strings, at, index = dict[int, str](), dict[int, int](), 10, 1
    while index < int.from_bytes(class_file[8:10], "big"):
        tag, number = struct.unpack_from(">BH", class_file, at)
        if tag == 1:
            texts[index] = class_file[at + 3 : at + 3 + number].decode()
        elif tag == 8:
            strings[index] = number
        at += 3 + number if tag == 1 else SIZES[tag]
        index += 2 if tag in (5, 6) else 1
    return {index: texts[text] for index, text in strings.items()}


def test_the_vm_dumps_the_same(java: Java) -> None:
    """Its own dump is made just before, with a collection. JVM TI tells which of its JNI_GLOBAL roots are references of the VM."""
    with started(java, "heap=dump,format=b,doe=n,depth=64,file=t.hprof", "Held") as (process, directory):
        assert "created" in jcmd(java, process.pid, "GC.heap_dump", java.inside(directory / "vm.hprof"))
        assert "executed successfully" in jcmd(java, process.pid, "JVMTI.data_dump")
        run = ended(process, directory)
    assert run.status == 0
    assert errors_of(run.files["t.hprof"]) == []
    ours, theirs = (Dump(run.files[name].read_bytes()) for name in ("t.hprof", "vm.hprof"))
    for kind in ("THREAD_OBJECT", "JAVA_FRAME", "JNI_LOCAL", "MONITOR_USED"):
        assert ours.rooted(kind) == theirs.rooted(kind), kind
    assert ours.rooted("JAVA_FRAME")["Held$Lock", "Held.main"] >= 2
    assert ours.rooted("JNI_LOCAL")["java.io.FileDescriptor", "java.io.FileInputStream.readBytes"]
    frames = [
        {frame for frame in one.frames.values() if re.match(r"Held\.(?!lambda)|java\.io\.FileInputStream\.", frame.method)}
        for one in (ours, theirs)
    ]
    assert frames[0] >= frames[1]
    assert {frame.line for frame in frames[1] if frame.method.endswith(".readBytes")} == {-3}
    assert {frame.source for frame in frames[1]} == {"Held.java", "FileInputStream.java"}
    assert not ours.rooted("JNI_GLOBAL") - theirs.rooted("JNI_GLOBAL")
    assert ours.rooted("JNI_GLOBAL")["class java.lang.Class", ""] == 1  # the agent's
    assert ours.rooted("JNI_GLOBAL")["java.lang.Thread", ""] >= 2
    assert not theirs.rooted("STICKY_CLASS") - ours.rooted("STICKY_CLASS")
    objects = [
        Counter({name: count for name, count in Counter(one.types.values()).items() if "Held" in name}) for one in (ours, theirs)
    ]
    assert objects[0] == objects[1]
    for names in ("loaders", "domains"):
        types = [
            {name: one.types.get(id_) for name, id_ in getattr(one, names).items() if "Held" in name} for one in (ours, theirs)
        ]
        assert types[0] == types[1]
    literals = {index: id_ for index, id_ in ours.constants["Held"].items() if ours.types[id_] == "java.lang.String"}
    texts = {index: ours.primitives[ours.id(ours.instance(id_)["value"])][1].decode() for index, id_ in literals.items()}
    assert texts == literals_of((java.work / "classes/Held.class").read_bytes())
    references = [root["reference_id"] for kind, root in ours.roots if kind == "JNI_GLOBAL"]
    assert len(set(references)) == len(references)
    assert max(index for constants in ours.constants.values() for index in constants) > 255


def test_a_class_in_text(java: Java) -> None:
    with started(java, "heap=dump,file=t.txt", "Held") as (process, directory):
        run = ended(process, directory)
    facts_of_valid(run)
    text = run.files["t.txt"].read_text()
    (block,) = re.findall(r"^CLS \w+ \(name=Held, trace=\d+\)\n((?:\t.*\n)*)", text, re.MULTILINE)
    named = dict(re.findall(r"^\t(\S.*?)\t+(\w+)$", block, re.MULTILINE))
    types = {name: re.findall(rf"^OBJ {id_} \(.*class=(.*)@", text, re.MULTILINE) for name, id_ in named.items()}
    assert types["super"] == []
    assert types["loader"] == ["jdk.internal.loader.ClassLoaders$AppClassLoader"]
    assert types["domain"] == ["java.security.ProtectionDomain"]
    assert types["static LOCK"] == ["Held$Lock"]
    strings = {name for name, found in types.items() if name.startswith("constant") and found == ["java.lang.String"]}
    assert strings == {f"constant pool entry {index}" for index in literals_of((java.work / "classes/Held.class").read_bytes())}


def test_the_threads_of_a_dump(java: Java) -> None:
    with started(java, "heap=dump,format=b,file=t.hprof", "Held") as (process, directory):
        run = ended(process, directory)
    dump = Dump(run.files["t.hprof"].read_bytes())
    by_name = {thread.name: (thread.group, thread.parent) for thread in dump.threads.values()}
    assert by_name["main"] == by_name["held-waiter"] == ("main", "system")
    assert by_name["Finalizer"] == ("system", "")
    roots = {root["thread_serial"]: root["object_id"] for kind, root in dump.roots if kind == "THREAD_OBJECT"}
    assert len(roots) > 4
    assert all(dump.threads[serial].object == id_ for serial, id_ in roots.items())
    assert roots == {root["thread_serial"]: root["object_id"] for kind, root in dump.roots if kind == "THREAD_BLOCK"}


def test_ids_are_the_same_in_each_dump(java: Java) -> None:
    run = run_with_signal(java, "heap=dump,file=t.txt", "Crowd", "3", "1500")
    facts_of_valid(run)
    text = run.files["t.txt"].read_text()
    dumps = text.split("HEAP DUMP BEGIN")[1:]
    doors = [
        [line.split()[1] for line in dump.splitlines() if line.startswith("OBJ ") and "class=Crowd$Door@" in line] for dump in dumps
    ]
    assert len(doors) == 2
    assert len(doors[0]) == 1
    assert doors[0] == doors[1]
    classes = [{line.split(" (")[0] for line in dump.splitlines() if line.startswith("CLS ")} for dump in dumps]
    assert classes[0] <= classes[1]


@pytest.mark.skipif(SANITIZED, reason="the VM reads the freed name of a library that it unloads")
def test_attach_refused(java: Java) -> None:
    with started(java, None, "Truth", "wait") as (process, directory):
        library = java.inside(java.work / "libhprof.so")
        options = ('"cpu=times"', '"cpu=old"', '"heap=none"', "heap=dump")
        answers = [jcmd(java, process.pid, "JVMTI.agent_load", library, option) for option in options]
        process.stdin, stdin = None, process.stdin
        assert stdin is not None
        stdin.close()
        run = ended(process, directory)
    assert run.status == 0
    assert all("return code: -1" in answer for answer in answers)
    assert run.said == [
        "HPROF ERROR: cpu=times|old works only if the agent is loaded when the VM starts",
        "HPROF ERROR: cpu=times|old works only if the agent is loaded when the VM starts",
        "HPROF ERROR: hprof option error: heap option value must be dump|sites|all (heap=none)",
        "HPROF ERROR: hprof option error: heap option value must be dump|sites|all (heap); with jcmd, options need double quotes: "
        "'\"heap=dump\"'",
    ]
    assert not run.files


def test_attach(java: Java) -> None:
    with started(java, None, "Truth", "wait") as (process, directory):
        library = java.inside(java.work / "libhprof.so")
        if not SANITIZED:  # the VM reads the freed name of a library that it unloads
            failed = jcmd(java, process.pid, "JVMTI.agent_load", library, '"heap=all,file=/no/such/file"')
            assert "return code: -1" in failed
        first = jcmd(java, process.pid, "JVMTI.agent_load", library, '"heap=all,cpu=samples,monitor=y,msa=y,file=a.txt"')
        for letter, answer in (("d", "dropped"), ("s", "spun"), ("d", "dropped")):
            order(process, letter, answer)
        second = jcmd(java, process.pid, "JVMTI.agent_load", library, '"heap=sites"')
        third = jcmd(java, process.pid, "JVMTI.agent_load", library, '"heap=none"')
        process.stdin, stdin = None, process.stdin
        assert stdin is not None
        stdin.close()
        run = ended(process, directory)
    assert run.status == 0
    assert "return code: 0" in first and "return code: 0" in second
    assert "return code: -1" in third
    assert [line for line in run.said if "monitor dumps" not in line and "/no/such/file" not in line] == [
        "HPROF: msa=y has no effect: micro state accounting was of Solaris",
        "HPROF: loaded into a running VM: objects of before have no trace, and each thread may allocate about 512 kB unseen",
        "HPROF: the agent is loaded already, with other options, which still apply",
        "HPROF ERROR: hprof option error: heap option value must be dump|sites|all (heap=none)",
    ]
    assert SANITIZED or "HPROF ERROR: can't create profile file: /no/such/file (No such file or directory)" in run.said
    parts = "contended monitor usage ... Java heap ... allocation sites ... CPU usage by sampling running threads"
    assert run.errors.count(f"Dumping {parts} ... done.\n") == 2
    assert errors_of(run.files["a.txt"]) == []
    assert run.files["a.txt"].read_text().count("\t<empty>\n") == 1
    facts = facts_of(run.files["a.txt"])
    assert facts.blocks["heap dump"] == facts.blocks["sites"] == facts.blocks["samples"] == facts.blocks["monitor times"] == 2
    refused = "HPROF: monitor dumps work only if the agent is loaded when the VM starts; MONITOR TIME is written"
    assert facts.blocks["monitor dump"] == (0 if refused in run.said else 2)
    assert facts.instances["Truth$Point"] == 2 * 1000
    # Most samples may be in the read of standard input: the VM says of a thread in native code that it runs.
    assert any(frames[0].method == "Truth.spin" for frames in facts.samples)


COMMA = """LC_NUMERIC
decimal_point ","
thousands_sep ""
grouping -1
END LC_NUMERIC
"""


def test_a_locale_with_a_decimal_comma(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    """The VM sets the locale of the user for the whole process when it starts."""
    folder = java.directory()
    (folder / "source").write_text(COMMA)
    words = ["localedef", "-c", "-f", "UTF-8", "-i", str(folder / "source"), str(folder / "comma")]
    subprocess.run(words, capture_output=True, check=False)  # it warns of the parts that the locale does not have
    if not (folder / "comma/LC_NUMERIC").exists():
        pytest.skip("no localedef here")
    monkeypatch.setenv("LOCPATH", java.inside(folder))
    monkeypatch.setenv("LC_NUMERIC", "comma")
    monkeypatch.delenv("LC_ALL", raising=False)
    with started(java, None, "Truth", "wait") as (process, directory):
        library = java.inside(java.work / "libhprof.so")
        options = "heap=sites,monitor=y,cutoff=0.01,file=a.txt"
        assert "return code: 0" in jcmd(java, process.pid, "JVMTI.agent_load", library, f'"{options}"')
        order(process, "d", "dropped")
        run = ended(process, directory)
    assert errors_of(run.files["a.txt"]) == []
    assert facts_of(run.files["a.txt"]).sites


# ---- commands


@contextmanager
def connected(java: Java, options: str) -> Iterator[tuple[Stream, subprocess.Popen[str]]]:
    with create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LIMIT)
        peer, since = f"net=127.0.0.1:{server.getsockname()[1]}", time.monotonic()
        process = java.start(java.command(f"{peer},{options}", "Truth", "wait", java=("-Xmx64m",)), java.directory())
        with java.ended_in_time(process):
            connection, _ = server.accept()
            connection.settimeout(None)
            with connection:
                assert process.stdout is not None
                stream = Stream(connection, "format=b" in options, since=since)
                assert process.stdout.readline() == "ready\n"
                yield stream, process


def finish(stream: Stream, process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None
    assert process.wait(LIMIT) == 0
    stream.wait_end()
    assert not stream.fault


def check_stream(stream: Stream, folder: Path) -> Facts:
    path = folder / ("stream.hprof" if stream.binary else "stream.txt")
    path.write_bytes(bytes(stream.data))
    assert errors_of(path) == []
    return facts_of(path)


def test_commands(java: Java, tmp_path: Path) -> None:
    with connected(java, "heap=all,cpu=samples,doe=n,format=b") as (stream, process):
        assert stream.records[0].tag == Tag.CONTROL_SETTINGS
        stream.ask(command(Command.DUMP_HEAP), Tag.HEAP_DUMP)
        stream.ask(command(Command.HEAP_SUMMARY, bytes(5000)) + SUMMARY, Tag.HEAP_SUMMARY, 2)
        before = read_summary(stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0])
        order(process, "d", "dropped")
        after = read_summary(stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0])
        assert after.allocated >= before.allocated + 2000
        assert after.allocated_bytes >= before.allocated_bytes + 2000 * 8
        assert after.live_bytes > 8 * after.live
        stream.send(command(Command.GC))
        wait_for(lambda: read_summary(stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0]).live <= after.live - 2000, "nothing was collected")

        sites = read_sites(stream.ask(alloc_sites(), Tag.ALLOC_SITES)[0])
        assert [row[3] for row in sites.rows] == sorted((row[3] for row in sites.rows), reverse=True)
        record = stream.ask(alloc_sites(2), Tag.ALLOC_SITES)[0]
        sites = read_sites(record)
        totals = [sum(row[i] for row in sites.rows) for i in (3, 4, 5, 6)]
        assert list(struct.unpack_from(">IIQQ", record.body, 6)) == totals
        assert [row[5] for row in sites.rows] == sorted((row[5] for row in sites.rows), reverse=True)
        assert sites.flags == 2
        few = read_sites(stream.ask(alloc_sites(0, 0.05), Tag.ALLOC_SITES)[0])
        assert 0 < len(few.rows) < len(sites.rows)
        assert struct.unpack(">f", struct.pack(">I", few.cutoff))[0] == pytest.approx(0.05)
        share = max(row[5] for row in sites.rows if row[5] > 2 * row[3]) / totals[2]  # of a row that is mostly garbage
        few = read_sites(stream.ask(alloc_sites(2, 0.99 * share), Tag.ALLOC_SITES)[0])
        assert [row[:3] for row in few.rows] == [row[:3] for row in sites.rows if row[5] >= 0.99 * share * totals[2]]
        stream.ask(alloc_sites(1), Tag.ALLOC_SITES)
        order(process, "d", "dropped")
        changed = read_sites(stream.ask(alloc_sites(1), Tag.ALLOC_SITES)[0])
        assert 0 < len(changed.rows) < len(sites.rows) / 2
        order(process, "d", "dropped")  # 2000 objects
        before_collection = {row[:3]: row[3:] for row in read_sites(stream.ask(alloc_sites(0), Tag.ALLOC_SITES)[0]).rows}
        changed = read_sites(stream.ask(alloc_sites(1 | 4), Tag.ALLOC_SITES)[0])
        collected = [row for row in changed.rows if row[6] == before_collection.get(row[:3], (0,) * 4)[3]]
        assert any(row[4] < before_collection[row[:3]][1] for row in collected)
        most = read_summary(stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0]).live + 1000
        order(process, "d", "dropped")
        wait_for(
            lambda: sum(row[4] for row in read_sites(stream.ask(alloc_sites(4), Tag.ALLOC_SITES)[0]).rows) <= most,
            "nothing was collected",
        )

        stream.ask(cpu_samples(), Tag.CPU_SAMPLES)
        stream.send(control(5))
        order(process, "s", "spun")
        total, rows = read_samples(stream.ask(cpu_samples(), Tag.CPU_SAMPLES)[0])
        assert total == sum(rows.values()) > 0
        stream.send(control(4, bytes(4)) + control(5))
        stream.fence()
        order(process, "s", "spun")
        total, _ = read_samples(stream.ask(cpu_samples(), Tag.CPU_SAMPLES)[0])
        assert total <= 1  # one that was being taken
        (main,) = [record.body[4:8] for record in stream.of(Tag.START_THREAD) if record.body[:4] == struct.pack(">I", 200001)]
        stream.send(control(3, bytes(4)) + control(4, main) + control(5))
        stream.fence()
        order(process, "s", "spun")
        quiet, _ = read_samples(stream.ask(cpu_samples(), Tag.CPU_SAMPLES)[0])
        stream.send(control(3, main))
        stream.fence()
        order(process, "s", "spun")
        total, _ = read_samples(stream.ask(cpu_samples(), Tag.CPU_SAMPLES)[0])
        assert total > 3 * quiet + 5
        stream.send(control(2))
        stream.fence()
        before = read_summary(stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0])
        order(process, "d", "dropped")
        after = read_summary(stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0])
        assert after.allocated < before.allocated + 2000
        stream.send(control(1) + control(6, struct.pack(">H", 9)))
        stream.fence()
        order(process, "c", "called")
        stream.send(command(Command.DUMP_TRACES))
        wait_for(lambda: any(record.body[8:12] == b"\0\0\0\x09" for record in stream.of(Tag.TRACE)), "no traces came")
        stream.send(control(6))
        stream.fence()
        assert len(read_sites(stream.ask(alloc_sites(), Tag.ALLOC_SITES)[0]).rows) < len(sites.rows)
        forgotten = read_summary(stream.ask(SUMMARY, Tag.HEAP_SUMMARY)[0])
        assert forgotten.allocated >= after.allocated and forgotten.allocated_bytes >= after.allocated_bytes
        stream.send(b"\xff")
        finish(stream, process)
    facts = check_stream(stream, tmp_path)
    assert facts.longest_trace == 9
    assert facts.blocks["heap dump"] == 1


def test_commands_in_text(java: Java, tmp_path: Path) -> None:
    with connected(java, "heap=all,cpu=samples,doe=y,format=a") as (stream, process):
        order(process, "d", "dropped")
        stream.send(command(Command.DUMP_HEAP) + alloc_sites(6) + SUMMARY + cpu_samples())
        stream.wait_text(b"CPU SAMPLES END\n")
        finish(stream, process)
    facts = check_stream(stream, tmp_path)
    assert facts.blocks["heap dump"] == facts.blocks["sites"] == facts.blocks["samples"] == 2


@pytest.mark.parametrize("options", ["format=b", "monitor=y,format=a"])
def test_events_come_at_once(java: Java, options: str) -> None:
    with connected(java, f"heap=sites,doe=n,{options}") as (stream, process):
        stream.wait_text(b"truth-waiter")
        if "monitor" in options:
            stream.wait_text(b"WAIT: MONITOR LTruth$Gate;, timeout=0, thread ")
        jcmd(java, process.pid, "VM.version")  # the VM starts a thread for it, and there is no event after that one
        stream.wait_text(b"Attach Listener")
        finish(stream, process)


def test_exit_on_command(java: Java) -> None:
    with connected(java, "heap=dump,format=b") as (stream, process):
        stream.send(command(Command.EXIT))
        assert process.wait(LIMIT) == 0
        stream.wait_end()
    assert not stream.of(Tag.HEAP_DUMP)
    assert len(stream.data) == stream.taken


@pytest.mark.parametrize("sent", [b"\x7f" + bytes(8), control(9), alloc_sites()[:5] + bytes(4), b"\x03\0\0"])
def test_commands_that_are_none_do_not_end_the_program(java: Java, sent: bytes) -> None:
    with connected(java, "heap=all,format=b") as (stream, process):
        stream.send(sent)
        order(process, "d", "dropped")
        finish(stream, process)
    assert len(stream.of(Tag.HEAP_DUMP)) == 1


def test_a_closed_connection_is_said_once_and_the_program_goes_on(java: Java) -> None:
    with connected(java, "heap=all,format=b") as (stream, process):
        stream.connection.shutdown(2)
        stream.connection.close()
        order(process, "d", "dropped")
        output, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, output
    assert errors.count("HPROF ERROR: can't write 127.0.0.1:") == 1


def test_random_requests_and_commands(java: Java, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    commands = [command(Command.GC), command(Command.DUMP_HEAP), alloc_sites(0), alloc_sites(7), SUMMARY, cpu_samples(),
                command(Command.DUMP_TRACES), control(1), control(2), control(5), control(6), control(6, b"\0\7"),
                control(3, bytes(4)), control(4, bytes(4))]  # fmt: skip
    for _ in range(3):
        with connected(java, "heap=all,cpu=samples,interval=1,format=b") as (stream, process):
            for _ in range(12):
                if draw.random() < 0.3:
                    process.send_signal(signal.SIGQUIT)
                stream.send(b"".join(draw.choices(commands, k=draw.randint(1, 3))))
                order(process, *draw.choice([("d", "dropped"), ("c", "called")]))
                time.sleep(draw.random() / 20)
            finish(stream, process)
        check_stream(stream, tmp_path)


def start_and_end(java: Java, draw: random.Random) -> tuple[Stream, str]:
    """Requests and commands from the moment on when the VM has sent the first bytes; a random end."""
    form = draw.choice(["format=b", "format=b,thread=y", "monitor=y,format=a"])
    commands = [command(Command.GC), command(Command.DUMP_HEAP), alloc_sites(draw.randrange(8)), SUMMARY, cpu_samples(),
                command(Command.DUMP_TRACES), control(1), control(2), control(5), control(6), control(6, b"\0\7")]  # fmt: skip
    with create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LIMIT)
        peer, since = f"net=127.0.0.1:{server.getsockname()[1]}", time.monotonic()
        words = java.command(f"{peer},heap=all,cpu=samples,interval=1,{form}", "Truth", "wait", java=("-Xmx64m",))
        process = java.start(words, java.directory())
        with java.ended_in_time(process):
            connection, _ = server.accept()
            connection.settimeout(None)
            with connection:
                stream = Stream(connection, "format=b" in form, since=since)
                wait_for(lambda: stream.data, "no header")  # before, SIGQUIT would end the VM
                for _ in range(draw.randint(0, 8)):
                    time.sleep(draw.random() ** 3 / 4)
                    if draw.random() < 0.4:
                        process.send_signal(signal.SIGQUIT)
                    else:
                        stream.send(draw.choice(commands))
                end = draw.choice(["input", "exit", "last command", "closed"])
                if end == "exit":
                    stream.send(command(Command.EXIT))
                elif end == "last command":
                    stream.send(b"\xff")
                elif end == "closed":
                    connection.shutdown(2)
                assert process.stdin is not None
                process.stdin.close()
                process.stdin = None
                status = process.wait(LIMIT)
                assert status == 0, (status, form, end)
                stream.wait_end()
    return stream, end


def test_random_moments(java: Java, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    for _ in range(int(os.environ.get("HPROF_AGENT_STARTS", "4"))):
        stream, end = start_and_end(java, draw)
        if end in ("input", "last command"):
            assert not stream.fault
            check_stream(stream, tmp_path)


# ---- many threads, classes that go, checks of the VM


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("heap=all,cpu=samples,interval=1,thread=y,format=b", "t.hprof"),
        ("heap=all,cpu=samples,interval=1,monitor=y,thread=y", "t.txt"),
    ],
)
def test_sixteen_busy_threads(java: Java, options: str, name: str) -> None:
    with started(java, f"{options},file={name}", "Busy", "16", "3000") as (process, directory):
        for _ in range(3):
            time.sleep(0.6)
            process.send_signal(signal.SIGQUIT)
        run = ended(process, directory)
    assert "rounds" in run.output
    facts = facts_of_valid(run)
    assert 2 <= facts.blocks["heap dump"] <= 4  # a request may come too late


def test_times_of_busy_threads(java: Java) -> None:
    run = java.run("cpu=times,thread=y,monitor=y,file=m.txt", "Busy", "4", "1500")
    facts_of_valid(run)
    rounds = int(run.output.split()[-1])
    run = java.run("cpu=times,cutoff=0,file=m.txt", "Busy", "2", "1000")
    rounds = int(run.output.split()[-1])
    assert facts_of_valid(run).calls["Busy.round"] == rounds


def test_calls_of_all_outputs_add_up(java: Java) -> None:
    """Each has the calls since the one before."""
    with started(java, "cpu=times,cutoff=0,file=m.txt", "Busy", "3", "2000") as (process, directory):
        for _ in range(4):
            time.sleep(0.3)
            process.send_signal(signal.SIGQUIT)
        run = ended(process, directory)
    facts = facts_of_valid(run)
    assert facts.blocks["times"] >= 2
    assert facts.calls["Busy.round"] == int(run.output.split()[-1])


@pytest.mark.parametrize(("options", "tables"), [
    ("cpu=samples,interval=2,monitor=y", [("CPU SAMPLES", " Truth.spin\n"), ("MONITOR TIME", " Truth$")]),
    ("cpu=times", [("CPU TIME (ms)", " Truth.spin\n")]),
], ids=["samples", "times"])  # fmt: skip
def test_tables_begin_again(java: Java, options: str, tables: list[tuple[str, str]]) -> None:
    """The program has spun and contended before it is ready, and waits then."""
    with started(java, f"{options},cutoff=0,file=t.txt", "Truth", "wait") as (process, directory):
        for _ in range(2):
            assert "executed successfully" in jcmd(java, process.pid, "JVMTI.data_dump")
        run = ended(process, directory)
    facts_of_valid(run)
    text = run.files["t.txt"].read_text()
    for table, row in ((re.escape(name), row) for name, row in tables):
        blocks = re.findall(rf"{table} BEGIN.*?{table}.*? END\n", text, re.DOTALL)
        assert len(blocks) == 3
        assert row in blocks[0], table
        assert not any(row in block for block in blocks[1:]), table


def test_checks_of_the_vm_find_nothing(java: Java) -> None:
    for options in ("heap=all,cpu=samples,interval=1,monitor=y,thread=y,file=t.txt", "cpu=times,monitor=y,file=t.txt"):
        run = java.run(options, "Busy", "4", "800", java=("-Xcheck:jni",))
        facts_of_valid(run)
        assert "FATAL" not in run.output
        assert "WARNING in native" not in run.output
        # With the events of methods the VM of 11 and 17 counts references of its own, too.
        assert "WARNING" not in run.output or "cpu=times" in options


@pytest.mark.parametrize("is_attached", [False, True])
def test_checks_of_the_vm_with_many_threads(java: Java, is_attached: bool) -> None:
    """Each is a local reference, and so are the monitors: more than the VM grants without being asked."""
    options = "heap=all,cpu=samples,monitor=y,file=t.txt"
    with started(java, None if is_attached else options, "Crowd", "300", "4000", vm=("-Xcheck:jni",)) as (process, directory):
        if is_attached:
            assert "return code: 0" in jcmd(
                java, process.pid, "JVMTI.agent_load", java.inside(java.work / "libhprof.so"), f'"{options}"'
            )
        assert "executed successfully" in jcmd(java, process.pid, "JVMTI.data_dump")
        run = ended(process, directory)
    assert run.status == 0
    assert errors_of(run.files["t.txt"]) == []
    assert "WARNING" not in run.output


@pytest.mark.parametrize(("options", "name"), [("monitor=y", "t.txt"), ("format=b", "t.hprof")])
def test_classes_that_are_unloaded_and_threads_that_end(java: Java, options: str, name: str) -> None:
    log = java.directory() / "unloaded"
    unload = (f"-Xlog:class+unload:file={java.inside(log)}",)
    options = f"heap=all,cpu=samples,interval=1,thread=y,{options},file={name}"
    with started(java, options, "Busy", "4", "2500", vm=unload) as (process, directory):
        for _ in range(4):
            time.sleep(0.4)
            process.send_signal(signal.SIGQUIT)
        run = ended(process, directory)
    facts = facts_of_valid(run)
    assert "Passing" in log.read_text()
    if name == "t.hprof":
        unloaded = Dump(run.files[name].read_bytes()).unloaded
        assert "Passing" in unloaded
        assert set(unloaded) <= {plain(found) for found in re.findall(r"unloading class (\S+)", log.read_text())}
    passing = sum(name.startswith("passing-") for name in facts.started)
    assert passing > 0
    assert facts.ended >= passing


@pytest.mark.parametrize(("form", "name"), [("b", "t.hprof"), ("a", "t.txt")])
def test_classes_that_are_unloaded_before_they_are_named(java: Java, form: str, name: str) -> None:
    """Between the stack of a thread and the names of its methods: the stack is unknown then."""
    fast = ("-XX:+UseSerialGC", "-Xmx64m")
    run = java.run(f"cpu=samples,interval=1,cutoff=0,format={form},file={name}", "Fleeting", "6", "600", java=fast)
    facts = facts_of_valid(run)
    assert any(frame.method == "Fleeting.load" for frames in facts.samples for frame in frames)
    assert not any(frame.method.startswith("Unknown_class") for frames in facts.samples for frame in frames)


@pytest.mark.parametrize("heap", ["-Xmx256m", "-Xmx3g"])
@pytest.mark.parametrize("program", [("Busy", "4", "2000"), ("Lavish", "traces")], ids=["Busy", "Lavish"])
def test_a_dump_names_what_is_defined_before_it(java: Java, program: tuple[str, ...], heap: str) -> None:
    """Events of classes and threads may wait until the dump is written, and objects are allocated until it begins."""
    with started(java, "heap=dump,depth=32,doe=n,format=b,file=t.hprof", *program, vm=(heap,)) as (process, directory):
        for _ in range(5):
            time.sleep(0.25)
            process.send_signal(signal.SIGQUIT)
        run = ended(process, directory)
    facts_of_valid(run)
    Dump(run.files["t.hprof"].read_bytes())


def test_a_class_that_is_linked_between_two_dumps(java: Java) -> None:
    """The first dump knows no fields of it."""
    with started(java, "heap=dump,format=b,file=t.hprof", "Late") as (process, directory):
        assert "executed successfully" in jcmd(java, process.pid, "JVMTI.data_dump")
        run = ended(process, directory)
    assert facts_of_valid(run).blocks["heap dump"] == 2
    dump = Dump(run.files["t.hprof"].read_bytes())
    id_ = dump.static("linked", "Late")
    assert dump.instance(id_) == {"value": struct.pack(">i", 7), "self": dump.statics["Late", "linked"]}


def test_samples_of_many_threads(java: Java) -> None:
    """More run than the agent asks for at a time."""
    with started(java, "cpu=samples,thread=y,cutoff=0,depth=16,file=c.txt", "Lavish", "read") as (process, directory):
        time.sleep(2)
        run = ended(process, directory)
    traces = facts_of_valid(run).traces.values()
    assert len({trace.thread for trace in traces if any(frame.method == "Lavish.read" for frame in trace.frames)}) == 300


def test_a_request_at_the_first_error_of_memory(java: Java) -> None:
    """As the manual advises, and while the heap has no room."""
    asks = ("-Xmx32m", "-XX:OnOutOfMemoryError=kill -QUIT %p")
    with started(java, "heap=sites,file=t.txt", "Lavish", "full", vm=asks) as (process, directory):
        wait_for(lambda: "\nSITES END" in (directory / "t.txt").read_text(encoding="utf-8"), "no sites")
        run = ended(process, directory)
    assert facts_of_valid(run).blocks["sites"] == 2
    first = run.files["t.txt"].read_text(encoding="utf-8").split("SITES BEGIN")[1]
    largest = re.search(r"^ +1 +\S+ +\S+ +(\d+) .* java\.lang\.Object\[\]$", first, re.MULTILINE)
    assert largest is not None
    assert int(largest[1]) > 8 << 20  # with G1 an array of 1 MB may take a region of 2 MB


def test_a_class_loader_that_waits(java: Java) -> None:
    """The program holds the lock of its loader and defines classes, while the signal asks for a dump."""
    loader = ("-Djava.system.class.loader=Gatekeeper", "-Xlog:disable")
    with started(java, "heap=all,file=t.txt", "Gatekeeper", vm=loader) as (process, directory):
        process.send_signal(signal.SIGQUIT)
        run = ended(process, directory)
    assert "defined" in run.output
    assert facts_of_valid(run).blocks["heap dump"] == 2


@pytest.mark.parametrize("name", ["t.txt", "t.hprof"])
def test_a_program_without_descriptors(java: Java, name: str) -> None:
    """What a heap dump needs was opened before."""
    binary = ",format=b" if name == "t.hprof" else ""
    run = java.run(f"heap=all,file={name}{binary}", "Lavish", "descriptors")
    assert "Too many open files" in run.output
    assert facts_of_valid(run).blocks["heap dump"] == 1


def test_threads_that_ended_cost_nothing(java: Java) -> None:
    """The VM goes through all weak references at each collection, and says how many there are."""
    with started(java, "cpu=samples,interval=1,file=t.txt", "Lavish", "threads") as (process, directory):
        said = jcmd(java, process.pid, "Thread.print")
        run = ended(process, directory)
    facts = facts_of_valid(run)
    assert facts.ended >= 2000
    assert int(re.findall(r"JNI global refs: \d+, weak refs: (\d+)", said)[0]) < 1000


@pytest.mark.parametrize("name", ["t.txt", "t.hprof"])
def test_threads_that_start_at_the_same_time(java: Java, name: str) -> None:
    binary = ",format=b" if name == "t.hprof" else ""
    facts = facts_of_valid(java.run(f"heap=sites,file={name}{binary}", "Lavish", "many"))
    many = Counter(started for started in facts.started if started.startswith("many-"))
    assert len(many) == sum(many.values()) == 10 * 50 * (1 + 20)
    assert facts.ended >= sum(many.values())


@pytest.mark.parametrize("options", ["heap=all,monitor=y,cpu=samples,file=t.txt", "heap=all,cpu=samples,format=b,file=t.hprof"])
def test_a_program_without_standard_streams(java: Java, options: str) -> None:
    """What the agent and the VM print there must not come into a file that took the place of such a stream."""
    directory = java.directory()
    words = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *java.command(options, "Lambda")]
    facts_of_valid(ended(java.start(words, directory), directory))


@pytest.mark.parametrize("options", ["heap=all,file=t.txt", "heap=dump,format=b,file=t.hprof", "heap=dump,format=b,gz=1,file=t.gz"])
def test_no_room_for_a_heap_dump(java: Java, options: str) -> None:
    """The temporary file beside the profile meets the limit first: it is larger."""
    directory = java.directory()
    blocks_of_512 = 1000
    words = ["/bin/sh", "-c", f'ulimit -f {blocks_of_512}; exec "$@"', "sh", *java.command(options, "Lambda")]
    run = ended(java.start(words, directory), directory)
    (path,) = run.files.values()
    assert (run.status, "called" in run.output) == (0, True)
    assert run.said == [f"HPROF ERROR: can't write {path.name}: File too large; the rest of the profile is lost"]
    assert run.errors.endswith(" done.\n")
    assert path.stat().st_size < blocks_of_512 * 512


@pytest.mark.parametrize("way", ["FORK", "VFORK", "POSIX_SPAWN"])
def test_processes_that_the_program_starts(java: Java, way: str) -> None:
    """They have no part in the output, and do not hold its file open."""
    run = java.run("heap=all,cpu=samples,file=t.txt", "Forks", java=(f"-Djdk.lang.Process.launchMechanism={way}",))
    if "is not supported" in run.errors or "Not supported" in run.errors:
        pytest.skip("not in this JDK")
    facts = facts_of_valid(run)
    assert "ended 0" in run.output
    assert "/proc/" in run.output and "t.txt" not in run.output
    assert facts.blocks["heap dump"] == facts.blocks["samples"] == 1


def test_a_debugger_is_loaded_too(java: Java) -> None:
    """Another agent, which wants events and capabilities of its own."""
    debugger = ("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0",)
    for options in ("heap=all,cpu=samples,file=t.txt", "cpu=times,monitor=y,file=t.txt"):
        run = java.run(options, "Calls", java=debugger)
        assert "Listening for transport" in run.output
        facts_of_valid(run)


def test_two_agents(java: Java) -> None:
    library = java.inside(java.work / "libhprof.so")
    run = java.run("heap=sites,file=a.txt", "Lambda", java=(f"-agentpath:{library}=cpu=samples",))
    assert (run.status, run.errors) == (1, "HPROF ERROR: the agent is loaded twice\n")
    other = java.inside(Path(shutil.copy(java.work / "libhprof.so", java.work / "other.so")))
    run = java.run("heap=sites,file=a.txt", "Lambda", java=(f"-agentpath:{other}=heap=sites,file=b.txt",))
    assert run.status == 1
    assert run.errors == "HPROF ERROR: the VM has not all events for these options: another agent may use them\n"
    run = java.run("heap=sites,file=a.txt", "Calls", java=(f"-agentpath:{other}=cpu=samples,file=b.txt",))
    assert [errors_of(path) for path in run.files.values()] == [[], []]


DATE = r" \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\n"
TRACE = r"^TRACE 3\d{5}:\n(\t[\w.$/<>]+\((\w+\.java:(\d+|Unknown line)|Native method|Unknown Source)\)\n){1,4}"
SITES = (
    TRACE,
    rf"^SITES BEGIN \(ordered by live bytes\){DATE}"
    r" +percent +live +alloc'ed  stack class\n rank   self  accum +bytes objs +bytes  objs trace name\n"
    r"    1 +\d+\.\d\d% +\d+\.\d\d% +\d+ +\d+ +\d+ +\d+ 3\d{5} [\w.$\[\]]+\n",
    r"^SITES END$",
)
HEAP = (
    TRACE,
    rf"^HEAP DUMP BEGIN \(\d+ objects, \d+ bytes\){DATE}"
    r"ROOT 5[0-9a-f]{7} \(kind=<",
    r"^ROOT 5[0-9a-f]{7} \(kind=<thread>, id=2\d{5}, trace=3\d{5}\)$",
    r"^ROOT 5[0-9a-f]{7} \(kind=<Java stack>, thread=2\d{5}, frame=\d+\)$",
    r"^CLS 5[0-9a-f]{7} \(name=java\.lang\.String\[\], trace=3\d{5}\)\n\tsuper\t\t5[0-9a-f]{7}$",
    r"^OBJ 5[0-9a-f]{7} \(sz=\d+, trace=3\d{5}, class=java\.lang\.Thread@5[0-9a-f]{7}\)\n(\t.*\n)*\tname\t\t5[0-9a-f]{7}$",
    r"^ARR 5[0-9a-f]{7} \(sz=\d+, trace=3\d{5}, nelems=\d+, elem type=java\.lang\.String\[\]@5[0-9a-f]{7}\)\n\t\[0\]\t\t",
    r"^HEAP DUMP END$",
)
RANKS = r"rank   self  accum   count trace method\n   1 +\d+\.\d\d% +\d+\.\d\d% +\d+ 3\d{5} [\w.$<>]+\n"
SAMPLES = (TRACE, rf"^CPU SAMPLES BEGIN \(total = \d+\){DATE}{RANKS}", r"^CPU SAMPLES END$")
TIMES = (TRACE, rf"^CPU TIME \(ms\) BEGIN \(total = \d+\){DATE}{RANKS}", r"^CPU TIME \(ms\) END$")
# The command lines of the manuals of JDK 8 and JDK 1.2, and what they show of the output.
MANUAL = {
    "java -agentlib:hprof Shares": (*HEAP, *SITES),
    "java -Xrunhprof Shares": (*HEAP, *SITES),
    "java -agentlib:hprof=heap=sites Shares": SITES,
    "java -Xrunhprof:heap=sites Shares": SITES,
    "java -agentlib:hprof=cpu=samples,interval=20,depth=3 Shares": SAMPLES,
    "javac -J-agentlib:hprof=heap=sites Shares.java": SITES,
    "javac -J-agentlib:hprof=heap=dump Shares.java": HEAP,
    "javac -J-agentlib:hprof=cpu=samples Shares.java": SAMPLES,
    "javac -J-agentlib:hprof=cpu=times Shares.java": TIMES,
    "env JAVA_TOOL_OPTIONS=-agentlib:hprof=heap=dump javac Shares.java": HEAP,
    "java -Xrunhprof:cpu=samples,file=log.txt,depth=3 Shares": SAMPLES,
    "javac -J-Xrunhprof:heap=sites Shares.java": SITES,
    "javac -J-Xrunhprof:cpu=samples Shares.java": SAMPLES,
}


def run_line(java: Java, line: str) -> Run:
    """With the folder of the library on LD_LIBRARY_PATH."""
    directory = java.directory()
    (directory / "Shares.java").write_text((java.work / "Shares.java").read_text(encoding="utf-8"), encoding="utf-8")
    words = [f"{java.jdk.home}/bin/{word}" if word in ("java", "javac") else word for word in line.split()]
    environment = [f"LD_LIBRARY_PATH={java.inside(java.work)}", f"CLASSPATH={java.inside(java.work / 'classes')}"]
    return ended(java.start(["env", *environment, *words], directory), directory)


@pytest.mark.parametrize("line", MANUAL)
def test_command_lines_of_the_manual(java: Java, line: str) -> None:
    run = run_line(java, line)
    assert run.status == 0, run.errors
    assert not run.said
    path = run.files["log.txt" if "log.txt" in line else "java.hprof.txt"]
    assert errors_of(path) == []
    text = path.read_text(encoding="utf-8")
    for shown in MANUAL[line]:
        assert re.search(shown, text, re.MULTILINE), shown


# The table of options that the manual shows: each with what it does, and its default.
HELP = """\
heap=dump|sites|all    heap profiling                 all
cpu=samples|times|old  CPU usage                      off
monitor=y|n            monitor contention             n
format=a|b             text(txt) or binary output     a
file=<file>            write data to file             java.hprof[.txt]
net=<host>:<port>      send data over a socket        off
depth=<size>           stack trace depth              4
interval=<ms>          sample interval in ms          10
cutoff=<value>         output cutoff point            0.0001
lineno=y|n             line number in traces?         y
thread=y|n             thread in traces?              n
doe=y|n                dump on exit?                  y
msa=y|n                Solaris micro state accounting n
force=y|n              force output to <file>         y
verbose=y|n            print messages about dumps     y
"""


@pytest.mark.parametrize("option", ["-agentlib:hprof=help", "-Xrunhprof:help"])
def test_help_has_the_table_of_the_manual(java: Java, option: str) -> None:
    run = run_line(java, f"java {option}")
    assert (run.status, run.errors, set(run.files)) == (0, "", {"Shares.java"})
    assert HELP in run.output


# ---- virtual threads


def test_virtual_threads(java: Java) -> None:
    if java.jdk.version < 21:
        pytest.skip("no virtual threads in this JDK")
    facts = facts_of_valid(java.run("cpu=samples,interval=5,file=c.txt,depth=16", "Virtual"))
    spinning = sum(count for frames, count in facts.samples.items() if any(frame.method == "Virtual.spin" for frame in frames))
    carried = sum(count for frames, count in facts.samples.items() if frames[-1].method == "jdk.internal.vm.Continuation.enter")
    assert spinning >= 0.9 * carried
    assert spinning >= 10
    facts = facts_of_valid(java.run("monitor=y,file=n.txt", "Virtual"))
    if java.jdk.version >= 25:
        assert facts.contended["Virtual$Gate"] == 1
    facts = facts_of_valid(java.run("cpu=times,monitor=y,cutoff=0,file=m.txt", "Virtual"))
    assert facts.calls["Virtual.spin"] == 4
    one = ("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
    facts = facts_of_valid(java.run("cpu=times,cutoff=0,depth=64,file=m.txt", "Virtual", "turns", java=one))
    stacks = [{frame.method for frame in trace.frames} for trace in facts.traces.values()]
    owners = [stack & {"Virtual.first", "Virtual.second"} for stack in stacks if "Virtual.turn" in stack]
    assert {len(stack) for stack in owners} == {1}
    facts_of_valid(java.run("heap=all,thread=y,format=b,file=t.hprof", "Virtual"))


def test_times_of_virtual_threads_that_take_turns(java: Java) -> None:
    """While one waits for its turn, its clock stands still."""
    if java.jdk.version < 21:
        pytest.skip("no virtual threads in this JDK")
    one = ("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
    ratios = []  # of what both did to what main did, and of the switches
    for _ in range(3):
        run = java.run("cpu=times,depth=2,file=m.txt", "Virtual", "turns", java=one)
        facts_of_valid(run)
        text = run.files["m.txt"].read_text()
        shares = dict.fromkeys(("turn", "alone"), 0.0)
        for share, trace in re.findall(r"^ +\d+ +(\S+)% +\S+% +\d+ (\d+) Virtual\.work$", text, re.MULTILINE):
            (caller,) = re.findall(rf"^TRACE {trace}:\n\tVirtual\.work\(.*\n\tVirtual\.(\w+)\(", text, re.MULTILINE)
            shares[caller] += float(share)
        switches = r"^ +\d+ +(\S+)% .* (?:java\.lang\.(?:Virtual)?Thread|jdk\.internal\.vm\.Continuation)[.$]\S+$"
        around = sum(map(float, re.findall(switches, text, re.MULTILINE)))
        ratios.append((shares["turn"] / shares["alone"], around / shares["alone"]))
        if 0.67 < ratios[-1][0] < 1.5 and ratios[-1][1] < 0.5:
            return
    pytest.fail(f"no run has the right times: {ratios}")


def test_a_virtual_thread_owns_a_monitor(java: Java) -> None:
    """It is the unknown thread: the monitor is not free."""
    if java.jdk.version < 21:
        pytest.skip("no virtual threads in this JDK")
    run = run_with_signal(java, "monitor=y,file=n.txt", "Virtual", "hold")
    gate = facts_of_valid(run).monitors[0]["LVirtual$Gate;"]
    assert (gate.owner, gate.to_enter) == ("?", ("waiter",))
    assert "\n    MONITOR LVirtual$Gate;\n\towner: thread 200000, entry count: 1\n" in run.files["n.txt"].read_text()


def test_virtual_threads_await_monitors(java: Java) -> None:
    """VMs after JDK 21 list none of them."""
    if java.jdk.version < 21:
        pytest.skip("no virtual threads in this JDK")
    run = run_with_signal(java, "monitor=y,file=n.txt", "Virtual", "await")
    first, last = facts_of_valid(run).monitors
    gate = first["LVirtual$Gate;"]
    assert (gate.owner, gate.to_enter, gate.to_be_notified) == ("main", ("?",), ())
    for monitors in (first, last):
        bell = monitors["LVirtual$Bell;"]
        assert (bell.owner, bell.to_enter, bell.to_be_notified) == ("", (), ("?",))
    assert "LVirtual$Gate;" not in last  # entered and left


def test_virtual_threads_of_a_vm_that_runs(java: Java) -> None:
    """One is mounted when the agent is loaded, the next one later on a carrier that was there before."""
    if java.jdk.version < 21:
        pytest.skip("no virtual threads in this JDK")
    one = ("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1")
    with started(java, None, "Virtual", "spin", vm=one) as (process, directory):
        library = java.inside(java.work / "libhprof.so")
        assert "return code: 0" in jcmd(java, process.pid, "JVMTI.agent_load", library, '"cpu=samples,interval=5,file=c.txt"')
        time.sleep(1)
        order(process, "x", "next")
        time.sleep(1)
        run = ended(process, directory)
    assert run.status == 0, run.errors
    assert errors_of(run.files["c.txt"]) == []
    samples = Counter(frames[0].method for frames in facts_of(run.files["c.txt"]).samples.elements())
    assert samples["Virtual.spinUntilFirst"] >= 10
    assert samples["Virtual.spinUntilSecond"] >= 10


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("heap=all,cpu=samples,interval=1,thread=y,format=b", "t.hprof"),
        ("heap=sites,cpu=samples,interval=1,monitor=y", "t.txt"),
        ("cpu=times,monitor=y,cutoff=0", "m.txt"),
    ],
)
def test_ten_thousand_virtual_threads(java: Java, options: str, name: str) -> None:
    """Heap dumps meet some whose constructor runs: the VM looks for the stack of each that it walks into, and would crash."""
    if java.jdk.version < 21:
        pytest.skip("no virtual threads in this JDK")
    with started(java, f"{options},file={name}", "Swarm", "10000", "2000") as (process, directory):
        for _ in range(4):
            time.sleep(0.4)
            process.send_signal(signal.SIGQUIT)
        run = ended(process, directory)
    facts = facts_of_valid(run)
    if "times" in options:
        assert facts.calls["Swarm.live"] >= int(run.output.split()[-1])
