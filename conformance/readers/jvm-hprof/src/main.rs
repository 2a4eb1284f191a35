//! Reads a dump with the crate jvm-hprof and prints what it found: counts and digests, PROTOCOL.md 1.

use jvm_hprof::heap_dump::{PrimitiveArray, SubRecord};
use jvm_hprof::{Id, IdSize, RecordTag};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::collections::HashSet;

struct Item(Sha256);

impl Item {
    fn new(word: &str) -> Item {
        Item(Sha256::new()).part(word.as_bytes())
    }

    fn part(mut self, bytes: &[u8]) -> Item {
        self.0.update((bytes.len() as u32).to_be_bytes());
        self.0.update(bytes);
        self
    }

    fn number(self, value: u64) -> Item {
        self.part(&value.to_be_bytes())
    }

    fn id(self, id: Option<Id>) -> Item {
        self.number(id.map_or(0, |id| id.id()))
    }

    fn hash(self) -> u128 {
        u128::from_be_bytes(self.0.finalize()[..16].try_into().unwrap())
    }
}

#[derive(Default)]
struct Found {
    counts: BTreeMap<&'static str, u64>,
    digests: BTreeMap<&'static str, (u64, u128)>,
}

impl Found {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn add(&mut self, entry: &'static str, item: Item) {
        let (count, sum) = self.digests.entry(entry).or_default();
        *count += 1;
        *sum = sum.wrapping_add(item.hash());
    }
}

/// A fault that the crate reports, as its iterators do.
fn fail<E: std::fmt::Debug>(error: E) -> ! {
    let words = format!("{error:?}");
    eprintln!("{}", words.chars().take(200).collect::<String>());
    std::process::exit(1)
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
            found.count("classes");
            let item = Item::new("loader").number(class.obj_id().id());
            found.add("loaders", item.id(class.class_loader_obj_id()));
        }
        SubRecord::Instance(instance) => {
            found.count("instances");
            let item = Item::new("instance bytes").number(instance.obj_id().id()).number(instance.class_obj_id().id());
            found.add("instance_bytes", item.part(instance.fields()));
        }
        SubRecord::ObjectArray(array) => {
            found.count("object_arrays");
            let mut ids = Vec::new();
            for element in array.elements(id_size) {
                let id = element.unwrap_or_else(|e| fail(e));
                ids.extend_from_slice(&id.map_or(0, |id| id.id()).to_be_bytes());
            }
            let item = Item::new("object array").number(array.obj_id().id()).number(array.array_class_obj_id().id());
            found.add("object_arrays", item.part(&ids));
        }
        SubRecord::PrimitiveArray(array) => {
            found.count("primitive_arrays");
            let item = Item::new("primitive array").number(array.obj_id().id()).part(&[array.primitive_type().type_code()]);
            found.add("primitive_arrays", item.part(&elements(&array)));
        }
        _ => found.count("roots"),
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
            _ => {}
        }
    }
    found.counts.insert("strings", strings.len() as u64);
    let digests: BTreeMap<_, _> = found
        .digests
        .iter()
        .map(|(entry, (count, sum))| (entry, serde_json::json!({"count": count, "sum": format!("{sum:032x}")})))
        .collect();
    println!("{}", serde_json::json!({"counts": found.counts, "digests": digests}));
}
