"""FINDINGS.md: made from findings/findings.toml, from what the tools print, and from the expectations, which say how often.

conformance/findings/reproduce [N]...       runs the commands of findings, all if none is named, and compares what they print
conformance/findings/reproduce --write      keeps what they print, and writes FINDINGS.md
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hprof_conformance import cases, expectations, gold, jvms
from hprof_conformance.command import RefusedError, run_command
from hprof_conformance.files import read_toml
from hprof_conformance.jvms import NotHereError
from hprof_conformance.readers import read_readers
from hprof_conformance.tools import built

FOLDER = Path("conformance") / "findings"
_SECONDS = 10  # for what never ends
_LINES = 6
_PATIENCE = 600.0  # seconds
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+([.,]\d+)*")
_VARYING = re.compile(r"/tmp/tmp\.\w+/|\(\d+\) (?=panicked)|/\S*/registry/src/[^/]+/|@[0-9a-f]{6,}|\d+\.\d+[mµ]?s\b")


@dataclass(frozen=True)
class Finding:
    number: int
    title: str
    clause: str = ""  # of SPEC.md, or `our reading`
    real: bool = False  # real producers write such files
    readers: list[str] = field(default_factory=list)
    case: str = ""  # that shows it, where the matrix accuses no reader of it: its cells are unsupported, or nothing is lost
    expected: str = ""
    actual: str = ""
    pick: str = ""  # what of the output shows it: a filter of a shell
    ends: bool = True  # or never
    flags: str = ""  # of the tool
    command: str = ""  # of a producer: a script for bash in an empty folder
    jdk: int = 0  # whose programs the command finds first; 0: those of the machine
    often: str = ""  # how often a producer shows it; empty: the expectations say so
    withdrawn: str = ""


def read_findings(root: Path) -> list[Finding]:
    return [Finding(**one) for one in read_toml(root / FOLDER / "findings.toml")["finding"]]


@dataclass(frozen=True)
class Shown:
    """The command that shows a finding on one reader, for a shell in the root of the repository."""

    reader: str
    case: str
    command: str


def pinned(root: Path) -> dict[int, dict[str, list[str]]]:
    """By finding, by reader or producer: the cases that the expectations pin."""
    found: dict[int, dict[str, list[str]]] = {}
    for path in sorted((root / "conformance" / "expectations").glob("*.toml")):
        for one in expectations.read(path).cases.values():
            found.setdefault(one.finding, {}).setdefault(path.stem, []).append(one.case)
    return found


def file_of(root: Path, case: str) -> str:
    if not case.startswith("gold/"):
        return f"corpus/{case}.hprof"
    one = gold.index(root)[case.removeprefix("gold/")]
    member = f":{one['member']}" if one.get("member") else ""
    return f"conformance/gold/{one['file']}{member}"


@cache
def _members(archive: Path) -> dict[str, int]:
    with tarfile.open(archive, "r:xz") as opened:
        return {member.name: member.size for member in opened}


def _size(root: Path, case: str) -> int:
    file, _, member = file_of(root, case).partition(":")
    return _members(root / file)[member] if member else (root / file).stat().st_size


def smallest(root: Path, some: list[str]) -> str:
    """A file of the corpus, where there is one: to unpack an archive takes seconds."""
    corpus = [case for case in some if not case.startswith("gold/")]
    return min(corpus or some, key=lambda case: (_size(root, case), case))


def shown(root: Path, one: Finding, cases_of: dict[str, list[str]]) -> list[Shown]:
    """On each reader that has the finding, its case, or the smallest file of those that the expectations pin."""
    found = []
    for reader in one.readers:
        if not one.case and not cases_of.get(reader):
            continue
        case = one.case or smallest(root, cases_of[reader])
        command = f"conformance/findings/show {reader} {shlex.quote(file_of(root, case))}"
        if one.ends:
            command = f"{command} 2>&1 | {one.pick}"
        else:  # 137: it was killed
            command = f"timeout --signal KILL {_SECONDS} {command} >/dev/null 2>&1; echo $?"
        found.append(Shown(reader, case, command))
    return found


def plain(said: str) -> str:
    """What a command printed, without what differs from run to run, and without the ends of long lines."""
    return "\n".join(_VARYING.sub("", line).rstrip()[:150] for line in said.strip().splitlines())


def printed(root: Path, shell: str) -> str:
    run = subprocess.run(["bash", "-c", shell], cwd=root, capture_output=True, text=True, errors="replace", check=False)
    return "\n".join(plain(run.stdout).splitlines()[:_LINES])


_TOOLS = ("java", "javac", "jcmd", "jhsdb", "jmap")


@contextmanager
def _place(root: Path, jdk: int) -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty folder, which the JDK sees even if it is in a file system of its own, and the environment of the command. Raises
    NotHereError."""
    jvm = jvms.find(root, jdk) if jdk else jvms.Jvm(Path("/"))
    folder, programs = jvm.folder("finding"), Path(tempfile.mkdtemp())
    try:
        for tool in _TOOLS if jdk else ():
            enter, name = jvm.command(tool)[:-1], jvm.command(tool)[-1]
            command = shlex.join([*enter, "env", "-C", jvm.inside(folder), name])
            (programs / tool).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
            (programs / tool).chmod(0o755)
        places = [programs, built(root, "hprof-validate", "validator").parent, Path(sys.executable).parent, os.environ["PATH"]]
        packages = f"{root / 'conformance'}:{root / 'generator' / 'python'}"
        yield (
            folder,
            {**os.environ, "PATH": ":".join(map(str, places)), "PYTHONPATH": packages, "ROOT": str(root), "LC_ALL": "C.UTF-8"},
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(programs, ignore_errors=True)


def printed_by_command(root: Path, one: Finding) -> str:
    """What the command of a producer's finding prints. Raises NotHereError."""
    with _place(root, one.jdk) as (folder, environment):
        run = subprocess.run(
            ["bash", "-c", one.command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            check=False,
            timeout=_PATIENCE,
        )
    return "\n".join(line.rstrip()[:150] for line in run.stdout.strip().splitlines()[:_LINES])


def _alike(one: str, other: str) -> bool:
    """Numbers of a producer differ from run to run, and so do the blanks before them."""
    return _NUMBER.sub("#", one).split() == _NUMBER.sub("#", other).split()


def _kept_of_command(root: Path, number: int) -> Path:
    return root / FOLDER / "printed" / f"{number}.txt"


def kept_of_reader(root: Path, number: int, one: Shown) -> Path:
    return root / FOLDER / "printed" / f"{number}-{one.reader}.txt"


def _lines(kept: Path) -> list[str]:
    return [f"    {line}" for line in kept.read_text(encoding="utf-8").rstrip().splitlines()] if kept.exists() else []


def _how_often(one: Finding, cases_of: dict[str, list[str]], titles: dict[str, str]) -> str:
    numbers = Counter({titles.get(name, name): len(some) for name, some in cases_of.items()})
    real = sum(case.startswith("gold/") for some in cases_of.values() for case in some)
    words = ", ".join(f"{name} {number}" for name, number in sorted(numbers.items()))
    return f"{words}; of these cases {real} are real dumps" if one.readers else words


def _as_typed(command: str) -> list[str]:
    """A here document has no prompt."""
    found, within = [], False
    for line in command.strip().splitlines():
        found.append(f"    {'' if within else '$ '}{line}".rstrip())
        within = line != "END" if within else "<<END" in line
    return found


def markdown(root: Path) -> str:
    titles = {reader.name: reader.title for reader in read_readers(root)}
    by_finding = pinned(root)
    all_findings = read_findings(root)
    lines = (root / FOLDER / "head.md").read_text(encoding="utf-8").rstrip().splitlines()
    sections = [("Real producers write this", True), ("Constructed", False)]
    for title, real in sections:
        lines += ["", f"## {title}"]
        for one in all_findings:
            if one.withdrawn or one.real != real:
                continue
            cases_of = by_finding.get(one.number, {})
            lines += [
                "",
                f"### {one.number} {one.title}",
                "",
                f"Clause: {one.clause}. Expected: {one.expected}",
                f"Actual: {one.actual}",
            ]
            for each in shown(root, one, cases_of):
                lines += ["", f"    $ {each.command}", *_lines(kept_of_reader(root, one.number, each))]
            if one.command:
                lines += ["", *_as_typed(one.command), *_lines(_kept_of_command(root, one.number))]
            often = f"Cells: {_how_often(one, cases_of, titles)}. " if cases_of else ""
            often += f"How often: {one.often}. " if one.often else ""
            lines += ["", f"{often}Flags: {one.flags or 'none'}."]
    lines += ["", "## Withdrawn", ""]
    lines += [f"- {one.number}: {one.withdrawn}" for one in all_findings if one.withdrawn]
    return "\n".join(lines) + "\n"


def _compare_or_write(number: int, said: str, kept: Path, write: bool, alike: Callable[[str, str], bool]) -> bool:
    """Whether it differs from what was kept, or shows nothing."""
    if not said:
        print(f"{number}: prints nothing")
        return True
    if write:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(said + "\n", encoding="utf-8")
        return False
    if kept.exists() and alike(kept.read_text(encoding="utf-8").strip(), said):
        return False
    print(f"{number}: prints otherwise now:\n{said}")
    return True


def main() -> int:
    return run_command("conformance/findings/reproduce", _reproduce)


def _cannot_show(root: Path) -> dict[str, str]:
    """Why not, by reader: those that the user has to install, and has not."""
    return {
        one.name: f"{one.installed} names no folder"
        for one in read_readers(root)
        if one.installed and not os.environ.get(one.installed)
    }


def _refuse_what_is_not_installed(root: Path, names: set[str]) -> None:
    """Else each command would print the same error, which is no reader's."""
    lacking = sorted(name for name in names if not (root / "build" / "conformance" / "readers" / name).is_dir())
    if lacking:
        install = f"conformance/run --readers {','.join(lacking)} --producers none --cases valid/names-odd"
        raise RefusedError(f"not installed: {', '.join(lacking)}: {install}")


def _reproduce() -> int:
    parser = argparse.ArgumentParser(
        prog="conformance/findings/reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("numbers", type=int, nargs="*", metavar="N")
    parser.add_argument("--write", action="store_true", help="keep what is printed, and write FINDINGS.md")
    asked = parser.parse_args()
    root = cases.source_tree()
    by_finding = pinned(root)
    chosen = [one for one in read_findings(root) if not one.withdrawn and (not asked.numbers or one.number in asked.numbers)]
    unknown = set(asked.numbers) - {one.number for one in chosen}
    if unknown:
        raise RefusedError(f"no finding has the number {', '.join(map(str, sorted(unknown)))}")
    cannot = _cannot_show(root)
    commands = {one.number: shown(root, one, by_finding.get(one.number, {})) for one in chosen}
    _refuse_what_is_not_installed(root, {each.reader for some in commands.values() for each in some} - cannot.keys())
    tried, differ = 0, 0
    not_tried: list[str] = []
    for one in chosen:
        for each in commands[one.number]:
            if each.reader in cannot:
                not_tried.append(f"{one.number} on {each.reader}: {cannot[each.reader]}")
                continue
            print(f"{one.number}: {each.command}", flush=True)
            said, kept = printed(root, each.command), kept_of_reader(root, one.number, each)
            tried += 1
            differ += _compare_or_write(one.number, said, kept, asked.write, str.__eq__)
        if one.command:
            print(f"{one.number}: its command", flush=True)
            kept = _kept_of_command(root, one.number)
            try:
                said = printed_by_command(root, one)
            except subprocess.TimeoutExpired:
                said = ""
            except NotHereError as error:
                not_tried.append(f"{one.number}: {error}")
                continue
            tried += 1
            differ += _compare_or_write(one.number, said, kept, asked.write, _alike)
    if asked.write:
        (root / "conformance" / "FINDINGS.md").write_text(markdown(root), encoding="utf-8")
    print(f"{tried} commands, {differ} print otherwise or nothing, {len(not_tried)} not tried")
    for words in not_tried:
        print(f"not tried: {words}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
