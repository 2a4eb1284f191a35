"""The commands that the page gives for a red cell, pasted into a shell: each shows what its cell says.

Readers in Python run on every machine. HPROF_MATRIX names the folder of a report whose readers are installed in this tree:
ci/test has that of the readers of Maven Central, ci/full that of all.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import random
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from built import ROOT, TRUTH
from test_page import BROWSER, in_browser

from hprof_conformance import cases, outcomes, page
from hprof_conformance.protocol import Hello, ProtocolError, Reply, parse_reply
from hprof_conformance.readers import read_readers

Json = dict[str, Any]

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")

MATRIX = os.environ.get("HPROF_MATRIX", "")
FOLDER = "/tmp/hprof-conformance-cell"  # of the commands; here, each test has one of its own
ALONE = "# then, the reader alone:"
PATIENCE, OF_A_HANG = 120, 15  # seconds
NEVER_ENDS = {outcomes.HUNG, outcomes.OUT_OF_MEMORY}  # which of them, load decides
ALL_COMMANDS = """
const typed = report.readers.flatMap(reader => (reader.results || []).filter(one => !one.fine).map(one =>
    [reader.name, one.case, again(reader, report.cases.find(each => each.name === one.case))]));
document.body.dataset.typed = btoa(unescape(encodeURIComponent(JSON.stringify(typed))));
"""


def commands(report: Json, folder: Path) -> dict[tuple[str, str], str]:
    """Of all red cells, by reader and case, as the page has them."""
    dom = in_browser(folder, page.make(report) + f"<script>{ALL_COMMANDS}</script>")
    (typed,) = re.findall('data-typed="([^"]*)"', dom)
    own = str(folder / "cell")
    return {(reader, case): words.replace(FOLDER, own) for reader, case, words in json.loads(base64.b64decode(typed))}


def pasted(command: str, seconds: float) -> str | None:
    """What it prints; None if it does not end in time."""
    shell = subprocess.Popen(
        ["bash", "-euc", command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        return shell.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()


def replied(hello: Hello, adapter: str, command: str, seconds: float) -> Reply:
    """What came back. A program of others prints no reply: the adapter makes one of what it prints, and of its status."""
    if adapter:
        read = importlib.import_module(f"hprof_conformance.adapters.{adapter}").read
        limited = ["timeout", "--signal", "KILL", str(seconds), "bash", "-euc", command]
        found: Reply = read(hello, limited, "", Path("ignored"))
        return Reply("", "hung") if found.message.startswith("status -9:") else found
    said = pasted(command, seconds)
    if said is None:
        return Reply("", "hung")
    with suppress(ProtocolError, IndexError):
        return parse_reply(said.splitlines()[1], "")  # after the hello
    return Reply("", "crashed")


def check(report: Json, reader: Json, cell: Json, adapter: str, command: str) -> None:
    """A notice that the reader gives for valid dumps, too, does not count; a red cell has no other."""
    (case,) = cases.read_cases(ROOT, TRUTH, [cell["case"]])
    parts = ("name", "version", "bugs", "unsupported", "counts", "digests", "references")
    hello = Hello(**{name: reader[name] for name in parts})
    never = cell["outcome"] in NEVER_ENDS
    reply = replied(hello, adapter, command, OF_A_HANG if never else PATIENCE)
    found = outcomes.assess(case, hello, Reply(**{**reply.__dict__, "notices": []}))
    where = f"{reader['name']}, {cell['case']}: {found}\n{command}"
    if never:
        assert found.outcome in NEVER_ENDS, where
        return
    assert found.outcome == cell["outcome"], where
    assert {one.what: one.found for one in found.differences} == {one["what"]: one["found"] for one in cell.get("differs", [])}, (
        where
    )


def red(report: Json) -> list[tuple[Json, Json]]:
    return [(reader, cell) for reader in report["readers"] if reader["ran"] for cell in reader["results"] if not cell["fine"]]


BAD = Path(__file__).parent / "bad_readers"
SPOILED = {  # a reader in Python, and the outcomes of its red cells
    "instance_left_out": {outcomes.WRONG_COUNTS},
    "field_zeroed": {outcomes.WRONG_CONTENT},
    "nan_in_arrays": {outcomes.WRONG_CONTENT},
    "second_dump_ignored": {outcomes.WRONG_COUNTS},
    "silent": {outcomes.SILENT_LOSS},
}
SOME_CASES = [
    *("valid/arrays-all-types-102-id8", "valid/two-dumps-same-ids-102-id4", "invalid/REC-002/segment-within-object-*"),
    *("gold/jdk8", "gold/agent8-odd-nan"),
]


@pytest.mark.parametrize("name", SPOILED)
def test_the_command_of_each_red_cell_of_a_reader_of_ones_own(name: str, tmp_path: Path) -> None:
    program = tmp_path / f"a reader's {name}"
    package = ROOT / "generator" / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={package}:{BAD} exec {sys.executable} -B {BAD / name}.py "$@"\n')
    program.chmod(0o755)
    made = [sys.executable, "-m", "hprof_conformance.main", "--quiet", "--reader", str(program)]
    made += ["--cases", ",".join(SOME_CASES)]
    subprocess.run([*made, "--report", str(tmp_path / "report")], cwd=ROOT, capture_output=True, check=False)
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    cells, typed = red(report), commands(report, tmp_path)
    assert {cell["outcome"] for _, cell in cells} == SPOILED[name] and len(typed) == len(cells)
    for reader, cell in cells:
        check(report, reader, cell, "", typed[reader["name"], cell["case"]])


def one_of_each(cells: list[tuple[Json, Json]], source: random.Random) -> list[tuple[Json, Json]]:
    """Of each reader: for each outcome, finding and reason."""
    kinds: dict[tuple[str, ...], list[tuple[Json, Json]]] = {}
    for reader, cell in cells:
        key = (reader["name"], cell["outcome"], str(cell.get("finding")), cell.get("reason", ""))
        kinds.setdefault(key, []).append((reader, cell))
    return [source.choice(some) for _, some in sorted(kinds.items())]


@pytest.mark.skipif(not MATRIX, reason="HPROF_MATRIX names no report: ci/test pastes its commands when the matrix has run")
def test_the_commands_of_red_cells_of_real_readers(tmp_path: Path) -> None:
    seed = random.SystemRandom().getrandbits(32)
    print("seed", seed)
    source = random.Random(seed)
    report = json.loads((Path(MATRIX) / "report.json").read_text(encoding="utf-8"))
    adapters = {one.name: one.adapter for one in read_readers(ROOT)}
    typed, cells = commands(report, tmp_path), red(report)
    drawn = one_of_each(cells, source)
    print(f"{len(drawn)} of {len(cells)} red cells")
    assert len({reader["name"] for reader, _ in drawn}) >= len({reader["name"] for reader, _ in cells}) > 0
    for reader, cell in drawn:
        install, _, alone = typed[reader["name"], cell["case"]].partition(ALONE)
        assert "conformance/run " in install
        check(report, reader, cell, adapters[reader["name"]], alone)
    reader, cell = source.choice([one for one in drawn if one[1]["outcome"] not in NEVER_ENDS])  # with the run that makes a page
    assert pasted(typed[reader["name"], cell["case"]], 20 * PATIENCE) is not None
    (again,) = json.loads((tmp_path / "cell-report" / "report.json").read_text(encoding="utf-8"))["readers"][0]["results"]
    assert {name: again.get(name) for name in ("case", "outcome", "differs")} == {
        name: cell.get(name) for name in ("case", "outcome", "differs")
    }
