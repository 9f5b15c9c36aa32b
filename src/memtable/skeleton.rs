//! Skeleton of a memtable (paper section 4.2, algorithm 1): what the next ones start from.
//!
//! It keeps the fences that cut the old memtable into data nodes of equal load, the projection that fits its keys, and for each
//! node a local projection, a model and knots: slot keys at equal distances, between which the slots of the new node get keys along
//! a straight line. With a knot per slot that is the paper's skeleton (`Content::Keys`); a knot every 16 slots follows the
//! distribution as well and takes an eleventh of the memory (`Content::Models`).

use std::time::{Duration, Instant};

use super::data_node::{Choice, Gaps, Local, Plan};
use super::entry::{Entry, encode};
use super::model::LinearModel;
use super::tree::{Memory, Tree};
use crate::key::{Projection, common_prefix_len};

/// What a skeleton knows about the slots of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// The key of every 16th slot.
    #[default]
    Models,
    /// The key of every slot, as in the paper.
    Keys,
}

impl Content {
    fn stride(self) -> usize {
        match self {
            Content::Models => 16,
            Content::Keys => 1,
        }
    }

    /// Knots of a node with `slots` slots.
    fn knots(self, slots: usize) -> usize {
        match self {
            Content::Keys => slots,
            Content::Models => slots.div_ceil(self.stride()) + 1,
        }
    }
}

/// Sizes of what is planned.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Slots of the planned data nodes.
    pub slots: usize,
    /// What is kept of them.
    pub content: Content,
}

impl Target {
    /// Entries planned for each node. Three quarters leave room for the spread of random keys: 192 +- 14 in 256 slots.
    pub fn load(self) -> usize {
        (self.slots * 3 / 4).max(1)
    }
}

/// Fences of equal load and what lies between them. Immutable, shared by the trees made from it.
#[derive(Debug)]
pub struct Skeleton {
    target: Target,
    /// The fences: length-prefixed internal keys, back to back.
    bytes: Box<[u8]>,
    /// Offset in `bytes` of every fence but the first, which is below every key.
    offsets: Box<[usize]>,
    projections: Box<[u64]>,
    projection: Projection,
    plans: Box<[Plan]>,
    /// What the local projections of the plans point to.
    locals: Box<[Box<[u64]>]>,
    knots: Box<[u64]>,
    build_time: Duration,
}

/// The memtable was about to die before its skeleton was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Highest sequence number (`kMaxSequenceNumber`): a fence with it lies before all versions of its user key.
const MAX_SEQ: u64 = (1 << 56) - 1;

impl Skeleton {
    /// How long [`Skeleton::build`] took.
    pub fn build_time(&self) -> Duration {
        self.build_time
    }

    /// Reads `tree`, into which nobody inserts any more, and cuts it into nodes. `None` if that gives fewer than four.
    ///
    /// # Errors
    /// [`Stopped`] if `stop` says so, which is asked once per node.
    pub fn build<M: Memory>(tree: &Tree<M>, target: Target, stop: impl Fn() -> bool) -> Result<Option<Self>, Stopped> {
        let begin = Instant::now();
        let fences = cut(tree, target.load(), &stop)?;
        if fences.len() < 3 {
            return Ok(None);
        }
        let few = fences.len() / 64;
        let (a, b) = (fences[few].key().user, fences[fences.len() - 1 - few].key().user);
        let mut skeleton = Draft {
            target,
            projection: Projection::new(&a[..common_prefix_len(a, b)]),
            bytes: Vec::new(),
            plans: Vec::new(),
            locals: Vec::new(),
            knots: Vec::new(),
        };
        let (mut offsets, mut projections) = (Vec::new(), vec![0]);
        for fence in &fences {
            projections.push(skeleton.projection.project(fence.key().user));
            offsets.push(skeleton.encode(fence.key().user));
        }
        let mut items = Vec::new();
        let mut next = fences.iter().peekable();
        let mut cursor = tree.first();
        while let Some(entry) = cursor.entry() {
            if next.next_if(|fence| **fence == entry).is_some() {
                skeleton.plan(&mut items);
                if stop() {
                    return Err(Stopped);
                }
            }
            items.push((skeleton.projection.project(entry.key().user), entry));
            tree.next(&mut cursor);
        }
        skeleton.plan(&mut items);
        Ok(Some(Skeleton {
            target,
            bytes: skeleton.bytes.into(),
            offsets: offsets.into(),
            projections: projections.into(),
            projection: skeleton.projection,
            plans: skeleton.plans.into(),
            locals: skeleton.locals.into(),
            knots: skeleton.knots.into(),
            build_time: begin.elapsed(),
        }))
    }

