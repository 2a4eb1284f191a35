"""Readers that refuse a truncated dump open what hprof-validate --repair makes of it.

The reader is fetched and built, so ci/full runs this: HPROF_REPAIRED names the folder in which to build.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hprof_conformance import readers
from hprof_conformance.session import Session

ROOT = Path(__file__).resolve().parents[2]
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
