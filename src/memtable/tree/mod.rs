//! The tree: one top model node, model nodes below it, data nodes below those. The depth is always three.
//!
//! ALEX partitions the key space and grows deep where keys are dense; here the children of a model node are separated by
//! real keys (fences), as in a B-link tree, so no key distribution can make the tree deep, and a fence is a full internal key,
//! so keys whose projections are equal, and versions of one user key, still fall into different nodes.
//!
//! Locks are taken upwards only: data node, model node, top. A writer locks its data node and checks the fences again; a
//! split holds that lock while it tells the levels above.

mod grow;
mod rebuild;

use std::sync::Arc;

use super::data_node::{Choice, DataNode, Fence, Gaps, Local, MAX_SLOTS, PAGE_SLOTS};
use super::entry::{Entry, Key};
use super::model_node::{Child, ModelNode, Separator};
use super::skeleton::Skeleton;
use super::stats::Counters;
use super::sync::{Acquire, AtomicPtr, backoff};
use crate::key::Projection;
pub use rebuild::Notify;
use rebuild::Rebuilds;

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
    /// Slots of a full-grown data node, 4 to [`MAX_SLOTS`].
    pub slots: usize,
    /// Slots of the first data node of an empty tree.
    pub first_slots: usize,
    /// Children of a full-grown model node below the top.
    pub fanout: usize,
    /// Data nodes with at least so many slots are rebuilt by a background thread; `usize::MAX`: none are.
    pub background_from: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            slots: PAGE_SLOTS,
            first_slots: 16,
            fanout: 128,
            background_from: usize::MAX,
        }
    }
}

/// Nodes on the way from the root to an entry.
pub const DEPTH: u64 = 3;

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
    rebuilds: Rebuilds,
    /// The data node of the last insert that went right after the one before it; null if there was none.
    ascending: AtomicPtr<u8>,
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
        let skeleton = skeleton.filter(|s| s.slots() == shape.slots);
        let projection = skeleton
            .as_ref()
            .map_or_else(|| Projection::new(&[]), |s| s.projection().clone());
        let mut tree = Tree {
            root: AtomicPtr::new(std::ptr::null_mut()),
            projection,
            skeleton,
            shape,
            memory,
            rebuilds: Rebuilds::default(),
            ascending: AtomicPtr::new(std::ptr::null_mut()),
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
        let top = tree.model_node((children.len() * 2).max(4), &children, None);
        tree.root = AtomicPtr::new(top.as_ptr());
        tree
    }

    /// Children that a model node gets from the skeleton: it has room for as many again.
    fn group(&self) -> usize {
        self.shape.fanout / 2
    }

    fn model_node(&self, capacity: usize, children: &[Separator], high: Option<Entry>) -> ModelNode {
        let fences: Vec<_> = children
            .iter()
            .filter_map(|c| c.fence.map(|fence| (c.proj, fence)))
            .collect();
        let local = self.finer_local(&fences).unwrap_or(Local::TREE);
        let bytes = ModelNode::bytes(capacity);
        self.counters.node_bytes(bytes);
        // SAFETY: the memory is as large as asked for and lives as long as the tree (`Memory`).
        unsafe { ModelNode::create(self.memory.allocate(bytes), capacity, children, high, local) }
    }

    /// A local projection for `items` (number and entry, in order), if their numbers do not tell them apart.
    fn finer_local(&self, items: &[(u64, Entry)]) -> Option<Local> {
        let choice = Choice::make(items)?;
        let bytes = choice.bytes().next_multiple_of(8);
        self.counters.node_bytes(bytes);
        // SAFETY: the memory is as large as asked for and lives as long as the tree (`Memory`).
        Some(unsafe { choice.write(self.memory.allocate(bytes)) })
    }

    fn data_node(&self, slots: usize, low: Fence, high: Fence, gaps: &Gaps<'_>) -> DataNode {
        let bytes = DataNode::bytes(slots);
        let sparse = slots > PAGE_SLOTS || slots >= self.shape.background_from;
        self.counters.node_bytes(bytes);
        // SAFETY: as above; fences are entries of this tree or of its skeleton, which the tree holds.
        unsafe { DataNode::create(self.memory.allocate(bytes), slots, sparse, (low, high), gaps) }
    }

    #[inline]
    pub(super) fn project(&self, key: &Key) -> u64 {
        self.projection.project(key.user)
    }

    fn fence_proj(&self, fence: Option<Entry>, open: u64) -> Fence {
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
        let number = model.number(key, p);
        let i = model.position_of(key, number);
        let Some(Child::Node(data)) = model.child(i) else {
            return None;
        };
        // Both lines of the header and the slot's line are asked for at once. The slot is guessed from the fences alone: waiting
        // for the node's own model would make it a second miss behind the first.
        let node = Self::as_data(data);
        let low = model.fence_number(i);
        let high = if i + 1 < model.children() {
            model.fence_number(i + 1)
        } else {
            u64::MAX
        };
        node.prefetch(
            number.saturating_sub(low) as f64 / (high.saturating_sub(low) as f64 + 1.0),
            self.shape.slots,
        );
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
        let high = (i + 1 < top.children()).then(|| top.fence(i + 1)).flatten();
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
        let Some(Child::Planned(planned)) = model.child(i) else {
            return;
        };
        let low = self.fence_proj(model.fence(i), 0);
        let high = if i + 1 < model.children() {
            model.fence(i + 1)
        } else {
            model.high()
        };
        let high = self.fence_proj(high, u64::MAX);
        let node = match &self.skeleton {
            Some(skeleton) => self.data_node(self.shape.slots, low, high, &skeleton.gaps(planned)),
            None => {
                let slots = self.shape.first_slots.min(self.shape.slots);
                self.data_node(slots, low, high, &Gaps::Equal(u64::MAX))
            }
        };
        self.counters.data_node();
        model.set_child(&lock, i, node.as_ptr());
    }

    /// Entries and data nodes, counted by a walk over the nodes. Exact at rest; a child that moves while it walks may count twice or not.
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
