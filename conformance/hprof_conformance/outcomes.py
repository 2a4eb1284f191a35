"""What a reader's reply counts as, given the truth."""

from __future__ import annotations

from dataclasses import dataclass

from hprof_conformance.cases import Case
from hprof_conformance.protocol import Hello, Reply

# For a dump that a reader should accept, or may.
RIGHT = "right"
WRONG_COUNTS = "wrong counts"
WRONG_CONTENT = "wrong content"
REFUSED = "refused"  # a valid dump
UNSUPPORTED = "unsupported"
# For a dump that it should reject or report.
REJECTED = "rejected"
NOTICED = "accepted with notice"
TOLERATED = "accepted, nothing lost"
UNREPORTED = "accepted without notice"  # nothing is lost, but a reader must report the fault
SILENT_LOSS = "accepted with silent loss"
# For any.
CRASHED = "crashed"
HUNG = "hung"
OUT_OF_MEMORY = "out of memory"

OUTCOMES = (
    *(RIGHT, WRONG_COUNTS, WRONG_CONTENT, REFUSED, UNSUPPORTED),
    *(REJECTED, NOTICED, TOLERATED, UNREPORTED, SILENT_LOSS, CRASHED, HUNG, OUT_OF_MEMORY),
)

# No line in expectations is needed for these.
AS_IT_SHOULD_BE = {RIGHT, UNSUPPORTED, REJECTED, NOTICED, TOLERATED}

# Of an invalid dump: a fault in a class or a name leaves open what fields are, but not the bytes of arrays and instances.
_WHATEVER_THE_CLASS = {"instance_bytes", "object_arrays", "primitive_arrays"}

_FAILURES = {"crashed": CRASHED, "hung": HUNG, "out of memory": OUT_OF_MEMORY}


@dataclass(frozen=True)
class Difference:
    what: str  # a count, or an entry of the digest
    expected: str
    found: str


@dataclass(frozen=True)
class Verdict:
    outcome: str
    detail: str
    differences: list[Difference]

    @property
    def is_fine(self) -> bool:
        return self.outcome in AS_IT_SHOULD_BE


def differences(case: Case, hello: Hello, reply: Reply) -> tuple[list[Difference], list[Difference]]:
    """Of counts, and of digests. Only what the reader says that it gives is compared, and has to be there."""
    counts = []
    for name in hello.counts:
        found, expected = reply.counts.get(name), case.truth.counts[name]
        if found != expected:
            counts.append(Difference(name, str(expected), "not given" if found is None else str(found)))
    entries = []
    truth = case.truth.exact if hello.references == "exact" else case.truth.resolved
    for name in hello.digests if truth is not None else []:
        assert truth is not None
        one, right = reply.digests.get(name), truth[name]
        if one != right:
            words = "not given" if one is None else f"{one.count} items, {one.sum}"
            entries.append(Difference(name, f"{right.count} items, {right.sum}", words))
    return counts, entries


def assess(case: Case, hello: Hello, reply: Reply) -> Verdict:
    unsupported = [f"{name}: {hello.unsupported[name]}" for name in case.requires if name in hello.unsupported]
    if unsupported and reply.outcome not in ("hung", "out of memory"):
        return Verdict(UNSUPPORTED, "; ".join(unsupported), [])
    if reply.outcome in _FAILURES:
        return Verdict(_FAILURES[reply.outcome], reply.message, [])
    if reply.outcome == "rejected":
        return Verdict(REFUSED if case.should == "accept" else REJECTED, reply.message, [])
    counts, entries = differences(case, hello, reply)
    if case.should == "either":
        entries = []  # what such a dump holds is as open as whether it is read
    elif case.should != "accept":
        entries = [one for one in entries if one.what in _WHATEVER_THE_CLASS]
    found = counts + entries
    words = "; ".join(f"{one.what}: {one.found} instead of {one.expected}" for one in found)
    if case.should in ("accept", "either"):
        outcome = WRONG_COUNTS if counts else WRONG_CONTENT if entries else RIGHT
        return Verdict(outcome, words, found)
    if reply.notices:
        return Verdict(NOTICED, "; ".join(reply.notices)[:500], found)
    unnoticed = UNREPORTED if case.should == "report" else TOLERATED
    return Verdict(SILENT_LOSS if found else unnoticed, words, found)
