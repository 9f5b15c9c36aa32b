//! How keys become slot keys in one node: its local projection.
//!
//! Most nodes use the tree's projection, which every caller has at hand. A node in which that makes too many keys equal gets one of its
//! own; the nodes that it is split into share it until they need a finer one. Three kinds, each monotone in the key:
//!
//! - prefix: the eight bytes after a prefix that most keys of the node share;
//! - radix: after a prefix, each byte becomes a digit among the bytes that occur at that position. Text has 10 to 40 of them, so 64
//!   bits hold 12 to 19 characters instead of 8. A byte that does not occur gets the place between its neighbours;
//! - sequence: the sequence numbers of one user key, newest first.
//!
//! Keys without the prefix clamp to the ends.

use std::cmp::Ordering;
use std::ptr::{self, NonNull};

use crate::key::{common_prefix_len, load_be};
use crate::memtable::entry::{Entry, Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Prefix,
    Radix,
    Sequence,
}

/// Followed by the positions, then the prefix.
#[repr(C)]
struct Head {
    kind: Kind,
    prefix: u32,
    positions: u32,
}

/// Bytes that occur at one position.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Position {
    /// Product of the numbers of digits of all positions to the right.
    weight: u64,
    /// Bit `i`: the byte `base + i` occurs.
    mask: [u64; 2],
    base: u8,
    /// Digit of the first byte that occurs: 1 if keys end at this position, which is digit 0.
    first: u8,
    digits: u8,
}

/// A local projection: an immutable object in the memory of a tree or a skeleton, or none for the tree's projection. One word, so
/// that a reader that races with a rebuild has the old one or the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::memtable) struct Local(Option<NonNull<Head>>);

// SAFETY: the object never changes.
unsafe impl Send for Local {}
// SAFETY: as above.
unsafe impl Sync for Local {}

impl Local {
    /// The tree's projection.
    pub const TREE: Local = Local(None);

    /// # Safety
    /// `address` came from [`Local::as_ptr`], and the memory that holds the object is alive.
    #[inline]
    pub unsafe fn from_ptr(address: *mut u8) -> Self {
        Local(NonNull::new(address.cast()))
    }

    /// Address of the object; null for the tree's projection.
    #[inline]
    pub fn as_ptr(self) -> *mut u8 {
        self.0.map_or(ptr::null_mut(), |head| head.as_ptr().cast())
    }

    /// Whether keys of different slot keys may have the same user key.
    #[inline]
    pub fn is_sequence(self) -> bool {
        // SAFETY: see `parts`.
        self.0
            .is_some_and(|head| unsafe { head.as_ref() }.kind == Kind::Sequence)
    }

    /// Slot key of `key`, whose tree projection is `p`.
    #[inline]
    pub fn number(self, key: &Key, p: u64) -> u64 {
        match self.0 {
            None => p,
            Some(head) => Self::local_number(head, key),
        }
    }

    fn local_number<'m>(head: NonNull<Head>, key: &Key) -> u64 {
        // SAFETY: `Choice::write` has put positions and prefix behind the head; the object never changes and lives as long as the
        // nodes that point to it.
        let (kind, positions, prefix): (Kind, &'m [Position], &'m [u8]) = unsafe {
            let at = head.as_ref();
            let positions = head.as_ptr().cast::<u8>().add(16).cast::<Position>();
            let prefix = positions.add(at.positions as usize).cast::<u8>();
            (
                at.kind,
                std::slice::from_raw_parts(positions, at.positions as usize),
                std::slice::from_raw_parts(prefix, at.prefix as usize),
            )
        };
        if kind == Kind::Sequence {
            return match key.user.cmp(prefix) {
                Ordering::Less => 0,
                Ordering::Equal => (1 << 56) - key.seq.min((1 << 56) - 1),
                Ordering::Greater => u64::MAX,
            };
        }
        match key.user[..prefix.len().min(key.user.len())].cmp(prefix) {
            Ordering::Less => 0,
            Ordering::Greater => u64::MAX,
            Ordering::Equal if kind == Kind::Prefix => load_be(key.user, prefix.len()),
            Ordering::Equal => radix_number(positions, &key.user[prefix.len()..]),
        }
    }
}

#[inline]
fn radix_number(positions: &[Position], rest: &[u8]) -> u64 {
    let mut x = 0;
    for (position, byte) in positions.iter().zip(rest) {
        let (rank, occurs) = match byte.checked_sub(position.base) {
            None => (0, false),
            Some(offset) => position.rank(offset),
        };
        let digit = u64::from(position.first) + rank;
        x += digit * position.weight;
        if !occurs {
            // Before all keys with the next byte that occurs; after all keys if there is none.
            return if digit == u64::from(position.digits) { x - 1 } else { x };
        }
    }
    x
}

