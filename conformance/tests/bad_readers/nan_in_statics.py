"""Makes each NaN in a static field canonical."""

from __future__ import annotations

from honest import spoil
from nan import canonical

from hprof_corpus.digest import Content


def change(content: Content) -> None:
    for dump in content.dumps:
        for one in dump.classes.values():
            one.statics[:] = [value._replace(bytes=canonical(value.type, value.bytes)) for value in one.statics]


spoil(change)
