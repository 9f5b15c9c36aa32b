//! How keys become slot keys in one node: its local projection.

use std::cmp::Ordering;

use crate::key::{common_prefix_len, load_be};
use crate::memtable::entry::{Entry, Key};

/// A local projection; what it needs besides is the entry that has its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memtable) enum Local {
    /// The tree's projection, which every caller has at hand.
    Tree,
    /// The eight bytes after a prefix that most keys of the node share; keys without it clamp to the ends.
    Prefix(usize),
    /// Both fences are versions of one user key: the sequence number, inverted.
    Sequence,
}

impl Local {
    pub(super) fn encode(self) -> u64 {
        match self {
            Local::Tree => 0,
            Local::Sequence => 1,
            Local::Prefix(len) => 2 | (len as u64) << 2,
        }
    }

    #[inline]
    pub(super) fn decode(word: u64) -> Self {
        match word & 3 {
            0 => Local::Tree,
            1 => Local::Sequence,
            _ => Local::Prefix((word >> 2) as usize),
        }
    }

    /// Slot key of `key`, whose tree projection is `p`. `prefix_of` gives the prefix, if this is [`Local::Prefix`].
    #[inline]
    pub(in crate::memtable) fn number(self, prefix_of: impl FnOnce() -> Option<Entry>, key: &Key, p: u64) -> u64 {
        match self {
            Local::Tree => p,
            Local::Sequence => u64::MAX - key.seq,
            Local::Prefix(len) => {
                let Some(source) = prefix_of() else { return 0 };
                let source = source.key().user;
                let prefix = &source[..len.min(source.len())];
                let head = &key.user[..prefix.len().min(key.user.len())];
                match head.cmp(prefix) {
                    Ordering::Less => 0,
                    Ordering::Equal => load_be(key.user, prefix.len()),
                    Ordering::Greater => u64::MAX,
                }
            }
        }
    }

    /// A projection that tells `items` (slot key and entry, in order) apart, with the entry that has its prefix; `None` if no
    /// more than a quarter of neighbouring slot keys are equal.
    pub(in crate::memtable) fn choose(items: &[(u64, Entry)], one_user_key: bool) -> Option<(Self, Entry)> {
        let n = items.len();
        let equal = items.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        if n < 8 || equal * 4 <= n {
            return None;
        }
        let (a, b) = (items[n / 8].1, items[n - 1 - n / 8].1);
        let local = if one_user_key {
            Local::Sequence
        } else {
            Local::Prefix(common_prefix_len(a.key().user, b.key().user))
        };
        Some((local, a))
    }
}
