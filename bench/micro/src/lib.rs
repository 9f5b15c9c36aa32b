//! Indexes alone: RocksDB's `MemTableRep` without a memtable around it, table indexes without a table, and what is measured on
//! them.

pub mod index;
pub mod keys;
pub mod memtable;
pub mod sides;
pub mod sizes;
