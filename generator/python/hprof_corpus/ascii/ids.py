"""A set of numbers that takes little more than a bit for each, where they lie close together."""

from __future__ import annotations

from collections.abc import Iterator

_SHIFT = 10
_MASK = (1 << _SHIFT) - 1


class IdSet:
    def __init__(self) -> None:
        self._pages: dict[int, bytearray] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, number: int) -> bool:
        """False if the number was there already."""
        low = number & _MASK
        page = self._pages.get(number >> _SHIFT)
        if page is None:
            page = self._pages[number >> _SHIFT] = bytearray(1 << (_SHIFT - 3))
        bit = 1 << (low & 7)
        if page[low >> 3] & bit:
            return False
        page[low >> 3] |= bit
        self._count += 1
        return True

    def __contains__(self, number: int) -> bool:
        low = number & _MASK
        page = self._pages.get(number >> _SHIFT)
        return page is not None and bool(page[low >> 3] & (1 << (low & 7)))

    def difference(self, other: IdSet) -> IdSet:
        """Of pages that have no such number nothing is kept."""
        left = IdSet()
        for number in self._only(other):
            left.add(number)
        return left

    def __iter__(self) -> Iterator[int]:
        return self._only(IdSet())

    def _only(self, other: IdSet) -> Iterator[int]:
        for high, page in self._pages.items():
            there = other._pages.get(high)
            for index, byte in enumerate(page):
                left = byte & ~there[index] if there else byte
                while left:
                    low = left & -left
                    yield high << _SHIFT | index << 3 | low.bit_length() - 1
                    left -= low
