//! Databases with learned indexes. Every test asks three voices the same question: the learned database, stock RocksDB after
//! the same operations, and a sorted map.

mod cold_and_hot;
mod concurrency;
mod convert;
mod durability;
mod faults;
mod golden;
mod harness;
mod open_options;
mod random_ops;
mod rollback;
mod stats;
mod tables;
mod validation;
mod verify;
mod versions;
mod workloads;
