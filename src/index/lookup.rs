//! Answers which data block holds a key.

use super::directory::Entry;
use super::reader::Position;
use crate::format::{GROUP_LEN, Group, Lone};
use crate::key::project_after;
use crate::prefetch::prefetch;
use std::cmp::Ordering;
use std::ops::Range;

/// What a look-up needs of an opened index, on one cache line: whoever asks may keep it beside data of its own.
///
/// Answers need the block that was opened, as those of [`Reader`](super::Reader).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Lookup<'a> {
    // Largest first: no padding.
    pub(super) prefix: &'a [u8],
    pub(super) entries: &'a [Entry],
    pub(super) table: &'a [u32],
    pub(super) origin: u64,
    pub(super) count: u32,
    pub(super) shift: u8,
    pub(super) gap: u8,
    pub(super) plain: bool,
    pub(super) lone: bool,
}

impl Lookup<'_> {
    /// Number of data blocks.
    #[inline]
    pub fn len(self) -> usize {
        self.count as usize
    }

    /// Whether the file has no data blocks.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Whether only [`Lookup::seek_with`] gives right answers.
    #[inline]
    pub fn is_plain(self) -> bool {
        self.plain
    }

    #[inline]
    pub(super) fn groups(self) -> usize {
        self.entries.len()
    }

    /// Position of group `group`, beyond every block where there is no such group.
    #[inline]
    fn at(self, group: usize) -> usize {
        self.entries.get(group).map_or(usize::MAX, |entry| entry.at as usize)
    }

    /// Groups among which the first one with a last separator at or above `key` is to be found: those whose bound equals
    /// the key's projection, and the end of the range, which is the answer if none of them is.
    #[inline]
    pub(super) fn candidates(self, key: &[u8]) -> Range<usize> {
        let number = project_after(self.prefix, key);
        let Some(distance) = number.checked_sub(self.origin) else {
            return 0..0;
        };
        let range = distance
            .checked_shr(self.shift.into())
            .unwrap_or(0)
            .min(self.table.len() as u64) as usize;
        let last = self.entries.len();
        // Where the entry would be if bounds were evenly spread: loaded together with the table's line, which often saves a wait.
        let guess = range.wrapping_mul(last) / self.table.len().max(1);
        prefetch(self.entries.as_ptr().wrapping_add(guess).cast());
        let low = self
            .table
            .get(range)
            .map_or(last.saturating_sub(1), |&low| low as usize);
        let high = self.table.get(range + 1).map_or(last, |&high| high as usize);
        let between = self.entries.get(low..high).unwrap_or_default();
        let start = low + between.partition_point(|entry| entry.upper < number);
        let rest = self.entries.get(start..).unwrap_or_default();
        match rest.first() {
            Some(entry) if entry.upper == number => start..start + rest.partition_point(|entry| entry.upper == number),
            _ => start..start,
        }
    }

    /// Group `group` of `block`.
    #[inline]
    pub(super) fn group(self, block: &[u8], group: usize) -> Group {
        let at = self.at(group);
        if self.lone {
            return Lone::group(block, at);
        }
        let len = self
            .len()
            .saturating_sub(group.saturating_mul(GROUP_LEN))
            .min(GROUP_LEN);
        Group::parse(block, at, len, self.gap)
    }

    /// Asks for all lines of a group at once: without it, header, corrections and offsets are waited for one after the other.
    #[inline]
    fn prefetch_group(self, block: &[u8], group: usize) {
        const LINE: usize = 64;
        // Longer groups are those of long separators, of which a search visits few.
        const MOST: usize = 6;
        let start = self.at(group);
        let end = self.at(group + 1).min(block.len());
        for line in (start..end.min(start.saturating_add(MOST * LINE))).step_by(LINE) {
            prefetch(block.as_ptr().wrapping_add(line));
        }
    }

    /// The group of `position` and its number in there.
    #[inline]
    pub(super) fn locate(self, block: &[u8], position: Position) -> Option<(Group, usize)> {
        (position < self.len()).then(|| (self.group(block, position / GROUP_LEN), position % GROUP_LEN))
    }

    /// First block that may hold `(user_key, tag)`: the first one whose separator is at or above it, or [`Lookup::len`].
    /// Order is bytewise, then tag descending; a separator without tag counts as the lowest tag.
    #[inline]
    pub fn seek(self, block: &[u8], user_key: &[u8], tag: u64) -> Position {
        self.seek_group(block, user_key, tag).0
    }

    /// [`Lookup::seek`], and the [`Lookup::handle`] of the answer.
    #[inline]
    pub fn seek_handle(self, block: &[u8], user_key: &[u8], tag: u64) -> (Position, (u64, u64)) {
        match self.seek_group(block, user_key, tag) {
            (position, Some(group)) => (position, group.handle(block, position % GROUP_LEN)),
            (position, None) => (position, self.handle(block, position)),
        }
    }

    /// [`Lookup::seek`], and the parsed group of the answer.
    #[inline]
    pub(super) fn seek_group(self, block: &[u8], user_key: &[u8], tag: u64) -> (Position, Option<Group>) {
        if self.plain {
            return (self.seek_with(block, user_key, tag, <[u8]>::cmp), None);
        }
        let candidates = self.candidates(user_key);
        let (mut low, mut high) = (candidates.start, candidates.end);
        // Bounds equal to the target's projection are decided by the groups themselves: rare unless keys differ only
        // behind the projection.
        while low < high {
            let middle = low + (high - low) / 2;
            let group = self.group(block, middle);
            let index = group.seek(block, user_key, tag);
            if index == group.len() {
                low = middle + 1;
            } else if index > 0 || middle == low {
                return (middle * GROUP_LEN + index, Some(group));
            } else {
                high = middle;
            }
        }
        if low >= self.groups() {
            return (self.len(), None);
        }
        self.prefetch_group(block, low);
        let group = self.group(block, low);
        // The group's last separator is above the target; only bytes that were not opened can deny it.
        let index = group.seek(block, user_key, tag).min(group.len() - 1);
        (low * GROUP_LEN + index, Some(group))
    }

    /// [`Lookup::seek`] under another order of user keys: a binary search over all separators. `cmp` gets a separator and
    /// the target.
    pub fn seek_with(
        self,
        block: &[u8],
        user_key: &[u8],
        tag: u64,
        cmp: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Position {
        let (mut low, mut high) = (0, self.len());
        let mut buffer = Vec::new();
        while low < high {
            let middle = low + (high - low) / 2;
            let group = self.group(block, middle / GROUP_LEN);
            let index = middle % GROUP_LEN;
            let separator = match group.stored_separator(block, index) {
                Some(separator) => separator,
                None => {
                    group.separator(block, index, &mut buffer);
                    &buffer
                }
            };
            let reached = match cmp(separator, user_key) {
                Ordering::Less => false,
                Ordering::Equal => group.tag(block, index) <= tag,
                Ordering::Greater => true,
            };
            if reached { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Writes the separator at `position` over `out`: a user key at or above every key of that block, and below every key
    /// of the next block with another user key. Empty beyond the last block.
    pub fn separator(self, block: &[u8], position: Position, out: &mut Vec<u8>) {
        out.clear();
        if let Some((group, index)) = self.locate(block, position) {
            group.separator(block, index, out);
        }
    }

    /// Offset and size in bytes of the data block at `position`; zeros beyond the last block.
    pub fn handle(self, block: &[u8], position: Position) -> (u64, u64) {
        self.locate(block, position)
            .map_or((0, 0), |(group, index)| group.handle(block, index))
    }
}

const _: () = assert!(size_of::<Lookup<'_>>() == 64, "a cache line, on machines of 64 bits");
