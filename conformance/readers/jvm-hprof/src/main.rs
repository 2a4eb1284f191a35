//! Reads a dump with the crate jvm-hprof and prints what it found: counts and digests, PROTOCOL.md 1.

#[path = "../../rust/found.rs"]
mod found;

use found::{class_name, refuse, Fault, Found, Item};
use jvm_hprof::heap_dump::{Class, FieldType, FieldValue, Instance, PrimitiveArray, SubRecord};
use jvm_hprof::{Id, IdSize, Record, RecordTag};
use std::collections::HashMap;

fn number(id: Option<Id>) -> u64 {
    id.map_or(0, |id| id.id())
}

fn elements(array: &PrimitiveArray) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    macro_rules! take {
        ($values:expr, $value:ident, $encoded:expr) => {
            if let Some(values) = $values {
                for each in values {
                    let $value = each?;
                    bytes.extend_from_slice(&$encoded);
                }
            }
        };
    }
    take!(array.booleans(), value, [value as u8]);
    take!(array.chars(), value, value.to_be_bytes());
    take!(array.floats(), value, value.to_bits().to_be_bytes());
    take!(array.doubles(), value, value.to_bits().to_be_bytes());
    take!(array.bytes(), value, value.to_be_bytes());
    take!(array.shorts(), value, value.to_be_bytes());
    take!(array.ints(), value, value.to_be_bytes());
    take!(array.longs(), value, value.to_be_bytes());
    Ok(bytes)
}

/// The text of a string, whose bytes the crate gives: UTF-8, with U+0000 in two bytes and surrogates in three each.
fn units(mut bytes: &[u8]) -> Vec<u16> {
    let mut found = Vec::new();
    while let Some(&lead) = bytes.first() {
        let width = match lead {
            0..=0x7f => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        match bytes {
            [0xc0, 0x80, ..] => found.push(0),
            [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
                found.push(0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f));
            }
            _ => match bytes.get(..width).map(std::str::from_utf8) {
                Some(Ok(text)) => found.extend(text.encode_utf16()),
                _ => return vec![0xfffd],
            },
        }
        bytes = &bytes[width..];
    }
    found
}

fn code(of: FieldType) -> u8 {
    match of {
        FieldType::ObjectId => 2,
        FieldType::Boolean => 4,
        FieldType::Char => 5,
        FieldType::Float => 6,
        FieldType::Double => 7,
        FieldType::Byte => 8,
        FieldType::Short => 9,
        FieldType::Int => 10,
        FieldType::Long => 11,
    }
}

fn value(of: FieldValue) -> Vec<u8> {
    match of {
        FieldValue::ObjectId(id) => number(id).to_be_bytes().to_vec(),
        FieldValue::Boolean(value) => vec![value as u8],
        FieldValue::Char(value) => value.to_be_bytes().to_vec(),
        FieldValue::Float(value) => value.to_bits().to_be_bytes().to_vec(),
        FieldValue::Double(value) => value.to_bits().to_be_bytes().to_vec(),
        FieldValue::Byte(value) => value.to_be_bytes().to_vec(),
        FieldValue::Short(value) => value.to_be_bytes().to_vec(),
        FieldValue::Int(value) => value.to_be_bytes().to_vec(),
        FieldValue::Long(value) => value.to_be_bytes().to_vec(),
    }
}

/// What the records before and after a class name.
#[derive(Default)]
struct Names {
    strings: HashMap<u64, Vec<u16>>,
    of_classes: HashMap<u64, u64>,
}

impl Names {
    fn of(&self, id: Id) -> &[u16] {
        self.strings.get(&id.id()).map_or(&[], Vec::as_slice)
    }

    fn of_class(&self, class: &Class) -> Vec<u16> {
        let name = self.of_classes.get(&class.obj_id().id()).and_then(|id| self.strings.get(id));
        class_name(name.map_or(&[], Vec::as_slice))
    }
}

