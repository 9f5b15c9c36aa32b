//! A memtable index alone: RocksDB's `MemTableRep` without a memtable around it, and what is measured on it.

pub mod keys;
pub mod memtable;
pub mod sides;
