"""A plugin of pytest: of the tests of each file a part, another one in each run. HPROF_PART=DRAW/0-7/24 is the first eight of 24
parts, and HPROF_PART=DRAW/8-15/24 the next ones: ci/test runs each in another build. HPROF_ONE_IN=4 takes one in four of a part: of
the files that take longest."""

import os
import random

import pytest


@pytest.hookimpl(trylast=True)  # after some_cases.py
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    draw, _, part = os.environ.get("HPROF_PART", "").partition("/")
    if not part or not items:
        return
    which, _, parts = part.partition("/")
    first, _, last = which.partition("-")
    drawn = sorted(items, key=lambda item: random.Random(f"{draw} {item.nodeid}").random())
    # The places of few tests are spread over all parts, from another one on in each file.
    shift = random.Random(f"{draw} {items[0].path.name}").randrange(int(parts))
    places = [(i * int(parts) // len(drawn) + shift) % int(parts) for i in range(len(drawn))]
    taken = [item for item, place in zip(drawn, places, strict=True) if int(first) <= place <= int(last or first)]
    kept = set(taken[:: int(os.environ.get("HPROF_ONE_IN", "1"))])
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and "HPROF_PART" in os.environ:
        session.exitstatus = pytest.ExitCode.OK  # the other build has them, or another run
