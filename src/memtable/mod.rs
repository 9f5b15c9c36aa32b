//! Skeletonized ALEX+ as a memtable index (paper section 4; vocabulary of ALEX: model node, data node, gapped array,
//! model-based insert, expansion, split, bulk load).
//!
//! ```text
//! tree      top model node -> model nodes -> data nodes; insert, split, expand, make planned nodes
//! cursor    lookup, seek, step; optimistic, re-finds its entry when a node has changed
//! data_node gapped array of (projection, entry) under one version word
//! skeleton  fences and projection kept from an immutable memtable for the next ones
//! rep       one memtable as RocksDB sees it; worker: builds skeletons in the background
//! ```

pub mod check;
pub mod cursor;
pub mod data_node;
pub mod entry;
pub mod model;
pub mod model_node;
#[cfg(not(feature = "loom"))]
pub mod rep;
pub mod skeleton;
pub mod stats;
pub mod sync;
pub mod tree;
pub mod version;
#[cfg(not(feature = "loom"))]
pub mod worker;

#[cfg(all(test, not(feature = "loom")))]
pub mod testing;
#[cfg(all(test, not(feature = "loom")))]
mod tests;
