"""Dumps of 1 to 8 MB with structured damage (damage.c): all ways of reading them give the same report (fuzz_paths), and where the
framing is right the oracle agrees (fuzz_oracle); with the usual library and with the one whose constants are small. These sizes
reach the ends of jobs, blocks and pieces of 64 KiB to 4 MiB.

Dumps and damage are drawn afresh. HPROF_LARGE=N makes N rounds instead of one; HPROF_LARGE_SEED repeats a run."""

import os
import random
import subprocess
from pathlib import Path

import pytest

GEN = os.environ["HPROF_GEN"]
TARGETS = Path(os.environ["HPROF_FUZZ_LARGE"])
ROUNDS = int(os.environ.get("HPROF_LARGE", "1"))
SEED = int(os.environ.get("HPROF_LARGE_SEED", str(random.SystemRandom().randrange(1 << 32))))

SHAPES = ["mixed", "list", "tree", "graph", "arrays", "strings", "wide", "deep", "threads"]
PRODUCERS = ["plain", "hotspot", "jdk8-agent", "sa", "android"]
DRIVERS = {"fuzz_oracle-large": 12, "fuzz_oracle-small-large": 12, "fuzz_paths-large": 4, "fuzz_paths-small-large": 4}


def make_dump(dice: random.Random, path: Path) -> None:
    """Most are small, for each is read twenty times."""
    options = [
        "--shape",
        dice.choice(SHAPES),
        "--bytes",
        str(dice.choice([1, 1, 1, 2, 2, 4, 8]) << 20),
        "--seed",
        str(dice.randrange(1 << 30)),
    ]
    options += ["--like", dice.choice(PRODUCERS)]
    if dice.random() < 0.5 and "plain" in options:
        options += ["--segment-size", dice.choice(["1K", "20K", "64K", "1M", "3M"]), "--id-size", dice.choice(["4", "8"])]
    if dice.random() < 0.2:
        options += ["--heap-dumps", "2"]
    done = subprocess.run([GEN, "--quiet", *options, "-o", path], capture_output=True, timeout=120, check=False)
    if done.returncode == 2:  # not every producer has every shape
        make_dump(dice, path)
    else:
        assert done.returncode == 0, (options, done.stderr)


@pytest.mark.parametrize("driver", DRIVERS)
def test_large_dumps(driver: str, tmp_path: Path) -> None:
    dice = random.Random(f"{SEED} {driver}")
    for _ in range(ROUNDS):
        files = [tmp_path / f"{i}.hprof" for i in range(2 if "HPROF_SLOW" in os.environ else 4)]
        for file in files:
            make_dump(dice, file)
        first = dice.randrange(1 << 40)
        count = str(DRIVERS[driver] // (3 if "HPROF_SLOW" in os.environ else 1))
        done = subprocess.run(
            [TARGETS / driver, count, *files],
            env=os.environ | {"HPROF_MUTANTS_FROM": str(first), "HPROF_MUTANTS": count},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"HPROF_LARGE_SEED={SEED}; {tmp_path}/mutant\n{done.stderr}"
