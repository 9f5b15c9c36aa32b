//! Model node: the fences of its children in order, found by a linear model and a short search.
//!
//! ```text
//! line 1   word | model | low/high fence | capacity, number of children
//! keys     capacity x u64       number of each child's low fence in the node's local projection
//! fences   capacity x pointer   the fence itself (null: below every key)
//! children capacity x pointer   a node, or an odd number: not made yet, index in the skeleton is number >> 1
//! ```
//! Same version word as a data node. Routing does not check it: what a torn read leads to is some node, and nodes check
//! their own fences. Only the answer "nothing here yet" must be validated.

use std::ptr::{self, NonNull};

use super::data_node::Local;
use super::entry::{Entry, Key};
use super::model::{LinearModel, lower_bound};
use super::sync::{Acquire, AtomicPtr, AtomicU64, Relaxed, Release};
use super::version::{Locked, VersionWord};

#[repr(C, align(64))]
struct Header {
    word: VersionWord,
    model: LinearModel,
    low: *mut u8,
    high: AtomicPtr<u8>,
    local: Local,
    capacity: usize,
    children: AtomicU64,
}

/// What a child pointer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Address of a node of the next level.
    Node(*mut u8),
    /// Not made yet: position in the skeleton.
    Planned(usize),
}

impl Child {
    fn encode(self) -> *mut u8 {
        match self {
            Child::Node(address) => address,
            Child::Planned(index) => ptr::without_provenance_mut(index << 1 | 1),
        }
    }

    #[inline]
    fn decode(address: *mut u8) -> Self {
        if address.addr() & 1 == 0 {
            Child::Node(address)
        } else {
            Child::Planned(address.addr() >> 1)
        }
    }
}

/// One child with its low fence.
#[derive(Clone, Copy, Debug)]
pub struct Separator {
    /// Tree projection of the fence.
    pub proj: u64,
    /// Low fence of the child; `None` is below every key.
    pub fence: Option<Entry>,
    /// The child.
    pub child: Child,
}

/// A node in the tree's memory; see [`super::data_node::DataNode`] for its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelNode(NonNull<u8>);

// SAFETY: all shared state of a node is atomic or immutable after publication.
unsafe impl Send for ModelNode {}

fn address(fence: Option<Entry>) -> *mut u8 {
    fence.map_or(ptr::null_mut(), |e| e.as_ptr().cast_mut())
}

impl ModelNode {
    /// Bytes of a node for `capacity` children, alignment included.
    pub fn bytes(capacity: usize) -> usize {
        size_of::<Header>() + 3 * 8.max(size_of::<AtomicU64>()) * capacity + align_of::<Header>()
    }

    /// Makes a node with the given children, to be published by the caller.
    ///
    /// # Safety
    /// `memory` is writable for [`ModelNode::bytes`]`(capacity)` bytes, aligned to 8, unshared, and lives as long as the tree.
    pub(super) unsafe fn create(
        memory: *mut u8,
        capacity: usize,
        children: &[Separator],
        high: Option<Entry>,
        local: Local,
    ) -> Self {
        assert!(!children.is_empty() && children.len() <= capacity);
        let header = Header {
            word: VersionWord::default(),
            model: LinearModel::flat(),
            low: address(children[0].fence),
            high: AtomicPtr::new(address(high)),
            local,
            capacity,
            children: AtomicU64::new(0),
        };
        // SAFETY: the memory is large enough by contract.
        let node = unsafe {
            let at = memory.add(memory.align_offset(align_of::<Header>()));
            at.cast::<Header>().write(header);
            let node = ModelNode(NonNull::new_unchecked(at));
            for i in 0..capacity {
                node.array::<AtomicU64>(0).add(i).write(AtomicU64::new(u64::MAX));
                node.array::<AtomicPtr<u8>>(1)
                    .add(i)
                    .write(AtomicPtr::new(ptr::null_mut()));
                node.array::<AtomicPtr<u8>>(2)
                    .add(i)
                    .write(AtomicPtr::new(ptr::null_mut()));
            }
            node
        };
        node.fill(children);
        node
    }

