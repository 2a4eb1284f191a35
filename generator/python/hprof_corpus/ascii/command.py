"""hprof-ascii: checks the text output of the HPROF agent.

Exit status: 0 valid, warnings at most; 1 at least one error; 2 wrong usage; 3 a file cannot be read; 4 out of memory.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import resource
import shutil
import sys
import textwrap
from collections import Counter
from io import TextIOWrapper
from pathlib import Path

from hprof_corpus import __version__
from hprof_corpus.ascii.check import check
from hprof_corpus.ascii.findings import PROFILES, Finding, Findings
from hprof_corpus.ascii.rules import QUIRKS, RULES, Severity
from hprof_corpus.target import have_standard_error

VALID, INVALID, IO_FAILED, NO_MEMORY = 0, 1, 3, 4
INTERRUPTED = 130  # as the shell reports SIGINT
_PROFILE_HELP = (
    "jdk8-agent makes notes of the quirks of the agent of JDK 8; auto, the default, is jdk8-agent if that agent wrote the file, "
    "else strict"
)
_WIDTH = 132  # of a line, where there is no terminal
WORST_LAST = (VALID, INVALID, IO_FAILED, NO_MEMORY)


def _size(text: str) -> int:
    units = {"K": 10, "M": 20, "G": 30}
    shift = units.get(text[-1:].upper(), 0)
    number = text[:-1] if shift else text
    if not number.isdecimal() or int(number) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M")
    if (size := int(number) << shift) > sys.maxsize:
        raise argparse.ArgumentTypeError(f"{text!r} is more than the largest size, {sys.maxsize}")
    return size


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of findings")
    return int(text)


def _text(name: str, finding: Finding, with_quirk: bool) -> list[str]:
    rule = finding.rule
    quirk = f"known of the agent: {finding.quirk.says} ({finding.quirk.evidence})" if finding.quirk and with_quirk else ""
    return [
        f"{name}:{finding.line}: {finding.severity.value}[{rule.id}]: {rule.name} (TEXT.md {rule.clause})",
        *(f"    {line}" for line in (f"expected {finding.expected}; found {finding.found}", quirk) if line),
    ]


def _wrapped(line: str, width: int) -> str:
    indent = "    " if line.startswith(" ") else ""
    return "\n".join(textwrap.wrap(line, width, subsequent_indent=f"{indent}    ", break_long_words=False, break_on_hyphens=False))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _report_text(name: str, findings: Findings, lines: int) -> None:
    """What a quirk is, and how many more findings there are, follow once: after the first and the last finding of a rule."""
    width = max(shutil.get_terminal_size((_WIDTH, 24)).columns if sys.stdout.isatty() else _WIDTH, 40)
    met: Counter[tuple[str, Severity]] = Counter()
    for finding in sorted(findings.kept, key=lambda one: one.line):
        key = (finding.rule.id, finding.severity)
        met[key] += 1
        text = _text(name, finding, met[key] == 1)
        if met[key] == findings.most and findings.totals[key] > met[key]:
            text.append(f"{name}: {key[1].value}[{key[0]}]: and {findings.totals[key] - met[key]} more")
        for line in text:
            sys.stdout.write(f"{_wrapped(line, width)}\n")
    counts = [_plural(findings.count(severity), severity.value) for severity in Severity if findings.count(severity)]
    verdict = "valid" if findings.valid else "invalid"
    rest = ", ".join([*counts, _plural(lines, "line"), f"profile {findings.profile}"])
    sys.stdout.write(f"{_wrapped(f'{name}: {verdict}: {rest}', width)}\n")


def _totals(findings: Findings) -> dict[str, int]:
    """Of each rule, whatever the severity."""
    totals: Counter[str] = Counter()
    for (rule, _), total in sorted(findings.totals.items(), key=lambda item: item[0][0]):
        totals[rule] += total
    return dict(totals)


def _as_json(name: str, findings: Findings, lines: int) -> dict[str, object]:
    return {
        "file": name,
        "valid": findings.valid,
        "lines": lines,
        "profile": findings.profile,
        "totals": _totals(findings),
        "findings": [
            {
                "rule": one.rule.id,
                "name": one.rule.name,
                "severity": one.severity.value,
                "line": one.line,
                "expected": one.expected,
                "found": one.found,
            }
            for one in sorted(findings.kept, key=lambda one: one.line)
        ],
    }


def _check_file(name: str, findings: Findings) -> int:
    """The number of lines; OSError if the file cannot be read."""
    if name == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return check(sys.stdin.buffer, findings)
    with Path(name).open("rb") as stream:
        return check(stream, findings)


def _check_files(arguments: argparse.Namespace) -> int:
    status, reports = VALID, []
    for name in arguments.files:
        findings = Findings(arguments.profile, arguments.max_findings)
        try:
            lines = _check_file(name, findings)
        except OSError as failure:
            sys.stderr.write(f"hprof-ascii: {name}: {failure.strerror}\n")
            status = max(status, IO_FAILED, key=WORST_LAST.index)
            continue
        except MemoryError:
            sys.stderr.write(f"hprof-ascii: {name}: out of memory; see --max-memory\n")
            status = NO_MEMORY
            continue
        if not findings.valid:
            status = max(status, INVALID, key=WORST_LAST.index)
        if arguments.format == "json":
            reports.append(_as_json(name, findings, lines))
        else:
            _report_text(name, findings, lines)
    if arguments.format == "json":
        sys.stdout.write(json.dumps({"files": reports}, indent=1, ensure_ascii=False) + "\n")
    return status


def _list_rules() -> int:
    for rule in RULES:
        sys.stdout.write(f"{rule.id} {rule.name:25} {rule.severity.value:8} {rule.clause:4} {rule.requires}\n")
    return VALID


def _list_quirks() -> int:
    for quirk in QUIRKS:
        sys.stdout.write(f"{quirk.rule} {quirk.shape or 'any shape'}\n    {quirk.says}\n    {quirk.evidence}\n")
    return VALID


def _parser() -> argparse.ArgumentParser:
    assert __doc__
    summary, statuses = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(prog="hprof-ascii", description=summary.split(": ")[1], epilog=statuses)
    parser.add_argument("--version", action="version", version=f"hprof-ascii {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="check files", epilog=statuses)
    checking.add_argument("files", nargs="+", metavar="FILE", help="- is standard input")
    checking.add_argument("--profile", choices=PROFILES, default="auto", help=_PROFILE_HELP)
    checking.add_argument("--format", choices=("text", "json"), default="text")
    checking.add_argument("--max-findings", type=_count, default=5, metavar="N", help="shown of each rule; 0 for all")
    checking.add_argument("--max-memory", type=_size, metavar="SIZE", help="end with status 4 rather than use more")
    commands.add_parser("rules", help="list the rules")
    commands.add_parser("quirks", help="list the quirks of the agent")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    if arguments.command == "rules":
        return _list_rules()
    if arguments.command == "quirks":
        return _list_quirks()
    if arguments.max_memory:
        resource.setrlimit(resource.RLIMIT_DATA, (arguments.max_memory, arguments.max_memory))
    return _check_files(arguments)


def main(words: list[str] | None = None) -> int:
    have_standard_error()
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        try:
            arguments = _parser().parse_args(words)
        finally:
            sys.stdout.flush()  # --help
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not show every name
        status = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as failure:
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python writes what is left once more
        if isinstance(failure, BrokenPipeError):
            return VALID  # whoever read has seen enough
        sys.stderr.write(f"hprof-ascii: standard output: {failure.strerror}\n")
        return IO_FAILED
    return status


if __name__ == "__main__":
    sys.exit(main())
