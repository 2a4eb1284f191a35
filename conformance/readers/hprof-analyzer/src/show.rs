//! Prints what the first pass of the crate hprof-analyzer found: conformance/findings/show.

use hprof_analyzer::{HprofSource, Pass1};
use std::collections::BTreeMap;

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

fn main() {
    let file = std::env::args().nth(1).expect("a dump");
    let dump = Pass1::run(&HprofSource::Path(file), false).unwrap_or_else(|error| {
        eprintln!("{error:?}");
        std::process::exit(1)
    });
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
    println!("truncated_input: {}", dump.truncated_input);
}
