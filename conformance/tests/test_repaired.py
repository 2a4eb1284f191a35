"""Readers that refuse a damaged dump open what hprof-validate --repair makes of it.

The reader is fetched and built, so ci/full runs this: HPROF_REPAIRED names the folder in which to build.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from hprof_conformance import gold, readers
from hprof_conformance.session import Session

ROOT = Path(__file__).resolve().parents[2]
DRAWS = 3  # of each kind of damage
BUILD = os.environ.get("HPROF_REPAIRED", "")

pytestmark = pytest.mark.skipif(not BUILD, reason="HPROF_REPAIRED names no folder: ci/full builds readers")


@pytest.mark.parametrize("name", ["shark-graph", "shark-stream"])
def test_shark(name: str, tmp_path: Path) -> None:
    (reader,) = (one for one in readers.read_readers(ROOT) if one.name == name)
    dump, fixed = tmp_path / "dump.hprof", tmp_path / "fixed.hprof"
    subprocess.run([os.environ["HPROF_GEN"], "--like", "hotspot", "--objects", "20000", "-o", dump], check=True)
    whole = dump.read_bytes()
    dump.write_bytes(whole[: len(whole) * 2 // 3])
    subprocess.run([os.environ["HPROF_VALIDATE"], "--repair", fixed, dump], check=True, stdout=subprocess.DEVNULL)
    session = Session(readers.command(ROOT, reader, Path(BUILD).resolve() / name), tmp_path)
    try:
        assert session.ask("truncated", dump).outcome != "accepted"
        reply = session.ask("repaired", fixed)
        assert reply.outcome == "accepted", reply.message
    finally:
        session.stop()


@pytest.mark.parametrize("name", ["visualvm", "shark-graph", "openjdk-test"])
@pytest.mark.parametrize("original", ["jdk8", "jdk17", "jdk25"])
def test_copies_of_damaged_dumps_are_opened(name: str, original: str, tmp_path: Path) -> None:
    """Damage as in validator/tests/test_losses.py."""
    sys.path.insert(0, str(ROOT / "validator/tests"))
    from losses import MANY_BYTES, ONE_FAULT, damaged, draws, read

    seed = random.SystemRandom().randrange(1 << 32)
    (reader,) = (one for one in readers.read_readers(ROOT) if one.name == name)
    whole, dump = read(gold.read(ROOT, original)), tmp_path / "dump.hprof"
    session = Session(readers.command(ROOT, reader, Path(BUILD).resolve() / name), tmp_path)
    refused = []
    try:
        dump.write_bytes(whole.data)
        assert session.ask("whole", dump).outcome == "accepted"
        for i, kind, damages in draws(whole, (*ONE_FAULT, *MANY_BYTES), DRAWS, seed):
            dump.write_bytes(damaged(whole, damages))
            fixed = tmp_path / f"{i}-{kind.__name__}.hprof"  # VisualVM keeps what it knows of a file by its name
            subprocess.run([os.environ["HPROF_VALIDATE"], "--repair", fixed, dump], check=True, stdout=subprocess.DEVNULL)
            reply = session.ask(f"{i}", fixed)
            fixed.unlink()
            if reply.outcome != "accepted":
                places = [(one.at, one.end, one.what) for one in damages]
                refused.append(f"draw {i}, {kind.__name__}: {places}: {reply.outcome}: {reply.message}")
    finally:
        session.stop()
    assert not refused, f"seed {seed}: {refused}"
