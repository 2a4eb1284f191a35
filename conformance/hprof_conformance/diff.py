"""What changed between two runs of the matrix."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hprof_conformance.command import IS_OF_PIP, NAME, RefusedError, run_command
from hprof_conformance.expectations import outcome_of_dump
from hprof_conformance.files import read_json

Json = dict[str, Any]


def _outcomes(one: Json) -> dict[str, str]:
    if "results" in one:
        return {result["case"]: result["outcome"] for result in one["results"]}
    return {dump["how"]: outcome_of_dump(dump) for dump in one["dumps"]}


def differences(old: Json, new: Json) -> Iterator[str]:
    for kind in ("readers", "producers"):
        before = {one["name"]: one for one in old[kind]}
        after = {one["name"]: one for one in new[kind]}
        for name in [*before, *(name for name in after if name not in before)]:
            if name not in after or name not in before:
                yield f"{name}: only in the {'old' if name in before else 'new'} run"
                continue
            yield from _of_one(name, before[name], after[name])


def _of_one(name: str, before: Json, after: Json) -> Iterator[str]:
    if before["ran"] != after["ran"]:
        yield f"{name}: {'ran' if before['ran'] else 'did not run'} before, {'runs' if after['ran'] else 'does not run'} now"
    if before["version"] != after["version"]:
        yield f"{name}: version {before['version']} before, {after['version']} now"
    old, new = _outcomes(before), _outcomes(after)
    for case in [*old, *(case for case in new if case not in old)]:
        if old.get(case) != new.get(case):
            yield f"{name}: {case}: {old.get(case, 'not there')} before, {new.get(case, 'not there')} now"


def _report(path: Path) -> Json:
    found = read_json(path)
    if not isinstance(found, dict) or not {"readers", "producers"} <= set(found):
        raise RefusedError(f"{path}: not a report of {NAME}")
    return found


OWN_NAME = "hprof-conformance-diff" if IS_OF_PIP else "conformance/diff"


def main() -> int:
    return run_command(OWN_NAME, _compare)


def _compare() -> int:
    usage = f"{OWN_NAME} OLD.json NEW.json        status 1 if anything differs, 2 if a file cannot be compared"
    parser = argparse.ArgumentParser(
        prog=OWN_NAME, description=f"{__doc__}\n\n{usage}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    asked = parser.parse_args()
    found = list(differences(_report(asked.old), _report(asked.new)))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
