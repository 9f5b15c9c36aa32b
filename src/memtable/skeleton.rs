//! Skeleton of a memtable (paper section 4.2, algorithm 1): what the next ones start from.
//!
//! It keeps the fences that cut the old memtable into data nodes of equal load, and the projection that fits its keys; a new
//! tree plans a data node per fence and makes it at its first insert, with free slots spread evenly over its range. The paper also
//! copies the key arrays (8 bytes per slot and memtable); between two fences only about 180 keys apart a straight line
//! already puts nearly every insert into a free slot, at 1/100 of the memory.

use super::entry::{Entry, encode};
use super::tree::{Memory, Tree};
use crate::key::{Projection, common_prefix_len};

/// Fences of equal load and a projection. Immutable, shared by the trees made from it.
#[derive(Debug)]
pub struct Skeleton {
    /// Length-prefixed internal keys, back to back.
    bytes: Box<[u8]>,
    /// Offset in `bytes` of every fence but the first, which is below every key.
    offsets: Box<[usize]>,
    projections: Box<[u64]>,
    projection: Projection,
}

/// The memtable was about to die before its skeleton was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Highest sequence number (`kMaxSequenceNumber`): a fence with it lies before all versions of its user key.
const MAX_SEQ: u64 = (1 << 56) - 1;

impl Skeleton {
    /// Reads `tree`, into which nobody inserts any more, and cuts it into nodes of `load` entries. `None` if that gives
    /// fewer than four nodes.
    ///
    /// # Errors
    /// [`Stopped`] if `stop` says so, which is asked once per node.
    pub fn build<M: Memory>(tree: &Tree<M>, load: usize, stop: impl Fn() -> bool) -> Result<Option<Self>, Stopped> {
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
        if fences.len() < 3 {
            return Ok(None);
        }
        let cut = fences.len() / 64;
        let (a, b) = (fences[cut].key().user, fences[fences.len() - 1 - cut].key().user);
        let projection = Projection::new(&a[..common_prefix_len(a, b)]);
        let (mut bytes, mut offsets, mut projections) = (Vec::new(), Vec::new(), vec![0]);
        for fence in &fences {
            offsets.push(bytes.len());
            projections.push(projection.project(fence.key().user));
            encode(&mut bytes, fence.key().user, MAX_SEQ << 8 | 0xff);
        }
        let (bytes, offsets, projections) = (bytes.into(), offsets.into(), projections.into());
        Ok(Some(Skeleton {
            bytes,
            offsets,
            projections,
            projection,
        }))
    }

    /// Number of planned data nodes.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.projections.len()
    }

    /// Low fence of planned node `i` and its projection.
    pub fn fence(&self, i: usize) -> (Option<Entry>, u64) {
        let fence = i.checked_sub(1).map(|i| {
            // SAFETY: the offset is the start of an encoded internal key; the bytes never change, and every tree that reads a
            // fence holds the skeleton.
            unsafe { Entry::from_raw(self.bytes[self.offsets[i]..].as_ptr()) }
        });
        (fence, self.projections[i])
    }

    /// Projection of user keys that suits the old memtable.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// Bytes on the heap.
    pub fn memory_usage(&self) -> usize {
        self.bytes.len() + self.offsets.len() * size_of::<usize>() + self.projections.len() * 8
    }
}
