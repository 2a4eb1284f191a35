"""Zeroes the first byte that is not zero of one instance of a real dump."""

from __future__ import annotations

from honest import first_object, spoil

from hprof_corpus.digest import Instance, Object


def zeroed(one: Object) -> Object:
    assert isinstance(one, Instance)
    at = next(at for at, byte in enumerate(one.bytes) if byte)
    return one._replace(bytes=one.bytes[:at] + b"\0" + one.bytes[at + 1 :])


spoil(first_object(lambda one: isinstance(one, Instance) and any(one.bytes), zeroed))
