"""Readers of HPROF dumps against the truth, producers against the specification."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from hprof_conformance import cases, expectations, findings, jvms, matrix, page, producers, readers, report, steps, texts, ways
from hprof_conformance.command import IS_OF_PIP, NAME, RefusedError, run_command
from hprof_conformance.session import Limits

EXPECTATIONS = "conformance/expectations"
IN_THE_SOURCE_TREE = f"""\
{NAME}                                      everything that this machine can run
{NAME} --producers jdk17,agent8 --readers shark,jol --cases 'valid/*,OBJ-*'
"""
OF_YOUR_OWN = f"""\
{NAME} --reader ./my-reader                 a reader of your own against all cases
{NAME} --filter "./redact IN OUT"           a redactor or converter of your own
"""
RESULTS = {"report.json": report.text, "matrix.md": texts.matrix, "junit.xml": texts.junit, "index.html": page.make}


def _seconds(text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0, such as 60s")
    return seconds


def _list(text: str) -> list[str]:
    words = [word for word in text.split(",") if word]
    if not words:
        raise argparse.ArgumentTypeError("names nothing")
    return words


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("names nothing")
    return Path(text)


def arguments() -> argparse.Namespace:
    examples = OF_YOUR_OWN if IS_OF_PIP else IN_THE_SOURCE_TREE + OF_YOUR_OWN
    parser = argparse.ArgumentParser(
        prog=NAME, description=f"{__doc__}\n\n{examples}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readers", type=_list, help="names, separated by commas, or `none`")
    parser.add_argument(
        "--reader",
        metavar="PROGRAM",
        help="a file that can be executed: it speaks PROTOCOL.md, or takes a file and ends with 0 if it reads it",
    )
    parser.add_argument("--producers", type=_list, help="names, separated by commas, or `none`; `agent8:plain`: that dump alone")
    parser.add_argument("--producer", metavar="PROGRAM", help="a program that writes a dump to the file that it is given")
    parser.add_argument(
        "--filter", metavar="COMMAND", help="a program that reads a dump and writes one, such as a redactor: `./redact IN OUT`"
    )
    parser.add_argument(
        "--cases", type=_list, default=[], help="patterns of names or rules, separated by commas, such as 'valid/*,gold/*,REC-002'"
    )
    parser.add_argument(
        "--list", action="store_true", help="readers, producers and the number of cases; with --cases: the cases that match"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="readers that run at the same time, beside one producer"
    )
    parser.add_argument(
        "--report",
        type=_folder,
        metavar="DIR",
        help="where results go; if not given, build/conformance/report, or hprof-conformance-report where it is installed by pip",
    )
    parser.add_argument("--update", action="store_true", help="remove the expectations of what is as it should be")
    parser.add_argument(
        "--accept", type=_list, default=[], metavar="CASES", help="with --update: expect what these cases are, patterns of names"
    )
    parser.add_argument("--finding", type=int, default=0, metavar="N", help="with --accept: the finding of FINDINGS.md")
    parser.add_argument("--reason", default="", metavar="TEXT", help="with --accept: why, in a sentence")
    parser.add_argument(
        "--failures", type=Path, metavar="FILE", help="what --reader is known to get wrong; --update and --accept change it"
    )
    parser.add_argument("--gold", action="store_true", help="make the gold files anew, from the producers that run")
    parser.add_argument("--huge", action="store_true", help="also dumps of more than 2 GB, which take 5 GB of memory and of disk")
    parser.add_argument(
        "--timeout", type=_seconds, metavar="S", help="for a file under 1 MB, and at least for others; 10s and 60s if not given"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if mistake := _mistake(asked):
        parser.error(mistake)
    return asked


_OWN, _OF_THE_PROJECT = ("reader", "producer", "filter"), ("readers", "producers", "gold", "huge")
_NEEDS = (("accept", "update"), ("finding", "accept"), ("reason", "accept"), ("failures", "reader"))
_EXCLUDE = (
    *itertools.combinations(_OWN, 2),
    *itertools.product(_OWN, _OF_THE_PROJECT),
    *(("producer", "update"), ("producer", "cases"), ("filter", "update"), ("failures", "finding"), ("gold", "readers")),
)


def _mistake(asked: argparse.Namespace) -> str:
    """Options of which one would be ignored, in words; else empty."""
    given = {name for name, value in vars(asked).items() if value and value != ["none"]}
    for one, other in _EXCLUDE:
        if {one, other} <= given:
            return f"--{one} and --{other} exclude each other"
    for one, needed in _NEEDS:
        if one in given and needed not in given:
            return f"--{one} needs --{needed}"
    if {"update", "reader"} <= given and "failures" not in given:
        return "--update with --reader needs --failures"
    if "accept" in given and not {"finding", "failures"} & given:
        return "--accept needs --finding, or --failures with --reason"
    if {"accept", "failures"} <= given and "reason" not in given:
        return "--accept with --failures needs --reason"
    return ""


def limits(seconds: float | None) -> Limits:
    """`seconds`: see --timeout."""
    return Limits(seconds, max(seconds, Limits.seconds_large)) if seconds else Limits()


def _named(names: list[str], known: list[str], what: str) -> set[str]:
    """Those of the names, or of the first part of a name: `shark` for shark-graph and shark-stream."""
    found: set[str] = set()
    for name in names:
        meant = {name} & {*known} or {one for one in known if one.startswith(f"{name}-")}
        if not meant:
            raise RefusedError(f"no {what} is called '{name}'; --list shows all")
        found |= meant
    return found


def _matching(patterns: list[str], names: Iterable[str], what: str) -> list[str]:
    """The names that a pattern matches; all if there is no pattern. Each pattern has to match one."""
    known = list(names)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise RefusedError(f"no {what} matches '{pattern}'; --list shows all")
    return [name for name in known if not patterns or any(fnmatchcase(name, each) for each in patterns)]


def chosen_readers(asked: argparse.Namespace, known: list[readers.Reader]) -> list[readers.Reader]:
    if asked.reader:
        return [readers.own_reader(asked.reader)]
    if asked.producer or asked.filter or asked.gold or asked.readers == ["none"]:
        return []  # with --gold, what readers would read is being made
    if asked.readers is None:
        return known
    names = _named(asked.readers, [one.name for one in known], "reader")
    return [one for one in known if one.name in names]


def chosen_producers(asked: argparse.Namespace, known: list[ways.Producer]) -> list[ways.Producer]:
    if asked.producer:
        return [producers.own_producer(asked.producer)]
    if asked.filter:
        one = producers.own_filter(asked.filter, asked.root)
        return [replace(one, ways=_matching(asked.cases, one.ways, "dump for filters"))]
    if asked.reader or asked.producers == ["none"]:
        return []
    if not asked.huge:
        known = [replace(one, ways=[way for way in one.ways if way != ways.HUGE]) for one in known]
    if asked.gold:
        known = [replace(one, ways=one.gold) for one in known if one.gold]
    if asked.producers is None:
        return known
    return _of_ways(asked.producers, known)


def _of_ways(asked: list[str], known: list[ways.Producer]) -> list[ways.Producer]:
    """`NAME` is a producer with all its dumps, `NAME:WAY` with those whose way matches the pattern."""
    patterns: dict[str, list[str]] = {}
    for name, _, way in (one.partition(":") for one in asked):
        for each in _named([name], [one.name for one in known], "producer"):
            patterns.setdefault(each, []).extend([way] if way else [])
    some = [one for one in known if one.name in patterns]
    return [replace(one, ways=_matching(patterns[one.name], one.ways, f"dump of {one.name}")) for one in some]


def _file_of(asked: argparse.Namespace, name: str) -> Path | None:
    """Where the expectations are. A program of the user's own has those of --failures, even if its name is that of a known one."""
    if asked.reader or asked.producer or asked.filter:
        failures: Path | None = asked.failures
        return failures
    root: Path = asked.root
    return root / EXPECTATIONS / f"{name}.toml"


