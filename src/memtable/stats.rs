//! Counters of one memtable index. Exact once writers have stopped; a plain atomic addition each.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// A rebuild of a node, from its beginning to its end in the thread whose insert waits for it.
pub struct Pause(Instant);

impl Pause {
    /// Starts the clock.
    #[inline]
    pub fn begin() -> Self {
        Pause(Instant::now())
    }
}

/// Counters of one tree.
#[derive(Debug, Default)]
pub struct Counters {
    moved: AtomicU64,
    splits: AtomicU64,
    expansions: AtomicU64,
    rebuilds: AtomicU64,
    longest_pause: AtomicU64,
    data_nodes: AtomicU64,
    bytes: AtomicU64,
}

impl Counters {
    /// Only inserts that had to move others are counted one by one: they are the rare ones, and a shared counter on every
    /// insert would be a cache line that all writers fight for.
    #[inline]
    pub(super) fn insert(&self, free: bool) {
        if !free {
            self.moved.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn split(&self) {
        self.splits.fetch_add(1, Relaxed);
    }

    pub(super) fn expansion(&self) {
        self.expansions.fetch_add(1, Relaxed);
    }

    pub(super) fn rebuild(&self) {
        self.rebuilds.fetch_add(1, Relaxed);
    }

    pub(super) fn pause(&self, pause: Pause) {
        let nanos = u64::try_from(pause.0.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.longest_pause.fetch_max(nanos, Relaxed);
    }

    pub(super) fn data_node(&self) {
        self.data_nodes.fetch_add(1, Relaxed);
    }

    pub(super) fn node_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// Bytes allocated for nodes, retired ones included.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed) as usize
    }

    /// Inserts that found no free slot where they belonged.
    pub fn moved(&self) -> u64 {
        self.moved.load(Relaxed)
    }

    /// Splits of data nodes.
    pub fn splits(&self) -> u64 {
        self.splits.load(Relaxed)
    }

    /// Expansions of data nodes.
    pub fn expansions(&self) -> u64 {
        self.expansions.load(Relaxed)
    }

    /// Rebuilds done in the background.
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds.load(Relaxed)
    }

    /// Longest time in nanoseconds that a node was locked for its rebuild.
    pub fn longest_pause(&self) -> u64 {
        self.longest_pause.load(Relaxed)
    }

    /// Data nodes alive.
    pub fn data_nodes(&self) -> u64 {
        self.data_nodes.load(Relaxed)
    }
}
