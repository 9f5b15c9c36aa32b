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

use std::cmp::Ordering;
use std::ptr::{self, NonNull};

use super::entry::{Entry, Key};
use super::model::{LinearModel, lower_bound};
use super::sync::{Acquire, AtomicPtr, AtomicU64, Relaxed, Release, prefetch};
use super::version::{Locked, VersionWord};
use crate::key::{common_prefix_len, load_be};

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

    /// Whether `key`, of tree projection `p`, is at or above the low fence.
    #[inline]
    pub fn above_low(self, key: &Key, p: u64) -> bool {
        p > self.header().low_proj || self.low().is_none_or(|low| low.key() <= *key)
    }

    /// Whether `key`, of tree projection `p`, is below the high fence.
    #[inline]
    pub fn below_high(self, key: &Key, p: u64) -> bool {
        p < self.high_proj() || self.high().is_none_or(|high| *key < high.key())
    }

    #[inline]
    fn local(self, key: &Key, p: u64) -> u64 {
        match Shape::decode(self.header().shape.load(Acquire)) {
            Shape::Tree => p,
            Shape::Sequence => u64::MAX - key.seq,
            Shape::Prefix(len) => {
                let Some(source) = Self::fence(self.header().prefix_of.load(Acquire)) else {
                    return 0;
                };
                let source = source.key().user;
                let prefix = &source[..len.min(source.len())];
                let head = &key.user[..prefix.len().min(key.user.len())];
                match head.cmp(prefix) {
                    Ordering::Less => 0,
                    Ordering::Equal => load_be(key.user, prefix.len()),
                    Ordering::Greater => u64::MAX,
                }
            }
        }
    }

    #[inline]
    fn entry_at(self, slot: usize) -> Option<Entry> {
        Self::fence(self.slot(slot).entry.load(Acquire))
    }

    /// First occupied slot at or after `from`; the capacity if there is none.
    #[inline]
    pub fn occupied_from(self, from: usize) -> usize {
        self.scan_up(from, 0)
    }

    #[inline]
    fn scan_up(self, from: usize, invert: u64) -> usize {
        let slots = self.slots();
        if from >= slots {
            return slots;
        }
        let mut word = from / 64;
        let mut bits = (self.header().bits[word].load(Acquire) ^ invert) & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                return (word * 64 + bits.trailing_zeros() as usize).min(slots);
            }
            word += 1;
            if word * 64 >= slots {
                return slots;
            }
            bits = self.header().bits[word].load(Acquire) ^ invert;
        }
    }

    /// Last occupied slot before `before`.
    #[inline]
    pub fn occupied_before(self, before: usize) -> Option<usize> {
        self.scan_down(before, 0)
    }

    #[inline]
    fn scan_down(self, before: usize, invert: u64) -> Option<usize> {
        let last = before.min(self.slots()).checked_sub(1)?;
        let mut word = last / 64;
        let mut bits = (self.header().bits[word].load(Acquire) ^ invert) & (u64::MAX >> (63 - last % 64));
        loop {
            if bits != 0 {
                return Some(word * 64 + 63 - bits.leading_zeros() as usize);
            }
            word = word.checked_sub(1)?;
            bits = self.header().bits[word].load(Acquire) ^ invert;
        }
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

    /// Searches for `key`, of tree projection `p`.
    #[inline]
    pub fn search(self, key: &Key, p: u64) -> Found {
        let slots = self.slots();
        let x = self.local(key, p);
        let bound = lower_bound(slots, self.header().model.predict(x, slots), x, |i| {
            self.slot(i).key.load(Acquire)
        });
        let slot = self.occupied_from(bound);
        let none = Found {
            slot: slots,
            entry: None,
            exact: false,
            may_match: false,
            bound,
        };
        if slot >= slots {
            return none;
        }
        let Some(entry) = self.entry_at(slot) else { return none };
        if self.slot(slot).key.load(Acquire) != x {
            let may_match = self.header().shape.load(Acquire) == Shape::Sequence.encode();
            return Found {
                slot,
                entry: Some(entry),
                may_match,
                ..none
            };
        }
        match entry.key().cmp(key) {
            Ordering::Less => self.search_equals(key, x, slot + 1, none),
            order => Found {
                slot,
                entry: Some(entry),
                exact: order == Ordering::Equal,
                may_match: true,
                ..none
            },
        }
    }

    /// The entry that [`DataNode::search`] will most likely look at, found without touching any entry or checking anything.
    pub fn peek(self, key: &Key, p: u64) -> Option<Entry> {
        let slots = self.slots();
        let x = self.local(key, p);
        let bound = lower_bound(slots, self.header().model.predict(x, slots), x, |i| {
            self.slot(i).key.load(Acquire)
        });
        self.entry(self.occupied_from(bound))
    }

    /// The rest of [`DataNode::search`] where several keys share the projection `x`: binary search by full keys.
    #[cold]
    fn search_equals(self, key: &Key, x: u64, from: usize, none: Found) -> Found {
        let slots = self.slots();
        let above = |i: usize| self.slot(i).key.load(Acquire) > x;
        let (mut lo, mut hi, mut step) = (from, from, 1);
        while hi < slots && !above(hi) {
            hi += step;
            step *= 2;
        }
        // Every slot at or after `hi` has a larger key, or there is none; narrow it to the first such slot.
        let mut run_lo = from;
        let mut run_hi = hi.min(slots);
        while run_lo < run_hi {
            let mid = (run_lo + run_hi) / 2;
            if above(mid) { run_hi = mid } else { run_lo = mid + 1 }
        }
        let end = run_lo;
        hi = end;
        while lo < hi {
            let mid = (lo + hi) / 2;
            let slot = self.occupied_from(mid);
            if slot >= hi {
                hi = mid;
                continue;
            }
            match self.entry_at(slot) {
                Some(entry) if entry.key() < *key => lo = slot + 1,
                // Everything in `mid..slot` is a gap, so the answer is this slot or left of `mid`.
                Some(_) => hi = if slot > mid { mid } else { slot },
                // A writer is at work; the version check will fail.
                None => return none,
            }
        }
        let slot = self.occupied_from(lo);
        let Some(entry) = self.entry(slot) else {
            return Found { bound: lo, ..none };
        };
        let may_match = slot < end;
        let exact = may_match && entry.key() == *key;
        Found {
            slot,
            entry: Some(entry),
            exact,
            may_match,
            bound: lo,
        }
    }

    fn put(self, slot: usize, key: u64, entry: Entry) {
        let at = self.slot(slot);
        at.key.store(key, Release);
        at.entry.store(entry.as_ptr().cast_mut(), Release);
        let bits = &self.header().bits[slot / 64];
        bits.store(bits.load(Relaxed) | 1 << (slot % 64), Release);
    }

    /// Inserts `entry`, whose key is `key` with tree projection `p` and lies within the fences.
    pub fn insert(self, _: &Locked<'_>, entry: Entry, key: &Key, p: u64) -> Insert {
        let found = self.search(key, p);
        if found.exact {
            return Insert::Duplicate;
        }
        let slots = self.slots();
        let right = found.slot;
        let left = self.occupied_before(right);
        self.note_streak(left, right);
        if self.entries() == slots {
            return Insert::Full { rank: self.rank(right) };
        }
        let x = self.local(key, p);
        let after_left = left.map_or(0, |l| l + 1);
        let free = after_left < right;
        let at = if free {
            // The gap that already has the right key, so that no other key needs to change.
            found.bound.clamp(after_left, right - 1)
        } else {
            self.make_room(after_left, right)
        };
        self.put(at, x, entry);
        let header = self.header();
        header.entries.store(header.entries.load(Relaxed) + 1, Release);
        header
            .streak
            .store(header.streak.load(Relaxed) & !0xffff | (at as u64 + 1), Relaxed);
        Insert::Done(free)
    }

    /// Frees a slot between the occupied neighbours `right - 1` and `right` by moving the shorter way to a gap.
    fn make_room(self, after_left: usize, right: usize) -> usize {
        let slots = self.slots();
        let up = self.scan_up(right, u64::MAX);
        let down = self.scan_down(after_left, u64::MAX);
        let move_slot = |from: usize, to: usize| {
            let source = self.slot(from);
            self.slot(to).key.store(source.key.load(Relaxed), Release);
            self.slot(to).entry.store(source.entry.load(Relaxed), Release);
        };
        let mark = |slot: usize| {
            let bits = &self.header().bits[slot / 64];
            bits.store(bits.load(Relaxed) | 1 << (slot % 64), Release);
        };
        match down {
            Some(gap) if up >= slots || after_left - gap <= up - right => {
                for to in gap..after_left - 1 {
                    move_slot(to + 1, to);
                }
                mark(gap);
                after_left - 1
            }
            _ => {
                assert!(up < slots, "a node with a free slot has a gap");
                for to in (right + 1..=up).rev() {
                    move_slot(to - 1, to);
                }
                mark(up);
                right
            }
        }
    }

    /// Counts inserts that land right after (or right before) the one before them. Layout of the word: last slot + 1 in bits
    /// 0..16, ascending count in 16..32, descending count in 32..48.
    fn note_streak(self, left: Option<usize>, right: usize) {
        let word = self.header().streak.load(Relaxed);
        let last = (word & 0xffff) as usize;
        let (up, down) = (word >> 16 & 0xffff, word >> 32 & 0xffff);
        let (up, down) = if last == 0 {
            (0, 0)
        } else if left.is_some_and(|l| l + 1 == last) {
            ((up + 1).min(0xffff), 0)
        } else if right + 1 == last {
            (0, (down + 1).min(0xffff))
        } else {
            // A stray insert in between does not end a streak, it shortens it.
            (up.saturating_sub(16), down.saturating_sub(16))
        };
        self.header().streak.store(last as u64 | up << 16 | down << 32, Relaxed);
    }

    /// The insert order seen lately.
    pub fn pattern(self) -> Pattern {
        let word = self.header().streak.load(Relaxed);
        let enough = (self.slots() as u64 / 4).max(2);
        if word >> 16 & 0xffff >= enough {
            Pattern::Ascending
        } else if word >> 32 & 0xffff >= enough {
            Pattern::Descending
        } else {
            Pattern::Spread
        }
    }

    /// Number of entries in the slots before `slot`.
    pub fn rank(self, slot: usize) -> usize {
        let mut count = 0;
        for (i, word) in self.header().bits.iter().enumerate() {
            let bits = word.load(Acquire);
            count += match slot.saturating_sub(i * 64) {
                0 => 0,
                n if n >= 64 => bits.count_ones(),
                n => (bits & ((1 << n) - 1)).count_ones(),
            } as usize;
        }
        count
    }

    /// Appends all (slot key, entry) pairs in order.
    pub fn collect(self, out: &mut Vec<(u64, Entry)>) {
        let mut slot = self.occupied_from(0);
        while let Some(entry) = self.entry(slot) {
            out.push((self.slot(slot).key.load(Acquire), entry));
            slot = self.occupied_from(slot + 1);
        }
    }

    /// Gives this node the shape and prefix of `other`, so that slot keys can be carried over.
    pub fn take_shape(self, other: DataNode) {
        self.header()
            .prefix_of
            .store(other.header().prefix_of.load(Acquire), Release);
        self.header().shape.store(other.header().shape.load(Acquire), Release);
    }

    /// Replaces the contents by `items` (in order, keys in this node's shape) and moves the high fence. The node is locked or
    /// not yet published. If too many slot keys are equal, a shape that tells them apart is chosen first.
    pub fn rebuild(self, items: &mut [(u64, Entry)], high: (Option<Entry>, u64), pattern: Pattern) {
        let header = self.header();
        let slots = self.slots();
        let n = items.len();
        assert!(n <= slots, "a rebuild fits");
        header
            .high
            .store(high.0.map_or(ptr::null_mut(), |e| e.as_ptr().cast_mut()), Release);
        header.high_proj.store(high.1, Release);
        self.reshape(items);
        let fill = if pattern == Pattern::Descending && n == 0 {
            0
        } else {
            u64::MAX
        };
        let place = |i: usize| match pattern {
            Pattern::Ascending => i,
            Pattern::Descending => slots - n + i,
            Pattern::Spread => i * slots / n,
        };
        let mut bits = [0u64; MAX_SLOTS / 64];
        let mut next = 0;
        for i in 0..slots {
            let at = self.slot(i);
            if next < n && place(next) == i {
                at.key.store(items[next].0, Release);
                at.entry.store(items[next].1.as_ptr().cast_mut(), Release);
                bits[i / 64] |= 1 << (i % 64);
                next += 1;
            } else {
                at.key.store(if next < n { items[next].0 } else { fill }, Release);
                at.entry.store(ptr::null_mut(), Release);
            }
        }
        assert_eq!(next, n, "every entry has found a slot");
        for (word, bits) in header.bits.iter().zip(bits) {
            word.store(bits, Release);
        }
        header.entries.store(n as u64, Release);
        header.streak.store(0, Relaxed);
        if n >= 2 {
            let (a, b) = (n / 8, n - 1 - n / 8);
            header.model.fit((items[a].0, place(a)), (items[b].0, place(b)));
        }
    }

    /// Chooses a finer local projection when more than a quarter of neighbouring slot keys are equal.
    fn reshape(self, items: &mut [(u64, Entry)]) {
        let n = items.len();
        let equal = items.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        if n < 8 || equal * 4 <= n {
            return;
        }
        let one_user_key = self
            .low()
            .zip(self.high())
            .is_some_and(|(low, high)| low.key().user == high.key().user);
        let shape = if one_user_key {
            Shape::Sequence
        } else {
            let (a, b) = (items[n / 8].1, items[n - 1 - n / 8].1);
            self.header().prefix_of.store(a.as_ptr().cast_mut(), Release);
            Shape::Prefix(common_prefix_len(a.key().user, b.key().user))
        };
        self.header().shape.store(shape.encode(), Release);
        for (x, entry) in items {
            *x = self.local(&entry.key(), 0);
        }
    }
}
