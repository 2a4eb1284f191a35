//! Reads a dump with the crate hprof-analyzer and prints what it found: counts and digests, PROTOCOL.md 1. Its first pass has names,
//! classes and where each object is; `objread`, of the feature `native`, reads the object there, its values as JSON.

#[path = "../../rust/found.rs"]
mod found;
mod input;

use found::{class_name, refuse, Fault, Found, Item};
use hprof_analyzer::objread::{read_array_via, read_instance_via, FieldValue};
use hprof_analyzer::types::{heap, HprofType};
use hprof_analyzer::{HprofSource, Pass1};
use input::Input;
use std::io::Read;

const INSTANCE: u8 = 0; // of Pass1::kind
const OBJECT_ARRAY: u8 = 1;
const PRIMITIVE_ARRAY: u8 = 2;
const CLASS: u8 = 3;
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

/// The bytes of a value: none if the reader gives an empty text for a character, or null for a primitive value.
fn value(of: HprofType, given: &FieldValue) -> Result<Vec<u8>, Fault> {
    let json = match given {
        FieldValue::Ref(id) => return Ok(id.to_be_bytes().to_vec()),
        FieldValue::Null if of == HprofType::Object => return Ok(vec![0; 8]),
        FieldValue::Null => return Ok(vec![]),
        FieldValue::Prim(json) => json,
    };
    let text = || json.as_str().ok_or("no text");
    let whole = || json.as_i64().ok_or("no whole number");
    let decimal = || match json.as_f64() {
        Some(number) => Ok(number),
        None => text()?.parse::<f64>().map_err(Fault::from), // NaN and infinity
    };
    Ok(match of {
        HprofType::Object => return Err("an object as JSON".into()),
        HprofType::Boolean => vec![json.as_bool().ok_or("no boolean")? as u8],
        HprofType::Char => units(text()?).iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        HprofType::Float => (decimal()? as f32).to_bits().to_be_bytes().to_vec(),
        HprofType::Double => decimal()?.to_bits().to_be_bytes().to_vec(),
        HprofType::Byte => (whole()? as i8).to_be_bytes().to_vec(),
        HprofType::Short => (whole()? as i16).to_be_bytes().to_vec(),
        HprofType::Int => (whole()? as i32).to_be_bytes().to_vec(),
        HprofType::Long => whole()?.to_be_bytes().to_vec(),
    })
}

fn elements(of: HprofType, given: &[FieldValue]) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    for each in given {
        bytes.extend(value(of, each)?);
    }
    Ok(bytes)
}

/// The fields are those of the class first, then those of its superclass, and so on.
fn instance(dump: &Pass1, input: &mut dyn Read, offset: u64) -> Result<Item, Fault> {
    let (id, class, fields) =
        read_instance_via(input, offset, &dump.class_map, &dump.strings, dump.id_size.into())?.ok_or("no instance")?;
    let mut item = Item::new("instance").number(id).number(class);
    let mut declaring = class;
    let mut left = fields.iter();
    while left.len() > 0 {
        let of = dump.class_map.get(&declaring).ok_or("a field of no class")?;
        for ((name, _), each) in of.fields.iter().zip(left.by_ref()) {
            let named = if dump.strings.contains_key(name) {
                units(&each.name)
            } else {
                vec![]
            };
            item = item
                .number(declaring)
                .text(&named)
                .part(&[code(each.ty)])
                .part(&value(each.ty, &each.value)?);
        }
        declaring = of.super_id;
    }
    Ok(item)
}

fn array(dump: &Pass1, input: &mut dyn Read, offset: u64) -> Result<Item, Fault> {
    let array = read_array_via(input, offset, dump.id_size.into(), 0, usize::MAX)?.ok_or("no array")?;
    let item = match array.elem_ty {
        None => Item::new("object array").number(array.addr).number(array.elem_class_addr),
        Some(of) => Item::new("primitive array").number(array.addr).part(&[code(of)]),
    };
    Ok(item.part(&elements(array.elem_ty.unwrap_or(HprofType::Object), &array.values)?))
}

fn objects(
    found: &mut Found,
    entry: &'static str,
    kind: u8,
    dump: &Pass1,
    file: &str,
    describe: fn(&Pass1, &mut dyn Read, u64) -> Result<Item, Fault>,
) {
    let Some(mut from) = found.call(entry, || Ok(HprofSource::Path(file.into()).open()?)) else {
        return;
    };
    let of_kind = dump.kind.iter().zip(&dump.hprof_offsets).filter(|(of, _)| **of == kind);
    let mut offsets: Vec<u64> = of_kind.map(|(_, offset)| *offset).collect();
    offsets.sort_unstable();
    for offset in offsets {
        found.add(entry, || {
            from.skip(offset.checked_sub(from.bytes_consumed()).ok_or("records overlap")?)?;
            describe(dump, &mut Input(|number| from.read_bytes(number)), offset)
        });
    }
}

fn main() {
    let file = std::env::args().nth(1).expect("a dump");
    let dump = Pass1::run(&HprofSource::Path(file.clone()), true).unwrap_or_else(|e| refuse(e));
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
    objects(&mut found, "instances", INSTANCE, &dump, &file, instance);
    objects(&mut found, "object_arrays", OBJECT_ARRAY, &dump, &file, array);
    objects(&mut found, "primitive_arrays", PRIMITIVE_ARRAY, &dump, &file, array);
    if dump.truncated_input {
        found.notices.push("truncated input");
    }
    found.print();
}