fn describe(found: &mut Found, class: &Class, names: &Names) {
    let id = class.obj_id().id();
    found.add("classes", || {
        let mut item = Item::new("class")
            .number(id)
            .text(&names.of_class(class))
            .number(number(class.super_class_obj_id()));
        for each in class.instance_field_descriptors() {
            let field = each?;
            item = item.text(names.of(field.name_id())).part(&[code(field.field_type())]);
        }
        Ok(item)
    });
    found.add("loaders", || {
        Ok(Item::new("loader").number(id).number(number(class.class_loader_obj_id())))
    });
    let statics = found.call("statics", || {
        let mut items = Vec::new();
        for each in class.static_fields() {
            let field = each?;
            let item = Item::new("static")
                .number(id)
                .text(names.of(field.name_id()))
                .part(&[code(field.field_type())]);
            items.push(item.part(&value(field.value())));
        }
        Ok(items)
    });
    for item in statics.into_iter().flatten() {
        found.add("statics", || Ok(item));
    }
}

/// The item that begins as given, with the fields; none if the classes, or the bytes, are not as they should be.
fn decoded(
    mut item: Item,
    one: &Instance,
    classes: &HashMap<u64, &Class>,
    names: &Names,
    id_size: IdSize,
) -> Result<Option<Item>, Fault> {
    let mut left: &[u8] = one.fields();
    let mut class = number(Some(one.class_obj_id()));
    for _ in 0..=classes.len() {
        if class == 0 {
            return Ok(left.is_empty().then_some(item));
        }
        let Some(declaring) = classes.get(&class) else {
            return Ok(None);
        };
        for each in declaring.instance_field_descriptors() {
            let field = each?;
            let Ok((rest, given)) = field.field_type().parse_value(left, id_size) else {
                return Ok(None);
            };
            left = rest;
            item = item
                .number(class)
                .text(names.of(field.name_id()))
                .part(&[code(field.field_type())])
                .part(&value(given));
        }
        class = number(declaring.super_class_obj_id());
    }
    Ok(None) // a circle
}

fn identified(word: &str, one: &Instance) -> Item {
    Item::new(word).number(one.obj_id().id()).number(one.class_obj_id().id())
}

/// Its kind and its object.
fn root(one: &SubRecord) -> Option<(&'static str, u64)> {
    Some(match one {
        SubRecord::GcRootUnknown(root) => ("ROOT_UNKNOWN", root.obj_id().id()),
        SubRecord::GcRootJniGlobal(root) => ("ROOT_JNI_GLOBAL", root.obj_id().id()),
        SubRecord::GcRootJniLocalRef(root) => ("ROOT_JNI_LOCAL", root.obj_id().id()),
        SubRecord::GcRootJavaStackFrame(root) => ("ROOT_JAVA_FRAME", root.obj_id().id()),
        SubRecord::GcRootNativeStack(root) => ("ROOT_NATIVE_STACK", root.obj_id().id()),
        SubRecord::GcRootSystemClass(root) => ("ROOT_STICKY_CLASS", root.obj_id().id()),
        SubRecord::GcRootThreadBlock(root) => ("ROOT_THREAD_BLOCK", root.obj_id().id()),
        SubRecord::GcRootBusyMonitor(root) => ("ROOT_MONITOR_USED", root.obj_id().id()),
        SubRecord::GcRootThreadObj(root) => ("ROOT_THREAD_OBJECT", number(root.thread_obj_id())),
        _ => return None,
    })
}

/// What a heap dump has and can only be described when all names and classes are known.
#[derive(Default)]
struct Heap<'a> {
    classes: Vec<Class<'a>>,
    instances: Vec<Instance<'a>>,
}

