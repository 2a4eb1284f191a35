"""Damage to dumps of real JDKs: a repair keeps what the damage did not touch, and has nothing new."""

import random
from pathlib import Path

import pytest
from hprof_conformance import gold
from losses import MANY_BYTES, ONE_FAULT, Original, draws, read, repair
from tool import SOURCE

GOLD = ("agent8", "jdk8", "jdk17", "jdk25", "sa17")
DRAWS = 3
FEW = 20  # sub-records of the original: those whose boundary the damage moved


@pytest.fixture(scope="module", params=GOLD)
def original(request: pytest.FixtureRequest) -> Original:
    return read(gold.read(SOURCE, request.param))


def test_what_the_damage_did_not_touch_is_kept(original: Original, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    shares = []
    for i, kind, damages in draws(original, ONE_FAULT + MANY_BYTES, DRAWS, seed):
        loss = repair(original, damages, tmp_path)
        what = f"seed {seed}, draw {i}, {kind.__name__}: {damages}"
        assert loss.status == 0, what
        share = loss.beyond_bytes / len(original.data)
        assert share <= 0.005 or loss.beyond <= FEW, what
        shares.append(share)
    assert sum(shares) / len(shares) <= 0.0005, f"seed {seed}: {shares}"