impl Position {
    /// How many bytes below `base + offset` occur, and whether that one does.
    #[inline]
    fn rank(&self, offset: u8) -> (u64, bool) {
        let [low, high] = self.mask;
        let below = |word: u64, bits: u8| u64::from((word & ((1 << bits) - 1)).count_ones());
        match offset {
            0..64 => (below(low, offset), low >> offset & 1 == 1),
            64..128 => {
                let bit = offset - 64;
                (u64::from(low.count_ones()) + below(high, bit), high >> bit & 1 == 1)
            }
            _ => (u64::from(low.count_ones() + high.count_ones()), false),
        }
    }
}

/// A local projection that is not in memory yet.
#[derive(Debug)]
pub(in crate::memtable) struct Choice {
    kind: Kind,
    prefix: Vec<u8>,
    positions: Vec<Position>,
}

/// Positions that a radix looks at, at most: 24 times 5 ns are a cache miss.
const POSITIONS: usize = 24;

impl Choice {
    /// A projection that tells `items` (slot key and entry, in order) apart better than their slot keys do; `None` if no more than a
    /// quarter of neighbouring slot keys are equal, or nothing better is known.
    pub fn make(items: &[(u64, Entry)]) -> Option<Self> {
        let n = items.len();
        let equal = items.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        if n < 8 || equal * 4 <= n {
            return None;
        }
        let (a, b) = (items[n / 8].1.key().user, items[n - 1 - n / 8].1.key().user);
        let prefix = a[..common_prefix_len(a, b)].to_vec();
        if a == b {
            let ties = neighbours(items)
                .filter(|(a, _, same)| !(*same && a.user == prefix))
                .count();
            return (ties * 2 <= equal).then_some(Choice {
                kind: Kind::Sequence,
                prefix,
                positions: Vec::new(),
            });
        }
        let len = prefix.len();
        let tied = |(a, b, _): &(Key, Key, bool)| load_be(a.user, len) == load_be(b.user, len);
        let ties = neighbours(items).filter(tied).count();
        let (positions, radix_ties) = if ties * 4 > n {
            radix(items, &prefix)
        } else {
            (Vec::new(), ties)
        };
        let (kind, positions, ties) = match radix_ties < ties {
            true => (Kind::Radix, positions, radix_ties),
            false => (Kind::Prefix, Vec::new(), ties),
        };
        // An object for little is memory for little, again at each split.
        (ties * 2 <= equal).then_some(Choice {
            kind,
            prefix,
            positions,
        })
    }

    /// Bytes of the object.
    pub fn bytes(&self) -> usize {
        size_of::<u64>() * 2 + self.positions.len() * size_of::<Position>() + self.prefix.len()
    }

    /// # Safety
    /// `memory` is writable for [`Choice::bytes`], aligned to 8, unshared, and lives as long as whoever uses the result.
    pub unsafe fn write(&self, memory: *mut u8) -> Local {
        // SAFETY: the caller's promise; the head takes 12 bytes, the positions start at 16.
        unsafe {
            const { assert!(size_of::<Head>() <= 16 && align_of::<Position>() == 8) };
            memory.cast::<Head>().write(Head {
                kind: self.kind,
                prefix: self.prefix.len() as u32,
                positions: self.positions.len() as u32,
            });
            let positions = memory.add(16).cast::<Position>();
            ptr::copy_nonoverlapping(self.positions.as_ptr(), positions, self.positions.len());
            let prefix = positions.add(self.positions.len()).cast::<u8>();
            ptr::copy_nonoverlapping(self.prefix.as_ptr(), prefix, self.prefix.len());
            Local::from_ptr(memory)
        }
    }
}

/// Pairs of neighbours, and whether they are versions of one user key.
fn neighbours<'a>(items: &'a [(u64, Entry)]) -> impl Iterator<Item = (Key<'a>, Key<'a>, bool)> {
    items.windows(2).map(|pair| {
        let (a, b) = (pair[0].1.key(), pair[1].1.key());
        (a, b, a.user == b.user)
    })
}

