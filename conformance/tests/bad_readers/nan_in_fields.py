"""Makes each NaN in a field of an instance canonical."""

from __future__ import annotations

from honest import spoil
from nan import canonical

from hprof_corpus.digest import Content, HeapDump, Instance, Object


def made(content: Content, dump: HeapDump, one: Object) -> Object:
    layout = content.layout(dump, one.class_id) if isinstance(one, Instance) else None
    if not isinstance(one, Instance) or not layout or len(one.bytes) != layout[-1].end:
        return one
    return one._replace(bytes=b"".join(canonical(each.type, one.bytes[each.at : each.end]) for each in layout))


def change(content: Content) -> None:
    for dump in content.dumps:
        dump.objects = [made(content, dump, one) for one in dump.objects]


spoil(change)
