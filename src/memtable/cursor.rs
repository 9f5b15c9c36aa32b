//! Ordered access: point lookup, seek in both directions, steps in both directions.
//!
//! A cursor remembers its entry and, as a shortcut, where it found it. Entries never move or die, so a cursor may rest for
//! hours while the nodes around it split: if the node's version has moved on, the entry is looked up again. What it guarantees is
//! what RocksDB needs: every entry whose insert returned before the call is seen, and steps strictly ascend (or descend).

use super::data_node::DataNode;
use super::entry::{Entry, Key};
use super::model_node::Child;
use super::sync::backoff;
use super::tree::{MIN_KEY, Memory, Place, Tree};
use crate::prefetch::prefetch;

/// A position in a [`Tree`]; plain data, no part of the tree refers to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    entry: Option<Entry>,
    node: Option<DataNode>,
    version: u64,
    slot: usize,
}

/// How many slots ahead a step prefetches an entry: flush reads every entry once, and each is a cache miss of its own.
const AHEAD: usize = 12;

/// Keys that are prefetched together: more would push each other's lines out of the fill buffers.
const GROUP: usize = 32;

impl Cursor {
    /// The entry, if the cursor is on one.
    #[inline]
    pub fn entry(&self) -> Option<Entry> {
        self.entry
    }

    /// The parts, for a caller in another language: entry and node (null if there is none), version, slot.
    #[inline]
    pub fn into_raw(self) -> (*const u8, *mut u8, u64, usize) {
        let entry = self.entry.map_or(std::ptr::null(), Entry::as_ptr);
        (
            entry,
            self.node.map_or(std::ptr::null_mut(), DataNode::as_ptr),
            self.version,
            self.slot,
        )
    }

    /// # Safety
    /// The parts came from [`Cursor::into_raw`] of a cursor whose tree is alive.
    #[inline]
    pub unsafe fn from_raw(entry: *const u8, node: *mut u8, version: u64, slot: usize) -> Self {
        // SAFETY: the caller's promise; null stands for none.
        let (entry, node) = unsafe {
            (
                (!entry.is_null()).then(|| Entry::from_raw(entry)),
                (!node.is_null()).then(|| DataNode::from_ptr(node)),
            )
        };
        Cursor {
            entry,
            node,
            version,
            slot,
        }
    }
}