/// The positions that it takes to tell nearly all keys with the prefix apart, and how many neighbours stay tied.
fn radix(items: &[(u64, Entry)], prefix: &[u8]) -> (Vec<Position>, usize) {
    let keys: Vec<&[u8]> = items
        .iter()
        .filter_map(|(_, entry)| entry.key().user.strip_prefix(prefix))
        .collect();
    // First position at which each neighbour differs.
    let differ: Vec<usize> = keys
        .windows(2)
        .map(|pair| common_prefix_len(pair[0], pair[1]))
        .collect();
    let tied = |positions: usize| differ.iter().filter(|at| **at >= positions).count();
    let mut positions: Vec<Position> = Vec::new();
    let mut product = 1u64;
    while positions.len() < POSITIONS && tied(positions.len()) * 16 > keys.len() {
        let at = positions.len();
        let bytes = || keys.iter().filter_map(|key| key.get(at));
        let (Some(&base), Some(&top)) = (bytes().min(), bytes().max()) else {
            break;
        };
        let ends = keys.iter().any(|key| key.len() == at);
        if top - base >= 128 {
            break;
        }
        let mut mask = [0u64; 2];
        bytes().for_each(|byte| mask[usize::from((byte - base) / 64)] |= 1 << ((byte - base) % 64));
        let first = u8::from(ends);
        let digits = first + (mask[0].count_ones() + mask[1].count_ones()) as u8;
        match product.checked_mul(digits.into()) {
            Some(next) if next < 1 << 62 => product = next,
            _ => break,
        }
        positions.push(Position {
            weight: 0,
            mask,
            base,
            first,
            digits,
        });
    }
    let mut weight = 1;
    for position in positions.iter_mut().rev() {
        position.weight = weight;
        weight *= u64::from(position.digits);
    }
    let ties = tied(positions.len()) + (items.len() - keys.len());
    (positions, ties)
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use crate::memtable::testing::{KINDS, Rng, entry, user_key};

    /// Writes the choice into memory that lives for ever.
    fn written(choice: &Choice) -> Local {
        let memory = vec![0u64; choice.bytes().div_ceil(8)].leak().as_mut_ptr().cast();
        // SAFETY: large enough, aligned, leaked.
        unsafe { choice.write(memory) }
    }

    #[test]
    fn every_local_projection_is_monotone_over_all_kinds_of_keys() {
        let mut rng = Rng(17);
        let mut kinds_chosen = [0; 3];
        for kind in KINDS {
            let mut users: Vec<Vec<u8>> = (0..300).map(|i| user_key(kind, i, &mut rng)).collect();
            users.sort();
            let items: Vec<_> = (users.iter().zip((0..300).rev()))
                .map(|(user, seq)| (0, entry(user, seq)))
                .collect();
            let Some(choice) = Choice::make(&items) else { continue };
            kinds_chosen[choice.kind as usize] += 1;
            let local = written(&choice);
            let mut probes: Vec<(Vec<u8>, u64)> = users.iter().map(|user| (user.clone(), rng.below(400))).collect();
            for i in 0..3000 {
                let mut user = users[rng.below(300) as usize].clone();
                match i % 4 {
                    0 => user.truncate(rng.below(user.len() as u64 + 1) as usize),
                    1 if !user.is_empty() => {
                        let at = rng.below(user.len() as u64) as usize;
                        user[at] = rng.number() as u8;
                    }
                    2 => user.push(rng.number() as u8),
                    _ => user = user_key("short", i, &mut rng),
                }
                probes.push((user, rng.below(400)));
            }
            probes.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
            let number = |probe: &(Vec<u8>, u64)| {
                let (user, seq) = (probe.0.as_slice(), probe.1);
                local.number(&Key { user, seq }, 0)
            };
            for pair in probes.windows(2) {
                assert!(number(&pair[0]) <= number(&pair[1]), "{kind}: {pair:?} with {choice:?}");
            }
        }
        assert!(
            kinds_chosen.iter().all(|count| *count > 0),
            "prefix, radix, sequence: {kinds_chosen:?}"
        );
    }

    #[test]
    fn a_radix_holds_more_text_than_eight_bytes() {
        let users: Vec<String> = (0..200)
            .map(|i| format!("https://e.org/{}-page-{:06}", "ab".repeat(i % 2), i * 7919 % 100_000))
            .collect();
        let mut users: Vec<&[u8]> = users.iter().map(String::as_bytes).collect();
        users.sort();
        let items: Vec<_> = users.iter().map(|user| (0, entry(user, 1))).collect();
        let choice = Choice::make(&items).unwrap();
        assert_eq!(choice.kind, Kind::Radix);
        let local = written(&choice);
        let mut numbers: Vec<u64> = items.iter().map(|(_, entry)| local.number(&entry.key(), 0)).collect();
        numbers.dedup();
        assert!(numbers.len() > 180, "{} of 200 keys are told apart", numbers.len());
    }
}
