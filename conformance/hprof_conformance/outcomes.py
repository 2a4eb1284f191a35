"""What a reader's reply counts as, given the truth."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from hprof_conformance.cases import Case
from hprof_conformance.protocol import Entry, Hello, Reply
from hprof_corpus.truth import ROOTS

# For a dump that a reader should accept, or may.
RIGHT = "right"
COUNTS_RIGHT = "counts right"  # the reader gives no content that could be compared
WRONG_COUNTS = "wrong counts"
WRONG_CONTENT = "wrong content"
REFUSED_PARTLY = "refused in part"  # calls for some of the content fail, and all that is given is right
REFUSED = "refused"  # a valid dump
# For a dump that it should reject or report.
REJECTED = "rejected"
NOTICED = "accepted with notice"
TOLERATED = "accepted, nothing lost"
COUNTS_ONLY = "accepted, counts right"  # content was not compared
UNREPORTED = "accepted without notice"  # nothing is lost, but a reader must report the fault
SILENT_LOSS = "accepted with silent loss"
# For any.
NOT_COMPARED = "accepted, nothing compared"
UNSUPPORTED = "unsupported"
CRASHED = "crashed"
HUNG = "hung"
OUT_OF_MEMORY = "out of memory"

OUTCOMES = (
    *(RIGHT, COUNTS_RIGHT, WRONG_COUNTS, WRONG_CONTENT, REFUSED_PARTLY, REFUSED, UNSUPPORTED, NOT_COMPARED),
    *(REJECTED, NOTICED, TOLERATED, COUNTS_ONLY, UNREPORTED, SILENT_LOSS, CRASHED, HUNG, OUT_OF_MEMORY),
)

# No line in expectations is needed for these.
AS_IT_SHOULD_BE = {RIGHT, COUNTS_RIGHT, UNSUPPORTED, NOT_COMPARED, REJECTED, NOTICED, TOLERATED, COUNTS_ONLY}

# Of an invalid dump: a fault in a class or a name leaves open what fields are, but not roots and the bytes of arrays and instances.
_WHATEVER_THE_CLASS = {"instance_bytes", "object_arrays", "primitive_arrays", "roots"}

_SUMS = 1 << 128
_END, _END_MISSING = "ends", "REC-007"
_FAILURES = {"crashed": CRASHED, "hung": HUNG, "out of memory": OUT_OF_MEMORY}
_FAILED = "failed: "
_DIFFERS_BY_DUMP = re.compile(r"0x[0-9a-fA-F]+|[0-9]+|@[0-9a-f]+")


@dataclass(frozen=True)
class Difference:
    what: str  # a count, or an entry of the digest
    expected: str
    found: str

    @property
    def is_failure(self) -> bool:
        return self.found.startswith(_FAILED)


@dataclass(frozen=True)
class Verdict:
    outcome: str
    detail: str
    differences: list[Difference] = field(default_factory=list)
    beneath: str = ""  # of an unsupported case: the outcome if the reader claimed it

    @property
    def is_fine(self) -> bool:
        return self.outcome in AS_IT_SHOULD_BE


def _words(entry: Entry) -> str:
    return f"{entry.count} items, {entry.sum}"


def root_kinds(counts: list[str]) -> list[str]:
    """The kinds of roots that a reader counts. If there are none, its digest has the roots of all kinds."""
    return [one for one in ROOTS if one in counts]


def _right(truth: dict[str, Entry], name: str, counts: list[str]) -> Entry:
    """Of roots: those of the kinds that the reader counts, or of all if it counts no kind."""
    kinds = root_kinds(counts)
    if name != "roots" or not kinds:
        return truth[name]
    some = [truth[one] for one in kinds if one in truth]
    return Entry(sum(one.count for one in some), f"{sum(int(one.sum, 16) for one in some) % _SUMS:032x}")


def differences(case: Case, hello: Hello, reply: Reply) -> tuple[list[Difference], list[Difference]]:
    """Of counts, and of digests. Only what the reader says that it gives is compared, and has to be there."""
    counts = []
    for name in hello.counts:
        found = reply.counts.get(name)
        if not case.truth.allows(name, found):
            error = reply.failed.get("roots" if name in ROOTS else name)
            missing = "not given" if error is None else _FAILED + error
            counts.append(Difference(name, str(case.truth.counts.get(name, 0)), missing if found is None else str(found)))
    entries = []
    truth = case.truth.exact if hello.references == "exact" else case.truth.resolved
    for name in hello.digests if truth is not None else []:
        assert truth is not None
        one, right = reply.digests.get(name), _right(truth, name, hello.counts)
        if one is None and name in reply.failed:
            entries.append(Difference(name, _words(right), _FAILED + reply.failed[name]))
        elif one != right:
            entries.append(Difference(name, _words(right), "not given" if one is None else _words(one)))
    return counts, entries


def _failed(hello: Hello, reply: Reply) -> list[str]:
    """What the reader says that it could not give, and does not give."""

    def is_missing(name: str) -> bool:
        counts = [one for one in hello.counts if one == name or (name == "roots" and one in ROOTS)]
        return (name in hello.digests and name not in reply.digests) or any(one not in reply.counts for one in counts)

    return [f"{name}: {error}" for name, error in reply.failed.items() if is_missing(name)]


def kind_of(notice: str) -> str:
    """A notice without what differs from dump to dump: numbers and addresses."""
    return " ".join(_DIFFERS_BY_DUMP.sub("#", notice).split())


@dataclass(frozen=True)
class Notices:
    """The kinds of notices, and of calls that fail, that a reader has for valid dumps: they report no fault. `are_noise`: it says
    something else of each valid dump, so none of its notices counts."""

    of_valid: frozenset[str] = frozenset()
    are_noise: bool = False

    def that_count(self, notices: Iterable[str]) -> list[str]:
        return [] if self.are_noise else [one for one in notices if one.strip() and kind_of(one) not in self.of_valid]


_FEW = 5


def notices_of_valid(hello: Hello, replies: Iterable[Reply]) -> Notices:
    """`replies` are those to valid dumps."""
    known = list(replies)
    notices = frozenset(kind_of(one) for reply in known for one in reply.notices)
    failed = frozenset(kind_of(one) for reply in known for one in _failed(hello, reply))
    return Notices(notices | failed, len(notices) > max(_FEW, len(known) // 10))


def assess(case: Case, hello: Hello, reply: Reply, notices: Notices | None = None) -> Verdict:
    verdict = _claimed(case, hello, reply, notices or Notices())
    unsupported = [f"{name}: {hello.unsupported[name]}" for name in case.requires if name in hello.unsupported]
    if not unsupported or verdict.outcome in (HUNG, OUT_OF_MEMORY):
        return verdict
    return Verdict(UNSUPPORTED, "; ".join(unsupported), [], verdict.outcome)


def _claimed(case: Case, hello: Hello, reply: Reply, notices: Notices) -> Verdict:
    """Of a case that the reader claims to support."""
    if reply.outcome in _FAILURES:
        return Verdict(_FAILURES[reply.outcome], reply.message)
    if reply.outcome == "rejected":
        return Verdict(REFUSED if case.should == "accept" else REJECTED, reply.message)
    counts, entries = differences(case, hello, reply)
    compares = set(hello.digests)
    if case.should == "either":
        entries, compares = [], set()  # what such a dump holds is as open as whether it is read
    elif case.should != "accept":
        compares &= _WHATEVER_THE_CLASS
        entries = [one for one in entries if one.what in compares]
    if case.truth.exact is None:
        compares = set()
    found = counts + entries
    words = "; ".join(f"{one.what}: {one.found} instead of {one.expected}" for one in found)
    if case.should in ("accept", "either"):
        return Verdict(_of_valid(counts, entries, hello, compares), words, found)
    failed = _failed(hello, reply)
    if any(not one.is_failure for one in found):  # it always fails so: that says nothing of what else is lost
        failed = [one for one in failed if kind_of(one) not in notices.of_valid]
    said = [*notices.that_count(reply.notices), *failed]
    if said:
        return Verdict(NOTICED, "; ".join(said)[:500], found)
    if found:
        return Verdict(SILENT_LOSS, words, found)
    if case.should == "report" and _END in hello.counts and _END_MISSING in case.rules:
        return Verdict(NOTICED, f"it gives its caller {reply.counts[_END]} HEAP_DUMP_END")
    if case.should == "report":
        return Verdict(UNREPORTED, words)
    return Verdict(TOLERATED if compares else COUNTS_ONLY if hello.counts else NOT_COMPARED, words)


def _of_valid(counts: list[Difference], entries: list[Difference], hello: Hello, compares: set[str]) -> str:
    if not all(one.is_failure for one in counts):
        return WRONG_COUNTS
    if counts or entries:
        return REFUSED_PARTLY if all(one.is_failure for one in entries) else WRONG_CONTENT
    return RIGHT if compares else COUNTS_RIGHT if hello.counts else NOT_COMPARED
