//! Prints what the crate hprof-analyzer found, its first pass and its `objread`: conformance/findings/show.

mod input;

use hprof_analyzer::objread::{read_array_via, read_instance_via, FieldValue};
use hprof_analyzer::{HprofSource, Pass1};
use input::Input;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Read;

fn ascii(text: &str) -> String {
    text.encode_utf16()
        .map(|unit| {
            if (32..127).contains(&unit) {
                char::from(unit as u8).to_string()
            } else {
                format!("\\u{unit:04x}")
            }
        })
        .collect()
}

fn or_end<T, E: Debug>(found: Result<T, E>) -> T {
    found.unwrap_or_else(|error| {
        eprintln!("{error:?}");
        std::process::exit(1)
    })
}

fn shown(value: &FieldValue) -> String {
    match value {
        FieldValue::Prim(json) => ascii(&json.to_string()),
        FieldValue::Ref(id) => format!("{id:#x}"),
        FieldValue::Null => "null".to_string(),
    }
}

fn object(dump: &Pass1, input: &mut dyn Read, kind: u8, offset: u64) {
    let id_size = dump.id_size.into();
    if kind == 0 {
        let found = or_end(read_instance_via(input, offset, &dump.class_map, &dump.strings, id_size));
        let (id, class, fields) = found.expect("an instance");
        let fields: Vec<_> = fields
            .iter()
            .map(|each| format!("{} {:?} {}", ascii(&each.name), each.ty, shown(&each.value)))
            .collect();
        println!("instance {id:#x} of {class:#x}: {}", fields.join(", "));
    } else {
        let array = or_end(read_array_via(input, offset, id_size, 0, 100)).expect("an array");
        let values: Vec<_> = array.values.iter().map(shown).collect();
        println!("array {:#x} of {:?}: {}", array.addr, array.elem_ty, values.join(", "));
    }
}

fn objects(dump: &Pass1, file: &str) {
    let mut from = or_end(HprofSource::Path(file.into()).open());
    let mut all: Vec<_> = dump
        .hprof_offsets
        .iter()
        .zip(&dump.kind)
        .filter(|(offset, _)| **offset != 0)
        .collect();
    all.sort_unstable();
    for (offset, kind) in all {
        or_end(from.skip(offset - from.bytes_consumed()));
        object(dump, &mut Input(|number| from.read_bytes(number)), *kind, *offset);
    }
}

fn main() {
    let file = std::env::args().nth(1).expect("a dump");
    let dump = or_end(Pass1::run(&HprofSource::Path(file.clone()), true));
    let roots: u64 = dump.gc_root_tag_counts.values().sum();
    println!(
        "{} classes, {} instances, {roots} roots",
        dump.class_dump_count, dump.instance_count
    );
    println!(
        "{} object arrays, {} primitive arrays",
        dump.obj_array_count, dump.prim_array_count
    );
    for text in dump.strings.iter().collect::<BTreeMap<_, _>>().values() {
        println!("string {}", ascii(text));
    }
    objects(&dump, &file);
    println!("truncated_input: {}", dump.truncated_input);
}
