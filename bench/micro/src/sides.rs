//! What is compared, on which keys.

use std::time::Duration;

use anyhow::Result;

use crate::keys::Workload;
use crate::memtable::{Factory, Writers};

/// A memtable and how it starts.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Name in reports.
    pub name: &'static str,
    /// Option string of its factory.
    pub options: &'static str,
    /// Whether a memtable of the same kind of keys came before, from which it may have a skeleton.
    pub warm: bool,
}

/// RocksDB's skip list first: the others are measured against it.
pub const SIDES: [Side; 3] = [
    Side {
        name: "skip list",
        options: "skip_list",
        warm: false,
    },
    Side {
        name: "alex",
        options: "{id=alex;skeleton=single}",
        warm: true,
    },
    Side {
        name: "alex cold",
        options: "{id=alex;skeleton=off}",
        warm: false,
    },
];

/// The key sets; "versions" is one user key, over and over.
pub const KEY_SETS: [&str; 11] = [
    "uniform",
    "sequential",
    "cities",
    "covid",
    "facebook",
    "genome",
    "osm",
    "decimal",
    "uuid",
    "url",
    "versions",
];

/// Entries that fill a memtable of 64 MiB, about; a million versions, and as many cities as a third of the world's allows.
pub fn capacity(name: &str) -> usize {
    match name {
        "cities" => 45_000,
        "uuid" => 380_000,
        "url" => 320_000,
        "versions" => 1_000_000,
        _ => 480_000,
    }
}

/// Fills a memtable, seals it and lets the factory build a skeleton from it.
///
/// # Errors
/// If a key was refused.
pub fn warm_up(factory: &Factory, workload: &Workload) -> Result<()> {
    let memtable = factory.open();
    memtable.insert(&workload.before, 1, Writers::One)?;
    memtable.seal();
    // The worker takes a tenth of that on an idle machine.
    std::thread::sleep(Duration::from_millis(600));
    Ok(())
}
