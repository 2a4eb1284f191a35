"""The ranked tables: SITES, CPU SAMPLES, CPU TIME, MONITOR TIME (TEXT.md H.5)."""

from __future__ import annotations

import math
import re

from hprof_corpus.ascii.findings import show
from hprof_corpus.ascii.grammar import Kind
from hprof_corpus.ascii.state import State, brief, show_brief

MOST_RISE = 1.01  # of the total of live bytes while sites are written
HALF = 0.005 + 1e-6  # what rounding to two decimals may hide


def _percent(part: float, whole: float) -> float:
    """A number of the text may have more digits than a float holds."""
    try:
        return 100 * part / whole
    except OverflowError:
        return math.inf


def _totals(share: float, part: int, slack: float) -> tuple[float, float]:
    """The least and the largest total of which `part` has this share."""
    return _percent(part, share + slack), _percent(part, share - slack) if share > slack else math.inf


def _is_near(share: bytes, part: int, whole: int) -> bool:
    return abs(float(share) - _percent(part, whole)) <= HALF


def _short(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


class _Table:
    """Ranks and shares, as all four tables have them."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.rows = 0
        self.accumulated = 0.0

    def _rank(self, rank: bytes) -> None:
        self.rows += 1
        if int(rank) != self.rows:
            self.state.report("ASC-030", f"rank {self.rows}", rank.decode())
            self.rows = int(rank)

    def _is_positive(self, rule: str, share: float) -> bool:
        if share < 0:
            self.state.report(rule, "0.00% or more", f"{share:.2f}%")
        return share >= 0

    def _accumulate(self, share: bytes, exact: float, slack: float) -> None:
        if abs(float(share) - exact) > slack:
            self.state.report("ASC-033", f"{exact:.2f}%", f"{share.decode()}%")


class Sites(_Table):
    """The total of live bytes is not in the text: it lies between limits that each row narrows."""

    end_kind: Kind | None = Kind.SITES_END

    def __init__(self, state: State, match: re.Match[bytes]) -> None:
        super().__init__(state)
        self.kinds: tuple[Kind, ...] = (Kind.SITES_HEAD_1, Kind.SITE)
        self.by_allocated = match[1] == b"allocated bytes"
        self.heads = 0
        self.last: int | None = None
        self.freed_above = False  # objects of the row above
        self.live = 0  # bytes of the rows since the total last fell
        self.base = 0.0  # accumulated share before these rows
        self.least, self.most = 0.0, math.inf

    def line(self, kind: Kind, match: re.Match[bytes]) -> None:
        if kind is Kind.SITE:
            self._row(match)
            return
        self.heads += 1
        self.kinds = (Kind.SITES_HEAD_2, Kind.SITE) if self.heads == 1 else (Kind.SITE,)

    def _row(self, match: re.Match[bytes]) -> None:
        if self.heads < 2:
            self.state.report("ASC-008", "two lines that name the columns", "a row")
            self.heads, self.kinds = 2, (Kind.SITE,)
        self._rank(match[1])
        live, objects, allocated, allocated_objects = (int(match[i]) for i in range(4, 8))
        ordered = allocated if self.by_allocated else live
        if self.last is not None and ordered > self.last:
            size = ordered // (allocated_objects if self.by_allocated else objects or 1)
            shape = ""
            if self.freed_above and not self.by_allocated:
                shape = "freed-above"
            elif ordered - self.last <= 2 * size:
                shape = "allocated-since"
            self.state.report("ASC-031", f"at most {self.last} bytes, as in the row above", str(ordered), shape)
        self.last, self.freed_above = ordered, live < allocated and objects < allocated_objects
        if live > allocated or objects > allocated_objects:
            self.state.report(
                "ASC-035", "no more live than allocated", f"{live} of {allocated} bytes, {objects} of {allocated_objects} objects"
            )
        share, accumulated = float(match[2]), float(match[3])
        self._shares(live, share, accumulated)
        self.accumulated = accumulated
        self.state.use_trace(match[8])

    def _shares(self, live: int, share: float, accumulated: float) -> None:
        if abs(accumulated - self.accumulated - share) <= 3 * HALF:
            self._follow_total(live, share, accumulated)
        self.live += live
        if self._is_positive("ASC-032", share):
            self._narrow("ASC-032", share, live, HALF)
        if self._is_positive("ASC-033", accumulated):
            self._narrow("ASC-033", accumulated - self.base, self.live, self._slack())
        if self.most < self.live:
            self.state.report("ASC-034", f"at most {int(self.most)} live bytes in all", str(self.live))
            self.most = math.inf

    def _follow_total(self, live: int, share: float, accumulated: float) -> None:
        """The total has changed if shares are of another one, and the accumulated share still is the sum of the shares."""
        both = [("ASC-032", share, live, HALF), ("ASC-033", accumulated - self.base, self.live + live, self._slack())]
        for rule, part, size, slack in both:
            least, most = _totals(part, size, slack)
            falls, rises = most < self.least, self.most < least <= self.most * MOST_RISE
            if falls or rises:
                total = f"at least {int(self.least)}" if falls else f"at most {int(self.most)}"
                found = f"{share:.2f}%, accumulated {accumulated:.2f}%"
                self.state.report(rule, f"shares of {total} live bytes", found, "total-falls" if falls else "total-rises")
                self.live, self.base = 0, self.accumulated
                self.least, self.most = 0.0, math.inf
                return

    def _slack(self) -> float:
        """What rounding may hide in the accumulated share since the total fell."""
        return 2 * HALF if self.base else HALF

    def _narrow(self, rule: str, share: float, part: int, slack: float) -> None:
        """The totals of which `part` has this share."""
        least, most = _totals(share, part, slack)
        if least > self.most or most < self.least:
            total = self.most if math.isfinite(self.most) else self.least
            self.state.report(rule, f"{_percent(part, total):.2f}%" if total else "0.00%", f"{share:.2f}%")
            return
        self.least, self.most = max(self.least, least), min(self.most, most)

    def end(self, match: re.Match[bytes] | None) -> None:
        if match and self.heads < 2:
            self.state.report("ASC-008", "two lines that name the columns", "none")


class Ranked(_Table):
    """CPU SAMPLES counts what the shares are of; CPU TIME and MONITOR TIME count calls, and their times are not in the text."""

    def __init__(self, state: State, kind: Kind, match: re.Match[bytes]) -> None:
        super().__init__(state)
        monitors = kind is Kind.MONITOR_TIME_BEGIN
        self.name = b"MONITOR TIME" if monitors else b"CPU " + match[1]
        self.samples = self.name == b"CPU SAMPLES"
        self.total = int(match[1] if monitors else match[2])
        if self.total < 0:
            state.report("ASC-034", "a total of 0 or more", str(self.total))
        self.head = Kind.MONITOR_HEAD if monitors else Kind.CPU_HEAD
        self.kinds: tuple[Kind, ...] = (self.head, Kind.RANKED)
        self.end_kind: Kind | None = Kind.MONITOR_TIME_END if monitors else Kind.CPU_END
        self.headed = False
        self.counted = 0  # samples of the rows, as far as the shares are of them
        self.exceeding = 0  # the others
        self.exceeded = False
        self.last = math.inf

    def line(self, kind: Kind, match: re.Match[bytes]) -> None:
        self.kinds = (Kind.RANKED,)
        if kind is self.head:
            self.headed = True
            return
        if not self.headed:
            self.state.report("ASC-008", "a line that names the columns", "a row")
            self.headed = True
        self._rank(match[1])
        if self.samples:
            self._count(match[2], match[3], int(match[4]))
        else:
            self._time(match[2], match[3])
        self.state.use_trace(match[5])
        if self.head is Kind.CPU_HEAD:
            self._method(match[5], match[6])

    def _order(self, ordered: float, shape: str = "") -> None:
        if ordered > self.last:
            self.state.report("ASC-031", f"at most {_short(self.last)}, as in the row above", _short(ordered), shape)
        self.last = ordered

    def _time(self, share: bytes, accumulated: bytes) -> None:
        if self._is_positive("ASC-032", float(share)):
            self._order(float(share))
            self._accumulate(accumulated, self.accumulated + float(share), 3 * HALF)
        self.accumulated = float(accumulated)

    def _count(self, share: bytes, accumulated: bytes, count: int) -> None:
        """Samples that are taken while the table is written make a count higher than the share and the total that were computed
        before, never lower, and have the shape sampled-since."""
        self._order(count, "sampled-since")
        if self.total <= 0:
            self.counted += count
            self._exceed(count)
            return
        own = self._most(share, count)
        if own < count or not _is_near(share, count, self.total):
            shape = "sampled-since" if own < count else ""
            self.state.report("ASC-032", f"{_percent(count, self.total):.2f}%", f"{share.decode()}%", shape)
        self.exceeding += count - own
        self.counted += own
        all_so_far = self._most(accumulated, self.counted)
        if all_so_far < self.counted or not _is_near(accumulated, self.counted, self.total):
            sums = abs(float(accumulated) - self.accumulated - float(share)) <= 3 * HALF
            shape = "sampled-since" if all_so_far < self.counted and sums else ""
            self.state.report("ASC-033", f"{_percent(self.counted, self.total):.2f}%", f"{accumulated.decode()}%", shape)
            self.exceeding += self.counted - all_so_far
            self.counted = all_so_far
        self.accumulated = float(accumulated)
        self._exceed(count)

    def _most(self, share: bytes, count: int) -> int:
        """The most samples up to `count` that have this share; `count` if there are none."""
        most = math.floor((float(share) + HALF) * self.total / 100)
        return most if most < count and _is_near(share, most, self.total) else count

    def _exceed(self, count: int) -> None:
        """The counts as they are written, with those that were taken since, exceed the total: one finding for each table."""
        written = self.counted + self.exceeding
        if written > self.total and not self.exceeded:
            self.exceeded = True
            self.state.report("ASC-034", f"at most {self.total} samples in all", str(written), "sampled-since")

    def _method(self, trace: bytes, method: bytes) -> None:
        first = self.state.traces.get(int(trace))  # None if it is not known
        if first is not None and (first or b"<empty trace>") != brief(method):
            self.state.report("ASC-036", show_brief(first or b"<empty trace>"), show(method))

    def end(self, match: re.Match[bytes] | None) -> None:
        if not match:
            return
        if self.head is Kind.CPU_HEAD and match[1] != self.name[4:]:
            self.state.report("ASC-005", f"{show(self.name)} END", show(match[0]))
        if not self.samples and self.accumulated > 100 + HALF * (self.rows + 1):
            self.state.report("ASC-034", "at most 100 % in all", f"{self.accumulated:.2f}%")
