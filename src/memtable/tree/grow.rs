//! Inserting, and what it takes when a node is full: expansion, split, more model nodes.

use super::{MIN_KEY, Memory, Tree};
use crate::memtable::data_node::{DataNode, Fence, Gaps, Insert, Local, Pattern};
use crate::memtable::entry::Entry;
use crate::memtable::model_node::{Child, ModelNode, Separator};
use crate::memtable::stats::Pause;
use crate::memtable::sync::{Acquire, Relaxed, Release, backoff};
use crate::memtable::version::{Locked, VersionWord};

impl<M: Memory> Tree<M> {
    /// Inserts `entry`; `false` if its user key and sequence number are there already. Any number of threads may insert.
    pub fn insert(&self, entry: Entry) -> bool {
        self.insert_with(entry, VersionWord::lock)
    }

    /// As [`Tree::insert`], for a thread that knows that nobody else inserts meanwhile.
    pub fn insert_alone(&self, entry: Entry) -> bool {
        if self.shape.background_from == usize::MAX {
            self.insert_with(entry, VersionWord::lock_alone)
        } else {
            // The rebuilding thread is a writer as well.
            self.insert(entry)
        }
    }

    #[inline]
    fn insert_with(&self, entry: Entry, lock: impl Fn(&'static VersionWord) -> Option<Locked<'static>>) -> bool {
        let key = entry.key();
        let p = self.project(&key);
        let mut round = 0;
        let mut hint = self.hinted(p);
        loop {
            let Some(node) = hint.take().or_else(|| self.route(&key, p)) else {
                self.make_data(&key, p);
                continue;
            };
            let Some(lock) = lock(node.guard()) else { continue };
            if !(node.above_low(&key, p) && node.below_high(&key, p)) {
                drop(lock);
                backoff(&mut round);
                continue;
            }
            match node.insert(&lock, entry, &key, p) {
                Insert::Done(free) => {
                    if node.rebuilding() {
                        self.note(node, &lock, entry);
                    }
                    if node.ascending() && self.ascending.load(Relaxed) != node.as_ptr() {
                        self.ascending.store(node.as_ptr(), Release);
                    }
                    self.counters.insert(free);
                    return true;
                }
                Insert::Duplicate => return false,
                Insert::Full { .. } if node.slots() >= self.shape.background_from && !node.rebuilding() => {
                    self.request_rebuild(node, &lock);
                }
                Insert::Full { rank } => self.grow(node, lock, rank, entry),
            }
        }
    }

    /// The node of the last ascending insert, if a key of projection `p` lies in it beyond doubt.
    #[inline]
    fn hinted(&self, p: u64) -> Option<DataNode> {
        let address = self.ascending.load(Acquire);
        if address.is_null() {
            return None;
        }
        let node = Self::as_data(address);
        (node.low_proj() < p && p < node.high_proj()).then_some(node)
    }

    /// Makes room in a full node while whoever needs it waits.
    #[cold]
    fn grow(&self, node: DataNode, lock: Locked<'_>, rank: usize, entry: Entry) {
        let pause = Pause::begin();
        if node.rebuilding() {
            self.overtake(node, &lock);
        }
        if node.slots() < self.shape.slots {
            self.expand(node, lock);
        } else {
            self.split(node, lock, rank, entry);
        }
        self.counters.pause(pause);
    }

    /// Replaces a small node by one of four times the size.
    fn expand(&self, node: DataNode, lock: Locked<'_>) {
        let low = (node.low(), node.low_proj());
        let high = (node.high(), node.high_proj());
        let mut items = Vec::with_capacity(node.slots());
        node.collect(&mut items);
        let larger = self.data_node(
            (node.slots() * 4).min(self.shape.slots),
            low,
            high,
            &Gaps::Equal(u64::MAX),
        );
        self.fill(larger, node.local(), &mut items, high, node.pattern());
        self.counters.expansion();
        self.replace_child(larger);
        lock.retire();
    }

    /// Moves the upper part of a full node into a new one. `rank` entries are smaller than the waiting `entry`.
    fn split(&self, node: DataNode, lock: Locked<'_>, rank: usize, entry: Entry) {
        let high = (node.high(), node.high_proj());
        let pattern = node.pattern();
        if pattern == Pattern::Ascending && rank == node.entries() {
            // Nothing has to move: the next ones go to a new node.
            let fence = self.fence_proj(Some(entry), 0);
            let right = self.data_node(self.shape.slots, fence, high, &Gaps::Equal(u64::MAX));
            right.take_local(node);
            self.add_right(right);
            node.lower_high(&lock, fence);
            return;
        }
        let mut items = Vec::with_capacity(node.slots());
        node.collect(&mut items);
        let n = items.len();
        let cut = if pattern == Pattern::Spread { n / 2 } else { rank };
        let fence = self.fence_proj(Some(if cut < n { items[cut].1 } else { entry }), 0);
        // Descending inserts leave the upper part for good: no room is kept there (it can still expand).
        let room = if pattern == Pattern::Descending {
            (n - cut).max(self.shape.first_slots)
        } else {
            self.shape.slots
        };
        let right = self.data_node(room, fence, high, &Gaps::Equal(u64::MAX));
        self.fill(right, node.local(), &mut items[cut..], high, pattern);
        self.add_right(right);
        self.fill(node, node.local(), &mut items[..cut], fence, pattern);
    }

    /// Gives `node` the contents `items`, whose keys are those of `local`, and a projection that tells them apart.
    pub(super) fn fill(&self, node: DataNode, local: Local, items: &mut [(u64, Entry)], high: Fence, pattern: Pattern) {
        let finer = self.finer_local(items);
        if let Some(local) = finer {
            for (x, entry) in items.iter_mut() {
                *x = local.number(&entry.key(), 0);
            }
        }
        let local = finer.unwrap_or(local);
        node.rebuild(local, items, high, pattern);
    }

    /// Publishes the upper part of a split node.
    pub(super) fn add_right(&self, right: DataNode) {
        self.counters.split();
        self.counters.data_node();
        self.insert_child(Separator {
            proj: right.low_proj(),
            fence: right.low(),
            child: Child::Node(right.as_ptr()),
        });
    }

    /// Puts `node` in the place of the node with the same low fence.
    pub(super) fn replace_child(&self, node: DataNode) {
        let (key, p) = (node.low().map_or(MIN_KEY, Entry::key), node.low_proj());
        let mut round = 0;
        loop {
            let model = self.responsible(&key, p);
            if let Some(lock) = model.guard().lock()
                && model.covers(&key)
            {
                model.set_child(&lock, model.position(&key, p), node.as_ptr());
                return;
            }
            backoff(&mut round);
        }
    }

    fn insert_child(&self, separator: Separator) {
        let key = separator.fence.map_or(MIN_KEY, Entry::key);
        let p = separator.proj;
        loop {
            let model = self.responsible(&key, p);
            let Some(lock) = model.guard().lock() else { continue };
            if !model.covers(&key) {
                continue;
            }
            let at = model.position(&key, p) + 1;
            if model.children() < model.capacity() {
                model.insert(&lock, at, separator);
                return;
            }
            self.split_model(model, lock, at);
        }
    }

    /// Makes room in a full model node: a small one is replaced by a larger one, a full-grown one is split.
    fn split_model(&self, model: ModelNode, lock: Locked<'_>, at: usize) {
        let children = model.separators(|key| self.project(key));
        let n = children.len();
        let low_key = model.low().map_or(MIN_KEY, Entry::key);
        let low_p = children[0].proj;
        if model.capacity() < self.shape.fanout {
            let larger = self.model_node((model.capacity() * 4).min(self.shape.fanout), &children, model.high());
            self.with_top(|top, top_lock| top.set_child(top_lock, top.position(&low_key, low_p), larger.as_ptr()));
            lock.retire();
            return;
        }
        // Ascending keys add children at the end: leave the left node full then.
        let cut = if at == n { n - 1 } else { n / 2 };
        let right = self.model_node(self.shape.fanout, &children[cut..], model.high());
        let Separator { proj, fence, .. } = children[cut];
        self.with_top(|top, top_lock| {
            let i = top.position(&low_key, low_p) + 1;
            top.insert(
                top_lock,
                i,
                Separator {
                    proj,
                    fence,
                    child: Child::Node(right.as_ptr()),
                },
            );
        });
        model.truncate(&lock, cut, fence);
    }

    /// Runs `change` on the locked top, which has room for one more child.
    fn with_top(&self, change: impl FnOnce(ModelNode, &Locked<'_>)) {
        loop {
            let top = self.top();
            let Some(lock) = top.guard().lock() else { continue };
            if top.children() < top.capacity() {
                change(top, &lock);
                return;
            }
            let larger = self.model_node(top.capacity() * 2, &top.separators(|key| self.project(key)), None);
            self.root.store(larger.as_ptr(), Release);
            lock.retire();
        }
    }
}
