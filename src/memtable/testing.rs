//! What the tests of this folder share: memory from the heap, entries, kinds of keys, the oracle.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::cursor::Cursor;
use super::entry::{Entry, Key, encode};
use super::tree::{Memory, Shape, Tree};

/// Memory that is given back when the tree dies.
#[derive(Default)]
pub struct Heap(Mutex<Vec<Box<[u64]>>>);

// SAFETY: each allocation is a box of its own, aligned to 8, kept until the tree that owns this is dropped.
unsafe impl Memory for Heap {
    fn allocate(&self, bytes: usize) -> *mut u8 {
        let mut block = vec![u64::MAX; bytes.div_ceil(8)].into_boxed_slice();
        let address = block.as_mut_ptr().cast();
        self.0.lock().unwrap().push(block);
        address
    }
}

/// Makes an entry that lives for ever.
pub fn entry(user: &[u8], seq: u64) -> Entry {
    let mut bytes = Vec::with_capacity(user.len() + 24);
    encode(&mut bytes, user, seq << 8 | 1);
    bytes.extend_from_slice(&seq.to_le_bytes());
    // SAFETY: well-formed, and leaked.
    unsafe { Entry::from_raw(bytes.leak().as_ptr()) }
}

/// Small generator; the seed is printed by the tests that use it.
pub struct Rng(pub u64);

impl Rng {
    /// Next number (splitmix64).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.number() % n
    }
}

/// Kinds of user keys that the tests go through.
pub const KINDS: &[&str] = &[
    "uniform",
    "sequential",
    "descending",
    "lognormal",
    "near-2^53",
    "near-max",
    "db_bench",
    "decimal",
    "hex",
    "uuid",
    "url",
    "page",
    "ff-runs",
    "short",
    "few",
    "one",
];

/// The `i`-th key of a kind.
pub fn user_key(kind: &str, i: u64, rng: &mut Rng) -> Vec<u8> {
    let n = rng.number();
    match kind {
        "uniform" => n.to_be_bytes().to_vec(),
        "sequential" => i.to_be_bytes().to_vec(),
        "descending" => (u64::MAX - i).to_be_bytes().to_vec(),
        "lognormal" => {
            let gauss: f64 = (0..12)
                .map(|_| rng.below(1 << 20) as f64 / (1u64 << 20) as f64)
                .sum::<f64>()
                - 6.0;
            ((gauss * 2.0).exp() * 1e9) as u64
        }
        .to_be_bytes()
        .to_vec(),
        "near-2^53" => ((1u64 << 53) - 2000 + rng.below(4000)).to_be_bytes().to_vec(),
        "near-max" => (u64::MAX - rng.below(5000)).to_be_bytes().to_vec(),
        "db_bench" => [rng.below(1 << 20).to_be_bytes().as_slice(), b"00000000"].concat(),
        "decimal" => format!("{:016}", rng.below(10_000_000)).into_bytes(),
        "hex" => format!("{:x}", n >> 20).into_bytes(),
        "uuid" => format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            n as u32,
            n >> 48,
            n >> 52,
            n & 0xfff,
            rng.number() >> 16
        )
        .into_bytes(),
        "url" => format!(
            "https://www.example.org/archive/articles/{}/{}",
            rng.below(50),
            rng.below(1000)
        )
        .into_bytes(),
        "page" => format!(
            "https://{}-{}/{}",
            ["river", "sea", "mountain-road", "garden"][rng.below(4) as usize],
            ["in-spring", "at-night", "2024"][rng.below(3) as usize],
            rng.below(100_000)
        )
        .into_bytes(),
        "ff-runs" => vec![0xff; rng.below(65) as usize],
        "short" => n.to_be_bytes()[..rng.below(4) as usize].to_vec(),
        "few" => format!("key{}", rng.below(7)).into_bytes(),
        "one" => b"the only key".to_vec(),
        _ => unreachable!("{kind}"),
    }
}

/// The slow answer: a sorted map of (user key, inverted sequence number).
#[derive(Default)]
pub struct Oracle(pub BTreeMap<(Vec<u8>, u64), Entry>);

fn id(key: &Key) -> (Vec<u8>, u64) {
    (key.user.to_vec(), u64::MAX - key.seq)
}

impl Oracle {
    /// Inserts; `false` if present.
    pub fn insert(&mut self, e: Entry) -> bool {
        let mut inserted = false;
        self.0.entry(id(&e.key())).or_insert_with(|| {
            inserted = true;
            e
        });
        inserted
    }

    /// Compares every kind of look-up for `key`.
    pub fn agree(&self, tree: &Tree<Heap>, key: &Key) {
        let at = |c: Cursor| c.entry();
        let next = self.0.range(id(key)..).next().map(|(_, e)| *e);
        assert_eq!(at(tree.seek(key)), next, "seek {key:?}");
        let before = self.0.range(..id(key)).next_back().map(|(_, e)| *e);
        assert_eq!(at(tree.seek_before(key)), before, "seek_before {key:?}");
        let same = next.filter(|e| e.key() == *key).or(before);
        assert_eq!(at(tree.seek_for_prev(key)), same, "seek_for_prev {key:?}");
        let version = next.filter(|e| e.key().user == key.user);
        assert_eq!(at(tree.lookup(key)), version, "lookup {key:?}");
    }

    /// Compares full scans in both directions, and checks the structure.
    pub fn agree_scans(&self, tree: &Tree<Heap>) {
        let census = tree.check().unwrap();
        assert_eq!(census.entries, self.0.len());
        let mut cursor = tree.first();
        for want in self.0.values() {
            assert_eq!(cursor.entry(), Some(*want));
            tree.next(&mut cursor);
        }
        assert_eq!(cursor.entry(), None);
        cursor = tree.last();
        for want in self.0.values().rev() {
            assert_eq!(cursor.entry(), Some(*want));
            tree.prev(&mut cursor);
        }
        assert_eq!(cursor.entry(), None);
    }
}

/// Node sizes that make every structural change happen often.
pub const TINY: Shape = Shape {
    slots: 4,
    first_slots: 2,
    fanout: 4,
    background_from: usize::MAX,
};
/// Between tiny and default.
pub const SMALL: Shape = Shape {
    slots: 16,
    first_slots: 4,
    fanout: 8,
    background_from: usize::MAX,
};
