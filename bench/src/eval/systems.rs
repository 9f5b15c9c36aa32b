//! Who takes part: one row each. A further variant is a further row; the experiments pick rows by what they are for.

use crate::config::Side;
use crate::sides::{Against, Learned, learned_side};
use crate::workload::Workload;

/// A configuration of RocksDB.
#[derive(Debug)]
pub struct System {
    /// Name in tables and charts.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Where its options come from.
    options: Options,
    /// Whether it is measured against the others; the rest are opponents.
    pub ours: bool,
    /// Whether it takes part in the experiments on the read path.
    pub reads: bool,
    /// Whether its index sizes are compared.
    pub sizes: bool,
}

#[derive(Debug)]
enum Options {
    Against(Against),
    Learned(&'static [Learned]),
    /// A RocksDB option string.
    Text(&'static str),
}

/// RocksDB's defaults.
pub const STOCK: &str = "stock";
/// RocksDB at its best documented settings.
pub const TUNED: &str = "tuned";
/// Both indexes learned.
pub const LEARNED: &str = "learned";

/// The table.
pub static SYSTEMS: [System; 14] = [
    System {
        name: STOCK,
        about: "RocksDB's defaults: skip list, sorted separators with binary search",
        options: Options::Against(Against::Stock),
        ours: false,
        reads: true,
        sizes: true,
    },
    System {
        name: TUNED,
        about: "RocksDB's best documented settings: interpolation search where keys are even, hash index in data blocks, Bloom filter \
                over the memtable; nothing that its documents name makes fills faster",
        options: Options::Against(Against::Tuned),
        ours: false,
        reads: true,
        sizes: true,
    },
    System {
        name: "trie",
        about: "RocksDB's trie as block index",
        options: Options::Against(Against::Trie),
        ours: false,
        reads: false,
        sizes: true,
    },
    System {
        name: LEARNED,
        about: "both indexes learned: ALEX+ memtable with periodic skeletons, exact PGM block index in place of RocksDB's own",
        options: Options::Learned(&[Learned::Memtable, Learned::Replace]),
        ours: true,
        reads: true,
        sizes: false,
    },
    System {
        name: "memtable only",
        about: "ALEX+ memtable, RocksDB's block index",
        options: Options::Learned(&[Learned::Memtable]),
        ours: true,
        reads: false,
        sizes: false,
    },
    System {
        name: "index only",
        about: "skip list, exact PGM block index in place of RocksDB's own",
        options: Options::Learned(&[Learned::Replace]),
        ours: true,
        reads: true,
        sizes: true,
    },
    System {
        name: "index beside",
        about: "skip list, exact PGM block index beside RocksDB's own, serving all reads",
        options: Options::Learned(&[Learned::Index]),
        ours: true,
        reads: false,
        sizes: false,
    },
    System {
        name: "window",
        about: "skip list, windowed PGM block index (the paper's) in place of RocksDB's own",
        options: Options::Learned(&[Learned::Window]),
        ours: true,
        reads: false,
        sizes: true,
    },
    System {
        name: "window, small blocks",
        about: "the same with blocks of a third of the size, as in the paper: a look-up reads up to three of them at once",
        options: Options::Text(
            "block_based_table_factory={block_size=1365;user_defined_index_factory={id=pgm;mode=replace;lookup=window};use_udi_as_primary_index=true}",
        ),
        ours: true,
        reads: true,
        sizes: false,
    },
    System {
        name: "no skeleton",
        about: "both learned, every memtable starts from nothing",
        options: Options::Text(
            "memtable_factory={id=alex;skeleton=off};block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}",
        ),
        ours: true,
        reads: false,
        sizes: false,
    },
    System {
        name: "single skeleton",
        about: "both learned, every memtable starts from the shape of the first",
        options: Options::Text(
            "memtable_factory={id=alex;skeleton=single};block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}",
        ),
        ours: true,
        reads: false,
        sizes: false,
    },
    System {
        name: "skeleton every flush",
        about: "both learned, a skeleton is built from every memtable",
        options: Options::Text(
            "memtable_factory={id=alex;skeleton_period=1};block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}",
        ),
        ours: true,
        reads: false,
        sizes: false,
    },
    System {
        name: "plain ALEX+",
        about: "memtable tree with nodes of 512 KiB that the insert which finds one full rebuilds, no skeleton",
        options: Options::Text("memtable_factory={id=alex;skeleton=off;data_node_slots=32768}"),
        ours: true,
        reads: false,
        sizes: false,
    },
    System {
        name: "plain ALEX+, 1 GiB",
        about: "the same in a memtable that is never flushed",
        options: Options::Text(
            "memtable_factory={id=alex;skeleton=off;data_node_slots=32768};write_buffer_size=1073741824",
        ),
        ours: true,
        reads: false,
        sizes: false,
    },
];

impl System {
    /// The row of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> anyhow::Result<&'static System> {
        let found = SYSTEMS.iter().find(|system| system.name == name);
        found.ok_or_else(|| anyhow::anyhow!("no side is called {name:?}"))
    }

    /// As a side of the runner. The loaded databases serve gets, scans and writes alike, so the tuned side has the settings for both
    /// reads and writes.
    pub fn side(&self) -> Side {
        let mut side = match self.options {
            Options::Against(against) => against
                .side(Workload::Balanced)
                .unwrap_or_else(|| Side::new(against.name(), "")),
            Options::Learned(parts) => learned_side(parts),
            Options::Text(text) => Side::new(self.name, text),
        };
        self.name.clone_into(&mut side.name);
        side
    }

    /// Names among `names` of systems that are not ours.
    pub fn opponents(names: &[&'static str]) -> Vec<&'static str> {
        let opponent = |name: &&str| Self::named(name).is_ok_and(|system| !system.ours);
        names.iter().copied().filter(opponent).collect()
    }

    /// Names of the systems in the experiments on the read path.
    pub fn for_reads() -> Vec<&'static str> {
        SYSTEMS
            .iter()
            .filter(|system| system.reads)
            .map(|system| system.name)
            .collect()
    }

    /// Names of the systems whose index sizes are compared.
    pub fn for_sizes() -> Vec<&'static str> {
        SYSTEMS
            .iter()
            .filter(|system| system.sizes)
            .map(|system| system.name)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found() {
        for (at, system) in SYSTEMS.iter().enumerate() {
            assert!(SYSTEMS[..at].iter().all(|other| other.name != system.name));
            assert_eq!(System::named(system.name).unwrap().about, system.about);
            assert_eq!(system.side().name, system.name);
        }
        assert!(System::named("nobody").is_err());
    }

    #[test]
    fn opponents_take_part_in_reads_and_sizes() {
        for names in [System::for_reads(), System::for_sizes()] {
            assert!(names.contains(&STOCK) && names.contains(&TUNED), "{names:?}");
        }
        assert!(System::for_reads().contains(&LEARNED));
        assert_eq!(
            System::opponents(&[STOCK, "trie", LEARNED, "index only"]),
            [STOCK, "trie"]
        );
    }
}
