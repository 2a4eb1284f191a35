"""What a check has found: the first findings of each rule, and exact totals."""

from __future__ import annotations

from dataclasses import dataclass, field

from hprof_corpus.ascii.rules import BY_ID, QUIRKS, Quirk, Rule, Severity

PROFILES = ("auto", "strict", "jdk8-agent")


@dataclass(frozen=True)
class Finding:
    rule: Rule
    line: int
    severity: Severity
    expected: str
    found: str
    quirk: Quirk | None


@dataclass
class Findings:
    """`most` findings of each rule and severity are kept; 0 keeps all. The profile `auto` becomes jdk8-agent when the file shows
    that the agent of JDK 8 wrote it; until then, and otherwise, it is strict."""

    profile: str = "strict"
    most: int = 20
    kept: list[Finding] = field(default_factory=list)
    totals: dict[tuple[str, Severity], int] = field(default_factory=dict)
    _quirks: dict[tuple[str, str], Quirk] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.is_auto = self.profile == "auto"
        if self.is_auto:
            self.profile = "strict"
        elif self.profile == "jdk8-agent":
            self._allow_quirks()

    def _allow_quirks(self) -> None:
        self._quirks = {(quirk.rule, quirk.shape): quirk for quirk in QUIRKS}

    def recognise_agent(self) -> None:
        """The agent of JDK 8 wrote the file. Called before anything is found that may be a quirk."""
        if self.is_auto:
            self.profile = "jdk8-agent"
            self._allow_quirks()

    def add(self, rule_id: str, line: int, expected: str, found: str, shape: str = "") -> None:
        rule = BY_ID[rule_id]
        quirk = self._quirks.get((rule_id, shape))
        severity = Severity.NOTE if quirk else rule.severity
        key = (rule_id, severity)
        self.totals[key] = self.totals.get(key, 0) + 1
        if not self.most or self.totals[key] <= self.most:
            self.kept.append(Finding(rule, line, severity, expected, found, quirk))

    def count(self, severity: Severity) -> int:
        return sum(total for (_, one), total in self.totals.items() if one is severity)

    @property
    def valid(self) -> bool:
        return self.count(Severity.ERROR) == 0


def show(data: bytes, most: int = 60) -> str:
    """Bytes of the file for a message: on one line, and not long."""
    text = data[: most + 1].decode("utf-8", "replace")
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return safe if len(data) <= most else safe[:most] + "..."
