"""Parts of what would take too long. With HPROF_SHARE=4 tests take one in four of their cases, other ones in each run. In builds
with sanitizers, which are slow, the share is 8 by default, else 1. HPROF_ALL_CASES=1, in ci/full, takes all cases."""

import os
import random
from collections.abc import Iterable
from typing import Any, TypeVar

Case = TypeVar("Case")

SHARE = 1 if "HPROF_ALL_CASES" in os.environ else int(os.environ.get("HPROF_SHARE") or (8 if "HPROF_SLOW" in os.environ else 1))
TAKES_SOME = SHARE > 1
FEWEST = 4
LONG = 20


def some(cases: Iterable[Case]) -> list[Case]:
    """In their order."""
    every = list(cases)
    number = max(FEWEST, len(every) // SHARE)
    if SHARE == 1 or number >= len(every):
        return every
    return [every[i] for i in sorted(random.SystemRandom().sample(range(len(every)), number))]


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
