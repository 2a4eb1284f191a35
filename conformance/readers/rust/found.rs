//! What a reader found in a dump, PROTOCOL.md 1.1: counts, and digests of items. Printed as JSON.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

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

    fn hash(self) -> u128 {
        u128::from_be_bytes(self.0.finalize()[..16].try_into().unwrap())
    }
}

#[derive(Default)]
pub struct Found {
    counts: BTreeMap<&'static str, u64>,
    digests: BTreeMap<&'static str, (u64, u128)>,
    pub notices: Vec<&'static str>,
}

impl Found {
    pub fn count(&mut self, what: &'static str, number: u64) {
        *self.counts.entry(what).or_default() += number;
    }

    pub fn add(&mut self, entry: &'static str, item: Item) {
        let (count, sum) = self.digests.entry(entry).or_default();
        *count += 1;
        *sum = sum.wrapping_add(item.hash());
    }

    pub fn print(&self) {
        let digests: BTreeMap<_, _> = self
            .digests
            .iter()
            .map(|(entry, (count, sum))| (entry, serde_json::json!({"count": count, "sum": format!("{sum:032x}")})))
            .collect();
        println!("{}", serde_json::json!({"counts": self.counts, "digests": digests, "notices": self.notices}));
    }
}

/// A fault that the reader reports.
pub fn fail<E: std::fmt::Debug>(error: E) -> ! {
    let words = format!("{error:?}");
    eprintln!("{}", words.chars().take(200).collect::<String>());
    std::process::exit(1)
}