    /// Number of planned data nodes.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.projections.len()
    }

    /// Slots of a planned data node.
    pub fn slots(&self) -> usize {
        self.target.slots
    }

    fn encoded(&self, offset: usize) -> Entry {
        // SAFETY: the offset is the start of an encoded internal key; the bytes never change, and every tree that reads a fence or a
        // prefix holds the skeleton.
        unsafe { Entry::from_raw(self.bytes[offset..].as_ptr()) }
    }

    /// Low fence of planned node `i` and its projection.
    pub fn fence(&self, i: usize) -> (Option<Entry>, u64) {
        let fence = i.checked_sub(1).map(|i| self.encoded(self.offsets[i]));
        (fence, self.projections[i])
    }

    /// The slots of planned node `i`.
    pub fn gaps(&self, i: usize) -> Gaps<'_> {
        let knots = self.target.content.knots(self.target.slots);
        Gaps::Planned {
            plan: &self.plans[i],
            knots: &self.knots[i * knots..(i + 1) * knots],
        }
    }

    /// Projection of user keys that suits the old memtable.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// Bytes on the heap.
    pub fn memory_usage(&self) -> usize {
        self.bytes.len()
            + size_of_val(&*self.offsets)
            + size_of_val(&*self.projections)
            + size_of_val(&*self.plans)
            + self
                .locals
                .iter()
                .map(|local| size_of_val(&**local) + 16)
                .sum::<usize>()
            + size_of_val(&*self.knots)
    }
}

/// The first entry of each node of `load` entries, but for the first node.
fn cut<M: Memory>(tree: &Tree<M>, load: usize, stop: &impl Fn() -> bool) -> Result<Vec<Entry>, Stopped> {
    let mut fences: Vec<Entry> = Vec::new();
    let mut cursor = tree.first();
    let mut since = 0;
    while let Some(entry) = cursor.entry() {
        if since >= load {
            // All versions of one user key stay together: the next memtable has other versions.
            if fences.last().is_none_or(|last| last.key().user != entry.key().user) {
                fences.push(entry);
                since = 0;
            }
            if stop() {
                return Err(Stopped);
            }
        }
        since += 1;
        tree.next(&mut cursor);
    }
    Ok(fences)
}

fn renumber(items: &mut [(u64, Entry)], local: Local) {
    for (x, entry) in items {
        *x = local.number(&entry.key(), *x);
    }
}

struct Draft {
    target: Target,
    projection: Projection,
    bytes: Vec<u8>,
    plans: Vec<Plan>,
    locals: Vec<Box<[u64]>>,
    knots: Vec<u64>,
}

impl Draft {
    /// Returns the offset of the key, as an internal key before all of its versions.
    fn encode(&mut self, user: &[u8]) -> usize {
        let offset = self.bytes.len();
        encode(&mut self.bytes, user, MAX_SEQ << 8 | 0xff);
        offset
    }

    /// Plans a node for `items` (tree projection and entry, in order; not empty), which are taken out.
    fn plan(&mut self, items: &mut Vec<(u64, Entry)>) {
        let slots = self.target.slots;
        let local = self.local(items);
        let n = items.len();
        let key = |slot: usize| items[(slot * n / slots).min(n - 1)].0;
        let stride = self.target.content.stride();
        let knots = self.target.content.knots(slots);
        self.knots
            .extend((0..knots).map(|knot| key((knot * stride).min(slots - 1))));
        let (a, b) = (slots / 8, slots - 1 - slots / 8);
        self.plans.push(Plan {
            local,
            model: LinearModel::line((key(a), a), (key(b), b)),
        });
        items.clear();
    }

    /// Chooses a local projection if the tree's is too coarse, and puts its numbers into `items`. The last one is good enough for the
    /// next node more often than not.
    fn local(&mut self, items: &mut [(u64, Entry)]) -> Local {
        let Some(mut choice) = Choice::make(items) else {
            return Local::TREE;
        };
        let last = self.plans.last().map_or(Local::TREE, |plan| plan.local);
        if last != Local::TREE {
            renumber(items, last);
            match Choice::make(items) {
                Some(finer) => choice = finer,
                None => return last,
            }
        }
        let mut memory = vec![0u64; choice.bytes().div_ceil(8)].into_boxed_slice();
        // SAFETY: large enough and aligned; the box stays where it is until the skeleton dies.
        let local = unsafe { choice.write(memory.as_mut_ptr().cast()) };
        self.locals.push(memory);
        renumber(items, local);
        local
    }
}
