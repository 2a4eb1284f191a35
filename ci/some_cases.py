"""Parts of what would take too long. In builds with sanitizers, which are slow, tests take some of their cases, other ones in each
run. In the release build they take all, or with HPROF_SHARE=2, in ci/test, a half. HPROF_ALL_CASES=1, in ci/full, takes all under
the sanitizers, too."""

import os
import random
from collections.abc import Iterable
from typing import Any, TypeVar

Case = TypeVar("Case")

TAKES_SOME = "HPROF_SLOW" in os.environ and "HPROF_ALL_CASES" not in os.environ
SHARE = 8 if TAKES_SOME else int(os.environ.get("HPROF_SHARE", "1")) if "HPROF_ALL_CASES" not in os.environ else 1
FEWEST = 8
LONG = 20


def some(cases: Iterable[Case]) -> list[Case]:
    """In their order."""
    every = list(cases)
    number = max(FEWEST, len(every) // SHARE)
    if SHARE == 1 or number >= len(every):
        return every
    return [every[i] for i in sorted(random.SystemRandom().sample(range(len(every)), number))]


def shortened(value: Any) -> Any:
    """For a check by a JSON schema, which takes long for each element of a list of classes or records: of long lists some elements,
    other ones each time."""
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in (value if len(value) <= LONG else random.sample(value, LONG))]
    return value
