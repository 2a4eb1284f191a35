"""Reads the fields of each class in the reverse order."""

from __future__ import annotations

from honest import spoil

from hprof_corpus.digest import Content


def change(content: Content) -> None:
    for dump in content.dumps:
        for one in dump.classes.values():
            one.fields.reverse()


spoil(change)
