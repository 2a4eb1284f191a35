"""A first pass over a dump that is to be written as text: the names of IDs, and the fields of classes. It is needed because
names may follow IDs, and classes may follow instances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hprof_corpus import layouts
from hprof_corpus.layouts import Kind, Record
from hprof_corpus.names import ChainSizes
from hprof_corpus.recovery import Damage, Piece, Unknown, pieces
from hprof_corpus.spelling import text_of
from hprof_corpus.symbols import Symbols
from hprof_corpus.walk import ClassParts, Data, Framed, Shapes, read_class_parts, records, struct_of

RECORDS_BY_TAG = {record.tag: record for record in layouts.RECORDS}

# With more objects than this, symbols and their `id` statements would hide the dump.
MOST_OBJECTS = 10_000


@dataclass(frozen=True)
class DumpedClass:
    super_id: int
    fields: list[tuple[int, int]]  # name, type


@dataclass
class Survey:
    """Names for the whole file, and, by the offset of its record, for each heap dump."""

    strings: dict[int, str] = field(default_factory=dict)
    class_names: dict[int, str] = field(default_factory=dict)
    serials: dict[int, int] = field(default_factory=dict)  # of a class, its ID
    frames: list[int] = field(default_factory=list)
    heaps: dict[int, dict[int, DumpedClass]] = field(default_factory=dict)
    chain_sizes: ChainSizes = field(default_factory=ChainSizes)
    objects: int = 0


def heap_pieces(data: Data, framed: Framed, shapes: Shapes) -> Iterator[Piece]:
    return pieces(data, framed.body, framed.end, framed.is_cut, shapes)


def class_parts(data: Data, piece: Piece, shapes: Shapes) -> ClassParts:
    """The fields of a CLASS_DUMP, which may be malformed."""
    if isinstance(piece, tuple):
        return read_class_parts(data, piece[3], piece[4], shapes)
    assert isinstance(piece, Damage)
    return piece.parts or ClassParts([], [], [], [0, 0, 0], piece.stop)


def _note_classes(data: Data, framed: Framed, shapes: Shapes, survey: Survey, heap: dict[int, DumpedClass]) -> None:
    objects = ("INSTANCE_DUMP", "OBJECT_ARRAY_DUMP", "PRIMITIVE_ARRAY_DUMP")
    for piece in heap_pieces(data, framed, shapes):
        if isinstance(piece, tuple):
            name, values = piece[0].record.name, piece[2]
        elif isinstance(piece, Unknown):
            continue
        else:
            name, values = piece.shape.record.name, piece.fields
        if name in objects:
            survey.objects += 1
        elif name == "CLASS_DUMP":
            fields = class_parts(data, piece, shapes).fields
            heap.setdefault(values[0], DumpedClass(values[2], fields))
            survey.chain_sizes.note(values[0], values[2], sum(shapes.widths[code] for _, code in fields))


def make_survey(data: Data, at: int, shapes: Shapes) -> Survey:
    survey = Survey()
    structs = {record.tag: struct_of(record.layout, shapes.id_size) for record in layouts.RECORDS}
    names: dict[int, int] = {}
    series: dict[int, DumpedClass] | None = None
    for framed in records(data, at):
        record: Record | None = RECORDS_BY_TAG.get(framed.tag)
        if record is None:
            continue
        if record.layout.tail == "subrecords":
            if record.name == "HEAP_DUMP":
                heap: dict[int, DumpedClass] = {}
            else:
                heap = series = {} if series is None else series
            survey.heaps[framed.at] = heap
            _note_classes(data, framed, shapes, survey, heap)
        elif record.name == "HEAP_DUMP_END":
            series = None
        elif framed.end - framed.body >= structs[record.tag].size:
            values = structs[record.tag].unpack_from(data, framed.body)
            if record.name == "UTF8":
                tail = framed.body + structs[record.tag].size
                survey.strings.setdefault(values[0], text_of(bytes(data[tail : framed.end])))
            elif record.name == "LOAD_CLASS":
                survey.serials.setdefault(values[0], values[1])
                names.setdefault(values[1], values[3])
            elif record.name == "FRAME":
                survey.frames.append(values[0])
    survey.class_names = {one: survey.strings[name] for one, name in names.items() if name in survey.strings}
    return survey


def symbols_of(survey: Survey, raw_ids: bool) -> Symbols:
    symbols = Symbols(raw_ids, MOST_OBJECTS if survey.objects <= MOST_OBJECTS else 0)
    for number, text in survey.strings.items():
        symbols.name(Kind.STRING, number, text)
    for number, text in survey.class_names.items():
        symbols.name(Kind.OBJECT, number, text)
    for number in survey.frames:
        symbols.name(Kind.FRAME, number)
    return symbols