    /// # Safety
    /// `address` came from [`ModelNode::as_ptr`] of a node whose memory is alive.
    #[inline]
    pub unsafe fn from_ptr(address: *mut u8) -> Self {
        debug_assert!(!address.is_null());
        // SAFETY: not null, since it came from `as_ptr`.
        ModelNode(unsafe { NonNull::new_unchecked(address) })
    }

    /// Address of the node, even.
    #[inline]
    pub fn as_ptr(self) -> *mut u8 {
        self.0.as_ptr()
    }

    #[inline]
    fn header<'m>(self) -> &'m Header {
        // SAFETY: nodes live as long as the tree's memory; shared fields are atomic.
        unsafe { self.0.cast::<Header>().as_ref() }
    }

    /// # Safety
    /// `T` is the element type of array `which` (0 keys, 1 fences, 2 children).
    #[inline]
    unsafe fn array<T>(self, which: usize) -> *mut T {
        const { assert!(size_of::<AtomicU64>() == size_of::<AtomicPtr<u8>>()) };
        // SAFETY: the arrays follow the header, `capacity` elements each (`create`).
        unsafe {
            let skip = size_of::<Header>() + which * self.header().capacity * size_of::<AtomicU64>();
            self.0.as_ptr().add(skip).cast()
        }
    }

    #[inline]
    fn key<'m>(self, i: usize) -> &'m AtomicU64 {
        assert!(i < self.header().capacity);
        // SAFETY: `i` is in bounds of the keys.
        unsafe { &*self.array::<AtomicU64>(0).add(i) }
    }

    #[inline]
    fn fence_word<'m>(self, i: usize) -> &'m AtomicPtr<u8> {
        assert!(i < self.header().capacity);
        // SAFETY: `i` is in bounds of the fences.
        unsafe { &*self.array::<AtomicPtr<u8>>(1).add(i) }
    }

    #[inline]
    fn child_word<'m>(self, i: usize) -> &'m AtomicPtr<u8> {
        assert!(i < self.header().capacity);
        // SAFETY: `i` is in bounds of the children.
        unsafe { &*self.array::<AtomicPtr<u8>>(2).add(i) }
    }

    fn entry(address: *mut u8) -> Option<Entry> {
        // SAFETY: fence words hold null or addresses of valid entries.
        (!address.is_null()).then(|| unsafe { Entry::from_raw(address) })
    }

    /// Number of children.
    #[inline]
    pub fn children(self) -> usize {
        self.header().children.load(Acquire) as usize
    }

    /// Most children it can hold.
    pub fn capacity(self) -> usize {
        self.header().capacity
    }

    /// Low fence of child `i`; `None` is below every key.
    #[inline]
    pub fn fence(self, i: usize) -> Option<Entry> {
        Self::entry(self.fence_word(i).load(Acquire))
    }

    /// Number of the low fence of child `i`, in the node's local projection.
    #[inline]
    pub fn fence_number(self, i: usize) -> u64 {
        self.key(i).load(Acquire)
    }

    /// Number of `key`, whose tree projection is `p`.
    #[inline]
    pub fn number(self, key: &Key, p: u64) -> u64 {
        self.header().local.number(key, p)
    }

    /// Child `i`; `None` only if a writer is at work or `i` is out of range.
    #[inline]
    pub fn child(self, i: usize) -> Option<Child> {
        let address = self.child_word(i).load(Acquire);
        (!address.is_null()).then(|| Child::decode(address))
    }

    /// Low fence of the node.
    pub fn low(self) -> Option<Entry> {
        Self::entry(self.header().low)
    }

    /// High fence of the node (exclusive); `None` is above every key.
    pub fn high(self) -> Option<Entry> {
        Self::entry(self.header().high.load(Acquire))
    }

    /// Whether `key` lies within the fences.
    pub fn covers(self, key: &Key) -> bool {
        self.low().is_none_or(|low| low.key() <= *key) && self.high().is_none_or(|high| *key < high.key())
    }

    /// The word that guards this node.
    #[inline]
    pub fn guard<'m>(self) -> &'m VersionWord {
        &self.header().word
    }

