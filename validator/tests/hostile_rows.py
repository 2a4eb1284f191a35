"""Dumps of rows that are drawn at random and repeated: damage that no one would think of, thousands of times, each time alike."""

import random
from collections.abc import Callable

from hostile_shapes import EIGHT, END, FOUR, OBJECT, Layout, record, segment, u4

NODE = 0x18  # a class whose instances have one reference
LENGTHS = (0, 1, 1 << 16, 1 << 20, (1 << 20) + 7, 0xFFFFFFFF)


class Draw:
    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._layout: Layout = self._dice.choice([FOUR, EIGHT])

    def _id(self) -> int:
        return 0x1000 + 8 * self._dice.randrange(1 << 14)

    def _subrecord(self) -> bytes:
        layout, dice = self._layout, self._dice
        make: Callable[[], bytes] = dice.choice(
            [
                lambda: layout.instance(self._id(), OBJECT),
                lambda: layout.instance(self._id(), NODE, layout.ids(self._id())),
                lambda: layout.objects(self._id(), OBJECT, layout.ids(*[self._id()] * dice.randrange(4))),
                lambda: layout.array(self._id(), bytes(dice.randrange(20))),
                lambda: dice.choice([b"\x05", b"\x07", b"\xff"]) + layout.ids(self._id()),
                lambda: b"\x01" + layout.ids(self._id(), self._id()),
                lambda: layout.class_dump(dice.choice([OBJECT, NODE, self._id()]), dice.choice([0, OBJECT, NODE]), layout.id_size),
            ]
        )
        return make()

    def _subrecords(self) -> bytes:
        return b"".join(self._subrecord() for _ in range(self._dice.randrange(4)))

    def _heap_dump_record(self) -> bytes:
        body, dice = self._subrecords(), self._dice
        near = [len(body), len(body) + 1, max(len(body) - 1, 0), len(body) + 9, 2 * len(body), dice.randrange(200)]
        return record(dice.choice([0x1C, 0x1C, 0x1C, 0x0C, 0x77]), body, dice.choice([*near, *LENGTHS]))

    def _record(self) -> bytes:
        layout, dice = self._layout, self._dice
        whole: bytes = dice.choice(
            [
                layout.utf8(1, b"x" * dice.randrange(30)),
                layout.load_class(1, OBJECT, 1),
                record(0x05, u4(1) + u4(1) + u4(0)),
                record(0x03, u4(1)),
                record(0x0D, bytes(8)),
                END,
            ]
        )
        length = u4(dice.choice([*LENGTHS, dice.randrange(300)]))
        return whole if dice.randrange(2) else whole[:5] + length + whole[9:]

    def _damaged(self) -> bytes:
        whole, dice = self._subrecord(), self._dice
        at = dice.randrange(len(whole))
        return whole[:at] + bytes([dice.randrange(256)]) * dice.randrange(2) + whole[at + 1 :]

    def _pattern(self) -> bytes:
        dice = self._dice
        return dice.choice([b"\0", b"\x1c", b"\x21", b"\x77", b"\x90", b"\xff"]) * dice.randrange(1, 60)

    def _header(self) -> bytes:
        return self._layout.header()[: self._dice.choice([20, 31])]

    def _row(self) -> bytes:
        kinds = [self._subrecords, self._subrecords, self._heap_dump_record, self._heap_dump_record]
        kinds += [self._record, self._damaged, self._pattern, self._header]
        return b"".join(self._dice.choice(kinds)() for _ in range(self._dice.randrange(1, 6)))

    def dump(self, size: int) -> bytes:
        layout, dice = self._layout, self._dice
        out = layout.header() + layout.utf8(1, b"Foo") + layout.load_class(1, OBJECT, 1) + layout.load_class(2, NODE, 1)
        node = layout.class_dump(NODE, OBJECT, layout.id_size, fields=layout.ids(1) + b"\x02")
        out += record(0x05, u4(1) + u4(1) + u4(0)) + segment(layout.class_dump(OBJECT), node)
        while len(out) < size:
            row = self._row() or b"\0"
            most = 1 + (size - len(out)) // len(row)
            out += row * dice.choice([most, most, dice.randrange(1, most + 1), min(most, dice.randrange(1, 20))])
        return out + END * dice.randrange(2)
