"""layouts.py is typed by hand, records.def too: they must say the same."""

from __future__ import annotations

import re

from hprof_corpus import __version__, layouts
from hprof_corpus.layouts import Layout, Record
from tests.conftest import RECORDS_DEF, ROOT

_LAYOUT = re.compile(r"#define LAYOUT_(\w+)\(F, TAIL\)((?:[^\n]*\\\n)*[^\n]*)")
_FIELD = re.compile(r"F\((\w+), (\w+),")
_TAIL = re.compile(r"TAIL\((\w+),")
_ROW = r"^{}\((\w+),\s*0x([0-9a-fA-F]+),\s*V(\d+),\s*\"[^\"]*\",\s*(\w+)\)"

TEXT = RECORDS_DEF.read_text(encoding="utf-8")

Shape = tuple[list[tuple[str, str]], str]


def c_layouts() -> dict[str, Shape]:
    found: dict[str, Shape] = {}
    for name, body in _LAYOUT.findall(TEXT):
        tail = _TAIL.search(body)
        found[name] = _FIELD.findall(body), tail[1] if tail else ""
    return found


def c_records(kind: str) -> dict[str, tuple[int, int, Shape]]:
    shapes = c_layouts()
    rows = re.findall(_ROW.format(kind), TEXT, re.MULTILINE)
    return {name: (int(tag, 16), int(since), shapes[layout]) for name, tag, since, layout in rows}


def shape(layout: Layout) -> Shape:
    return [(field.type, field.name) for field in layout.fields], layout.tail


def ours(records: tuple[Record, ...]) -> dict[str, tuple[int, int, Shape]]:
    return {record.name: (record.tag, record.since, shape(record.layout)) for record in records}


def test_version() -> None:
    header = ROOT / "validator/include/hprof/hprof.h"
    assert f'#define HPROF_VERSION "{__version__}"\n' in header.read_text(encoding="utf-8")


def test_records() -> None:
    assert ours(layouts.RECORDS) == c_records("RECORD")


def test_subrecords() -> None:
    assert ours(layouts.SUBRECORDS) == c_records("SUBRECORD")


def test_entries_of_lists() -> None:
    shapes = c_layouts()
    for name in ("SITE", "SAMPLE", "CONSTANT", "STATIC_FIELD", "INSTANCE_FIELD"):
        assert shape(getattr(layouts, name)) == shapes[name], name


def test_every_layout_was_compared() -> None:
    assert len(c_layouts()) > 20
    assert len(layouts.RECORDS) == 14
    assert len(layouts.SUBRECORDS) == 22


def test_tags_and_words_are_unique() -> None:
    for records in (layouts.RECORDS, layouts.SUBRECORDS):
        assert len({record.tag for record in records}) == len(records)
        assert len({record.word for record in records}) == len(records)
