//! Rebuilding large data nodes in the background ("Benchmarking learned indexes under updates" calls the alternative
//! synchronized rebuilds: all large nodes of an evenly filled index fill up at the same time, and everybody waits).
//!
//! While a node is being rebuilt it stays what it is: reads and inserts go on in it, for which it has slots left. What is inserted is
//! also noted in a buffer, which exists only that long. The background thread copies the node, builds its replacement, inserts what
//! the buffer holds, and takes the node's lock only for the last few entries and for publishing. Readers never see a buffer.
//!
//! A ticket tells one rebuild of a node from the next: if the node fills up before the thread is done, the writer makes room itself
//! (`overtake`), and the thread's work is thrown away.

use std::collections::{HashMap, VecDeque};

use super::{Memory, Tree};
use crate::memtable::data_node::{DataNode, Gaps, Insert};
use crate::memtable::entry::Entry;
use crate::memtable::stats::Pause;
use crate::memtable::sync::{Mutex, backoff, locked};
use crate::memtable::version::Locked;

/// Called after a rebuild was asked for: whoever it wakes calls [`Tree::rebuild_pending`].
pub type Notify = Box<dyn Fn() + Send + Sync>;

/// Entries copied between two looks at the node's version.
const CHUNK: usize = 128;

/// Entries that may be left in the buffer when the node is locked for the last time.
const LAST: usize = 32;

#[derive(Default)]
struct Buffer {
    ticket: u64,
    entries: Vec<Entry>,
}

#[derive(Default)]
struct Pending {
    tickets: u64,
    buffers: HashMap<usize, Buffer>,
    requests: VecDeque<(DataNode, u64)>,
}

/// Rebuilds that were asked for and are not done.
#[derive(Default)]
pub(super) struct Rebuilds {
    pending: Mutex<Pending>,
    notify: std::sync::OnceLock<Notify>,
}

impl Rebuilds {
    fn pending<T>(&self, run: impl FnOnce(&mut Pending) -> T) -> T {
        locked(&self.pending, run)
    }
}

impl<M: Memory> Tree<M> {
    /// Sets who is told that [`Tree::rebuild_pending`] has something to do. The first call counts.
    pub fn on_rebuild(&self, notify: Notify) {
        let _ = self.rebuilds.notify.set(notify);
    }

    #[cold]
    pub(super) fn request_rebuild(&self, node: DataNode, lock: &Locked<'_>) {
        node.set_rebuilding(lock, true);
        self.rebuilds.pending(|pending| {
            pending.tickets += 1;
            let ticket = pending.tickets;
            let entries = Vec::new();
            pending.buffers.insert(node.as_ptr().addr(), Buffer { ticket, entries });
            pending.requests.push_back((node, ticket));
        });
        if let Some(notify) = self.rebuilds.notify.get() {
            notify();
        }
    }

    /// Notes an insert into a node that is being rebuilt. The node is locked.
    #[cold]
    pub(super) fn note(&self, node: DataNode, _: &Locked<'_>, entry: Entry) {
        self.rebuilds.pending(|pending| {
            if let Some(buffer) = pending.buffers.get_mut(&node.as_ptr().addr()) {
                buffer.entries.push(entry);
            }
        });
    }

    /// Gives up the rebuild of a node: its contents are about to change in other ways.
    pub(super) fn overtake(&self, node: DataNode, lock: &Locked<'_>) {
        node.set_rebuilding(lock, false);
        self.rebuilds
            .pending(|pending| pending.buffers.remove(&node.as_ptr().addr()));
    }

    /// Does all rebuilds that were asked for, until `stop` says so. Returns how many replaced their node.
    pub fn rebuild_pending(&self, stop: impl Fn() -> bool) -> usize {
        let mut done = 0;
        while !stop() {
            let Some((node, ticket)) = self.rebuilds.pending(|pending| pending.requests.pop_front()) else {
                break;
            };
            if self.rebuild_one(node, ticket, &stop) {
                done += 1;
            } else if let Some(lock) = node.guard().lock() {
                // Given up: the next insert that finds the node full asks again.
                if self.noted(node, ticket).is_some() {
                    self.overtake(node, &lock);
                }
            }
        }
        done
    }