    /// Child whose range holds `key`: the last one whose fence is at or below it, or the first child.
    #[inline]
    pub fn position(self, key: &Key, p: u64) -> usize {
        self.position_of(key, self.number(key, p))
    }

    /// As [`ModelNode::position`], with the key's number in the node's local projection.
    #[inline]
    pub fn position_of(self, key: &Key, number: u64) -> usize {
        self.last_child(number, |fence| fence.key() <= *key)
    }

    /// Last child whose fence is strictly below `key`; `None` if there is none in this node.
    pub fn position_before(self, key: &Key, p: u64) -> Option<usize> {
        let i = self.last_child(self.number(key, p), |fence| fence.key() < *key);
        self.fence(i).is_none_or(|fence| fence.key() < *key).then_some(i)
    }

    #[inline]
    fn last_child(self, p: u64, counts: impl Fn(Entry) -> bool) -> usize {
        let n = self.children().min(self.capacity());
        let bound = lower_bound(n, self.header().model.predict(p, n.max(1)), p, |i| {
            self.key(i).load(Acquire)
        });
        if bound >= n || self.fence_number(bound) != p {
            return bound.saturating_sub(1);
        }
        // Fences that share the projection are told apart by their full keys. Of one user key's versions the newest is what is
        // asked for as a rule, and it comes before them all.
        if bound > 0 && !self.fence(bound).is_none_or(&counts) {
            return bound - 1;
        }
        let (mut lo, mut hi) = (bound, n);
        while lo < hi {
            let mid = (lo + hi) / 2;
            if self.fence_number(mid) == p && self.fence(mid).is_none_or(&counts) {
                lo = mid + 1
            } else {
                hi = mid
            }
        }
        lo.saturating_sub(1)
    }

    fn store(self, i: usize, separator: Separator) {
        let number = separator
            .fence
            .map_or(0, |fence| self.number(&fence.key(), separator.proj));
        self.key(i).store(number, Release);
        self.fence_word(i).store(address(separator.fence), Release);
        self.child_word(i).store(separator.child.encode(), Release);
    }

    fn fill(self, children: &[Separator]) {
        for (i, separator) in children.iter().enumerate() {
            self.store(i, *separator);
        }
        self.header().children.store(children.len() as u64, Release);
        self.refit();
    }

    fn refit(self) {
        let n = self.children();
        if n >= 4 {
            let (a, b) = (n / 8 + 1, n - 1 - n / 8);
            let at = |i| (self.fence_number(i), i);
            self.header().model.fit(at(a), at(b));
        }
    }

    /// All children in order; `project` gives the tree projection.
    pub fn separators(self, project: impl Fn(&Key) -> u64) -> Vec<Separator> {
        (0..self.children())
            .filter_map(|i| {
                let fence = self.fence(i);
                self.child(i).map(|child| Separator {
                    proj: fence.map_or(0, |fence| project(&fence.key())),
                    fence,
                    child,
                })
            })
            .collect()
    }

    /// Points child `i` at a node.
    pub fn set_child(self, _: &Locked<'_>, i: usize, node: *mut u8) {
        self.child_word(i).store(node, Release);
    }

    /// Inserts a child at position `i`; the node is not full.
    pub fn insert(self, _: &Locked<'_>, i: usize, separator: Separator) {
        let n = self.children();
        assert!(n < self.capacity() && i <= n);
        for to in (i + 1..=n).rev() {
            self.key(to).store(self.key(to - 1).load(Relaxed), Release);
            self.fence_word(to)
                .store(self.fence_word(to - 1).load(Relaxed), Release);
            self.child_word(to)
                .store(self.child_word(to - 1).load(Relaxed), Release);
        }
        self.store(i, separator);
        self.header().children.store(n as u64 + 1, Release);
        if (n + 1).is_multiple_of(8) {
            self.refit();
        }
    }

    /// Keeps the first `n` children and moves the high fence down.
    pub fn truncate(self, _: &Locked<'_>, n: usize, fence: Option<Entry>) {
        self.header().children.store(n as u64, Release);
        self.header().high.store(address(fence), Release);
        self.refit();
    }
}
