//! Reads a dump with the crate hprof-analyzer and prints what its first pass found: counts and digests, PROTOCOL.md 1. What later
//! passes decode of objects goes into their report alone. `objread`, of the feature `native`, shows one object, its values as JSON for
//! display; it is not asked.

#[path = "../../rust/found.rs"]
mod found;

use found::{class_name, refuse, Found, Item};
use hprof_analyzer::types::{heap, HprofType};
use hprof_analyzer::{HprofSource, Pass1};

const CLASS: u8 = 3; // of Pass1::kind
const ROOTS: [(u8, &str); 13] = [
    (heap::ROOT_UNKNOWN, "ROOT_UNKNOWN"),
    (heap::ROOT_JNI_GLOBAL, "ROOT_JNI_GLOBAL"),
    (heap::ROOT_JNI_LOCAL, "ROOT_JNI_LOCAL"),
    (heap::ROOT_JAVA_FRAME, "ROOT_JAVA_FRAME"),
    (heap::ROOT_NATIVE_STACK, "ROOT_NATIVE_STACK"),
    (heap::ROOT_STICKY_CLASS, "ROOT_STICKY_CLASS"),
    (heap::ROOT_THREAD_BLOCK, "ROOT_THREAD_BLOCK"),
    (heap::ROOT_MONITOR_USED, "ROOT_MONITOR_USED"),
    (heap::ROOT_THREAD_OBJ, "ROOT_THREAD_OBJECT"),
    (heap::ROOT_INTERNED_STRING, "ROOT_INTERNED_STRING"),
    (heap::ROOT_DEBUGGER, "ROOT_DEBUGGER"),
    (heap::ROOT_VM_INTERNAL, "ROOT_VM_INTERNAL"),
    (heap::ROOT_JNI_MONITOR, "ROOT_JNI_MONITOR"),
];

fn code(of: HprofType) -> u8 {
    match of {
        HprofType::Object => 2,
        HprofType::Boolean => 4,
        HprofType::Char => 5,
        HprofType::Float => 6,
        HprofType::Double => 7,
        HprofType::Byte => 8,
        HprofType::Short => 9,
        HprofType::Int => 10,
        HprofType::Long => 11,
    }
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn main() {
    let file = std::env::args().nth(1).expect("a dump");
    let dump = Pass1::run(&HprofSource::Path(file), false).unwrap_or_else(|e| refuse(e));
    let mut found = Found::new();
    found.count("strings", dump.strings.len() as u64);
    found.count("classes", dump.class_dump_count);
    found.count("instances", dump.instance_count);
    found.count("object_arrays", dump.obj_array_count);
    found.count("primitive_arrays", dump.prim_array_count);
    found.count("roots", dump.gc_root_tag_counts.values().sum());
    for (tag, kind) in ROOTS {
        found.count(kind, *dump.gc_root_tag_counts.get(&tag).unwrap_or(&0));
    }
    for (id, each) in &dump.strings {
        found.add("strings", || Ok(Item::new("string").number(*id).text(&units(each))));
    }
    let word = |id: &u64| units(dump.strings.get(id).map_or("", String::as_str));
    for (id, class) in &dump.class_map {
        if dump.id_map.index_of(*id).is_none_or(|at| dump.kind[at] != CLASS) {
            continue; // loaded and not dumped
        }
        found.add("classes", || {
            let name = class_name(&word(&class.name_id));
            let mut item = Item::new("class").number(*id).text(&name).number(class.super_id);
            for (name, of) in &class.fields {
                item = item.text(&word(name)).part(&[code(*of)]);
            }
            Ok(item)
        });
        found.add("loaders", || Ok(Item::new("loader").number(*id).number(class.loader_id)));
    }
    if dump.truncated_input {
        found.notices.push("truncated input");
    }
    found.print();
}
