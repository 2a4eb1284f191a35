"""Lines of the text output, also those that a name breaks: the agent escapes nothing, and writes at most 1023 bytes at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from hprof_corpus.ascii.grammar import Kind, begins_line, is_cut_call, is_indented_line, kinds_that_begin, match, match_open

LONGEST_LINE = 1 << 18  # room for the names of a class, a method and a source file, each of 65535 bytes
MOST_AT_ONCE = 1023


@dataclass(frozen=True)
class Line:
    text: bytes  # without its newline
    ended: bool = True  # by a newline, or by the next line if it is cut
    cut: bool = False  # its end is lost: the next line follows without a newline


class Lines:
    def __init__(self, stream: BinaryIO) -> None:
        self.number = 0  # of the line of the file on which the present line begins
        self._stream = stream
        self._rest = b""  # of the line of the file: what follows a line that is cut
        self._ahead: list[bytes] = []
        self._tried = 0  # the last line that could not be joined to a line above

    def next(self, cut: bool = True) -> Line | None:
        """`cut`: a line may be cut. None at the end of the file."""
        raw = self._rest
        if not raw:
            self.number += 1
        if not raw.endswith(b"\n"):
            raw += self._read(LONGEST_LINE - len(raw))
        self._rest = b""
        if not raw:
            self.number -= 1
            return None
        if cut and len(raw) > MOST_AT_ONCE and (end := _end_of_cut(raw)):
            self._rest = raw[end:]
            return Line(raw[:end], cut=True)
        if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
            raw += self._skip()
        text = raw.removesuffix(b"\n")
        return Line(text, text is not raw, cut and len(text) > MOST_AT_ONCE and is_cut_call(text))

    def join(self, line: Line) -> Line | None:
        """With the lines that follow, if newlines in a name part them. A line that begins like one of another record is that.
        Lines that were tried in vain are not tried again, so that each line is read a few times at most."""
        kinds = () if not line.ended or line.cut or self.number <= self._tried else kinds_that_begin(line.text)
        if not kinds:
            return None
        taken: list[bytes] = []
        text = line.text
        while len(text) < MOST_AT_ONCE:
            more = self._read(LONGEST_LINE)
            taken.append(more)
            if not _continues(more):
                if len(text) + 1 == MOST_AT_ONCE:  # the newline is the last byte that was written
                    self._ahead.insert(0, more)
                    self.number += len(taken) - 1
                    return Line(text, cut=True)
                break
            text += b"\n" + more[:-1]
            if len(text) > MOST_AT_ONCE and (end := _end_of_cut(text)):
                self._rest = text[end:] + b"\n"
                self.number += len(taken)
                return Line(text[:end], cut=True)
            if match(text, kinds):
                self.number += len(taken)
                return Line(text)
        self._tried = self.number + len(taken) - (not _continues(taken[-1])) if taken else 0
        self._ahead[:0] = [more for more in taken if more]
        return None

    def extend(self, row: Line) -> Line:
        """With the lines that follow, if they begin like none: the name that ends a row has newlines."""
        text = row.text
        while len(text) < 2 * MOST_AT_ONCE and not self._rest:
            more = self._read(LONGEST_LINE)
            if not _continues(more):
                self._ahead[:0] = [more] if more else []
                break
            self.number += 1
            text += b"\n" + more[:-1]
            if len(text) > MOST_AT_ONCE and (end := _end_of_cut(text)):
                self._rest = text[end:] + b"\n"
                return Line(text[:end], cut=True)
        return Line(text)

    def _read(self, most: int) -> bytes:
        return self._ahead.pop(0) if self._ahead else self._stream.readline(most)

    def _skip(self) -> bytes:
        """The rest of a line that is too long to be one."""
        while (rest := self._read(LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        return b"\n" if rest else b""


def _continues(raw: bytes) -> bool:
    return raw.endswith(b"\n") and not begins_line(raw) and not is_indented_line(raw[:-1])


def _end_of_cut(data: bytes) -> int:
    """Where a line is cut: another one follows there. 0 if it is not."""
    ends = [MOST_AT_ONCE]
    row = match_open(data[:MOST_AT_ONCE], (Kind.RANKED,))
    if row:  # the method of a row is written by itself
        ends.append(row[1].start(6) - 1 + MOST_AT_ONCE)
    for end in ends:
        rest = data[end : end + MOST_AT_ONCE]
        if (rest.startswith(b"\t") or begins_line(rest)) and match_open(data[:end]):
            return end
    return 0
