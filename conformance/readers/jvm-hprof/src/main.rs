//! Reads a dump with the crate jvm-hprof and prints what it found: counts and digests, PROTOCOL.md 1.

#[path = "../../rust/found.rs"]
mod found;

use found::{Found, Item, fail};
use jvm_hprof::heap_dump::{PrimitiveArray, SubRecord};
use jvm_hprof::{Id, IdSize, RecordTag};
use std::collections::HashSet;

fn number(id: Option<Id>) -> u64 {
    id.map_or(0, |id| id.id())
}

fn elements(array: &PrimitiveArray) -> Vec<u8> {
    let mut bytes = Vec::new();
    macro_rules! take {
        ($values:expr, $value:ident, $encoded:expr) => {
            if let Some(values) = $values {
                for each in values {
                    let $value = each.unwrap_or_else(|e| fail(e));
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
    bytes
}

fn sub_record(found: &mut Found, one: SubRecord, id_size: IdSize) {
    match one {
        SubRecord::Class(class) => {
            found.count("classes", 1);
            let item = Item::new("loader").number(class.obj_id().id());
            found.add("loaders", item.number(number(class.class_loader_obj_id())));
        }
        SubRecord::Instance(instance) => {
            found.count("instances", 1);
            let item = Item::new("instance bytes").number(instance.obj_id().id()).number(instance.class_obj_id().id());
            found.add("instance_bytes", item.part(instance.fields()));
        }
        SubRecord::ObjectArray(array) => {
            found.count("object_arrays", 1);
            let mut ids = Vec::new();
            for element in array.elements(id_size) {
                let id = element.unwrap_or_else(|e| fail(e));
                ids.extend_from_slice(&number(id).to_be_bytes());
            }
            let item = Item::new("object array").number(array.obj_id().id()).number(array.array_class_obj_id().id());
            found.add("object_arrays", item.part(&ids));
        }
        SubRecord::PrimitiveArray(array) => {
            found.count("primitive_arrays", 1);
            let item = Item::new("primitive array").number(array.obj_id().id()).part(&[array.primitive_type().type_code()]);
            found.add("primitive_arrays", item.part(&elements(&array)));
        }
        _ => found.count("roots", 1),
    }
}

fn main() {
    let file = std::env::args().nth(1).expect("a dump");
    let bytes = std::fs::read(file).unwrap_or_else(|e| fail(e));
    let dump = jvm_hprof::parse_hprof(&bytes).unwrap_or_else(|e| fail(e));
    let id_size = dump.header().id_size();
    let mut found = Found::default();
    let mut strings = HashSet::new();
    for each in dump.records_iter() {
        let record = each.unwrap_or_else(|e| fail(e));
        match record.tag() {
            RecordTag::Utf8 => {
                let text = record.as_utf_8().unwrap().unwrap_or_else(|e| fail(e));
                strings.insert(text.name_id());
            }
            RecordTag::HeapDump | RecordTag::HeapDumpSegment => {
                let segment = record.as_heap_dump_segment().unwrap().unwrap_or_else(|e| fail(e));
                for one in segment.sub_records() {
                    sub_record(&mut found, one.unwrap_or_else(|e| fail(e)), id_size);
                }
            }
            RecordTag::HeapDumpEnd => found.count("ends", 1),
            _ => {}
        }
    }
    found.count("strings", strings.len() as u64);
    found.print();
}
