"""Leaves a class out, with its instances."""

from __future__ import annotations

from honest import spoil

from hprof_corpus.digest import Content, Instance


def change(content: Content) -> None:
    for dump in content.dumps:
        gone = next(iter(sorted(dump.classes)), 0)
        dump.classes.pop(gone, None)
        dump.objects = [one for one in dump.objects if not (isinstance(one, Instance) and one.class_id == gone)]


spoil(change)
