//! What the memtables of a column family were like, for users of the `rocksdb` crate.

use librocksdb_sys::{rocksdb_column_family_handle_t, rocksdb_t};
use rocksdb::{AsColumnFamilyRef, AsRawPtr};

/// What is known about the memtables of one column family. "Last" is the last memtable that was full and has been read since, by
/// its flush as a rule. Layout of `mountdb_memtable_stats_t` in cpp/c.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemtableStats {
    /// Memtables so far.
    pub memtables: u64,
    /// Memtables that are skip lists, because the comparator is not bytewise.
    pub fallbacks: u64,
    /// Longest rebuild of a node that inserts had to wait for, in nanoseconds.
    pub longest_pause_nanos: u64,
    /// Entries of the last memtable.
    pub last_entries: u64,
    /// Its data nodes.
    pub last_data_nodes: u64,
    /// Nodes on the way from its root to an entry.
    pub last_depth: u64,
    /// Bytes of its nodes, replaced ones included.
    pub last_index_bytes: u64,
    /// Its splits of data nodes.
    pub last_splits: u64,
    /// Its expansions of data nodes.
    pub last_expansions: u64,
    /// Its rebuilds in the background.
    pub last_rebuilds: u64,
    /// Inserts that found no free slot where they belonged.
    pub last_moved_inserts: u64,
    /// Its longest rebuild that inserts had to wait for, in nanoseconds.
    pub last_longest_pause_nanos: u64,
    /// Data nodes of its skeleton; 0: it had none.
    pub last_planned_nodes: u64,
    /// Memtables made from that skeleton before.
    pub last_skeleton_age: u64,
    /// Bytes of that skeleton, which all memtables made from it share.
    pub last_skeleton_bytes: u64,
    /// Time that building it took in the background, in nanoseconds.
    pub last_skeleton_build_nanos: u64,
}

/// Where look-ups through windowed indexes ended, in this process so far. Layout of `mountdb_window_stats_t` in cpp/c.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowStats {
    /// In the predicted block.
    pub predicted: u64,
    /// In the block to its left.
    pub left: u64,
    /// In the block to its right.
    pub right: u64,
    /// Farther away: only where many blocks start with equal eight bytes.
    pub beyond: u64,
    /// Reads of three blocks at once, because the predicted one was not cached.
    pub reads: u64,
}

/// What `verify_one_in` found, in this process so far. Layout of `mountdb_verify_stats_t` in cpp/c.h.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyStats {
    /// Seeks of table indexes that both indexes answered.
    pub seeks: u64,
    /// Seeks whose answers differed.
    pub wrong_seeks: u64,
    /// Look-ups of memtables that were checked by a walk.
    pub lookups: u64,
    /// Look-ups that had missed the entry.
    pub wrong_lookups: u64,
}

unsafe extern "C" {
    fn mountdb_window_stats(stats: *mut WindowStats);
    fn mountdb_verify_stats(stats: *mut VerifyStats);
    fn mountdb_memtable_stats(
        db: *mut rocksdb_t,
        family: *mut rocksdb_column_family_handle_t,
        stats: *mut MemtableStats,
    ) -> u8;
}

/// Where look-ups through windowed indexes ended, in this process so far.
pub fn window_stats() -> WindowStats {
    let mut stats = WindowStats::default();
    // SAFETY: the struct has C's layout.
    unsafe { mountdb_window_stats(&mut stats) };
    stats
}

/// What `verify_one_in` found, in this process so far.
pub fn verify_stats() -> VerifyStats {
    let mut stats = VerifyStats::default();
    // SAFETY: the struct has C's layout.
    unsafe { mountdb_verify_stats(&mut stats) };
    stats
}

/// Statistics of the default column family's memtables. `None` if its memtable factory is not `alex`.
pub fn memtable_stats(db: &impl AsRawPtr<rocksdb_t>) -> Option<MemtableStats> {
    ask(db, std::ptr::null_mut())
}

/// Statistics of a column family's memtables. `None` if its memtable factory is not `alex`.
pub fn memtable_stats_cf(db: &impl AsRawPtr<rocksdb_t>, family: &impl AsColumnFamilyRef) -> Option<MemtableStats> {
    ask(db, family.inner())
}

fn ask(db: &impl AsRawPtr<rocksdb_t>, family: *mut rocksdb_column_family_handle_t) -> Option<MemtableStats> {
    let mut stats = MemtableStats::default();
    // SAFETY: the database is open and borrowed for the call, the handle is null or borrowed by the caller; the struct has C's
    // layout.
    let known = unsafe { mountdb_memtable_stats(db.as_raw_ptr(), family, &mut stats) };
    (known != 0).then_some(stats)
}
