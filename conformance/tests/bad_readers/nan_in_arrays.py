"""Makes each NaN in an array canonical."""

from __future__ import annotations

from honest import each_object, spoil
from nan import WIDTHS, canonical

from hprof_corpus.digest import Object, PrimitiveArray


def made(one: Object) -> Object:
    if not isinstance(one, PrimitiveArray) or one.type not in WIDTHS or one.bytes is None:
        return one
    width = WIDTHS[one.type]
    parts = [canonical(one.type, one.bytes[at : at + width]) for at in range(0, len(one.bytes), width)]
    return one._replace(bytes=b"".join(parts))


spoil(each_object(made))
