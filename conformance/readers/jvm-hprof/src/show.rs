//! Prints the records that the crate jvm-hprof gives: conformance/findings/show.

use jvm_hprof::heap_dump::SubRecord;
use jvm_hprof::RecordTag;

fn or_end<T, E: std::fmt::Debug>(found: Result<T, E>) -> T {
    found.unwrap_or_else(|error| {
        eprintln!("{}", format!("{error:?}").chars().take(200).collect::<String>());
        std::process::exit(1)
    })
}

fn show(one: SubRecord) {
    match one {
        SubRecord::Class(class) => {
            println!("class {:#x}", class.obj_id().id());
            for each in class.static_fields() {
                println!("  static {:?}", or_end(each).value());
            }
            for each in class.instance_field_descriptors() {
                println!("  field {:?}", or_end(each).field_type());
            }
        }
        SubRecord::Instance(instance) => println!("instance {:#x}, {} bytes", instance.obj_id().id(), instance.fields().len()),
        SubRecord::ObjectArray(array) => println!("object array {:#x}", array.obj_id().id()),
        SubRecord::PrimitiveArray(array) => println!("array {:#x} of {:?}", array.obj_id().id(), array.primitive_type()),
        _ => println!("root"),
    }
}

fn main() {
    let bytes = std::fs::read(std::env::args().nth(1).expect("a dump")).expect("a file");
    let dump = or_end(jvm_hprof::parse_hprof(&bytes));
    for each in dump.records_iter() {
        let record = or_end(each);
        match record.tag() {
            RecordTag::Utf8 => println!("string {}", or_end(record.as_utf_8().unwrap()).text().escape_ascii()),
            RecordTag::LoadClass => println!("loaded {:#x}", or_end(record.as_load_class().unwrap()).class_obj_id().id()),
            RecordTag::HeapDump | RecordTag::HeapDumpSegment => {
                for one in or_end(record.as_heap_dump_segment().unwrap()).sub_records() {
                    show(or_end(one));
                }
            }
            tag => println!("{tag:?}"),
        }
    }
}
