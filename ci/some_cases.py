"""Parts of what would take too long. With HPROF_SHARE=4 tests take one in four of their cases, other ones in each run. In builds
with sanitizers, which are slow, the share is 8 by default, else 1. HPROF_ALL_CASES=1, in ci/full, takes all cases.

As a plugin of pytest (-p some_cases): of the cases of each parametrized test, one in as many, and at least two."""

import os
import random
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")

SHARE = 1 if "HPROF_ALL_CASES" in os.environ else int(os.environ.get("HPROF_SHARE") or (8 if "HPROF_SLOW" in os.environ else 1))
TAKES_SOME = SHARE > 1
FEWEST = 4
FEWEST_OF_A_TEST = 2
LONG = 20


def some(cases: Iterable[Case], fewest: int = FEWEST) -> list[Case]:
    """In their order."""
    every = list(cases)
    number = max(fewest, len(every) // SHARE)
    if SHARE == 1 or number >= len(every):
        return every
    return [every[i] for i in sorted(random.SystemRandom().sample(range(len(every)), number))]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    taken = {item for cases in tests.values() for item in some(cases, FEWEST_OF_A_TEST)}
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = [item for item in items if item in taken]


def any_one(cases: Iterable[Case]) -> list[Case]:
    """Of cases that take seconds each."""
    return [random.SystemRandom().choice(list(cases))] if TAKES_SOME else list(cases)


def shortened(value: Any) -> Any:
    """For a check by a JSON schema, which takes long for each element of a list of classes or records: of long lists some elements,
    other ones each time."""
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in (value if len(value) <= LONG else random.sample(value, LONG))]
    return value
