"""Text in the notation, line by line: indented, with offsets as comments, and lists that wrap."""

from __future__ import annotations

from typing import TextIO

from hprof_corpus.spelling import raw_words, wrapped
from hprof_corpus.walk import Data

_COMMENT = "        # "
_INDENT = "  "
_WIDEST = 130
_AT_ONCE = 1 << 20


class Lines:
    """Lines are held back until they are flushed, so that others can be inserted before them."""

    def __init__(self, out: TextIO, offsets: bool) -> None:
        self._out = out
        self._offsets = offsets
        self._lines: list[str] = []
        self.depth = 0
        self.held = 0  # characters

    def add(self, text: str, at: int | None = None, comment: str = "") -> None:
        if at is not None and self._offsets:
            comment = f"{at:#x} {comment}" if comment else f"{at:#x}"
        line = f"{_INDENT * self.depth}{text}{_COMMENT}{comment}\n" if comment else f"{_INDENT * self.depth}{text}\n"
        self._lines.append(line)
        self.held += len(line)

    def open(self, text: str, at: int | None = None, comment: str = "") -> None:
        self.add(text + " {", at, comment)
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.add("}")

    def listing(self, text: str, words: list[str], at: int | None = None, comment: str = "") -> None:
        """A statement that ends in a list, which gets lines of its own if it is long."""
        if not words:
            self.add(text, at, comment)
        elif len(text) + sum(map(len, words)) + len(words) <= _WIDEST:
            self.add(f"{text} [ {' '.join(words)} ]", at, comment)
        else:
            self.add(f"{text} [", at, comment)
            self.depth += 1
            for line in wrapped(words):
                self.add(line)
            self.depth -= 1
            self.add("]")

    def raw(self, data: Data, at: int, end: int) -> None:
        for start in range(at, end, _AT_ONCE):
            where: int | None = start
            for line in wrapped(raw_words(bytes(data[start : min(start + _AT_ONCE, end)]))):
                self.add(f"raw {line}", where)
                where = None

    def flush(self, before: list[str]) -> None:
        """Writes `before`, then the held-back lines."""
        indent = ""
        if before and self._lines:
            first = self._lines[0]
            indent = first[: len(first) - len(first.lstrip(" "))]
        self._out.writelines(f"{indent}{text}\n" for text in before)
        self._out.writelines(self._lines)
        self._lines.clear()
        self.held = 0
