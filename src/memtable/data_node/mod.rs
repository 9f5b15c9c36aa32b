//! Data node: a gapped array of entries in key order, guarded by one version word.
//!
//! ```text
//! line 1   word | model (base, slope) | low/high projection | shape | capacity, number of entries
//! line 2   occupancy bitmap (4 words) | low fence | high fence | prefix source | streak
//! slots    capacity x { key: u64, entry: pointer }
//! ```
//! Invariants, whenever the lock is free:
//! - slot keys never decrease from left to right, gaps included; the key of an occupied slot is its entry's local projection;
//! - occupied slots hold entries in strict order, all in `[low fence, high fence)`;
//! - the low fence and the capacity never change; the high fence only moves down (a split gives the upper part to a new node).
//!
//! Key and entry stand side by side because a good prediction then costs one cache line; apart they cost two.
//!
//! A reader takes no lock: it reads the word, searches, and reads the word again. Whatever it saw in between was some valid
//! slot, entry or fence (nothing is ever freed or reused), so a search in a moving node is wasted, not dangerous.

mod search;
mod write;

use std::ptr::{self, NonNull};

use crate::memtable::entry::Entry;
use crate::memtable::model::LinearModel;
use crate::memtable::sync::{Acquire, AtomicPtr, AtomicU64, prefetch};
use crate::memtable::version::VersionWord;

/// Most slots of a data node: 4 KiB of slots, one bitmap word per 64.
pub const MAX_SLOTS: usize = 256;

#[repr(C)]
struct Slot {
    key: AtomicU64,
    entry: AtomicPtr<u8>,
}

#[repr(C, align(64))]
struct Header {
    word: VersionWord,
    model: LinearModel,
    low_proj: u64,
    high_proj: AtomicU64,
    shape: AtomicU64,
    slots: u32,
    entries: AtomicU64,
    bits: [AtomicU64; MAX_SLOTS / 64],
    low: *mut u8,
    high: AtomicPtr<u8>,
    prefix_of: AtomicPtr<u8>,
    streak: AtomicU64,
}

/// How keys become slot keys in one node (its local projection).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The tree's projection, which every caller has at hand.
    Tree,
    /// The eight bytes after a prefix that most keys of the node share; keys without it clamp to the ends.
    Prefix(usize),
    /// Both fences are versions of one user key: the sequence number, inverted.
    Sequence,
}

impl Shape {
    fn encode(self) -> u64 {
        match self {
            Shape::Tree => 0,
            Shape::Sequence => 1,
            Shape::Prefix(len) => 2 | (len as u64) << 2,
        }
    }

    #[inline]
    fn decode(word: u64) -> Self {
        match word & 3 {
            0 => Shape::Tree,
            1 => Shape::Sequence,
            _ => Shape::Prefix((word >> 2) as usize),
        }
    }
}

/// What an insert found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insert {
    /// The entry is in; `true` if it took a free slot, `false` if others had to move.
    Done(bool),
    /// An entry of this user key and sequence number was there already.
    Duplicate,
    /// No free slot: `rank` entries of the node are smaller than the new one.
    Full {
        /// Number of smaller entries in the node.
        rank: usize,
    },
}

/// Where to cut a full node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Inserts come in ascending order: keep what is left of the last one dense.
    Ascending,
    /// Inserts come in descending order.
    Descending,
    /// Neither: cut in the middle and spread both halves.
    Spread,
}

/// A node in the tree's memory. `Copy`, and valid as long as that memory: nodes are retired, never freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataNode(NonNull<Header>);

// SAFETY: all shared state of a node is atomic or immutable after publication.
unsafe impl Send for DataNode {}

/// Result of a search: the first occupied slot at or after the target, and what stands around it.
pub struct Found {
    /// Slot of the first entry that is not smaller than the target; the capacity if there is none.
    pub slot: usize,
    /// That entry.
    pub entry: Option<Entry>,
    /// Whether that entry has the target's user key and sequence number.
    pub exact: bool,
    /// Whether it may have the target's user key: if not, its projection already told.
    pub may_match: bool,
    /// First slot whose key is not below the target's, occupied or not.
    bound: usize,
}

impl DataNode {
    /// Bytes of a node with `slots` slots, alignment to a cache line included.
    pub fn bytes(slots: usize) -> usize {
        size_of::<Header>() + slots * size_of::<Slot>() + align_of::<Header>()
    }

