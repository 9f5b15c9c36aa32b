//! One memtable as RocksDB sees it (`MemTableRep`), and the factory that makes them (`MemTableRepFactory`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cursor::Cursor;
use super::data_node::PAGE_SLOTS;
use super::entry::{Entry, Key};
use super::skeleton::{Content, Target};
use super::tree::{DEPTH, Memory, Shape, Tree};
use super::worker::{Gate, Mode, Skeletons};
use crate::ffi::{AlexOptions, Allocator, MemCursor, MemStats, bridge};

/// The memtable's allocator: nodes are charged to the memtable and die with it.
pub struct Arena(*mut Allocator);

// SAFETY: RocksDB passes a `ConcurrentArena`, whose functions may be called from any thread.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

// SAFETY: `AllocateAligned` returns fresh memory, aligned for any type, that lives as long as the memtable; the tree is used
// no longer (`AlexFactory::rep`).
unsafe impl Memory for Arena {
    fn allocate(&self, bytes: usize) -> *mut u8 {
        // SAFETY: the allocator outlives the rep.
        unsafe { bridge::allocate_node(self.0, bytes) }
    }
}

/// Makes memtables and keeps their skeletons.
pub struct AlexFactory {
    skeletons: Skeletons<Arena>,
    shape: Shape,
}

impl AlexFactory {
    /// The options were checked by the C++ side.
    pub fn new(options: &AlexOptions) -> Self {
        let mode = match (options.skeletons && options.period > 0, options.single) {
            (false, _) => Mode::Off,
            (true, true) => Mode::Single,
            (true, false) => Mode::Periodic(options.period),
        };
        let slots = options.data_node_slots as usize;
        let content = if options.keys { Content::Keys } else { Content::Models };
        // Smaller nodes are on their way to a page and rebuilt within a microsecond or two.
        let background_from = if options.background {
            PAGE_SLOTS.min(slots)
        } else {
            usize::MAX
        };
        AlexFactory {
            skeletons: Skeletons::new(mode, Target { slots, content }),
            shape: Shape {
                slots,
                background_from,
                ..Shape::default()
            },
        }
    }

    /// # Safety
    /// `allocator` and all that it has handed out outlive the rep.
    pub unsafe fn rep(&self, allocator: *mut Allocator, column_family: u32) -> AlexRep {
        crate::testing::fault_point();
        let (skeleton, skeleton_age) = self.skeletons.current(column_family).unzip();
        let tree = Arc::new(Tree::new(Arena(allocator), self.shape, skeleton));
        let gate = Gate::open(&tree);
        if self.shape.background_from <= self.shape.slots {
            self.skeletons.rebuild_for(&tree, &gate);
        }
        AlexRep {
            tree,
            gate,
            skeletons: self.skeletons.clone(),
            column_family,
            skeleton_age: skeleton_age.unwrap_or(0),
            read_only: AtomicBool::new(false),
        }
    }
}

/// The index of one memtable.
pub struct AlexRep {
    tree: Arc<Tree<Arena>>,
    gate: Arc<Gate<Arena>>,
    skeletons: Skeletons<Arena>,
    column_family: u32,
    skeleton_age: u64,
    read_only: AtomicBool,
}

impl Drop for AlexRep {
    fn drop(&mut self) {
        // The arena goes next: whoever reads the tree in the background must have stopped.
        self.gate.close();
    }
}

impl AlexRep {
    /// # Safety
    /// `entry` was allocated from the memtable's allocator and is complete (see [`Entry::from_raw`]).
    pub(crate) unsafe fn insert(&self, entry: *const u8) -> bool {
        // SAFETY: the caller's promise.
        self.tree.insert(unsafe { Entry::from_raw(entry) })
    }

    /// As `insert`, while nobody else inserts.
    ///
    /// # Safety
    /// As for `insert`. If somebody else does insert, entries may be lost.
    pub(crate) unsafe fn insert_alone(&self, entry: *const u8) -> bool {
        // SAFETY: the caller's promise.
        self.tree.insert_alone(unsafe { Entry::from_raw(entry) })
    }

