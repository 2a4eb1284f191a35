"""The length of an array that a dump does not have is for the reader to meet, and not for its adapter."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from built import ROOT

from hprof_conformance import readers
from hprof_conformance.calibration import TINY
from hprof_conformance.jvms import NotBuiltError, NotHereError
from hprof_conformance.session import Session
from hprof_corpus.assembler import assemble


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    (reader,) = (one for one in readers.read_readers(ROOT) if one.name == "visualvm")
    try:
        return readers.command(ROOT, reader, tmp_path_factory.mktemp("lengths") / "visualvm")
    except NotHereError as error:
        if isinstance(error, NotBuiltError):
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("length", [0x08000000, 0x10000000, 0x20000001, 0x7FFFFFFF])
def test_the_reader_answers_for_a_length_that_the_dump_does_not_have(length: int, command: list[str], tmp_path: Path) -> None:
    tiny = assemble(f'hprof "JAVA PROFILE 1.0.2" id-size 8 time 0\n{TINY}').file.to_bytes()
    ints = struct.pack(">B3I", 10, 1, 2, 3)
    before, after = tiny.split(struct.pack(">I", 3) + ints)
    dump = tmp_path / "dump.hprof"
    dump.write_bytes(before + struct.pack(">I", length) + ints + after)
    session = Session(command, tmp_path / "own")
    try:
        found = session.ask("length", dump)
    finally:
        session.stop()
    words = f"{found.message} {found.failed}"
    assert "in the adapter" not in words and " at HprofMappedByteBuffer.getInt:" in words, (found.outcome, words)