impl<M: Memory> Tree<M> {
    /// First data node that may hold entries at or after `key`, or `None` if there are none.
    fn first_place<'a>(&self, mut key: Key<'a>, mut p: u64) -> Option<Place<'a>> {
        let mut round = 0;
        'again: loop {
            if let Some(node) = self.route(&key, p) {
                return Some(Place {
                    node,
                    key,
                    p,
                    outside: false,
                });
            }
            let top = self.top();
            let Some(top_version) = top.guard().read() else {
                continue;
            };
            let (start, n) = (top.position(&key, p), top.children());
            let mut i = start;
            let model = loop {
                if i >= n {
                    if top.guard().unchanged(top_version) {
                        return None;
                    }
                    continue 'again;
                }
                match top.child(i) {
                    Some(Child::Node(model)) => break Self::as_model(model),
                    Some(Child::Planned(_)) => i += 1,
                    None => {
                        backoff(&mut round);
                        continue 'again;
                    }
                }
            };
            let Some(version) = model.guard().read() else { continue };
            let skipped = i > start;
            let first = if skipped { 0 } else { model.position(&key, p) };
            let found = (first..model.children()).find_map(|j| match model.child(j) {
                Some(Child::Node(node)) => Some((j, Self::as_data(node))),
                _ => None,
            });
            let high = model.high();
            let right = skipped || model.covers(&key);
            if !(right && top.guard().unchanged(top_version) && model.guard().unchanged(version)) {
                backoff(&mut round);
                continue;
            }
            match (found, high) {
                (Some((j, node)), _) => {
                    return Some(Place {
                        node,
                        key,
                        p,
                        outside: skipped || j > first,
                    });
                }
                (None, None) => return None,
                // Whatever lies at or after the high fence is also the first after `key`, so go on from there.
                (None, Some(fence)) => (key, p) = (fence.key(), self.project(&fence.key())),
            }
        }
    }

    /// Last data node that may hold entries strictly before `key`.
    fn last_place<'a>(&self, mut key: Key<'a>, mut p: u64) -> Option<Place<'a>> {
        let mut round = 0;
        'again: loop {
            let top = self.top();
            let Some(top_version) = top.guard().read() else {
                continue;
            };
            let start = top.position_before(&key, p);
            let mut i = start;
            let model = loop {
                let Some(at) = i else {
                    if top.guard().unchanged(top_version) {
                        return None;
                    }
                    continue 'again;
                };
                match top.child(at) {
                    Some(Child::Node(model)) => break Self::as_model(model),
                    Some(Child::Planned(_)) => i = at.checked_sub(1),
                    None => {
                        backoff(&mut round);
                        continue 'again;
                    }
                }
            };
            let Some(version) = model.guard().read() else { continue };
            let skipped = i < start;
            let last = if skipped {
                model.children().checked_sub(1)
            } else {
                model.position_before(&key, p)
            };
            let found = last.and_then(|last| {
                (0..=last).rev().find_map(|j| match model.child(j) {
                    Some(Child::Node(node)) => Some((j, Self::as_data(node))),
                    _ => None,
                })
            });
            let low = model.low();
            // Not skipped: the model node must reach up to `key`, else a split has put something in between.
            let right = skipped || model.high().is_none_or(|high| key <= high.key());
            if !(right && top.guard().unchanged(top_version) && model.guard().unchanged(version)) {
                backoff(&mut round);
                continue;
            }
            match (found, low) {
                (Some((j, node)), _) => {
                    return Some(Place {
                        node,
                        key,
                        p,
                        outside: skipped || Some(j) < last,
                    });
                }
                (None, None) => return None,
                (None, Some(fence)) => {
                    key = fence.key();
                    p = self.project(&key);
                }
            }
        }
    }

    /// First entry at or after `key`.
    pub fn seek(&self, key: &Key) -> Cursor {
        self.seek_from(*key, false)
    }

    /// First entry of user key `key.user` whose sequence number is at most `key.seq`; a cursor without entry if there is none.
    /// Does not touch entries of other user keys unless their projections are equal.
    pub fn lookup(&self, key: &Key) -> Cursor {
        let cursor = self.seek_from(*key, true);
        if cursor.entry.is_some_and(|e| e.key().user == key.user) {
            cursor
        } else {
            Cursor::default()
        }
    }

    /// Brings what the look-ups of `keys` will touch into the cache, a level at a time for the whole group: their nodes, then
    /// their entries. The misses of one level overlap; one look-up after the other would wait for each.
    pub fn prefetch(&self, keys: &[Key]) {
        let mut nodes = [const { None }; GROUP];
        for keys in keys.chunks(GROUP) {
            for (node, key) in nodes.iter_mut().zip(keys) {
                let p = self.project(key);
                *node = self.route(key, p).map(|node| (node, p));
            }
            for (node, key) in nodes.iter().zip(keys) {
                if let Some(entry) = node.and_then(|(node, p)| node.peek(key, p)) {
                    prefetch(entry.as_ptr());
                }
            }
        }
    }

    #[inline]
    fn seek_from(&self, key: Key, point: bool) -> Cursor {
        let user = key.user;
        let (mut key, mut p) = (key, self.project(&key));
        let mut round = 0;
        loop {
            let Some(place) = self.first_place(key, p) else {
                return Cursor::default();
            };
            (key, p) = (place.key, place.p);
            let node = place.node;
            let Some(version) = node.guard().read() else { continue };
            let above = node.above_low(&key, p);
            if !(above || place.outside) || !node.below_high(&key, p) {
                backoff(&mut round);
                continue;
            }
            let (slot, entry, same) = if above {
                let found = node.search(&key, p);
                (found.slot, found.entry, found.may_match)
            } else {
                let slot = node.occupied_from(0);
                (slot, node.entry(slot), true)
            };
            let high = (node.high(), node.high_proj());
            if !node.guard().unchanged(version) {
                continue;
            }
            match (entry, high.0) {
                (Some(_), _) if point && !same => return Cursor::default(),
                (Some(_), _) => {
                    return Cursor {
                        entry,
                        node: Some(node),
                        version,
                        slot,
                    };
                }
                (None, None) => return Cursor::default(),
                (None, Some(fence)) => {
                    (key, p) = (fence.key(), high.1);
                    if point && key.user != user {
                        return Cursor::default();
                    }
                }
            }
        }
    }

    /// Last entry strictly before `key`.
    pub fn seek_before(&self, key: &Key) -> Cursor {
        let (mut key, mut p) = (*key, self.project(key));
        let mut round = 0;
        loop {
            let Some(place) = self.last_place(key, p) else {
                return Cursor::default();
            };
            (key, p) = (place.key, place.p);
            let node = place.node;
            let Some(version) = node.guard().read() else { continue };
            let below = node.below_high(&key, p);
            let reaches = below || node.high().is_none_or(|high| high.key() == key);
            if !(reaches || place.outside) || node.low().is_some_and(|low| low.key() >= key) {
                backoff(&mut round);
                continue;
            }
            let before = if below { node.search(&key, p).slot } else { node.slots() };
            let slot = node.occupied_before(before);
            let entry = slot.and_then(|slot| node.entry(slot));
            let low = (node.low(), node.low_proj());
            if !node.guard().unchanged(version) {
                continue;
            }
            match (entry, slot, low.0) {
                (Some(_), Some(slot), _) => {
                    return Cursor {
                        entry,
                        node: Some(node),
                        version,
                        slot,
                    };
                }
                (_, _, None) => return Cursor::default(),
                (_, _, Some(fence)) => (key, p) = (fence.key(), low.1),
            }
        }
    }

    /// Last entry at or before `key`.
    pub fn seek_for_prev(&self, key: &Key) -> Cursor {
        let mut cursor = self.seek(key);
        if cursor.entry.is_none() {
            cursor = self.last();
        }
        // More than one step only if others insert between `key` and the entry at the same time.
        while cursor.entry.is_some_and(|e| e.key() > *key) {
            self.prev(&mut cursor);
        }
        cursor
    }

    /// First entry of all.
    pub fn first(&self) -> Cursor {
        self.seek(&MIN_KEY)
    }

    /// Last entry of all.
    pub fn last(&self) -> Cursor {
        let mut round = 0;
        loop {
            // The last made data node; its range need not reach the end of the key space if what follows was never made.
            let top = self.top();
            let Some(top_version) = top.guard().read() else {
                continue;
            };
            let mut result = None;
            let mut valid = true;
            'search: for i in (0..top.children()).rev() {
                let Some(Child::Node(model)) = top.child(i) else {
                    continue;
                };
                let model = Self::as_model(model);
                let Some(model_version) = model.guard().read() else {
                    valid = false;
                    break;
                };
                for j in (0..model.children()).rev() {
                    let Some(Child::Node(node)) = model.child(j) else {
                        continue;
                    };
                    let node = Self::as_data(node);
                    let Some(version) = node.guard().read() else {
                        valid = false;
                        break 'search;
                    };
                    let slot = node.occupied_before(node.slots());
                    let entry = slot.and_then(|slot| node.entry(slot));
                    valid &= node.guard().unchanged(version);
                    if let (Some(slot), Some(_)) = (slot, entry) {
                        result = Some(Cursor {
                            entry,
                            node: Some(node),
                            version,
                            slot,
                        });
                        valid &= model.guard().unchanged(model_version);
                        break 'search;
                    }
                }
                valid &= model.guard().unchanged(model_version);
            }
            if valid && top.guard().unchanged(top_version) {
                return result.unwrap_or_default();
            }
            backoff(&mut round);
        }
    }

    /// Steps to the next entry. The cursor must be on an entry.
    #[inline]
    pub fn next(&self, cursor: &mut Cursor) {
        while let (Some(entry), Some(node)) = (cursor.entry, cursor.node) {
            if node.guard().unchanged(cursor.version) {
                let slot = node.occupied_from(cursor.slot + 1);
                let next = node.entry(slot);
                let high = node.high();
                if let Some(ahead) = node.entry(slot + AHEAD) {
                    prefetch(ahead.as_ptr());
                }
                if node.guard().unchanged(cursor.version) {
                    match (next, high) {
                        (Some(_), _) => (cursor.entry, cursor.slot) = (next, slot),
                        (None, None) => *cursor = Cursor::default(),
                        (None, Some(fence)) => *cursor = self.seek(&fence.key()),
                    }
                    return;
                }
            }
            *cursor = self.seek(&entry.key());
        }
    }

    /// Steps to the previous entry. The cursor must be on an entry.
    #[inline]
    pub fn prev(&self, cursor: &mut Cursor) {
        let (Some(entry), Some(node)) = (cursor.entry, cursor.node) else {
            return;
        };
        if node.guard().unchanged(cursor.version) {
            let slot = node.occupied_before(cursor.slot);
            let prev = slot.and_then(|slot| node.entry(slot));
            if let Some(ahead) = slot.and_then(|s| s.checked_sub(AHEAD)).and_then(|s| node.entry(s)) {
                prefetch(ahead.as_ptr());
            }
            if let (Some(slot), Some(_)) = (slot, prev)
                && node.guard().unchanged(cursor.version)
            {
                (cursor.entry, cursor.slot) = (prev, slot);
                return;
            }
        }
        *cursor = self.seek_before(&entry.key());
    }

    /// Number of entries before `key`; exact while nobody inserts, an estimate otherwise. Visits every data node to the left.
    pub fn rank(&self, key: &Key) -> u64 {
        let p = self.project(key);
        let top = self.top();
        let mut rank = 0;
        for i in 0..=top.position(key, p) {
            let Some(Child::Node(model)) = top.child(i) else {
                continue;
            };
            let model = Self::as_model(model);
            for j in 0..=model.position(key, p).min(model.children().saturating_sub(1)) {
                let Some(Child::Node(node)) = model.child(j) else {
                    continue;
                };
                let node = Self::as_data(node);
                rank += if node.below_high(key, p) {
                    node.rank(node.search(key, p).slot)
                } else {
                    node.entries()
                } as u64;
            }
        }
        rank
    }
}
