"""Cells of the matrix, drawn at random, with what the real tool alone prints: for a person, who compares the two.

conformance/verified/draw                          20 cells, ten of them accusations; the seed is new, and printed
conformance/verified/draw --seed 7 >today.md       the cells of that seed, while neither the cases nor the expectations change
conformance/verified/draw --readers haha-perflib   one of each accusation, and one cell that is as it should be: a new row

A reader is drawn, then one of its cells. An accusation is a line of its expectations. What the reader does not claim is left out,
unless such a line accuses it: of a hang, or of running out of memory.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hprof_conformance import cases, expectations
from hprof_conformance.cases import Case
from hprof_conformance.command import RefusedError, run_command
from hprof_conformance.expectations import Expected
from hprof_conformance.findings import file_of, plain
from hprof_conformance.readers import Reader, read_readers

_LINES = 14  # of what a tool prints: the first and the last
_SECONDS = 60
_LARGE = 100_000  # bytes of a dump whose lines are counted by their first word
_AS_IT_SHOULD_BE = {
    "accept": "read right",
    "reject": "rejected, or accepted without loss",
    "report": "rejected, or accepted with a notice",
    "either": "read right, or rejected",
}


@dataclass(frozen=True)
class Cell:
    reader: Reader
    case: Case
    expected: Expected | None  # None: as it should be

    @property
    def claim(self) -> str:
        """What the matrix says of the reader."""
        if self.expected is None:
            return _AS_IT_SHOULD_BE[self.case.should]
        differs = "; ".join(f"{name} is {value}" for name, value in self.expected.differs.items())
        words = [self.expected.outcome, differs, f"finding {self.expected.finding}", self.expected.reason]
        return ". ".join(word for word in words if word)


def cells(root: Path, reader: Reader, known: list[Case]) -> tuple[list[Cell], list[Cell]]:
    """The accusations, and the others."""
    expected = expectations.read(root / "conformance" / "expectations" / f"{reader.name}.toml").cases
    accused = [Cell(reader, case, expected[case.name]) for case in known if case.name in expected]
    claimed = [case for case in known if not set(case.requires) & set(reader.unsupported)]
    return accused, [Cell(reader, case, None) for case in claimed if case.name not in expected]


def drawn(by_reader: list[tuple[list[Cell], list[Cell]]], number: int, source: random.Random) -> list[Cell]:
    """Half of them accusations, no cell twice."""
    found: list[Cell] = []
    for accusations in (True, False):
        pools = [source.sample(pool, len(pool)) for pool in (each[0 if accusations else 1] for each in by_reader)]
        for _ in range(number // 2 if accusations else number - number // 2):
            pools = [pool for pool in pools if pool]
            if not pools:
                raise RefusedError("there are not as many cells")
            found.append(source.choice(pools).pop())
    return found


def one_of_each(by_reader: list[tuple[list[Cell], list[Cell]]], source: random.Random) -> list[Cell]:
    """Of each reader: for each outcome, finding and message one accusation, and one other cell."""
    found = []
    for accused, others in by_reader:
        kinds: dict[tuple[str, int, str], list[Cell]] = {}
        for cell in accused:
            assert cell.expected is not None
            kinds.setdefault((cell.expected.outcome, cell.expected.finding, cell.expected.reason), []).append(cell)
        found += [source.choice(some) for _, some in sorted(kinds.items())]
        found.append(source.choice(others))
    return found


def _printed(root: Path, command: str) -> str:
    run = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, errors="replace", check=False)
    lines = [line for line in plain(run.stdout).splitlines() if "jdk.compiler/" not in line]  # which runs the source of `show`
    if len(lines) > _LINES:
        lines = [*lines[: _LINES // 2], f"[{len(lines) - _LINES} lines]", *lines[-_LINES // 2 :]]
    return "\n".join(lines)


def text_of(root: Path, number: int, cell: Cell) -> str:
    """What the tool prints. It is ended where it never ends: status 137."""
    file = file_of(root, cell.case.name)
    command = f"timeout --signal KILL {_SECONDS} conformance/findings/show {cell.reader.name} {shlex.quote(file)} 2>&1"
    if cell.case.bytes > _LARGE:
        command += " | cut --delimiter ' ' --fields 1 | sort | uniq --count"
    else:
        command += "; echo status $?"
    held = ", ".join(f"{name} {count}" for name, count in cell.case.truth.counts.items())
    verb = "may reject" if cell.case.should == "either" else f"should {cell.case.should}"
    lines = [
        f"### {number} {cell.reader.title}, {cell.case.name}",
        "",
        f"Fed: {cell.case.about} It holds {held}. A reader {verb} it.",
        f"The matrix: {cell.claim}",
        "",
        f"    $ {command}",
        *(f"    {line}".rstrip() for line in _printed(root, command).splitlines()),
        "",
        "By hand: ",
    ]
    return "\n".join(lines)


def main() -> int:
    return run_command("conformance/verified/draw", _draw)


def _draw() -> int:
    parser = argparse.ArgumentParser(
        prog="conformance/verified/draw", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--number", type=int, default=20, help="of cells, half of them accusations")
    parser.add_argument("--readers", default="", help="new rows, separated by commas: one cell of each accusation")
    parser.add_argument("--list", action="store_true", help="names the cells, and runs nothing")
    asked = parser.parse_args()
    root = cases.source_tree()
    rows = [one for one in read_readers(root) if one.kind != "none"]
    named = {name for name in asked.readers.split(",") if name}
    unknown = named - {one.name for one in rows}
    if unknown:
        raise RefusedError(f"no reader that runs is called {', '.join(sorted(unknown))}")
    known = cases.read_cases(root, cases.work_folder(root) / "truth", [])
    by_reader = [cells(root, one, known) for one in rows if not named or one.name in named]
    source = random.Random(asked.seed)
    found = one_of_each(by_reader, source) if named else drawn(by_reader, asked.number, source)
    print(f"seed {asked.seed}, {len(found)} of {sum(len(one) for each in by_reader for one in each)} cells")
    for number, cell in enumerate(found, 1):
        listed = f"{number}: {cell.reader.name}, {cell.case.name}: {cell.claim}"
        print(f"\n{listed if asked.list else text_of(root, number, cell)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