fn sub_record<'a>(found: &mut Found, heap: &mut Heap<'a>, one: SubRecord<'a>, id_size: IdSize) {
    if let Some((kind, object)) = root(&one) {
        found.count("roots", 1);
        found.count(kind, 1);
        if object != 0 {
            found.add("roots", || Ok(Item::new("root").part(kind.as_bytes()).number(object)));
        }
    }
    match one {
        SubRecord::Class(class) => {
            found.count("classes", 1);
            heap.classes.push(class);
        }
        SubRecord::Instance(instance) => {
            found.count("instances", 1);
            found.add("instance_bytes", || {
                Ok(identified("instance bytes", &instance).part(instance.fields()))
            });
            heap.instances.push(instance);
        }
        SubRecord::ObjectArray(array) => {
            found.count("object_arrays", 1);
            found.add("object_arrays", || {
                let mut ids = Vec::new();
                for element in array.elements(id_size) {
                    ids.extend_from_slice(&number(element?).to_be_bytes());
                }
                let item = Item::new("object array")
                    .number(array.obj_id().id())
                    .number(array.array_class_obj_id().id());
                Ok(item.part(&ids))
            });
        }
        SubRecord::PrimitiveArray(array) => {
            found.count("primitive_arrays", 1);
            found.add("primitive_arrays", || {
                let item = Item::new("primitive array")
                    .number(array.obj_id().id())
                    .part(&[array.primitive_type().type_code()]);
                Ok(item.part(&elements(&array)?))
            });
        }
        _ => {}
    }
}

fn segment<'a>(found: &mut Found, heap: &mut Heap<'a>, record: &Record<'a>, id_size: IdSize) {
    let segment = record.as_heap_dump_segment().unwrap().unwrap_or_else(|e| refuse(e));
    for one in segment.sub_records() {
        sub_record(found, heap, one.unwrap_or_else(|e| refuse(e)), id_size);
    }
}

fn describe_all(found: &mut Found, heap: &Heap, names: &Names, id_size: IdSize) {
    let mut classes = HashMap::new();
    for class in &heap.classes {
        describe(found, class, names);
        classes.entry(class.obj_id().id()).or_insert(class);
    }
    for each in &heap.instances {
        found.add("instances", || {
            match decoded(identified("instance", each), each, &classes, names, id_size)? {
                Some(item) => Ok(item),
                None => Ok(identified("instance", each).part(b"undecoded").part(each.fields())),
            }
        });
    }
}

fn main() {
    let file = std::env::args().nth(1).expect("a dump");
    let bytes = std::fs::read(file).unwrap_or_else(|e| refuse(e));
    let dump = jvm_hprof::parse_hprof(&bytes).unwrap_or_else(|e| refuse(e));
    let id_size = dump.header().id_size();
    let mut found = Found::new();
    let mut names = Names::default();
    let mut heaps = vec![Heap::default()];
    for each in dump.records_iter() {
        let record = each.unwrap_or_else(|e| refuse(e));
        match record.tag() {
            RecordTag::Utf8 => {
                if let Some(text) = found.call("strings", || Ok(record.as_utf_8().unwrap()?)) {
                    names.strings.entry(text.name_id().id()).or_insert_with(|| units(text.text()));
                }
            }
            RecordTag::LoadClass => {
                if let Some(class) = found.call("classes", || Ok(record.as_load_class().unwrap()?)) {
                    names.of_classes.insert(class.class_obj_id().id(), class.class_name_id().id());
                    // an ID may be reused
                }
            }
            RecordTag::HeapDump => {
                heaps.push(Heap::default());
                segment(&mut found, heaps.last_mut().unwrap(), &record, id_size);
                heaps.push(Heap::default());
            }
            RecordTag::HeapDumpSegment => segment(&mut found, heaps.last_mut().unwrap(), &record, id_size),
            RecordTag::HeapDumpEnd => {
                found.count("ends", 1);
                heaps.push(Heap::default());
            }
            _ => {}
        }
    }
    for heap in &heaps {
        describe_all(&mut found, heap, &names, id_size);
    }
    found.count("strings", names.strings.len() as u64);
    for (id, text) in &names.strings {
        found.add("strings", || Ok(Item::new("string").number(*id).text(text)));
    }
    found.print();
}
