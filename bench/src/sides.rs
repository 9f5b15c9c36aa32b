//! The opponents and the learned side as RocksDB option strings.

use clap::ValueEnum;

use crate::config::Side;
use crate::workload::Workload;

/// Parts of RocksDB that are replaced on side b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lowercase")]
pub enum Learned {
    /// The memtable: skeletonized ALEX+.
    Memtable,
    /// The index of SST files: PGM (Fence) beside RocksDB's own, serving all reads.
    Index,
    /// The index of SST files, and no other index in them.
    Replace,
    /// The windowed form of the index of SST files (the paper's), and no other index in them.
    Window,
}

impl Learned {
    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Learned::Memtable => "memtable",
            Learned::Index => "index",
            Learned::Replace => "replace",
            Learned::Window => "window",
        }
    }

    /// Option string. The ids are those under which the plugin registers its factories.
    fn options(self) -> &'static str {
        match self {
            Learned::Memtable => "memtable_factory={id=alex}",
            Learned::Index => {
                "block_based_table_factory={user_defined_index_factory={id=pgm};use_udi_as_primary_index=true}"
            }
            Learned::Replace => {
                "block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}"
            }
            Learned::Window => {
                "block_based_table_factory={user_defined_index_factory={id=pgm;mode=replace;lookup=window};use_udi_as_primary_index=true}"
            }
        }
    }
}

/// Side b with the given parts learned.
pub fn learned_side(parts: &[Learned]) -> Side {
    let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
    let mut side = Side::new(format!("learned {}", names.join(" and ")), "");
    for part in parts {
        side.append(part.options());
    }
    side
}

/// Who the learned side is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lowercase")]
pub enum Against {
    /// RocksDB's defaults: skip list and binary search.
    Stock,
    /// RocksDB's best documented settings for the workload.
    Tuned,
    /// RocksDB's trie as the index of SST files, serving all reads.
    Trie,
    /// RocksDB's vector memtable, an index that costs nothing to write and sorts when it is flushed; fillrandom only.
    Vector,
}

/// Binary or interpolation search by the evenness of each index block's keys; 0.2 is the threshold that RocksDB's release
/// notes name.
const SEARCH: &str = "index_block_search_type=kAuto;uniform_cv_threshold=0.2";

/// A hash table from key to place within each data block, for gets; iterators do not use it.
const BLOCK_HASH: &str = "data_block_index_type=kDataBlockBinaryAndHash;data_block_hash_table_util_ratio=0.75";

/// A Bloom filter over whole keys in the memtable: a get of a key that is not in it skips the search.
const MEMTABLE_BLOOM: &str = "memtable_whole_key_filtering=true;memtable_prefix_bloom_size_ratio=0.1";

impl Against {
    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Against::Stock => "stock",
            Against::Tuned => "tuned",
            Against::Trie => "trie",
            Against::Vector => "vector",
        }
    }

    /// Side a for a workload; `None` if the opponent does not take part in it.
    pub fn side(self, workload: Workload) -> Option<Side> {
        let options = match self {
            Against::Stock => String::new(),
            Against::Tuned => tuned(workload),
            Against::Trie => {
                "block_based_table_factory={user_defined_index_factory={id=trie_index};use_udi_as_primary_index=true}"
                    .to_owned()
            }
            // A get from a vector memtable sorts a copy of the whole of it.
            Against::Vector if workload != Workload::FillRandom => return None,
            Against::Vector => "memtable_factory=vector".to_owned(),
        };
        Some(Side::new(self.name(), options))
    }
}

/// Settings that change how fast a workload runs and nothing else: durability, order of writes and memory stay.
fn tuned(workload: Workload) -> String {
    match workload {
        // The memtable's Bloom filter costs writes time and gains them nothing. Memtables that need a prefix extractor are
        // another index with other limits, and unordered_write gives up snapshots. Nothing documented is left to set.
        Workload::FillRandom => String::new(),
        Workload::ReadRandom | Workload::ReadMem | Workload::Balanced => {
            format!("block_based_table_factory={{{SEARCH};{BLOCK_HASH}}};{MEMTABLE_BLOOM}")
        }
        Workload::SeekRandom => format!("block_based_table_factory={{{SEARCH}}}"),
        Workload::MultiGet => format!(
            "block_based_table_factory={{{SEARCH};{BLOCK_HASH}}};{MEMTABLE_BLOOM};memtable_batch_lookup_optimization=true"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::database::Database;

    #[test]
    fn rocksdb_takes_the_options_of_every_opponent() {
        let config = Config {
            cache_size: 8 << 20,
            ..Config::default()
        };
        for against in Against::value_variants() {
            for workload in Workload::ALL {
                if let Some(side) = against.side(workload) {
                    Database::create(&config, &side).unwrap();
                }
            }
        }
    }

    #[test]
    fn vector_takes_part_in_fills_alone() {
        assert!(Against::Vector.side(Workload::FillRandom).is_some());
        assert_eq!(Against::Vector.side(Workload::ReadRandom), None);
    }

    #[test]
    fn learned_parts_are_joined() {
        let side = learned_side(&[Learned::Memtable, Learned::Index]);
        assert_eq!(side.name, "learned memtable and index");
        assert!(
            side.options
                .starts_with("memtable_factory={id=alex};block_based_table_factory={")
        );
    }
}
