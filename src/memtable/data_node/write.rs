//! Changing a locked data node: insert, make room, rebuild.

use std::ptr;

use super::{DataNode, Fence, Insert, Local, Pattern, SPARSE};
use crate::memtable::entry::{Entry, Key};
use crate::memtable::sync::{Acquire, Relaxed, Release};
use crate::memtable::version::Locked;

impl DataNode {
    pub(super) fn put(self, slot: usize, key: u64, entry: Entry) {
        let at = self.slot(slot);
        at.key.store(key, Release);
        at.entry.store(entry.as_ptr().cast_mut(), Release);
        self.mark(slot);
    }

    fn mark(self, slot: usize) {
        let bits = self.bits(slot / 64);
        bits.store(bits.load(Relaxed) | 1 << (slot % 64), Release);
    }

    /// Inserts `entry`, whose key is `key` with tree projection `p` and lies within the fences.
    pub fn insert(self, _: &Locked<'_>, entry: Entry, key: &Key, p: u64) -> Insert {
        let slots = self.slots();
        let x = self.local().number(key, p);
        let streak = self.header().streak.load(Relaxed);
        // Ascending (or descending) inserts go beside the last one, which no model has to predict.
        let beside = match (streak & 0xffff) as usize {
            after if after > 0 && streak >> 16 >= 2 => self.search_beside(after - 1, key, x),
            _ => None,
        };
        let (left, found) = match beside {
            Some(place) => place,
            None => {
                let found = self.search_at(key, x, self.header().model.predict(x, slots));
                if found.exact {
                    return Insert::Duplicate;
                }
                (self.occupied_before(found.slot), found)
            }
        };
        let right = found.slot;
        self.note_streak(left, right);
        let after_left = left.map_or(0, |l| l + 1);
        let free = after_left < right;
        if self.entries() >= self.limit() && !(free && right == slots) {
            return Insert::Full { rank: self.rank(right) };
        }
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

    /// Entries at which the node counts as full. A page may fill up: moving a few slots is cheaper than its rebuild. In a large
    /// node the way to the next gap would grow without bounds, so it is rebuilt at the density of ALEX (80%), and what is left
    /// is for the inserts that come while this is done in the background.
    fn limit(self) -> usize {
        let slots = self.slots();
        match self.header().flags.load(Relaxed) {
            0 => slots,
            SPARSE => slots - slots.div_ceil(5),
            _ => slots - slots / 20,
        }
    }

    /// Frees a slot between the occupied neighbours `right - 1` and `right` by moving the shorter way to a gap.
    pub(super) fn make_room(self, after_left: usize, right: usize) -> usize {
        let slots = self.slots();
        let up = self.scan_up(right, u64::MAX);
        let down = self.scan_down(after_left, u64::MAX);
        let move_slot = |from: usize, to: usize| {
            let source = self.slot(from);
            self.slot(to).key.store(source.key.load(Relaxed), Release);
            self.slot(to).entry.store(source.entry.load(Relaxed), Release);
        };
        match down {
            Some(gap) if up >= slots || after_left - gap <= up - right => {
                for to in gap..after_left - 1 {
                    move_slot(to + 1, to);
                }
                self.mark(gap);
                after_left - 1
            }
            _ => {
                assert!(up < slots, "a node with a free slot has a gap");
                for to in (right + 1..=up).rev() {
                    move_slot(to - 1, to);
                }
                self.mark(up);
                right
            }
        }
    }

    /// Counts inserts that land right after (or right before) the one before them. Layout of the word: last slot + 1 in bits
    /// 0..16, ascending count in 16..32, descending count in 32..48.
    pub(super) fn note_streak(self, left: Option<usize>, right: usize) {
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

    /// Whether the last few inserts went right after each other.
    #[inline]
    pub fn ascending(self) -> bool {
        self.header().streak.load(Relaxed) >> 16 & 0xffff >= 2
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

    /// Appends all (slot key, entry) pairs in order.
    pub fn collect(self, out: &mut Vec<(u64, Entry)>) {
        let mut slot = self.occupied_from(0);
        while let Some(entry) = self.entry(slot) {
            out.push((self.slot(slot).key.load(Acquire), entry));
            slot = self.occupied_from(slot + 1);
        }
    }

    /// Gives this node the local projection of `other`, so that slot keys can be carried over.
    pub fn take_local(self, other: DataNode) {
        self.header().local.store(other.local().as_ptr(), Release);
    }

    /// Replaces the contents by `items` (in order, keys in the given local projection) and moves the high fence. The node is locked or
    /// not yet published.
    pub(in crate::memtable) fn rebuild(self, local: Local, items: &[(u64, Entry)], high: Fence, pattern: Pattern) {
        let header = self.header();
        let slots = self.slots();
        let n = items.len();
        assert!(n <= slots, "a rebuild fits");
        self.set_high(high);
        header.local.store(local.as_ptr(), Release);
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
        let (mut bits, mut next) = (0u64, 0);
        for i in 0..slots {
            let at = self.slot(i);
            if next < n && place(next) == i {
                at.key.store(items[next].0, Release);
                at.entry.store(items[next].1.as_ptr().cast_mut(), Release);
                bits |= 1 << (i % 64);
                next += 1;
            } else {
                at.key.store(if next < n { items[next].0 } else { fill }, Release);
                at.entry.store(ptr::null_mut(), Release);
            }
            if i % 64 == 63 || i + 1 == slots {
                self.bits(i / 64).store(bits, Release);
                bits = 0;
            }
        }
        assert_eq!(next, n, "every entry has found a slot");
        header.entries.store(n as u32, Release);
        header.streak.store(0, Relaxed);
        if n >= 2 {
            let (a, b) = (n / 8, n - 1 - n / 8);
            header.model.fit((items[a].0, place(a)), (items[b].0, place(b)));
        }
    }

    fn set_high(self, high: Fence) {
        let header = self.header();
        header
            .high
            .store(high.0.map_or(ptr::null_mut(), |e| e.as_ptr().cast_mut()), Release);
        header.high_proj.store(high.1, Release);
    }

    /// Moves the high fence down to where nothing is left at or above it.
    pub fn lower_high(self, _: &Locked<'_>, high: Fence) {
        self.set_high(high);
        self.header().streak.store(0, Relaxed);
    }
}
