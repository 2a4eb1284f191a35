"""The rules of the validator, from rules.def, and their severities in each profile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROFILES = ("strict", "auto", "hotspot", "jdk8-agent", "jvmpi-agent", "sa", "android", "graalvm", "mat")

_ROW = re.compile(r'^RULE\((\w+), (\d+),\s*"([^"]*)",\s*(\w+),\s*"([^"]*)"', re.MULTILINE)

# For each severity of rules.def: the one in strict, and the one in other profiles.
_SEVERITIES = {
    "FRAMING": ("error", "error"),
    "ERROR": ("error", "error"),
    "STRICT": ("error", "warning"),
    "WARNING": ("warning", "warning"),
    "PROFILE": ("off", "off"),
}


@dataclass(frozen=True)
class Rule:
    id: str
    name: str
    severity: str
    clause: str

    def in_profile(self, profile: str) -> str:
        """error, warning, note or off, before any quirk of the profile."""
        strict, elsewhere = _SEVERITIES[self.severity]
        return strict if profile == "strict" else elsewhere

    @property
    def is_error(self) -> bool:
        return self.in_profile("strict") == "error"


def read_rules(path: Path) -> dict[str, Rule]:
    rows = _ROW.findall(path.read_text(encoding="utf-8"))
    return {rule.id: rule for rule in (Rule(f"{row[0]}-{row[1]}", *row[2:]) for row in rows)}