    /// Takes what the buffer holds; `None` if this rebuild was overtaken.
    fn noted(&self, node: DataNode, ticket: u64) -> Option<Vec<Entry>> {
        self.rebuilds.pending(|pending| {
            let buffer = pending.buffers.get_mut(&node.as_ptr().addr())?;
            (buffer.ticket == ticket).then(|| std::mem::take(&mut buffer.entries))
        })
    }

    fn rebuild_one(&self, node: DataNode, ticket: u64, stop: &impl Fn() -> bool) -> bool {
        let Some(mut items) = self.copy(node, stop) else {
            return false;
        };
        let n = items.len();
        if n < 2 || n > node.slots() {
            // Overtaken meanwhile.
            return false;
        }
        let (low, high) = ((node.low(), node.low_proj()), (node.high(), node.high_proj()));
        let (local, pattern) = (node.local(), node.pattern());
        let build = |slots, low, high, items: &mut [(u64, Entry)]| {
            let new = self.data_node(slots, low, high, &Gaps::Equal(u64::MAX));
            self.fill(new, local, items, high, pattern);
            new
        };
        let grown = (node.slots() * 4).min(self.shape.slots);
        let (left, right) = if grown > node.slots() {
            (build(grown, low, high, &mut items), None)
        } else {
            let (cut, slots) = (n / 2, node.slots());
            let fence = self.fence_proj(Some(items[cut].1), 0);
            let right = build(slots, fence, high, &mut items[cut..]);
            (build(slots, low, fence, &mut items[..cut]), Some(right))
        };
        loop {
            match self.noted(node, ticket) {
                Some(entries) if entries.is_empty() => break,
                Some(entries) if !self.add(left, right, &entries) => return false,
                Some(entries) if entries.len() <= LAST => break,
                Some(_) => {}
                None => return false,
            }
        }

        let Some(lock) = node.guard().lock() else { return false };
        let pause = Pause::begin();
        let Some(entries) = self.noted(node, ticket) else {
            return false;
        };
        if !self.add(left, right, &entries) {
            return false;
        }
        self.overtake(node, &lock);
        match right {
            Some(right) => self.add_right(right),
            None => self.counters.expansion(),
        }
        self.replace_child(left);
        lock.retire();
        self.counters.rebuild();
        self.counters.pause(pause);
        true
    }

    /// Inserts into the replacement what the buffer held. What the copy has seen already counts as a duplicate there.
    fn add(&self, left: DataNode, right: Option<DataNode>, entries: &[Entry]) -> bool {
        entries.iter().all(|entry| {
            let key = entry.key();
            let p = self.project(&key);
            let node = right.filter(|right| right.above_low(&key, p)).unwrap_or(left);
            let lock = node.guard().lock().expect("nobody else knows the node");
            !matches!(node.insert(&lock, *entry, &key, p), Insert::Full { .. })
        })
    }

    /// The contents of `node`, copied while others insert: everything that was in it before the call. `None` if it was retired or
    /// `stop` says so.
    fn copy(&self, node: DataNode, stop: &impl Fn() -> bool) -> Option<Vec<(u64, Entry)>> {
        let mut items: Vec<(u64, Entry)> = Vec::with_capacity(node.slots());
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut round = 0;
        loop {
            if stop() {
                return None;
            }
            let version = node.guard().read()?;
            let mut slot = match items.last() {
                None => node.occupied_from(0),
                Some((_, last)) => {
                    let key = last.key();
                    let found = node.search(&key, self.project(&key));
                    node.occupied_from(found.slot + usize::from(found.exact))
                }
            };
            chunk.clear();
            while chunk.len() < CHUNK {
                let Some(entry) = node.entry(slot) else { break };
                chunk.push((node.slot_key(slot), entry));
                slot = node.occupied_from(slot + 1);
            }
            if !node.guard().unchanged(version) {
                backoff(&mut round);
                continue;
            }
            items.append(&mut chunk);
            if items.len() > node.slots() || slot >= node.slots() {
                return Some(items);
            }
        }
    }
}
