"""Zeroes one reference of an array of a real dump."""

from __future__ import annotations

from honest import first_object, spoil

from hprof_corpus.digest import Object, ObjectArray


def zeroed(one: Object) -> Object:
    assert isinstance(one, ObjectArray)
    at = next(at for at, element in enumerate(one.elements) if element)
    return one._replace(elements=(*one.elements[:at], 0, *one.elements[at + 1 :]))


spoil(first_object(lambda one: isinstance(one, ObjectArray) and any(one.elements), zeroed))
