"""Forgets the last element of each array of references."""

from __future__ import annotations

from honest import each_object, spoil

from hprof_corpus.digest import ObjectArray

spoil(each_object(lambda one: one._replace(elements=one.elements[:-1]) if isinstance(one, ObjectArray) else one))