    /// Newest version of the internal key's user key that its sequence number may see.
    pub(crate) fn lookup(&self, internal_key: &[u8]) -> MemCursor {
        self.tree.lookup(&Key::from_internal(internal_key)).into()
    }

    /// Prepares the cache for a `lookup` of each key.
    ///
    /// # Safety
    /// `keys` are addresses of length-prefixed internal keys.
    pub(crate) unsafe fn prefetch(&self, keys: &[usize]) {
        let mut group = [Key { user: &[], seq: 0 }; 32];
        for keys in keys.chunks(group.len()) {
            for (slot, address) in group.iter_mut().zip(keys) {
                // SAFETY: the caller's promise; the keys are read only during this call.
                *slot = unsafe { Entry::from_raw(std::ptr::with_exposed_provenance(*address)) }.key();
            }
            self.tree.prefetch(&group[..keys.len()]);
        }
    }

    /// Whether an entry of that user key and sequence number is in.
    pub(crate) fn contains(&self, internal_key: &[u8]) -> bool {
        let key = Key::from_internal(internal_key);
        self.tree.lookup(&key).entry().is_some_and(|e| e.key() == key)
    }

    pub(crate) fn seek(&self, internal_key: &[u8]) -> MemCursor {
        self.tree.seek(&Key::from_internal(internal_key)).into()
    }

    pub(crate) fn seek_for_prev(&self, internal_key: &[u8]) -> MemCursor {
        self.tree.seek_for_prev(&Key::from_internal(internal_key)).into()
    }

    pub(crate) fn first(&self) -> MemCursor {
        self.tree.first().into()
    }

    pub(crate) fn last(&self) -> MemCursor {
        self.tree.last().into()
    }

    /// # Safety
    /// `cursor` came from this rep.
    pub(crate) unsafe fn next(&self, cursor: &mut MemCursor) {
        // SAFETY: the caller's promise.
        let mut at = unsafe { Cursor::from_raw(cursor.entry, cursor.node, cursor.version, cursor.slot) };
        self.tree.next(&mut at);
        *cursor = at.into();
    }

    /// # Safety
    /// `cursor` came from this rep.
    pub(crate) unsafe fn prev(&self, cursor: &mut MemCursor) {
        // SAFETY: the caller's promise.
        let mut at = unsafe { Cursor::from_raw(cursor.entry, cursor.node, cursor.version, cursor.slot) };
        self.tree.prev(&mut at);
        *cursor = at.into();
    }

    /// Number of entries in `[start, end)`, exact while nobody inserts.
    pub(crate) fn entries_between(&self, start: &[u8], end: &[u8]) -> u64 {
        let rank = |key| self.tree.rank(&Key::from_internal(key));
        rank(end).saturating_sub(rank(start))
    }

    /// No more inserts. Called more than once, also under the DB mutex: only enqueues.
    pub(crate) fn mark_read_only(&self) {
        if !self.read_only.swap(true, Ordering::Relaxed) {
            self.skeletons.sealed(self.column_family, &self.gate);
        }
    }

    /// Visits the header of every data node.
    pub(crate) fn stats(&self) -> MemStats {
        let counters = &self.tree.counters;
        let (entries, data_nodes) = self.tree.load();
        let skeleton = self.tree.skeleton();
        MemStats {
            entries: entries as u64,
            data_nodes: data_nodes as u64,
            depth: DEPTH,
            index_bytes: counters.bytes() as u64,
            splits: counters.splits(),
            expansions: counters.expansions(),
            rebuilds: counters.rebuilds(),
            longest_pause_nanos: counters.longest_pause(),
            moved_inserts: counters.moved(),
            planned_nodes: skeleton.map_or(0, |s| s.len() as u64),
            skeleton_age: self.skeleton_age,
            skeleton_bytes: skeleton.map_or(0, |s| s.memory_usage() as u64),
            skeleton_build_nanos: skeleton.map_or(0, |s| u64::try_from(s.build_time().as_nanos()).unwrap_or(u64::MAX)),
        }
    }
}

impl From<Cursor> for MemCursor {
    #[inline]
    fn from(cursor: Cursor) -> Self {
        let (entry, node, version, slot) = cursor.into_raw();
        MemCursor {
            entry,
            node,
            version,
            slot,
        }
    }
}
