"""Each adapter of a reader with digests, with a loss planted in its source: the matrix reports it on a real dump.

The readers are fetched and built, so ci/full runs this: HPROF_REPAIRED names the folder in which to build.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from built import ROOT

from hprof_conformance import cases, expectations, main, matrix, readers
from hprof_conformance.session import Limits

BUILD = os.environ.get("HPROF_REPAIRED", "")
DUMPS = ["gold/jdk17", "gold/agent8-odd-nan"]  # HotSpot has made each NaN canonical, the agent has not
PLANTED = [  # the reader; what is in its sources; what replaces it
    ("visualvm", "elements.putLong(idOf((Instance) each));", "elements.putLong(0);"),
    ("visualvm", "idOf(((ObjectFieldValue) value).getInstance())", "0"),
    ("netbeans", "elements.put(bytes(each, type));", "elements.put(new byte[bytes(each, type).length]);"),
    ("netbeans", "one.getSuperClass().getJavaClassId()", "0L"),
    (
        "gridkit",
        "found.add((Instance) instance);",
        "if (((Instance) instance).getInstanceNumber() != 7) found.add((Instance) instance);",
    ),
    ("gridkit", "if (!value.getField().getName().equals(LOADER)) {", "if (i > 0 && !value.getField().getName().equals(LOADER)) {"),
    ("gridkit-fast", "number(idOf(one.getClassLoader()))", "number(0)"),
    ("gridkit-fast", "className(one.getName())", 'className(one.getName().replace("Lambda", "Other"))'),
    ("jhat", "number(idOf(one.getLoader()))", "number(0)"),
    ("jhat", "item.part(Item.value(value.toString(), type))", "item.part(new byte[Item.value(value.toString(), type).length])"),
    ("openjdk-test", 'new Item("object array").number(one.getId())', 'new Item("object array").number(0)'),
    ("openjdk-test", "number(one.getId()).number(one.getClazz().getId());", "number(one.getId()).number(0);"),
    ("shark-graph", "item.number(id & mask)", "item.number(id & mask & ~8L)"),
    ("shark-graph", "part(Item.value(value))", "part(new byte[Item.value(value).length])"),
    ("shark-stream", "item.part(record.getFieldValues())", "item.part(new byte[record.getFieldValues().length])"),
    ("shark-stream", ".text(text)", '.text(text.replace("Odd", "Even").replace("java", "Java"))'),
    ("haha-mat", "((ObjectReference) value).getObjectAddress()", "0L"),
    ("haha-mat", "item.part(Item.value(value))", "item.part(new byte[Item.value(value).length])"),
    ("haha-perflib", "ids.putLong(idOf(element));", "ids.putLong(0);"),
    ("haha-perflib", "bytes.put(Item.value(element));", "bytes.put(new byte[Item.value(element).length]);"),
    (  # one field of one class
        "visualvm",
        "return item.part(bytes(typed == null ? value.getValue() : typed, type));",
        'return item.part(value.getField().getName().equals("hash") ? new byte[4] '
        ": bytes(typed == null ? value.getValue() : typed, type));",
    ),
    (  # an element dropped
        "jhat",
        "return item.part(Arrays.copyOf(bytes.array(), bytes.position()));",
        "return item.part(Arrays.copyOf(bytes.array(), bytes.position() == 64 && type == 10 ? 60 : bytes.position()));",
    ),
    (  # a static field skipped
        "openjdk-test",
        "for (JavaStatic each : one.getStatics()) {",
        'for (JavaStatic each : one.getStatics()) { if (each.getField().getName().equals("MAX_VALUE")) continue;',
    ),
    ("shark-stream", "roots++;", "if (tag != HprofRecordTag.ROOT_THREAD_OBJECT) roots++;"),
    ("shark-stream", "kinds.merge(tag, 1L, Long::sum);", "kinds.merge(HprofRecordTag.ROOT_JNI_GLOBAL, 1L, Long::sum);"),
    ("shark-stream", ".text(text)", ".text(text.length() > 60 ? text.substring(0, 60) : text)"),
    (  # NaN made canonical
        "haha-mat",
        "bytes.put(Item.value(Array.get(elements, i)));",
        "Object each = Array.get(elements, i); "
        "bytes.put(Item.value(each instanceof Float && ((Float) each).isNaN() ? Float.NaN : each));",
    ),
    (
        "haha-perflib",
        ": item.part(Item.value(value));",
        ": item.part(Item.value(value instanceof Float && ((Float) value).isNaN() ? Float.NaN : value));",
    ),
    ("jol", "number(id).number(classId)", "number(id).number(0)"),
    ("jol", "type(code).part(elements)", "type(code).part(new byte[elements.length])"),
]

pytestmark = pytest.mark.skipif(not BUILD, reason="HPROF_REPAIRED names no folder: ci/full builds readers")


@pytest.mark.parametrize(("name", "right", "wrong"), PLANTED)
def test_a_planted_loss_is_reported(name: str, right: str, wrong: str, tmp_path: Path) -> None:
    (reader,) = (one for one in readers.read_readers(ROOT) if one.name == name)
    sources = [*reader.folder.glob("*.java"), *(reader.folder / source for source in reader.sources)]
    assert any(right in path.read_text(encoding="utf-8") for path in sources)
    chosen = cases.read_cases(ROOT, tmp_path / "truth", DUMPS)
    fed = matrix.Cases(chosen, needs=cases.needs(ROOT))
    planted = replace(reader, replace={**reader.replace, right: wrong})
    row = matrix.run_reader(ROOT, Path(BUILD).resolve() / "planted", planted, fed, Limits(), lambda words: None)
    expected = expectations.read(ROOT / main.EXPECTATIONS / f"{name}.toml")
    seen = {cell.case.name: main.seen(cell) for cell in row.cells}
    found = expectations.compare(expected, seen, {*DUMPS}, complete=False)
    assert row.why_not.startswith("calibration") or found, seen