def _expected(asked: argparse.Namespace, name: str) -> expectations.Expectations:
    path = _file_of(asked, name)
    return expectations.read(path) if path else expectations.Expectations()


def seen(cell: matrix.Cell) -> expectations.Seen:
    outcome, differs = report.outcome_and_differences(cell.verdict)
    return expectations.Seen(outcome, cell.verdict.is_fine, cell.verdict.detail, differs)


def _compare_readers(
    asked: argparse.Namespace, rows: list[matrix.Row], all_cases: set[str], complete: bool
) -> tuple[dict[str, expectations.Expectations], dict[str, list[expectations.Surprise]]]:
    """What the expectations are, with `--update` rewritten, and what they do not expect."""
    known: dict[str, expectations.Expectations] = {}
    found: dict[str, list[expectations.Surprise]] = {}
    for row in rows:
        if not row.ran or row.hello is None:
            continue
        name = row.reader.name
        known[name] = _expected(asked, name)
        found_now = {cell.case.name: seen(cell) for cell in row.cells}
        path = _file_of(asked, name)
        if asked.update and path is not None:
            accept = expectations.Accept(asked.accept, asked.finding, asked.reason)
            known[name] = expectations.updated(known[name], row.hello.version, found_now, all_cases, accept)
            if asked.failures:
                known[name] = expectations.also_compared(known[name], row.hello)
            expectations.write(path, row.reader.title, known[name])
        found[name] = expectations.compare(known[name], found_now, all_cases, complete)
        found[name] += expectations.no_longer(known[name], row.hello)
        if row.unasked:
            found[name].append(expectations.Surprise("between the answers", row.unasked))
    return known, found


def main() -> int:
    return run_command(NAME, _run)


