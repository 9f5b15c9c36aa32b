//! Data node: a gapped array of entries in key order, guarded by one version word.
//!
//! ```text
//! line 1   word | model (base, slope) | low/high projection | local projection | capacity, entries | flags
//! line 2   occupancy bitmap (4 words) | low fence | high fence | streak
//! slots    capacity x { key: u64, entry: pointer }
//! bitmap   of nodes with more than 256 slots, in place of the one in line 2
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

mod local;
mod search;
mod write;

use std::ptr::{self, NonNull};

pub(in crate::memtable) use local::{Choice, Local};

use crate::memtable::entry::Entry;
use crate::memtable::model::LinearModel;
use crate::memtable::sync::{Acquire, AtomicPtr, AtomicU32, AtomicU64, Relaxed};
use crate::memtable::version::{Locked, VersionWord};
use crate::prefetch::prefetch;

/// Slots whose bitmap fits in the header: 4 KiB of slots. Larger nodes are there to be measured against.
pub const PAGE_SLOTS: usize = 256;

/// A fence and its tree projection; `None` is below (or above) every key.
pub type Fence = (Option<Entry>, u64);

/// Most slots of a data node: 512 KiB of slots.
pub const MAX_SLOTS: usize = 32_768;

/// In `flags`: the node counts as full while it still has gaps.
const SPARSE: u64 = 2;

/// In `flags`: inserts are also written to the node's buffer, because it is being rebuilt in the background.
const REBUILDING: u64 = 1;

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
    local: AtomicPtr<u8>,
    slots: u32,
    entries: AtomicU32,
    flags: AtomicU64,
    bits: [AtomicU64; PAGE_SLOTS / 64],
    low: *mut u8,
    high: AtomicPtr<u8>,
    streak: AtomicU64,
}

/// The keys of the slots of a new node, all of them gaps.
pub enum Gaps<'a> {
    /// The same key everywhere.
    Equal(u64),
    /// What a skeleton says about the node.
    Planned {
        /// Local projection and model.
        plan: &'a Plan,
        /// Ascending slot keys at equal distances, the first and the last slot included; two or more.
        knots: &'a [u64],
    },
}

/// What a skeleton says about one data node, keys apart.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(in crate::memtable) local: Local,
    pub(in crate::memtable) model: (u64, f64),
}

impl Gaps<'_> {
    /// Calls `put` for every slot with its key.
    #[inline]
    fn keys(&self, slots: usize, mut put: impl FnMut(usize, u64)) {
        match self {
            Gaps::Equal(key) => (0..slots).for_each(|i| put(i, *key)),
            Gaps::Planned { knots, .. } if knots.len() == slots => (0..slots).for_each(|i| put(i, knots[i])),
            Gaps::Planned { knots, .. } => {
                let stride = slots.div_ceil(knots.len() - 1);
                for (pair, from) in knots.windows(2).zip((0..slots).step_by(stride)) {
                    let step = (pair[1] - pair[0]) / stride as u64;
                    for i in from..slots.min(from + stride) {
                        put(i, pair[0] + step * (i - from) as u64);
                    }
                }
            }
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
        let far = if slots > PAGE_SLOTS { slots.div_ceil(64) } else { 0 };
        size_of::<Header>() + slots * size_of::<Slot>() + far * size_of::<AtomicU64>() + align_of::<Header>()
    }

    /// Makes an empty node in `memory`, to be published by the caller.
    ///
    /// # Safety
    /// `memory` is writable for [`DataNode::bytes`]`(slots)` bytes, aligned to 8, unshared, and lives as long as the tree; the
    /// fences' entries too. `1 <= slots <= MAX_SLOTS`.
    pub unsafe fn create(
        memory: *mut u8,
        slots: usize,
        sparse: bool,
        (low, high): (Fence, Fence),
        gaps: &Gaps<'_>,
    ) -> Self {
        assert!((1..=MAX_SLOTS).contains(&slots));
        let pointer = |e: Option<Entry>| e.map_or(ptr::null_mut(), |e| e.as_ptr().cast_mut());
        let header = Header {
            word: VersionWord::default(),
            model: LinearModel::flat(),
            low_proj: low.1,
            high_proj: AtomicU64::new(high.1),
            local: AtomicPtr::new(Local::TREE.as_ptr()),
            slots: slots as u32,
            entries: AtomicU32::new(0),
            flags: AtomicU64::new(u64::from(sparse) * SPARSE),
            bits: [const { 0 }; PAGE_SLOTS / 64].map(AtomicU64::new),
            low: pointer(low.0),
            high: AtomicPtr::new(pointer(high.0)),
            streak: AtomicU64::new(0),
        };
        // SAFETY: the memory is large enough by contract; `align_offset` stays below the slack that `bytes` adds.
        let node = unsafe {
            let at = memory.add(memory.align_offset(align_of::<Header>())).cast::<Header>();
            at.write(header);
            let first = at.add(1).cast::<Slot>();
            gaps.keys(slots, |i, key| {
                first.add(i).write(Slot {
                    key: AtomicU64::new(key),
                    entry: AtomicPtr::new(ptr::null_mut()),
                });
            });
            if slots > PAGE_SLOTS {
                let far = first.add(slots).cast::<AtomicU64>();
                for word in 0..slots.div_ceil(64) {
                    far.add(word).write(AtomicU64::new(0));
                }
            }
            DataNode(NonNull::new_unchecked(at))
        };
        if let Gaps::Planned { plan, .. } = gaps {
            let header = node.header();
            header.local.store(plan.local.as_ptr(), Relaxed);
            header.model.set(plan.model);
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

    /// The word of the bitmap that holds slot `64 * word`.
    #[inline]
    fn bits<'m>(self, word: usize) -> &'m AtomicU64 {
        let header = self.header();
        if self.slots() <= PAGE_SLOTS {
            &header.bits[word]
        } else {
            assert!(word < self.slots().div_ceil(64));
            // SAFETY: `create` has put the bitmap of a large node behind its slots, and `word` is in it.
            unsafe {
                &*self
                    .0
                    .as_ptr()
                    .add(1)
                    .cast::<Slot>()
                    .add(self.slots())
                    .cast::<AtomicU64>()
                    .add(word)
            }
        }
    }

    /// Starts loading the header and, as if the node had `slots` slots, the slot at `share` (0 to 1) of its range.
    #[inline]
    pub fn prefetch(self, share: f64, slots: usize) {
        let header = self.as_ptr();
        prefetch(header);
        prefetch(header.wrapping_add(64));
        let slot = ((share * slots as f64) as usize).min(slots - 1);
        prefetch(header.wrapping_add(size_of::<Header>() + slot * size_of::<Slot>()));
    }

    /// How keys become slot keys.
    #[inline]
    pub(in crate::memtable) fn local(self) -> Local {
        // SAFETY: stored from a `Local` of this tree or of its skeleton.
        unsafe { Local::from_ptr(self.header().local.load(Acquire)) }
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

    /// Whether inserts have to be written to the node's buffer as well.
    #[inline]
    pub fn rebuilding(self) -> bool {
        self.header().flags.load(Relaxed) & REBUILDING != 0
    }

    /// Changes what [`DataNode::rebuilding`] says; the node is locked.
    pub fn set_rebuilding(self, _: &Locked<'_>, rebuilding: bool) {
        let flags = &self.header().flags;
        let others = flags.load(Relaxed) & !REBUILDING;
        flags.store(others | (u64::from(rebuilding) * REBUILDING), Relaxed);
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
