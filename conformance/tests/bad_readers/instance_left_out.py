"""Leaves one instance out of a real dump, content and counts."""

from __future__ import annotations

from honest import first_object, spoil

from hprof_corpus.digest import Instance

spoil(first_object(lambda one: isinstance(one, Instance), lambda one: None))
