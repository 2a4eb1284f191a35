"""Makes the binaries and the manifest of corpus/ from its texts.

python -m hprof_corpus.build            write what differs
python -m hprof_corpus.build --check    say what differs; status 1 if anything does
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from hprof_corpus.assembler import Assembled, assemble_file
from hprof_corpus.rules import PROFILES, Rule, read_rules

# A dump above this size is described by its text alone; who needs it assembles it. Every change of every byte of the others can
# be judged in an hour or two.
LARGEST = 48 << 10

# corpus/ascii/ has texts of another kind: the agent's own.
FOLDERS = ("either", "invalid", "several", "valid")

Json = dict[str, "Json"] | list["Json"] | str | int | bool | None


@dataclass(frozen=True)
class Entry:
    """A text of the corpus and what it assembles to."""

    text: Path
    assembled: Assembled

    @property
    def dump(self) -> Path:
        return self.text.with_suffix(".hprof")

    @property
    def checked_in(self) -> bool:
        return self.assembled.file.size <= LARGEST


def _fail(text: Path, message: str) -> SystemExit:
    return SystemExit(f"{text}: {message}")


def _by_profile(found: dict[str, str], looks_like: str) -> dict[str, str]:
    """In the order of PROFILES; `auto` judges by the profile that the file looks like."""
    found["auto"] = found[looks_like or "strict"]
    return {profile: found[profile] for profile in PROFILES}


def _severities(entry: Entry, rule: Rule) -> dict[str, str]:
    """What a finding of the rule counts as, in each profile."""
    verdicts = entry.assembled.verdicts
    found = {p: verdicts.severities.get((p, rule.id), rule.in_profile(p)) for p in PROFILES}
    return _by_profile(found, verdicts.looks_like)


def _verdict(findings: list[dict[str, str]]) -> dict[str, str]:
    return {p: "invalid" if any(one[p] == "error" for one in findings) else "valid" for p in PROFILES}


def describe(entry: Entry, rules: dict[str, Rule], corpus: Path) -> dict[str, Json]:
    """The entry of the manifest."""
    verdicts, file = entry.assembled.verdicts, entry.assembled.file
    if not verdicts.about or not verdicts.reader:
        raise _fail(entry.text, "`about` and `reader` are missing")
    found = []
    for spot in entry.assembled.faults:
        if spot.rule not in rules:
            raise _fail(entry.text, f"line {spot.line}: no rule {spot.rule}")
        found.append((spot, rules[spot.rule]))
    if verdicts.looks_like not in ("", *PROFILES):
        raise _fail(entry.text, f"looks-like {verdicts.looks_like}: no such profile")
    for profile, rule in verdicts.severities:
        if profile not in PROFILES or rule not in (rule.id for _, rule in found):
            raise _fail(entry.text, f"profile {profile} {rule}: no such profile, or no such finding in this file")
    severities = [_severities(entry, rule) for _, rule in found]
    findings: list[Json] = [
        {"rule": rule.id, "name": rule.name, "clause": rule.clause, "offset": spot.offset, "severity": dict(severity)}
        for (spot, rule), severity in zip(found, severities, strict=True)
    ]
    header = bool(entry.assembled.version)
    return {
        "file": entry.dump.relative_to(corpus).as_posix(),
        "text": entry.text.relative_to(corpus).as_posix(),
        "about": verdicts.about,
        "bytes": file.size,
        "sha256": hashlib.sha256(file.to_bytes()).hexdigest() if entry.checked_in else None,
        "checked_in": entry.checked_in,
        "version": entry.assembled.version if header else None,
        "id_size": entry.assembled.id_size if header else None,
        "compressed": entry.assembled.compressed,
        "findings": findings,
        "verdict": dict(_verdict(severities)),
        "reader": {"should": verdicts.reader, "why": verdicts.reader_why},
    }


def to_json(value: Json, indent: str = "") -> str:
    """JSON for reading and for diffs: an object or list without others in it takes one line."""
    if isinstance(value, dict | list) and any(isinstance(inner, dict | list) and inner for inner in _inner(value)):
        deeper = indent + "  "
        if isinstance(value, dict):
            rows = [f"{deeper}{json.dumps(key)}: {to_json(inner, deeper)}" for key, inner in value.items()]
        else:
            rows = [deeper + to_json(inner, deeper) for inner in value]
        left, right = ("{", "}") if isinstance(value, dict) else ("[", "]")
        return f"{left}\n" + ",\n".join(rows) + f"\n{indent}{right}"
    return json.dumps(value, ensure_ascii=False)


def _inner(value: dict[str, Json] | list[Json]) -> list[Json]:
    return list(value.values()) if isinstance(value, dict) else value


def read_corpus(corpus: Path) -> list[Entry]:
    texts = [text for folder in FOLDERS for text in sorted((corpus / folder).glob("**/*.txt"))]
    return [Entry(text, assemble_file(text)) for text in texts]


def manifest(entries: list[Entry], rules: dict[str, Rule], corpus: Path) -> str:
    files: list[Json] = [describe(entry, rules, corpus) for entry in entries]
    return to_json({"format": 1, "files": files}) + "\n"


def differences(corpus: Path, rules: dict[str, Rule]) -> list[tuple[Path, bytes | None]]:
    """Each file that is not as the texts say, and what it should be; None if it should not be there."""
    entries = read_corpus(corpus)
    wanted = {entry.dump: entry.assembled.file.to_bytes() for entry in entries if entry.checked_in}
    wanted[corpus / "manifest.json"] = manifest(entries, rules, corpus).encode()
    stray = [path for path in sorted(corpus.glob("*/**/*.hprof")) if path not in wanted]
    changed = [(path, data) for path, data in wanted.items() if not path.exists() or path.read_bytes() != data]
    return [*changed, *((path, None) for path in stray)]


def main() -> int:
    root = Path(__file__).resolve().parents[3]
    parser = argparse.ArgumentParser(prog="hprof-corpus-build", description="Makes the corpus from its texts.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if anything differs")
    parser.add_argument("--corpus", type=Path, default=root / "corpus")
    parser.add_argument("--rules", type=Path, default=root / "validator" / "src" / "rules.def")
    arguments = parser.parse_args()
    found = differences(arguments.corpus, read_rules(arguments.rules))
    for path, data in found:
        sys.stdout.write(f"{'stray' if data is None else 'differs' if arguments.check else 'written'}: {path}\n")
        if data is not None and not arguments.check:
            path.write_bytes(data)
    return 1 if any(arguments.check or data is None for _, data in found) else 0


if __name__ == "__main__":
    sys.exit(main())
