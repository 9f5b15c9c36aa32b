//! Searching a data node: by model, by bitmap, by full keys where projections are equal.

use std::cmp::Ordering;

use super::{DataNode, Found};
use crate::memtable::entry::{Entry, Key};
use crate::memtable::model::lower_bound;
use crate::memtable::sync::Acquire;
use crate::prefetch::prefetch;

/// Entries of a run of equal slot keys that are asked for at once.
const RUN: usize = 16;

impl DataNode {
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

    /// First occupied slot at or after `from`; the capacity if there is none.
    #[inline]
    pub fn occupied_from(self, from: usize) -> usize {
        self.scan_up(from, 0)
    }

    #[inline]
    pub(super) fn scan_up(self, from: usize, invert: u64) -> usize {
        let slots = self.slots();
        if from >= slots {
            return slots;
        }
        let mut word = from / 64;
        let mut bits = (self.bits(word).load(Acquire) ^ invert) & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                return (word * 64 + bits.trailing_zeros() as usize).min(slots);
            }
            word += 1;
            if word * 64 >= slots {
                return slots;
            }
            bits = self.bits(word).load(Acquire) ^ invert;
        }
    }

    /// Last occupied slot before `before`.
    #[inline]
    pub fn occupied_before(self, before: usize) -> Option<usize> {
        self.scan_down(before, 0)
    }

    #[inline]
    pub(super) fn scan_down(self, before: usize, invert: u64) -> Option<usize> {
        let last = before.min(self.slots()).checked_sub(1)?;
        let mut word = last / 64;
        let mut bits = (self.bits(word).load(Acquire) ^ invert) & (u64::MAX >> (63 - last % 64));
        loop {
            if bits != 0 {
                return Some(word * 64 + 63 - bits.leading_zeros() as usize);
            }
            word = word.checked_sub(1)?;
            bits = self.bits(word).load(Acquire) ^ invert;
        }
    }

    /// Searches for `key`, of tree projection `p`.
    #[inline]
    pub fn search(self, key: &Key, p: u64) -> Found {
        let x = self.local().number(key, p);
        self.search_at(key, x, self.header().model.predict(x, self.slots()))
    }

    /// First slot whose key is not below `x`, occupied or not, searched outwards from `guess`.
    #[inline]
    fn bound(self, x: u64, guess: usize) -> usize {
        lower_bound(self.slots(), guess, x, |i| self.slot(i).key.load(Acquire))
    }

    /// As [`DataNode::search`], if the place of the key, whose local number is `x`, is right before or after the entry in `slot`; with
    /// the occupied slot to the left of that place.
    #[inline]
    pub(super) fn search_beside(self, slot: usize, key: &Key, x: u64) -> Option<(Option<usize>, Found)> {
        // Numbers tell most keys apart without a look at the entry.
        let order = |other: usize| match x.cmp(&self.slot(other).key.load(Acquire)) {
            Ordering::Equal => Some(key.cmp(&self.entry(other)?.key())),
            order => Some(order),
        };
        let slots = self.slots();
        let (left, right) = match order(slot)? {
            Ordering::Less => (self.occupied_before(slot), slot),
            Ordering::Equal => return None,
            Ordering::Greater => (Some(slot), self.occupied_from(slot + 1)),
        };
        if right == slot {
            if let Some(left) = left
                && order(left)? != Ordering::Greater
            {
                return None;
            }
        } else if right < slots && order(right)? != Ordering::Less {
            return None;
        }
        // Among the gaps in between, the first whose key is not below the new one.
        let from = left.map_or(0, |l| l + 1);
        let guess = if right == slot { right - from } else { 0 };
        let bound = from + lower_bound(right - from, guess, x, |i| self.slot(from + i).key.load(Acquire));
        let found = Found {
            slot: right,
            entry: None,
            exact: false,
            may_match: false,
            bound,
        };
        Some((left, found))
    }

    #[inline]
    pub(super) fn search_at(self, key: &Key, x: u64, guess: usize) -> Found {
        let slots = self.slots();
        let bound = self.bound(x, guess);
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
            let may_match = self.local().is_sequence();
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
        let x = self.local().number(key, p);
        let bound = self.bound(x, self.header().model.predict(x, self.slots()));
        self.entry(self.occupied_from(bound))
    }

    /// Starts loading the entries of a run of equal slot keys: the binary search would wait for each in turn.
    fn prefetch_run(self, from: usize, end: usize) {
        // Longer runs are halved first; their middles miss the cache a few times more.
        let around = (from + end) / 2;
        let mut slot = self.occupied_from(from.max(around.saturating_sub(RUN / 2)));
        for _ in 0..RUN {
            match self.entry(slot) {
                Some(entry) if slot < end => {
                    prefetch(entry.as_ptr());
                    prefetch(entry.as_ptr().wrapping_add(64));
                }
                _ => break,
            }
            slot = self.occupied_from(slot + 1);
        }
    }

    /// The rest of [`DataNode::search`] where several keys share the projection `x`: binary search by full keys.
    #[cold]
    pub(super) fn search_equals(self, key: &Key, x: u64, from: usize, none: Found) -> Found {
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
        self.prefetch_run(lo, end);
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

    /// Number of entries in the slots before `slot`.
    pub fn rank(self, slot: usize) -> usize {
        let mut count = 0;
        for i in 0..self.slots().div_ceil(64) {
            let bits = self.bits(i).load(Acquire);
            count += match slot.saturating_sub(i * 64) {
                0 => 0,
                n if n >= 64 => bits.count_ones(),
                n => (bits & ((1 << n) - 1)).count_ones(),
            } as usize;
        }
        count
    }
}
