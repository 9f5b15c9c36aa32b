//! How keys become slot keys in one node: its local projection.
//!
//! Most nodes use the tree's projection, which every caller has at hand. A node in which that makes too many keys equal gets one of its
//! own; the nodes that it is split into share it until they need a finer one. Three kinds, each monotone in the key:
//!
//! - prefix: the eight bytes after a prefix that most keys of the node share;
//! - pieces: up to 31 of the keys cut the node where neighbours have least in common, and what the keys of a piece have in common is
//!   skipped as well. The number is the piece, then the seven bytes after that. (A radix of the bytes that occur at each position was
//!   tried: in URLs with parts of unequal length half of the keys stayed equal.)
//! - sequence: the sequence numbers of one user key, newest first.
//!
//! Keys without the prefix clamp to the ends.

use std::cmp::Ordering;
use std::ops::Range;
use std::ptr::{self, NonNull};

use crate::key::{common_prefix_len, load_be};
use crate::memtable::entry::{Entry, Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Prefix,
    Pieces,
    Sequence,
}

/// Followed by the pieces, their first keys, the prefix.
#[repr(C)]
struct Head {
    kind: Kind,
    prefix: u32,
    pieces: u32,
    firsts: u32,
}

/// Keys from the first key of the piece to that of the next one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where its first key, without the prefix, ends among the first keys.
    end: u32,
    /// Bytes after the prefix that the keys of the node in it have in common.
    skip: u32,
}

/// Bits of a number that tell the piece: up to 31, and what lies below the first.
const PIECE_BITS: u32 = 5;

/// Most pieces of a node.
const PIECES: usize = (1 << PIECE_BITS) - 1;

/// Most bytes of the first keys of a node's pieces, as many as the node has itself.
const FIRSTS: usize = 4096;

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
        // SAFETY: the object lives as long as the nodes that point to it.
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

    fn local_number(head: NonNull<Head>, key: &Key) -> u64 {
        // SAFETY: `Choice::write` has put pieces, first keys and prefix behind the head; the object never changes and lives as long
        // as the nodes that point to it.
        let (kind, pieces, firsts, prefix): (Kind, &[Piece], &[u8], &[u8]) = unsafe {
            let at = head.as_ref();
            let pieces = head.as_ptr().add(1).cast::<Piece>();
            let firsts = pieces.add(at.pieces as usize).cast::<u8>();
            (
                at.kind,
                std::slice::from_raw_parts(pieces, at.pieces as usize),
                std::slice::from_raw_parts(firsts, at.firsts as usize),
                std::slice::from_raw_parts(firsts.add(at.firsts as usize), at.prefix as usize),
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
            Ordering::Equal => piece_number(pieces, firsts, &key.user[prefix.len()..]),
        }
    }
}

fn piece_number(pieces: &[Piece], firsts: &[u8], rest: &[u8]) -> u64 {
    let first = |i: usize| {
        let begin = i.checked_sub(1).map_or(0, |before| pieces[before].end as usize);
        &firsts[begin..pieces[i].end as usize]
    };
    let (mut low, mut high) = (0, pieces.len());
    while low < high {
        let mid = (low + high) / 2;
        if first(mid) <= rest { low = mid + 1 } else { high = mid }
    }
    let rank = (low as u64) << (64 - PIECE_BITS);
    let Some(piece) = low.checked_sub(1) else {
        return load_be(rest, 0) >> PIECE_BITS;
    };
    let skip = pieces[piece].skip as usize;
    // Not below the first key, so what differs from it is above all keys of the piece.
    match rest.get(..skip) == Some(&first(piece)[..skip]) {
        true => rank | load_be(rest, skip) >> PIECE_BITS,
        false => rank | u64::MAX >> PIECE_BITS,
    }
}

