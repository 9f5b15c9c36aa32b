//! The tree: one top model node, model nodes below it, data nodes below those. The depth is always three.
//!
//! ALEX partitions the key space and grows deep where keys are dense; here the children of a model node are separated by
//! real keys (fences), as in a B-link tree, so no key distribution can make the tree deep, and a fence is a full internal key,
//! so keys whose projections are equal, and versions of one user key, still fall into different nodes.
//!
//! Locks are taken upwards only: data node, model node, top. A writer locks its data node and checks the fences again; a
//! split holds that lock while it tells the levels above.

use std::sync::Arc;

use super::data_node::{DataNode, Insert, MAX_SLOTS, Pattern};
use super::entry::{Entry, Key};
use super::model_node::{Child, ModelNode, Separator};
use super::skeleton::Skeleton;
use super::stats::Counters;
use super::sync::{Acquire, AtomicPtr, Release, backoff};
use super::version::Locked;
use crate::key::Projection;

/// Where nodes live.
///
/// # Safety
/// `allocate` returns memory that is writable for `bytes` bytes, aligned to 8, unshared, and valid until the last use of the
/// tree and its cursors. It may be called from any thread.
pub unsafe trait Memory {
    /// Returns `bytes` bytes of uninitialised memory; aborts or unwinds if there are none.
    fn allocate(&self, bytes: usize) -> *mut u8;
}

/// Sizes of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Slots of a full-grown data node, 4 to 256.
    pub slots: usize,
    /// Slots of the first data node of an empty tree.
    pub first_slots: usize,
    /// Children of a full-grown model node below the top.
    pub fanout: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            slots: MAX_SLOTS,
            first_slots: 16,
            fanout: 128,
        }
    }
}

/// Smallest internal key there is: empty user key, sequence number above all.
pub const MIN_KEY: Key<'static> = Key {
    user: &[],
    seq: u64::MAX,
};

/// A concurrent ordered set of [`Entry`]s.
pub struct Tree<M> {
    root: AtomicPtr<u8>,
    pub(super) projection: Projection,
    skeleton: Option<Arc<Skeleton>>,
    shape: Shape,
    memory: M,
    /// What happened so far.
    pub counters: Counters,
}

/// A data node that may hold a key, with the key to search it for.
pub(super) struct Place<'a> {
    pub node: DataNode,
    pub key: Key<'a>,
    pub p: u64,
    /// The key lies outside of the node, in a region that holds nothing; this was checked.
    pub outside: bool,
}

impl<M: Memory> Tree<M> {
    /// An empty tree, prepared with `skeleton` if there is one. Takes microseconds: data nodes are made at their first insert.
    pub fn new(memory: M, shape: Shape, skeleton: Option<Arc<Skeleton>>) -> Self {
        assert!((2..=MAX_SLOTS).contains(&shape.slots) && shape.first_slots >= 1 && shape.fanout >= 4);
        let projection = skeleton
            .as_ref()
            .map_or_else(|| Projection::new(&[]), |s| s.projection().clone());
        let mut tree = Tree {
            root: AtomicPtr::new(std::ptr::null_mut()),
            projection,
            skeleton,
            shape,
            memory,
            counters: Counters::default(),
        };
        let planned = tree.skeleton.as_ref().map_or(1, |s| s.len());
        let children: Vec<Separator> = (0..planned)
            .step_by(tree.group())
            .map(|i| match &tree.skeleton {
                Some(skeleton) => {
                    let (fence, proj) = skeleton.fence(i);
                    Separator {
                        proj,
                        fence,
                        child: Child::Planned(i),
                    }
                }
                None => Separator {
                    proj: 0,
                    fence: None,
                    child: Child::Planned(0),
                },
            })
            .collect();
        let top = tree.model_node((children.len() * 2).max(4), &children, (None, u64::MAX));
        tree.root = AtomicPtr::new(top.as_ptr());
        tree
    }

    /// Children that a model node gets from the skeleton: it has room for as many again.
    fn group(&self) -> usize {
        self.shape.fanout / 2
    }

    fn model_node(&self, capacity: usize, children: &[Separator], high: (Option<Entry>, u64)) -> ModelNode {
        let bytes = ModelNode::bytes(capacity);
        self.counters.node_bytes(bytes);
        // SAFETY: the memory is as large as asked for and lives as long as the tree (`Memory`).
        unsafe { ModelNode::create(self.memory.allocate(bytes), capacity, children, high) }
    }

