"""For tests in builds with sanitizers, which are slow: of many cases some, other ones in each run. The release build takes all of
them; HPROF_ALL_CASES=1, in ci/full, takes all under the sanitizers, too."""

import os
import random
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")

TAKES_SOME = "HPROF_SLOW" in os.environ and "HPROF_ALL_CASES" not in os.environ
PART = 8
FEWEST = 8


def some(cases: Iterable[Case]) -> list[Case]:
    """In their order."""
    every = list(cases)
    number = max(FEWEST, len(every) // PART)
    if not TAKES_SOME or number >= len(every):
        return every
    return [every[i] for i in sorted(random.SystemRandom().sample(range(len(every)), number))]
