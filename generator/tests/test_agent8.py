"""What the agent of JDK 8 wrote, in conformance/producers/agent8/gold: valid in its profile, and true."""

from __future__ import annotations

import functools
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

AGENT8 = Path(__file__).resolve().parents[2] / "conformance/producers/agent8"
sys.path.insert(0, str(AGENT8))

from facts import Facts, findings_of_agent, read_binary_data, read_text_data  # noqa: E402
from truth import (  # noqa: E402
    MismatchError,
    check_calls,
    check_contended,
    check_crowd,
    check_heap,
    check_pairs,
    check_samples,
    check_shares,
    check_sites,
    check_threads,
    compare,
    compare_samples,
    our_sites,
)

from hprof_corpus.ascii.rules import Severity  # noqa: E402

GOLD = sorted(path.name for path in (AGENT8 / "gold").iterdir())


def content(name: str) -> bytes:
    data = (AGENT8 / "gold" / name).read_bytes()
    return lzma.decompress(data) if name.endswith(".xz") else data


@functools.cache
def facts(name: str) -> Facts:
    data = content(name)
    return read_binary_data(data) if ".hprof" in name else read_text_data(data)[0]


@pytest.mark.parametrize("name", GOLD)
def test_valid_in_its_profile(name: str) -> None:
    data = content(name)
    if ".hprof" in name:
        words = [os.environ["HPROF_VALIDATE"], "--profile", "jdk8-agent", "-"]
        done = subprocess.run(words, input=data, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout
    else:
        assert findings_of_agent(data).valid


STARTS_OF_OLD = [b"", b"TRACE 300000:\n\t<empty>\n", b"WAIT: MONITOR Ljava/lang/Object;, timeout=0, thread 200003\n"]
TEXTS = [content("samples.txt"), *(start + content("old.txt.xz") for start in STARTS_OF_OLD)]


@pytest.mark.parametrize("data", TEXTS, ids=lambda data: data[:12].decode())
def test_the_validator_of_binary_dumps_names_the_one_of_text(data: bytes) -> None:
    """With cpu=old the text has no header."""
    done = subprocess.run([os.environ["HPROF_VALIDATE"], "-"], input=data, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"'hprof-ascii check'" in done.stdout


@pytest.mark.parametrize("name", ["heap.txt.xz", "heap.hprof.xz"])
def test_the_heap_is_that_of_the_program(name: str) -> None:
    check_heap(facts(name))
    check_sites(facts(name))
    check_threads(facts(name))


def test_text_and_binary_say_the_same() -> None:
    """Of two runs of one program."""
    text, binary = facts("heap.txt.xz"), facts("heap.hprof.xz")
    compare(text, binary)
    assert len(our_sites(text)) >= 15


@pytest.mark.parametrize("name", ["samples.txt", "samples.hprof"])
def test_the_hot_method_has_most_samples(name: str) -> None:
    check_samples(facts(name))


def test_samples_of_text_and_binary_say_the_same() -> None:
    text, binary = facts("shares.txt"), facts("shares.hprof")
    check_shares(text)
    check_shares(binary)
    compare_samples(text, binary)


@pytest.mark.parametrize("name", ["socket.hprof.xz", "socket.txt.xz"])
def test_commands_of_the_socket_are_answered(name: str) -> None:
    """Heap summaries in binary only; sites in the order asked for; traces of 9 frames after command 7 of 0x08."""
    said = facts(name)
    assert said.blocks["samples"] == 1 and said.blocks["sites"] >= 4
    assert said.blocks["summary"] == (3 if ".hprof" in name else 0)
    assert said.started.count("main") == 1 and "heap dump" not in said.blocks
    assert max(len(trace.frames) for trace in said.traces.values()) == 9
    assert any(trace.frames and trace.frames[0].method == "Truth.spin" for trace in said.traces.values())


def test_calls_are_counted() -> None:
    check_calls(facts("times.txt"))
    check_pairs(facts("old.txt.xz"))


def test_monitors_have_their_owners_and_waiting_threads() -> None:
    check_crowd(facts("monitors.txt"), 3)
    check_contended(facts("monitor-times.txt.xz"), 1100)


FALSE = [
    ("old.txt.xz", b"\n1234 Truth.called", b"\n1233 Truth.called", check_pairs),
    ("times.txt", b"    1234 ", b"    1235 ", check_calls),
    ("monitors.txt", b"owner: thread 200001", b"owner: thread 200003", lambda one: check_crowd(one, 3)),
    ("monitors.txt", b"entry count: 1", b"entry count: 2", lambda one: check_crowd(one, 3)),
    ("monitors.txt", b"notified: thread 20000", b"notified: thread 30000", lambda one: check_crowd(one, 3)),
    ("monitors.txt", b"enter: thread", b"enter: thread 200001, thread", lambda one: check_crowd(one, 3)),
]


@pytest.mark.parametrize(("name", "true", "false", "check"), FALSE)
def test_what_is_false_is_found(name: str, true: bytes, false: bytes, check: Callable[[Facts], None]) -> None:
    data = content(name)
    assert data.count(true) >= 1
    with pytest.raises(MismatchError):
        check(read_text_data(data.replace(true, false, 1))[0])


def test_sites_change_while_they_are_written() -> None:
    """After a collection, on commands of the socket: rows out of order, and a total that falls."""
    data = content("freed.txt.xz")
    strict, forgiving = read_text_data(data)[1], findings_of_agent(data)
    assert {"ASC-031", "ASC-032"} <= {one.rule.id for one in strict.kept}
    assert {one.severity for one in forgiving.kept} == {Severity.NOTE}


def test_names_are_broken_and_read() -> None:
    assert {"two\nlines", "\nfirst and last\n"} <= set(facts("names.txt.xz").started)
    assert {"Two\nlines", "a blank"} <= {site.type for site in facts("names.txt.xz").sites}


@pytest.mark.parametrize("name", ["threads.txt", "threads.hprof", "sites.hprof"])
def test_threads_start(name: str) -> None:
    check_threads(facts(name))


def test_without_depth_all_sites_of_a_class_are_one() -> None:
    texts, binary = facts("sites.txt"), facts("sites.hprof")
    assert our_sites(texts) == our_sites(binary) == []
    by_type = [{site.type: site.allocated for site in one.sites if site.type.startswith("Truth")} for one in (texts, binary)]
    both = by_type[0].keys() & by_type[1].keys()  # the cutoff may leave out the smallest of them
    assert {"Truth$Point", "Truth$Node", "Truth$Dropped"} <= both
    for type_ in both:
        assert by_type[0][type_] == by_type[1][type_], type_
    assert by_type[0]["Truth$Point"] == 1001  # the class itself is counted with its instances
    assert by_type[0]["Truth$Dropped"] == 2001


def test_the_blocks_of_each_file() -> None:
    found = {name: {block for block in facts(name).blocks if block not in ("loads", "waits")} for name in GOLD}
    assert found == {
        "freed.txt.xz": {"sites"},
        "heap.hprof.xz": {"heap dump", "sites"},
        "heap.txt.xz": {"heap dump", "sites"},
        "monitor-times.txt.xz": {"monitor dump", "monitor times"},
        "monitors.txt": {"monitor dump", "samples"},
        "old.txt.xz": {"old times"},
        "names.txt.xz": {"monitor dump", "sites"},
        "samples.hprof": {"samples"},
        "samples.txt": {"samples"},
        "shares.hprof": {"samples"},
        "shares.txt": {"samples"},
        "sites.hprof": {"sites"},
        "sites.txt": {"sites"},
        "socket.hprof.xz": {"samples", "sites", "summary"},
        "socket.txt.xz": {"samples", "sites"},
        "threads.hprof": set(),
        "threads.txt": set(),
        "times.txt": {"times"},
    }