    fn data_node(
        &self,
        slots: usize,
        low: (Option<Entry>, u64),
        high: (Option<Entry>, u64),
        fill: Option<u64>,
    ) -> DataNode {
        let bytes = DataNode::bytes(slots);
        self.counters.node_bytes(bytes);
        // SAFETY: as above; fences are entries of this tree or of its skeleton, which the tree holds.
        unsafe { DataNode::create(self.memory.allocate(bytes), slots, low, high, fill) }
    }

    #[inline]
    pub(super) fn project(&self, key: &Key) -> u64 {
        self.projection.project(key.user)
    }

    fn fence_proj(&self, fence: Option<Entry>, open: u64) -> (Option<Entry>, u64) {
        (fence, fence.map_or(open, |f| self.project(&f.key())))
    }

    #[inline]
    pub(super) fn top(&self) -> ModelNode {
        // SAFETY: the root is set at construction and only ever replaced by another model node of this tree.
        unsafe { ModelNode::from_ptr(self.root.load(Acquire)) }
    }

    #[inline]
    pub(super) fn as_model(address: *mut u8) -> ModelNode {
        // SAFETY: children of the top are model nodes of this tree.
        unsafe { ModelNode::from_ptr(address) }
    }

    #[inline]
    pub(super) fn as_data(address: *mut u8) -> DataNode {
        // SAFETY: children of model nodes below the top are data nodes of this tree.
        unsafe { DataNode::from_ptr(address) }
    }

    /// Data node whose range holds `key`, as far as the levels above know; `None` if they are being changed or the node is not
    /// made yet.
    #[inline]
    pub(super) fn route(&self, key: &Key, p: u64) -> Option<DataNode> {
        let top = self.top();
        let Some(Child::Node(model)) = top.child(top.position(key, p)) else {
            return None;
        };
        let model = Self::as_model(model);
        let i = model.position(key, p);
        let Some(Child::Node(data)) = model.child(i) else {
            return None;
        };
        // Both lines of the header and the slot's line are asked for at once. The slot is guessed from the fences alone: waiting
        // for the node's own model would make it a second miss behind the first.
        let node = Self::as_data(data);
        let (low, high) = (
            model.proj(i),
            if i + 1 < model.children() {
                model.proj(i + 1)
            } else {
                model.high().1
            },
        );
        node.prefetch(p.saturating_sub(low) as f64 / (high.saturating_sub(low) as f64 + 1.0));
        Some(node)
    }

    /// Model node that is responsible for `key`, made if it was only planned.
    fn responsible(&self, key: &Key, p: u64) -> ModelNode {
        let mut round = 0;
        loop {
            let top = self.top();
            match top.child(top.position(key, p)) {
                Some(Child::Node(model)) => return Self::as_model(model),
                Some(Child::Planned(_)) => self.make_model(key, p),
                None => backoff(&mut round),
            }
        }
    }

    #[cold]
    fn make_model(&self, key: &Key, p: u64) {
        let top = self.top();
        let Some(lock) = top.guard().lock() else { return };
        let i = top.position(key, p);
        let Some(Child::Planned(from)) = top.child(i) else {
            return;
        };
        let high = if i + 1 < top.children() {
            (top.fence(i + 1), top.proj(i + 1))
        } else {
            (None, u64::MAX)
        };
        let planned = |j: usize| Child::Planned(j);
        let children: Vec<Separator> = match &self.skeleton {
            Some(skeleton) => (from..skeleton.len().min(from + self.group()))
                .map(|j| {
                    let (fence, proj) = skeleton.fence(j);
                    Separator {
                        proj,
                        fence,
                        child: planned(j),
                    }
                })
                .collect(),
            None => vec![Separator {
                proj: 0,
                fence: None,
                child: planned(0),
            }],
        };
        let capacity = if self.skeleton.is_some() {
            self.shape.fanout.min(2 * children.len()).max(4)
        } else {
            4
        };
        let model = self.model_node(capacity, &children, high);
        top.set_child(&lock, i, model.as_ptr());
    }

    #[cold]
    fn make_data(&self, key: &Key, p: u64) {
        let model = self.responsible(key, p);
        let Some(lock) = model.guard().lock() else { return };
        if !model.covers(key) {
            return;
        }
        let i = model.position(key, p);
        let Some(Child::Planned(_)) = model.child(i) else {
            return;
        };
        let low = (model.fence(i), model.proj(i));
        let high = if i + 1 < model.children() {
            (model.fence(i + 1), model.proj(i + 1))
        } else {
            model.high()
        };
        let node = match &self.skeleton {
            Some(_) => self.data_node(self.shape.slots, low, high, None),
            None => self.data_node(self.shape.first_slots.min(self.shape.slots), low, high, Some(u64::MAX)),
        };
        self.counters.data_node();
        model.set_child(&lock, i, node.as_ptr());
    }

