"""The body of a heap dump record, valid or not: its sub-records, and the bytes between them that are no sub-record.

A malformed sub-record is returned as far as it can be read. The search then finds the first offset from which
well-formed sub-records lead to the end of the record. It is linear in the bytes, and ends when it has taken too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hprof_corpus.walk import (
    BY_ENTRIES,
    BY_TYPE,
    ClassParts,
    Data,
    Shape,
    Shapes,
    Subrecord,
    SubrecordError,
    read_class_parts,
    subrecords,
)

_MOST_STEPS = 1 << 20
_VALUE_WIDTHS = (4, 8, 1, 2, 0)


@dataclass(frozen=True)
class Damage:
    """A malformed sub-record: a tag, fields of fixed size, and the existing part of a tail."""

    shape: Shape
    at: int
    fields: tuple[int, ...]
    missing: int  # bytes of the fields, which are taken to be 0
    tail: int
    stop: int
    parts: ClassParts | None = None


@dataclass(frozen=True)
class Unknown:
    """Bytes that are not a sub-record."""

    at: int
    stop: int


Piece = Subrecord | Damage | Unknown


class _Search:
    """Searches the offset where sub-records continue. Offsets that lead nowhere are remembered, so that nothing is measured
    twice."""

    def __init__(self, data: Data, end: int, shapes: Shapes) -> None:
        self._data = data
        self._end = end
        self._shapes = shapes
        self._dead: set[int] = set()
        self._left = _MOST_STEPS

    @property
    def has_time(self) -> bool:
        return self._left > 0

    def spend(self, parts: ClassParts) -> ClassParts:
        self._left -= len(parts.constants) + len(parts.statics) + len(parts.fields)
        return parts

    def _next(self, at: int) -> int | None:
        """The end of a well-formed sub-record."""
        shape = self._shapes.by_tag[self._data[at]]
        self._left -= 1
        if shape is None:
            return None
        tail = at + 1 + shape.fields.size
        if tail > self._end:
            return None
        fields = shape.fields.unpack_from(self._data, at + 1)
        if shape.unit == BY_ENTRIES:
            parts = self.spend(read_class_parts(self._data, tail, self._end, self._shapes))
            return None if parts.fault else parts.end
        width = self._shapes.widths[fields[shape.type]] if shape.unit == BY_TYPE else shape.unit
        if shape.unit and not width:
            return None
        stop = tail + fields[shape.counter] * width if width else tail
        return stop if stop <= self._end else None

    def leads_to_end(self, at: int, least: int = 0) -> bool:
        """Whether at least this many well-formed sub-records lead to the end of the record."""
        path: list[int] = []
        here: int | None = at
        while here is not None and here < self._end and here not in self._dead and self._left > 0:
            path.append(here)
            here = self._next(here)
        if here == self._end:
            return len(path) >= least
        self._dead.update(path)
        return False

    def first(self, at: int, least: int = 1) -> int:
        """The first offset from `at` on that leads to the end of the record; that end if there is none."""
        while at < self._end and self._left > 0:
            if self.leads_to_end(at, least):
                return at
            at += 1
        return self._end


def _padded(data: Data, at: int, end: int, shape: Shape) -> tuple[int, ...]:
    there = bytes(data[at + 1 : end])
    return shape.fields.unpack(there.ljust(shape.fields.size, b"\0"))


def _class_parts(data: Data, tail: int, end: int, is_cut: bool, shapes: Shapes, search: _Search) -> ClassParts:
    parts = read_class_parts(data, tail, end, shapes)
    bad = parts.bad_type
    if bad is not None and not is_cut:
        # A value of undefined type has the size with which all that follows is well-formed.
        for width in _VALUE_WIDTHS if search.has_time else ():
            widths = list(shapes.widths)
            widths[bad] = width
            guess = search.spend(read_class_parts(data, tail, end, shapes, widths, bad))
            if not guess.fault and search.leads_to_end(guess.end):
                return guess
    return parts


def pieces(data: Data, at: int, end: int, is_cut: bool, shapes: Shapes) -> Iterator[Piece]:
    """All bytes between `at` and `end`. `is_cut`: the file ends before the record does."""
    search: _Search | None = None
    while at < end:
        try:
            for item in subrecords(data, at, end, shapes):
                yield item
                at = item[4]
            return
        except SubrecordError as found:
            error = found
        search = search or _Search(data, end, shapes)
        at, shape = error.at, error.shape
        tail = at + 1 + (shape.fields.size if shape else 0)
        if shape is None:
            stop = end if is_cut else search.first(at + 1)
            yield Unknown(at, stop)
            at = stop
        elif tail > end:
            yield Damage(shape, at, _padded(data, at, end, shape), tail - end, end, end)
            return
        elif shape.unit == BY_ENTRIES:
            parts = _class_parts(data, tail, end, is_cut, shapes, search)
            yield Damage(shape, at, shape.fields.unpack_from(data, at + 1), 0, tail, parts.end, parts)
            at = parts.end
            if at < end and parts.fault:
                stop = end if is_cut else search.first(at)
                if stop > at:
                    yield Unknown(at, stop)
                at = stop
        else:
            # Too many entries: perhaps the count is wrong, and sub-records follow. A single one could be an accident.
            least = 1 if shape.unit == BY_TYPE and not shapes.widths[data[tail - 1]] else 2
            stop = end if is_cut else search.first(tail, least)
            yield Damage(shape, at, shape.fields.unpack_from(data, at + 1), 0, tail, stop)
            at = stop
