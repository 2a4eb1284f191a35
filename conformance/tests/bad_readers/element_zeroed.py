"""Zeroes one element of a primitive array of a real dump."""

from __future__ import annotations

from honest import first_object, spoil

from hprof_corpus.digest import Object, PrimitiveArray


def zeroed(one: Object) -> Object:
    assert isinstance(one, PrimitiveArray) and one.bytes
    at = next(at for at, byte in enumerate(one.bytes) if byte)
    return one._replace(bytes=one.bytes[:at] + b"\0" + one.bytes[at + 1 :])


spoil(first_object(lambda one: isinstance(one, PrimitiveArray) and any(one.bytes or b""), zeroed))
