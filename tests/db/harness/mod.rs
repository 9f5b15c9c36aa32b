//! What the tests share: configurations, key sets, the sorted map, and the comparison of the three voices.

pub mod keys;
pub mod model;
pub mod pair;
pub mod walk;

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use mountdb::{IndexLookup, IndexMode, LearnedIndex};
use rand::SeedableRng;
use rocksdb::{BlockBasedOptions, Cache, MergeOperands, Options};

pub use model::{Bounds, Model};
pub use pair::{Pair, Point};
pub use walk::{Step, Walk};

pub type Rng = rand::rngs::StdRng;

/// A generator whose seed is printed, and taken from MOUNTDB_SEED when that is set.
pub fn seeded(what: &str) -> Rng {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = env::var("MOUNTDB_SEED").map_or_else(|_| clock(), |text| text.parse().expect("MOUNTDB_SEED: a number"));
    println!("{what}: MOUNTDB_SEED={seed}");
    Rng::seed_from_u64(seed)
}

const fn learn(memtable: bool, skeleton_period: u32, index: IndexMode) -> LearnedIndex {
    LearnedIndex {
        memtable,
        skeleton_period,
        index,
        lookup: IndexLookup::Exact,
        verify_one_in: 0,
    }
}

const fn window(learned: LearnedIndex) -> LearnedIndex {
    LearnedIndex {
        lookup: IndexLookup::Window,
        ..learned
    }
}

pub const fn verified(learned: LearnedIndex) -> LearnedIndex {
    LearnedIndex {
        verify_one_in: 2,
        ..learned
    }
}

pub const MEMTABLE: LearnedIndex = learn(true, 1, IndexMode::Off);
pub const PRIMARY: LearnedIndex = learn(false, 10, IndexMode::Primary);
pub const ALONGSIDE: LearnedIndex = learn(false, 10, IndexMode::Alongside);
pub const REPLACE: LearnedIndex = learn(false, 10, IndexMode::Replace);
pub const BOTH: LearnedIndex = learn(true, 1, IndexMode::Primary);
pub const BOTH_ALONGSIDE: LearnedIndex = learn(true, 10, IndexMode::Alongside);
pub const BOTH_REPLACE: LearnedIndex = learn(true, 1, IndexMode::Replace);

pub const WINDOW: LearnedIndex = window(PRIMARY);
pub const WINDOW_REPLACE: LearnedIndex = window(REPLACE);

pub const CONFIGS: [LearnedIndex; 14] = [
    MEMTABLE,
    learn(true, 10, IndexMode::Off),
    PRIMARY,
    ALONGSIDE,
    BOTH,
    learn(true, 10, IndexMode::Primary),
    BOTH_ALONGSIDE,
    REPLACE,
    BOTH_REPLACE,
    WINDOW,
    WINDOW_REPLACE,
    verified(ALONGSIDE),
    verified(PRIMARY),
    verified(WINDOW),
];

/// Options that both databases share. Small sizes, so that a short test has many memtables, files and blocks.
#[derive(Clone, Copy)]
pub struct Shape {
    pub write_buffer: usize,
    pub block_size: usize,
    pub file_size: u64,
    pub table: fn(&mut BlockBasedOptions),
    pub rest: fn(&mut Options),
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            write_buffer: 256 << 10,
            block_size: 256,
            file_size: 64 << 10,
            table: |_| (),
            rest: |_| (),
        }
    }
}

/// Appends the operands to the value: associative, and their order shows.
fn append(_: &[u8], value: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    let mut all = value.unwrap_or_default().to_vec();
    operands.iter().for_each(|operand| all.extend_from_slice(operand));
    Some(all)
}

pub fn options(shape: &Shape, learned: Option<LearnedIndex>) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_size(shape.block_size);
    table.set_bloom_filter(10.0, false);
    table.set_block_cache(&Cache::new_lru_cache(1 << 20));
    (shape.table)(&mut table);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_merge_operator_associative("append", append);
    options.set_write_buffer_size(shape.write_buffer);
    options.set_target_file_size_base(shape.file_size);
    options.set_max_bytes_for_level_base(4 * shape.file_size);
    options.set_max_bytes_for_level_multiplier(4.0);
    options.set_keep_log_file_num(1);
    options.set_block_based_table_factory(&table);
    (shape.rest)(&mut options);
    if let Some(learned) = learned {
        learned.apply(&mut options).unwrap();
    }
    options
}

/// A value that tells its key and number, with a checksum, in `length` bytes or as few as that takes.
pub fn sealed(key: &[u8], number: u64, length: usize) -> Vec<u8> {
    let mut value = number.to_le_bytes().to_vec();
    value.extend(seal(key, number).to_le_bytes());
    while value.len() < length {
        value.push(value[value.len() % 16]);
    }
    value
}

/// The number in a sealed value of `key`.
pub fn unseal(key: &[u8], value: &[u8]) -> u64 {
    let number = u64::from_le_bytes(value[..8].try_into().unwrap());
    assert_eq!(
        value,
        sealed(key, number, value.len()),
        "torn or foreign value of {}",
        keys::show(key)
    );
    number
}

fn seal(key: &[u8], number: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ number;
    key.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
