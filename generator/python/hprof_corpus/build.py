"""Makes the binaries and the manifest of corpus/ from its texts.

python -m hprof_corpus.build            write what differs
python -m hprof_corpus.build --check    say what differs; status 1 if anything does
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hprof_corpus.assembler import Assembled, assemble_file
from hprof_corpus.rules import PROFILES, Rule, read_rules
from hprof_corpus.truth import holds, requires

# Only the text of a larger dump is checked in; whoever needs the dump assembles it. Every change of every byte of the others can
# be checked in an hour or two.
LARGEST = 48 << 10

# corpus/ascii/ has other texts: the text output of the agent.
FOLDERS = ("either", "invalid", "several", "valid", "warning")

_REMARKS = ("about", "reader", "profile", "looks-like", "importance")

# A faulty file whose text differs from a valid one in at most this many lines forms a pair with it.
_NEAR = 4

Json = dict[str, "Json"] | list["Json"] | str | int | bool | None


@dataclass(frozen=True)
class Entry:
    """A text of the corpus, and its dump."""

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


def severity_in(entry: Json, finding: Json, rule: Rule, profile: str) -> str:
    """What a finding of the manifest counts as: error, warning, note or off. `auto` picks the profile that the file looks like."""
    assert isinstance(entry, dict) and isinstance(finding, dict)
    picked = str(entry["looks_like"]) if profile == "auto" else profile
    by_quirk = finding.get("severity", {})
    assert isinstance(by_quirk, dict)
    return str(by_quirk.get(picked) or rule.in_profile(picked))


def verdict_in(entry: Json, rules: dict[str, Rule], profile: str) -> str:
    assert isinstance(entry, dict) and isinstance(entry["findings"], list)
    incomplete = False
    for finding in entry["findings"]:
        assert isinstance(finding, dict)
        severity = severity_in(entry, finding, rules[str(finding["rule"])], profile)
        if severity == "error":
            return "invalid"
        # Objects are missing. In strict this is a matter of severities alone.
        if profile != "strict" and finding["rule"] == "REF-002" and severity == "warning":
            incomplete = True
    return "incomplete" if incomplete else "valid"


def _check(entry: Entry, rules: dict[str, Rule]) -> None:
    verdicts = entry.assembled.verdicts
    if not verdicts.about or not verdicts.reader:
        raise _fail(entry.text, "`about` and `reader` are missing")
    found = {spot.rule for spot in entry.assembled.faults}
    for spot in entry.assembled.faults:
        if spot.rule not in rules:
            raise _fail(entry.text, f"line {spot.line}: no rule {spot.rule}")
    if verdicts.looks_like not in ("", *PROFILES):
        raise _fail(entry.text, f"looks-like {verdicts.looks_like}: no such profile")
    for profile, rule in verdicts.severities:
        if profile not in PROFILES or rule not in found:
            raise _fail(entry.text, f"profile {profile} {rule}: no such profile, or no such finding in this file")


def _folder(findings: list[Json], verdict: str) -> str:
    return "invalid" if verdict == "invalid" else "warning" if findings else "valid"


def _content(entry: Entry) -> dict[str, Json]:
    """The content of a dump that is checked in. The others would take gigabytes."""
    if not entry.checked_in:
        return {"requires": None, "counts": None}
    data = memoryview(entry.assembled.file.to_bytes())
    found = holds(data, entry.assembled)
    return {"requires": list(requires(data, found.counts())), "counts": _to_json(asdict(found))}


def _to_json(found: dict[str, Any]) -> Json:
    return {name: value for name, value in found.items() if value is not None}


def describe(entry: Entry, rules: dict[str, Rule], corpus: Path) -> dict[str, Json]:
    """The entry of the manifest."""
    _check(entry, rules)
    verdicts, file = entry.assembled.verdicts, entry.assembled.file
    findings: list[Json] = []
    for spot in entry.assembled.faults:
        assert spot.rule is not None
        severity: Json = {p: word for (p, rule), word in verdicts.severities.items() if rule == spot.rule}
        findings.append({"rule": spot.rule, "offset": spot.offset, **({"severity": severity} if severity else {})})
    found: dict[str, Json] = {"findings": findings, "looks_like": verdicts.looks_like or "strict"}
    found["verdict"] = verdict_in(found, rules, "strict")
    text = entry.text.relative_to(corpus)
    wanted = _folder(findings, str(found["verdict"]))
    if text.parts[0] in ("invalid", "warning", "valid") and text.parts[0] != wanted:
        raise _fail(entry.text, f"belongs to {wanted}/")
    header = bool(entry.assembled.version)
    return {
        "file": entry.dump.relative_to(corpus).as_posix(),
        "text": text.as_posix(),
        "about": verdicts.about,
        "bytes": file.size,
        "sha256": hashlib.sha256(file.to_bytes()).hexdigest() if entry.checked_in else None,
        "checked_in": entry.checked_in,
        "version": entry.assembled.version if header else None,
        "id_size": entry.assembled.id_size if header else None,
        "compressed": entry.assembled.compressed,
        "importance": verdicts.importance,
        **found,
        "reader": {"should": verdicts.reader, "why": verdicts.reader_why},
        **_content(entry),
    }


def _lines(text: Path) -> Counter[str]:
    """The lines of a text without comments and marks."""
    lines = text.read_text(encoding="utf-8").splitlines()
    plain = (" ".join(line.split("#")[0].replace("!", "").split()) for line in lines)
    return Counter(line for line in plain if line and line.split()[0] not in _REMARKS)


def _pairs(entries: list[Entry], corpus: Path) -> dict[Path, Path]:
    """For each text that breaks a rule, the text of the most similar valid file, if one is similar."""
    all_lines = {entry.text: _lines(entry.text) for entry in entries}
    valid = [entry.text for entry in entries if entry.text.is_relative_to(corpus / "valid")]
    found = {}
    for entry in entries:
        if entry.assembled.faults:
            mine = all_lines[entry.text]
            close = [one for one in valid if abs(mine.total() - all_lines[one].total()) <= _NEAR]
            near = [(((mine - all_lines[one]) + (all_lines[one] - mine)).total(), one) for one in close]
            distance, text = min(near, default=(_NEAR + 1, entry.text))
            if distance <= _NEAR:
                found[entry.text] = text
    return found


def to_json(value: Json, indent: str = "") -> str:
    """JSON for people and for diffs: an object or list without nested ones takes one line."""
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
    pairs = _pairs(entries, corpus)
    files: list[Json] = []
    for entry in entries:
        pair = pairs.get(entry.text)
        name = pair.with_suffix(".hprof").relative_to(corpus).as_posix() if pair else None
        files.append({**describe(entry, rules, corpus), "pair": name})
    return to_json({"format": 2, "files": files}) + "\n"


def differences(corpus: Path, rules: dict[str, Rule]) -> list[tuple[Path, bytes | None]]:
    """Each file that differs from what the texts make, and its right content; None if it should not exist."""
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
    parser.add_argument("--rules", type=Path, default=root / "validator/src/findings/rules.def")
    arguments = parser.parse_args()
    found = differences(arguments.corpus, read_rules(arguments.rules))
    for path, data in found:
        sys.stdout.write(f"{'stray' if data is None else 'differs' if arguments.check else 'written'}: {path}\n")
        if data is not None and not arguments.check:
            path.write_bytes(data)
    return 1 if any(arguments.check or data is None for _, data in found) else 0


if __name__ == "__main__":
    sys.exit(main())