    /// Makes an empty node in `memory`, to be published by the caller. All gaps get the key `fill` or, with `None`, keys that
    /// rise evenly from `low.1` to `high.1`, which is a skeleton without keys.
    ///
    /// # Safety
    /// `memory` is writable for [`DataNode::bytes`]`(slots)` bytes, aligned to 8, unshared, and lives as long as the tree; the
    /// fences' entries too. `1 <= slots <= MAX_SLOTS`.
    pub unsafe fn create(
        memory: *mut u8,
        slots: usize,
        low: (Option<Entry>, u64),
        high: (Option<Entry>, u64),
        fill: Option<u64>,
    ) -> Self {
        assert!((1..=MAX_SLOTS).contains(&slots));
        let pointer = |e: Option<Entry>| e.map_or(ptr::null_mut(), |e| e.as_ptr().cast_mut());
        let header = Header {
            word: VersionWord::default(),
            model: LinearModel::flat(),
            low_proj: low.1,
            high_proj: AtomicU64::new(high.1),
            shape: AtomicU64::new(Shape::Tree.encode()),
            slots: slots as u32,
            entries: AtomicU64::new(0),
            bits: [const { 0 }; MAX_SLOTS / 64].map(AtomicU64::new),
            low: pointer(low.0),
            high: AtomicPtr::new(pointer(high.0)),
            prefix_of: AtomicPtr::new(ptr::null_mut()),
            streak: AtomicU64::new(0),
        };
        let step = (high.1 - low.1.min(high.1)) / slots as u64;
        // SAFETY: the memory is large enough by contract; `align_offset` stays below the slack that `bytes` adds.
        let node = unsafe {
            let at = memory.add(memory.align_offset(align_of::<Header>())).cast::<Header>();
            at.write(header);
            let first = at.add(1).cast::<Slot>();
            for i in 0..slots {
                let key = fill.unwrap_or(low.1 + step * i as u64);
                first.add(i).write(Slot {
                    key: AtomicU64::new(key),
                    entry: AtomicPtr::new(ptr::null_mut()),
                });
            }
            DataNode(NonNull::new_unchecked(at))
        };
        if fill.is_none() && step > 0 {
            node.header()
                .model
                .fit((low.1, 0), (low.1 + step * slots as u64, slots));
        }
        node
    }

    /// # Safety
    /// `address` came from [`DataNode::as_ptr`] of a node whose memory is alive.
    #[inline]
    pub unsafe fn from_ptr(address: *mut u8) -> Self {
        debug_assert!(!address.is_null());
        // SAFETY: not null, since it came from `as_ptr`.
        DataNode(unsafe { NonNull::new_unchecked(address.cast()) })
    }

    /// Address of the node, even.
    #[inline]
    pub fn as_ptr(self) -> *mut u8 {
        self.0.as_ptr().cast()
    }

    #[inline]
    fn header<'m>(self) -> &'m Header {
        // SAFETY: nodes live as long as the tree's memory, and every shared field is atomic.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    fn slot<'m>(self, i: usize) -> &'m Slot {
        assert!(i < self.slots());
        // SAFETY: the slots follow the header (`create`) and `i` is below their number, which never changes.
        unsafe { &*self.0.as_ptr().add(1).cast::<Slot>().add(i) }
    }

    /// Starts loading the header and, as if the node were full-grown, the slots around `share` (0 to 1) of its range.
    #[inline]
    pub fn prefetch(self, share: f64) {
        let header = self.as_ptr();
        prefetch(header);
        prefetch(header.wrapping_add(64));
        let slot = ((share * MAX_SLOTS as f64) as usize).min(MAX_SLOTS - 1);
        prefetch(header.wrapping_add(size_of::<Header>() + slot * size_of::<Slot>()));
    }

    /// Number of slots.
    #[inline]
    pub fn slots(self) -> usize {
        self.header().slots as usize
    }

    /// Number of entries.
    #[inline]
    pub fn entries(self) -> usize {
        self.header().entries.load(Acquire) as usize
    }

    /// The word that guards this node.
    #[inline]
    pub fn guard<'m>(self) -> &'m VersionWord {
        &self.header().word
    }

    #[inline]
    fn fence(address: *mut u8) -> Option<Entry> {
        // SAFETY: fences are entries or skeleton fences, stored from valid `Entry` values.
        (!address.is_null()).then(|| unsafe { Entry::from_raw(address) })
    }

    /// Low fence (inclusive); `None` is below every key.
    #[inline]
    pub fn low(self) -> Option<Entry> {
        Self::fence(self.header().low)
    }

    /// High fence (exclusive); `None` is above every key.
    #[inline]
    pub fn high(self) -> Option<Entry> {
        Self::fence(self.header().high.load(Acquire))
    }

    /// Projection of the low fence.
    #[inline]
    pub fn low_proj(self) -> u64 {
        self.header().low_proj
    }

    /// Projection of the high fence.
    #[inline]
    pub fn high_proj(self) -> u64 {
        self.header().high_proj.load(Acquire)
    }

    #[inline]
    fn entry_at(self, slot: usize) -> Option<Entry> {
        Self::fence(self.slot(slot).entry.load(Acquire))
    }

    /// Entry in `slot`, if the bitmap says that it is occupied.
    #[inline]
    pub fn entry(self, slot: usize) -> Option<Entry> {
        if slot >= self.slots() {
            None
        } else {
            self.entry_at(slot)
        }
    }

    /// Key of `slot`, gap or not; for the structure checker.
    pub fn slot_key(self, slot: usize) -> u64 {
        self.slot(slot).key.load(Acquire)
    }
}
