"""Takes one root of a real dump for one of another object."""

from __future__ import annotations

from honest import spoil

from hprof_corpus.digest import Content


def spoiled(content: Content) -> None:
    for dump in content.dumps:
        if len(dump.objects) > 100:
            at = len(dump.roots) // 2
            kind, target = dump.roots[at]
            dump.roots[at] = (kind, next(one.id for one in dump.objects if one.id != target))


spoil(spoiled)