/// A local projection that is not in memory yet.
#[derive(Debug)]
pub(in crate::memtable) struct Choice {
    kind: Kind,
    prefix: Vec<u8>,
    pieces: Vec<Piece>,
    firsts: Vec<u8>,
}

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
        let choice = |kind, prefix: &[u8], pieces, firsts| Choice {
            kind,
            prefix: prefix.to_vec(),
            pieces,
            firsts,
        };
        // An object for little is memory for little, again at each split.
        let limit = equal / 2;
        if a == b {
            let ties = neighbours(items)
                .filter(|(x, y)| x.user != y.user || x.user != a)
                .count();
            return (ties <= limit).then(|| choice(Kind::Sequence, a, Vec::new(), Vec::new()));
        }
        let prefix = &a[..common_prefix_len(a, b)];
        let ties = neighbours(items)
            .filter(|(x, y)| load_be(x.user, prefix.len()) == load_be(y.user, prefix.len()))
            .count();
        let mut best = (ties, choice(Kind::Prefix, prefix, Vec::new(), Vec::new()));
        if ties * 4 > n {
            let (pieces, firsts) = cut(items, prefix);
            let numbers = items
                .iter()
                .filter_map(|(_, entry)| entry.key().user.strip_prefix(prefix));
            let numbers: Vec<u64> = numbers.map(|rest| piece_number(&pieces, &firsts, rest)).collect();
            let piece_ties = numbers.windows(2).filter(|pair| pair[0] == pair[1]).count() + (n - numbers.len());
            // Keys may be megabytes long, and the pieces' first keys as well.
            if piece_ties < ties && firsts.len() <= FIRSTS {
                best = (piece_ties, choice(Kind::Pieces, prefix, pieces, firsts));
            }
        }
        (best.0 <= limit).then_some(best.1)
    }

    /// Bytes of the object.
    pub fn bytes(&self) -> usize {
        size_of::<Head>() + self.pieces.len() * size_of::<Piece>() + self.firsts.len() + self.prefix.len()
    }

    /// # Safety
    /// `memory` is writable for [`Choice::bytes`], aligned to 8, unshared, and lives as long as whoever uses the result.
    pub unsafe fn write(&self, memory: *mut u8) -> Local {
        // SAFETY: the caller's promise; head and pieces need less alignment and follow each other without a gap.
        unsafe {
            const { assert!(size_of::<Head>() == 16 && align_of::<Head>() <= 8 && align_of::<Piece>() <= 8) };
            memory.cast::<Head>().write(Head {
                kind: self.kind,
                prefix: self.prefix.len() as u32,
                pieces: self.pieces.len() as u32,
                firsts: self.firsts.len() as u32,
            });
            let pieces = memory.cast::<Head>().add(1).cast::<Piece>();
            ptr::copy_nonoverlapping(self.pieces.as_ptr(), pieces, self.pieces.len());
            let firsts = pieces.add(self.pieces.len()).cast::<u8>();
            ptr::copy_nonoverlapping(self.firsts.as_ptr(), firsts, self.firsts.len());
            ptr::copy_nonoverlapping(self.prefix.as_ptr(), firsts.add(self.firsts.len()), self.prefix.len());
            Local::from_ptr(memory)
        }
    }
}

/// The keys of neighbours.
fn neighbours<'a>(items: &'a [(u64, Entry)]) -> impl Iterator<Item = (Key<'a>, Key<'a>)> {
    items.windows(2).map(|pair| (pair[0].1.key(), pair[1].1.key()))
}

/// Pieces in which few neighbours are equal, and their first keys without the prefix.
fn cut(items: &[(u64, Entry)], prefix: &[u8]) -> (Vec<Piece>, Vec<u8>) {
    let keys: Vec<&[u8]> = items
        .iter()
        .filter_map(|(_, entry)| entry.key().user.strip_prefix(prefix))
        .collect();
    let common: Vec<usize> = keys
        .windows(2)
        .map(|pair| common_prefix_len(pair[0], pair[1]))
        .collect();
    let draft = |range: Range<usize>| {
        let inner = &common[range.start..range.end - 1];
        let skip = inner.iter().copied().min().unwrap_or(0);
        let number = |key: &[u8]| load_be(key, skip) >> PIECE_BITS;
        let ties = keys[range.clone()]
            .windows(2)
            .filter(|pair| number(pair[0]) == number(pair[1]))
            .count();
        (ties, skip, range)
    };
    let mut drafts = vec![draft(0..keys.len())];
    while drafts.len() < PIECES {
        let worst = (0..drafts.len()).max_by_key(|i| drafts[*i].0).expect("never empty");
        let (_, skip, range) = drafts[worst].clone();
        if drafts.iter().map(|draft| draft.0).sum::<usize>() * 8 <= keys.len() {
            break;
        }
        let middle = (range.start + range.end) / 2;
        let at = (range.start..range.end - 1)
            .filter(|k| common[*k] == skip)
            .min_by_key(|k| k.abs_diff(middle))
            .expect("two keys that have no more in common");
        drafts[worst] = draft(range.start..at + 1);
        drafts.push(draft(at + 1..range.end));
    }
    drafts.sort_by_key(|(_, _, range)| range.start);
    let (mut pieces, mut firsts) = (Vec::new(), Vec::new());
    for (_, skip, range) in drafts {
        // Enough to tell the key from the one before, and what the keys of the piece have in common.
        let before = range.start.checked_sub(1).map_or(0, |k| common[k] + 1);
        let first = keys[range.start];
        firsts.extend_from_slice(&first[..first.len().min(before.max(skip))]);
        pieces.push(Piece {
            end: firsts.len() as u32,
            skip: skip as u32,
        });
    }
    (pieces, firsts)
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
            "prefix, pieces, sequence: {kinds_chosen:?}"
        );
    }

    #[test]
    fn pieces_tell_text_apart_that_eight_bytes_do_not() {
        let users: Vec<String> = (0..200)
            .map(|i| format!("https://e.org/{}-page-{:06}", "ab".repeat(i % 2), i * 7919 % 100_000))
            .collect();
        let mut users: Vec<&[u8]> = users.iter().map(String::as_bytes).collect();
        users.sort();
        let items: Vec<_> = users.iter().map(|user| (0, entry(user, 1))).collect();
        let choice = Choice::make(&items).unwrap();
        assert_eq!(choice.kind, Kind::Pieces);
        let local = written(&choice);
        let mut numbers: Vec<u64> = items.iter().map(|(_, entry)| local.number(&entry.key(), 0)).collect();
        numbers.dedup();
        assert!(numbers.len() > 180, "{} of 200 keys are told apart", numbers.len());
    }
}
