//! What a reader found in a dump, PROTOCOL.md 1.1: counts, and digests of items. Printed as JSON.

use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};

/// Parts, each after its length.
pub struct Item(Sha256);

impl Item {
    pub fn new(word: &str) -> Item {
        Item(Sha256::new()).part(word.as_bytes())
    }

    pub fn part(mut self, bytes: &[u8]) -> Item {
        self.0.update((bytes.len() as u32).to_be_bytes());
        self.0.update(bytes);
        self
    }

    pub fn number(self, value: u64) -> Item {
        self.part(&value.to_be_bytes())
    }

    /// UTF-16 code units.
    pub fn text(self, text: &[u16]) -> Item {
        self.part(&text.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<_>>())
    }

    fn hash(self) -> u128 {
        u128::from_be_bytes(self.0.finalize()[..16].try_into().unwrap())
    }
}

/// `java.lang.String[]` as `[Ljava/lang/String;`
pub fn class_name(name: &[u16]) -> Vec<u16> {
    let unit = |letter: char| letter as u16;
    let mut element: Vec<u16> = name
        .iter()
        .map(|&each| if each == unit('.') { unit('/') } else { each })
        .collect();
    let mut found = Vec::new();
    while element.ends_with(&[unit('['), unit(']')]) {
        element.truncate(element.len() - 2);
        found.push(unit('['));
    }
    let is_element = !found.is_empty() && element.first() != Some(&unit('['));
    match String::from_utf16_lossy(&element).as_str() {
        _ if !is_element => found.extend(element),
        "boolean" => found.push(unit('Z')),
        "char" => found.push(unit('C')),
        "float" => found.push(unit('F')),
        "double" => found.push(unit('D')),
        "byte" => found.push(unit('B')),
        "short" => found.push(unit('S')),
        "int" => found.push(unit('I')),
        "long" => found.push(unit('J')),
        _ => {
            found.push(unit('L'));
            found.extend(element);
            found.push(unit(';'));
        }
    }
    found
}

/// Why a call of the reader gave nothing.
pub struct Fault {
    words: String,
    panicked: bool,
}

impl<E: Debug> From<E> for Fault {
    fn from(error: E) -> Fault {
        Fault {
            words: shortened(&format!("{error:?}")),
            panicked: false,
        }
    }
}

fn shortened(words: &str) -> String {
    words.chars().take(200).collect()
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

#[derive(Default)]
pub struct Found {
    counts: BTreeMap<&'static str, u64>,
    digests: BTreeMap<&'static str, (u64, u128)>,
    failed: BTreeMap<&'static str, Fault>,
    pub notices: Vec<&'static str>,
}

impl Found {
    pub fn new() -> Found {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            PANIC.set(panic.to_string().replace('\n', " "));
            print(panic);
        }));
        Found::default()
    }

    pub fn count(&mut self, what: &'static str, number: u64) {
        *self.counts.entry(what).or_default() += number;
    }

    /// What a call of the reader gives. A call that fails, or panics, fails its entry, and no other.
    pub fn call<T>(&mut self, entry: &'static str, call: impl FnOnce() -> Result<T, Fault>) -> Option<T> {
        if self.failed.contains_key(entry) {
            return None; // the entry is not given, so the rest of it is not asked for
        }
        let given = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
            Err(Fault {
                words: shortened(&PANIC.take()),
                panicked: true,
            })
        });
        match given {
            Ok(found) => Some(found),
            Err(fault) => {
                self.failed.insert(entry, fault);
                None
            }
        }
    }

    pub fn add(&mut self, entry: &'static str, call: impl FnOnce() -> Result<Item, Fault>) {
        if let Some(item) = self.call(entry, call) {
            let (count, sum) = self.digests.entry(entry).or_default();
            *count += 1;
            *sum = sum.wrapping_add(item.hash());
        }
    }

    pub fn print(&self) {
        let digests: BTreeMap<_, _> = self
            .digests
            .iter()
            .map(|(entry, (count, sum))| (entry, serde_json::json!({"count": count, "sum": format!("{sum:032x}")})))
            .collect();
        let failed: BTreeMap<_, _> = self.failed.iter().map(|(entry, fault)| (entry, &fault.words)).collect();
        let panicked: Vec<_> = self
            .failed
            .iter()
            .filter(|(_, fault)| fault.panicked)
            .map(|(entry, _)| entry)
            .collect();
        println!(
            "{}",
            serde_json::json!({
                "counts": self.counts, "digests": digests, "notices": self.notices, "failed": failed, "panicked": panicked
            })
        );
    }
}

/// The reader refuses the dump: what walks its records failed.
pub fn refuse<E: Debug>(error: E) -> ! {
    eprintln!("{}", Fault::from(error).words);
    std::process::exit(1)
}
