"""A plugin of pytest: of the tests of a file one half, another one in each run. HPROF_HALF=DRAW/0 is the one half, and
HPROF_HALF=DRAW/1 the other: ci/test runs each in another build."""

import os
import random

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    draw, _, half = os.environ.get("HPROF_HALF", "").partition("/")
    if half:
        is_taken = [random.Random(f"{draw} {item.nodeid}").randrange(2) == int(half) for item in items]
        config.hook.pytest_deselected(items=[item for item, taken in zip(items, is_taken, strict=True) if not taken])
        items[:] = [item for item, taken in zip(items, is_taken, strict=True) if taken]
