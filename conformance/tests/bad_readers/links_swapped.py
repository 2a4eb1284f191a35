"""Swaps the first two elements of each array of references."""

from __future__ import annotations

from honest import each_object, spoil

from hprof_corpus.digest import Object, ObjectArray


def swapped(one: Object) -> Object:
    if isinstance(one, ObjectArray) and len(one.elements) > 1:
        return one._replace(elements=(one.elements[1], one.elements[0], *one.elements[2:]))
    return one


spoil(each_object(swapped))
