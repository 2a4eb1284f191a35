"""Each adapter of a reader with digests, with losses planted in its source: the matrix reports them on a real dump.

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
DUMPS = [
    "gold/jdk17",
    "gold/agent8-odd-nan",  # HotSpot has made each NaN canonical, the agent has not
    "gold/jdk17-odd-extremes",  # with negative and large values of each type
]
PLANTED = [  # the reader; what is in its sources; what replaces it
    ("visualvm", "elements.write(Item.value(idOf((Instance) each)));", "elements.write(Item.value(0L));"),
    ("visualvm", "idOf(((ObjectFieldValue) value).getInstance())", "0"),
    ("netbeans", "elements.write(bytes(each, type));", "elements.write(new byte[bytes(each, type).length]);"),
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
    ("shark-graph", "bytes.putShort(one);", "bytes.putShort((short) (one & 0x7fff));"),  # signs and high bits
    ("shark-graph", "Double.doubleToRawLongBits(one)", "Double.doubleToRawLongBits(Math.abs(one))"),
    ("shark-graph", "bytes.putLong(one);", "bytes.putLong(one << 8 >> 8);"),
    ("haha-perflib", ": item.part(Item.value(value));", ": item.part(Item.value(value instanceof Short ? (short) 0 : value));"),
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
    ("shark-stream", "roots++;", "if (kind != HprofRecordTag.ROOT_THREAD_OBJECT) roots++;"),
    ("shark-stream", "kinds.merge(kind, 1L, Long::sum);", "kinds.merge(HprofRecordTag.ROOT_JNI_GLOBAL, 1L, Long::sum);"),
    ("visualvm", "found.merge(kind, 1L, Long::sum);", 'found.merge("ROOT_STICKY_CLASS", 1L, Long::sum);'),
    (  # one kind of roots
        "netbeans",
        "for (Object one : heap.getGCRoots()) {",
        'for (Object one : heap.getGCRoots()) { if (((GCRoot) one).getKind().equals("Java frame")) continue;',
    ),
    ("haha-perflib", "roots.merge(", "if (one.getRootType() != RootType.JAVA_LOCAL) roots.merge("),
    ("shark-graph", "String kind = kind(root);", 'String kind = kind(root).replace("JNI_LOCAL", "JNI_GLOBAL");'),
    # A root of another object, or of none.
    ("shark-graph", "root.getId() & mask", "graph.getGcRoots().get(0).getId() & mask"),
    ("shark-stream", "one.getId() & mask));\n        }", "(roots == 100 ? one.getId() + 8 : one.getId()) & mask));\n        }"),
    (
        "visualvm",
        "idOf(((GCRoot) one).getInstance())",
        '(kind.equals("ROOT_MONITOR_USED") ? 0 : idOf(((GCRoot) one).getInstance()))',
    ),
    ("netbeans", "idOf(((GCRoot) one).getInstance())", "(found.size() == 1 ? 8 : idOf(((GCRoot) one).getInstance()))"),
    ("jhat", "idOf(snapshot.findThing(one.getId()))", "idOf(snapshot.findThing(kind == 2 ? 0 : one.getId()))"),
    ("haha-perflib", "findInstance(one.getId())", "findInstance(one.getId() & ~8L)"),
    ("jhat", "counts[one.getType()]++;", "counts[Math.max(one.getType(), 4)]++;"),
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
    # Of the crates; Cargo builds what they depend on once.
    ("hprof-analyzer", ".number(class.super_id)", ".number(0)"),
    ("hprof-analyzer", ".number(class.loader_id)", ".number(0)"),
    ("hprof-analyzer", "HprofType::Short => 9", "HprofType::Short => 8"),
    ("hprof-analyzer", "for (name, of) in &class.fields {", "for (name, of) in class.fields.iter().rev() {"),
    ("hprof-analyzer", "for (id, each) in &dump.strings {", "for (id, each) in dump.strings.iter().skip(1) {"),
    ("hprof-analyzer", '(heap::ROOT_MONITOR_USED, "ROOT_MONITOR_USED")', '(heap::ROOT_STICKY_CLASS, "ROOT_MONITOR_USED")'),
    ("hprof-analyzer", "dump.gc_root_tag_counts.values().sum()", "dump.gc_root_addrs.len() as u64"),
    ("hprof-analyzer", ".number(declaring)", ".number(class)"),
    ("hprof-analyzer", "(whole()? as i16)", "(whole()?.abs() as i16)"),
    ("hprof-analyzer", "bytes.extend(value(of, each)?);", "bytes.extend(vec![0; value(of, each)?.len()]);"),
    (  # one letter of a class name
        "hprof-analyzer",
        "if each == unit('.') { unit('/') } else { each }",
        "if each == unit('.') { unit('/') } else if each == unit('$') { unit('_') } else { each }",
    ),
    ("jvm-hprof", "take!(array.longs(), value, value.to_be_bytes());", "take!(array.longs(), value, (value * 0).to_be_bytes());"),
    (  # one element of one array
        "jvm-hprof",
        "take!(array.ints(), value, value.to_be_bytes());",
        "take!(array.ints(), value, (if bytes.len() == 400 { 0 } else { value }).to_be_bytes());",
    ),
    (  # the sign of a byte
        "jvm-hprof",
        "take!(array.bytes(), value, value.to_be_bytes());",
        "take!(array.bytes(), value, (value & 0x7f).to_be_bytes());",
    ),
    ("jvm-hprof", "FieldValue::Double(value) => value.to_bits()", "FieldValue::Double(value) => (value as f32 as f64).to_bits()"),
    ("jvm-hprof", "FieldValue::Short(value) => value.to_be_bytes()", "FieldValue::Short(value) => (value & 0xff).to_be_bytes()"),
    (  # a reference of an object array
        "jvm-hprof",
        "ids.extend_from_slice(&number(element?).to_be_bytes());",
        "let id = number(element?); ids.extend_from_slice(&(if ids.len() == 80 { 0 } else { id }).to_be_bytes());",
    ),
    ("jvm-hprof", "for each in class.static_fields() {", "for each in class.static_fields().skip(1) {"),  # of each class
    (  # one object, which is still counted
        "jvm-hprof",
        "heap.instances.push(instance);",
        "if heap.instances.len() != 1000 || heap.classes.len() % 2 == 1 { heap.instances.push(instance); }",
    ),
    ("jvm-hprof", "&instance).part(instance.fields())", "&instance).part(&instance.fields()[..instance.fields().len() / 8 * 8])"),
    ("shark-graph", "one.readRecord().getFieldValues()", "new byte[one.readRecord().getFieldValues().length]"),
    ("jvm-hprof", 'GcRootJavaStackFrame(root) => ("ROOT_JAVA_FRAME"', 'GcRootJavaStackFrame(root) => ("ROOT_JNI_LOCAL"'),
    ("jvm-hprof", '("ROOT_JNI_GLOBAL", root.obj_id().id())', '("ROOT_JNI_GLOBAL", root.obj_id().id() & !8)'),
    ("jvm-hprof", "found.count(kind, 1);", 'if kind != "ROOT_JNI_GLOBAL" { found.count(kind, 1); }'),
    ("jvm-hprof", "[0xc0, 0x80, ..] => found.push(0)", "[0xc0, 0x80, ..] => {}"),
    ("eclipse-mat", "ids.putLong(element);", "ids.putLong(elements.length == 13 ? 0 : element);"),
    ("eclipse-mat", "number(one.getClassLoaderAddress())", "number(0)"),
    (  # one object left out
        "eclipse-mat",
        'count(answer, "object_arrays", 1);',
        'count(answer, "object_arrays", 1); if (answer.counts.get("object_arrays") == 100) return;',
    ),
    (  # the last static field of each class
        "eclipse-mat",
        "for (Field field : one.getStaticFields()) {",
        "Field[] some = one.getStaticFields().toArray(new Field[0]); "
        "for (Field field : Arrays.copyOf(some, Math.max(some.length - 1, 0))) {",
    ),
    (  # shadowed fields, by name
        "eclipse-mat",
        "value(item.number(declaring.getObjectAddress()), fields.get(next));",
        "value(item.number(declaring.getObjectAddress()), one.getField(fields.get(next).getName()));",
    ),
    (  # NaN made canonical
        "eclipse-mat",
        "return item.part(Item.value(value));",
        "return item.part(Item.value(value instanceof Double && ((Double) value).isNaN() ? Double.NaN : value));",
    ),
]


def _reader(name: str) -> readers.Reader:
    return next(one for one in readers.read_readers(ROOT) if one.name == name)


@pytest.mark.parametrize("name", sorted({name for name, _, _ in PLANTED}))
def test_what_is_replaced_is_in_the_sources(name: str) -> None:
    """Needs no reader: whoever changes an adapter sees which losses are no longer planted."""
    reader = _reader(name)
    sources = [*reader.folder.glob("*.java"), *(reader.folder / source for source in reader.sources)]
    sources += [*reader.folder.glob("src/*.rs"), *(ROOT / "conformance" / "readers" / "rust").glob("*.rs")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    gone = [right for one, right, _ in PLANTED if one == name and not any(right in text for text in texts)]
    assert not gone


@pytest.mark.skipif(not BUILD, reason="HPROF_REPAIRED names no folder: ci/full builds readers")
@pytest.mark.parametrize(("name", "right", "wrong"), PLANTED)
def test_a_planted_loss_is_reported(name: str, right: str, wrong: str, tmp_path: Path) -> None:
    reader = _reader(name)
    if reader.installed and not os.environ.get(reader.installed):
        pytest.skip(f"{reader.installed} names no folder")
    chosen = cases.read_cases(ROOT, tmp_path / "truth", DUMPS)
    fed = matrix.Cases(chosen, needs=cases.needs(ROOT))
    planted = replace(reader, replace={**reader.replace, right: wrong})
    row = matrix.run_reader(ROOT, Path(BUILD).resolve() / "planted", planted, fed, Limits())
    expected = expectations.read(ROOT / main.EXPECTATIONS / f"{name}.toml")
    seen = {cell.case.name: main.seen(cell) for cell in row.cells}
    found = expectations.compare(expected, seen, {*DUMPS}, complete=False)
    assert row.why_not.startswith("calibration") or found, seen
