"""Ends after the first heap dump."""

from __future__ import annotations

from honest import spoil

from hprof_corpus.digest import Content


def change(content: Content) -> None:
    del content.dumps[1:]


spoil(change)