def _report_folder(asked: argparse.Namespace, build: Path) -> Path:
    """Where results can be written: found out before the run, which may take half an hour."""
    folder: Path = asked.report or (Path("hprof-conformance-report") if cases.is_installed(asked.root) else build / "report")
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, *(folder / name for name in RESULTS)):
        if path.exists() and not os.access(path, os.W_OK):
            raise RefusedError(f"{path}: not writable")
        if path != folder and path.is_dir():
            raise RefusedError(f"{path}: a folder")
    return folder


def _print_list(root: Path, all_readers: list[readers.Reader], all_producers: list[ways.Producer], number_of_cases: int) -> None:
    lines = [("reader", one.name, f"{one.title} {one.version}".strip(), readers.lacks(one)) for one in all_readers]
    lines += [("producer", one.name, one.title, one.why or producers.lacks(root, one)) for one in all_producers]
    width = max(len(name) for _, name, _, _ in lines)
    for kind, name, title, why in lines:
        print(f"{kind:<8}  {name:<{width}}  {title}{f': {why}' if why else ''}")
    print(f"{number_of_cases} cases")


def _run() -> int:
    asked = arguments()
    asked.root = (asked.root or cases.source_tree()).resolve()
    root: Path = asked.root
    build = cases.work_folder(root)
    all_readers, all_producers = readers.read_readers(root), producers.read_producers(root)
    jvms.check_named()
    if not asked.quiet:
        steps.show_all()
    all_cases = cases.names(root)
    if asked.cases and not asked.filter:
        _matching(asked.cases, cases.words(root), "case")
    if asked.finding and not any(one.number == asked.finding and not one.withdrawn for one in findings.read_findings(root)):
        raise RefusedError(f"no finding of FINDINGS.md has the number {asked.finding}")
    _matching(asked.accept, all_cases | {way for one in all_producers for way in one.ways}, "case")
    if asked.failures:
        if not asked.update and not asked.failures.exists():
            raise RefusedError(f"{asked.failures}: no such file; --update makes it")
        expectations.read(asked.failures)  # so that a mistake is reported before the run
    if asked.list and asked.cases:
        print("\n".join(cases.chosen_names(root, asked.cases)))
        return 0
    if asked.list:
        _print_list(root, all_readers, all_producers, len(all_cases))
        return 0
    if cases.is_installed(root) and not (asked.reader or asked.producer or asked.filter):
        raise RefusedError("name a reader by --reader; those of the project are built in its source tree")
    folder, jobs = _report_folder(asked, build), max(asked.jobs, 1)
    some_readers, some_producers = chosen_readers(asked, all_readers), chosen_producers(asked, all_producers)
    chosen: list[cases.Case] = []
    controls: list[cases.Case] = []
    if some_readers:
        chosen = cases.read_cases(root, build / "truth", asked.cases, jobs)
        controls = cases.read_controls(root, build / "truth", chosen, jobs)
    accept = expectations.Accept(asked.accept, asked.finding, asked.reason) if asked.update else None
    fed = matrix.Cases(chosen, controls, cases.needs(root))
    made = []
    with matrix.running(root, build / "readers", some_readers, fed, limits(asked.timeout), jobs) as finished:
        for one in some_producers:
            made.append(producers.run(root, build, one, accept, asked.gold))
            if made[-1]["why_not"]:
                steps.say(f"{one.title}: {made[-1]['why_not']}")
            finished(0)  # a reader may have ended the run
        rows = finished(None)
    known, surprises = _compare_readers(asked, rows, all_cases, not asked.cases)

    names = [one.name for one in some_readers] + [one.name for one in some_producers]
    versions = {} if asked.failures else {name: _expected(asked, name).version for name in names}
    result = report.make(rows, chosen, known, surprises, made, jobs, versions)
    for name, text_of in RESULTS.items():
        (folder / name).write_text(text_of(result), encoding="utf-8")
    return _conclude(asked, result, folder)


def _conclude(asked: argparse.Namespace, result: report.Json, folder: Path) -> int:
    """Differences fail, if they are not those of another version."""
    sys.stdout.write(texts.matrix(result))
    failed = False
    sizes = {case["name"]: case["bytes"] for case in result["cases"]}
    for one in (*result["readers"], *result["producers"]):
        differs = {cell["case"]: cell.get("differs", []) for cell in one.get("results", [])}
        other = one["another_version"]
        for surprise in sorted(one["surprises"], key=lambda surprise: sizes.get(surprise["case"], 0)):
            print(f"{one['name']}: {surprise['case']}: {surprise['what']}{' (another version)' if other else ''}")
            known = {each["what"]: each["words"] for each in differs.get(surprise["case"], []) if "words" in each}
            for what, words in known.items():
                print(f"    {what}: {words}")
        failed = failed or (bool(one["surprises"]) and not other)
        if not one["ran"] and not one["surprises"] and (asked.producer or asked.filter or report.fails_calibration(one)):
            print(f"{one['name']} {one['version']}: {one['why_not']}")
            failed = True
    print(f"\nThe page: {folder / 'index.html'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
