"""A plugin of pytest: of the tests of a file a part, another one in each run. HPROF_PART=DRAW/0-1/6 is the first two of six parts,
and HPROF_PART=DRAW/2/6 the third: ci/test runs each in another build."""

import os
import random

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    draw, _, part = os.environ.get("HPROF_PART", "").partition("/")
    if part:
        which, _, parts = part.partition("/")
        first, _, last = which.partition("-")
        drawn = sorted(items, key=lambda item: random.Random(f"{draw} {item.nodeid}").random())
        taken = {item for i, item in enumerate(drawn) if int(first) <= i % int(parts) <= int(last or first)}
        config.hook.pytest_deselected(items=[item for item in items if item not in taken])
        items[:] = [item for item in items if item in taken]
