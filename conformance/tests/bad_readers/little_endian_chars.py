"""Reads the elements of a char[] with the low byte first."""

from __future__ import annotations

from honest import each_object, spoil

from hprof_corpus.digest import Object, PrimitiveArray

CHAR = 5


def swapped(one: Object) -> Object:
    if isinstance(one, PrimitiveArray) and one.type == CHAR and one.bytes:
        data = bytearray(one.bytes)
        data[::2], data[1::2] = one.bytes[1::2], one.bytes[::2]
        return one._replace(bytes=bytes(data))
    return one


spoil(each_object(swapped))
