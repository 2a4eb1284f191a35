"""The agent of generator/agent passes the checks that conformance/producers/agent8/listen makes of the agent of JDK 8."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from socket import create_server
from typing import Any

import pytest

if "HPROF_AGENT" not in os.environ:
    pytest.skip("built without the agent: no jvmti.h", allow_module_level=True)

from agent_tool import AGENT8, Java, errors_of, jdks, ready_java, sanitizer

sys.path.insert(0, str(AGENT8))

from session import Session, accepted

LISTEN = importlib.util.spec_from_loader("listen", SourceFileLoader("listen", str(AGENT8 / "listen")))
assert LISTEN and LISTEN.loader
listen: Any = importlib.util.module_from_spec(LISTEN)
sys.modules["listen"] = listen
LISTEN.loader.exec_module(listen)

# Rows in which the agent of JDK 8 breaks its manual or ends the VM, as libhprof(7) says, and one that other threads can disturb.
OTHERWISE = {
    "heap-dump": "threads that ended are not dumped, and all classes have a LOAD_CLASS",
    "traces": "a thread of the VM may allocate at a new trace between the commands",
    "control-3-4": "4 turns sampling off",
    "control-thread": "the ID is in network order",
    "control-6-depth": "6 takes the depth",
    "control-6-busy": "the VM goes on",
    "unknown": "the VM goes on",
    "pipelined-unknown": "the VM goes on",
    "lengths": "the length counts",
    "half-close": "nothing spins",
    "close": "the VM goes on",
    "close-in-dump": "the VM goes on",
}
CASES = {case.name: case for case in listen.CASES if case.name not in OTHERWISE}


@pytest.fixture(scope="module", params=jdks(), ids=str)
def java(request: pytest.FixtureRequest) -> Iterator[Java]:
    with ready_java(request.param) as ready:
        yield ready


@contextmanager
def agent_session(java: Java, case: Any, binary: bool, pieces: int) -> Iterator[Session]:
    with create_server(("127.0.0.1", 0)) as server:
        options = f"net=127.0.0.1:{server.getsockname()[1]},format={'b' if binary else 'a'},{case.options}"
        words = java.within(java.command(options, "Truth", "wait", java=("-Xmx64m",)), java.directory())
        pipe, environment, since = subprocess.PIPE, {**os.environ, **sanitizer()}, time.monotonic()
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True)
        with accepted(server, process, since, binary, pieces) as session:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == b"ready"
            yield session


def test_each_other_row_is_one_of_the_listener() -> None:
    assert OTHERWISE.keys() < {case.name for case in listen.CASES}


def test_the_listener_passes(java: Java, tmp_path: Path) -> None:
    """In one of its formats and ways to send, other ones in each run."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    for name in CASES if "HPROF_BIG" in os.environ else draw.sample(sorted(CASES), 6):
        case, binary, pieces = CASES[name], draw.random() < 0.5, draw.choice(list(listen.WAYS.values()))
        print(name, "b" if binary else "a", pieces)
        with agent_session(java, case, binary, pieces) as session:
            case.show(session)
            listen.check_stream(session, case.whole)
            data = bytes(session.stream.data)
        if case.whole:
            path = tmp_path / ("stream.hprof" if binary else "stream.txt")
            path.write_bytes(data)
            assert errors_of(path) == []