    /// Inserts `entry`; `false` if its user key and sequence number are there already. Any number of threads may insert.
    pub fn insert(&self, entry: Entry) -> bool {
        let key = entry.key();
        let p = self.project(&key);
        let mut round = 0;
        loop {
            let Some(node) = self.route(&key, p) else {
                self.make_data(&key, p);
                continue;
            };
            let Some(lock) = node.guard().lock() else { continue };
            if !(node.above_low(&key, p) && node.below_high(&key, p)) {
                drop(lock);
                backoff(&mut round);
                continue;
            }
            match node.insert(&lock, entry, &key, p) {
                Insert::Done(free) => {
                    self.counters.insert(free);
                    return true;
                }
                Insert::Duplicate => return false,
                Insert::Full { .. } if node.slots() < self.shape.slots => self.expand(node, lock),
                Insert::Full { rank } => self.split(node, lock, rank, entry),
            }
        }
    }

    /// Replaces a small node by one of four times the size.
    #[cold]
    fn expand(&self, node: DataNode, lock: Locked<'_>) {
        let low = (node.low(), node.low_proj());
        let high = (node.high(), node.high_proj());
        let mut items = Vec::with_capacity(node.slots());
        node.collect(&mut items);
        let larger = self.data_node((node.slots() * 4).min(self.shape.slots), low, high, Some(u64::MAX));
        larger.take_shape(node);
        larger.rebuild(&mut items, high, node.pattern());
        self.counters.expansion();
        let key = low.0.map_or(MIN_KEY, Entry::key);
        self.with_responsible(&key, low.1, |model, lock| {
            model.set_child(lock, model.position(&key, low.1), larger.as_ptr());
            true
        });
        lock.retire();
    }

    /// Moves the upper part of a full node into a new one. `rank` entries are smaller than the waiting `entry`.
    #[cold]
    fn split(&self, node: DataNode, _lock: Locked<'_>, rank: usize, entry: Entry) {
        let high = (node.high(), node.high_proj());
        let mut items = Vec::with_capacity(node.slots());
        node.collect(&mut items);
        let n = items.len();
        let pattern = node.pattern();
        let cut = if pattern == Pattern::Spread { n / 2 } else { rank };
        let fence = self.fence_proj(Some(if cut < n { items[cut].1 } else { entry }), 0);
        // Descending inserts leave the upper part for good: no room is kept there (it can still expand).
        let room = if pattern == Pattern::Descending {
            (n - cut).max(self.shape.first_slots)
        } else {
            self.shape.slots
        };
        let right = self.data_node(room, fence, high, Some(u64::MAX));
        right.take_shape(node);
        right.rebuild(&mut items[cut..], high, pattern);
        self.counters.split();
        self.counters.data_node();
        self.insert_child(Separator {
            proj: fence.1,
            fence: fence.0,
            child: Child::Node(right.as_ptr()),
        });
        node.rebuild(&mut items[..cut], fence, pattern);
    }

    /// Runs `change` on the locked model node that is responsible for `key`, until it returns `true`.
    fn with_responsible(&self, key: &Key, p: u64, mut change: impl FnMut(ModelNode, &Locked<'_>) -> bool) {
        let mut round = 0;
        loop {
            let model = self.responsible(key, p);
            if let Some(lock) = model.guard().lock()
                && model.covers(key)
                && change(model, &lock)
            {
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
        let children = model.separators();
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
        model.truncate(&lock, cut, (fence, proj));
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
            let larger = self.model_node(top.capacity() * 2, &top.separators(), (None, u64::MAX));
            self.root.store(larger.as_ptr(), Release);
            lock.retire();
        }
    }

    /// Entries and data nodes, counted by a walk over the nodes.
    pub fn load(&self) -> (usize, usize) {
        let top = self.top();
        let (mut entries, mut nodes) = (0, 0);
        for i in 0..top.children() {
            let Some(Child::Node(model)) = top.child(i) else {
                continue;
            };
            let model = Self::as_model(model);
            for j in 0..model.children() {
                if let Some(Child::Node(node)) = model.child(j) {
                    entries += Self::as_data(node).entries();
                    nodes += 1;
                }
            }
        }
        (entries, nodes)
    }

    /// Bytes allocated for nodes, retired ones included.
    pub fn index_bytes(&self) -> usize {
        self.counters.bytes()
    }

    /// The skeleton that the tree started from.
    pub fn skeleton(&self) -> Option<&Arc<Skeleton>> {
        self.skeleton.as_ref()
    }
}
