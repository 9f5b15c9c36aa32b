//! The end of one data block and the start of the next: which separators lie between.

use crate::key::{common_prefix_len, load_be};
use crate::model::Interval;

/// One data block as the builder gets it, with buffers that are reused from group to group.
#[derive(Clone, Debug, Default)]
pub(super) struct Boundary {
    pub(super) last: Vec<u8>,
    next: Vec<u8>,
    has_next: bool,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Tag of the last key, where the next block starts with the same user key.
    pub(super) tag: Option<u64>,
}

/// The numbers that stand for separators of a boundary.
pub(super) enum Choice {
    /// Any of these will do.
    Among(Interval),
    /// None will; the smallest number that is above the separator, unless that is beyond all numbers.
    Above(Option<u64>),
}

impl Boundary {
    pub(super) fn set(&mut self, last: &[u8], next: Option<&[u8]>, offset: u64, size: u64, tag: Option<u64>) {
        self.last.clear();
        self.last.extend_from_slice(last);
        self.next.clear();
        self.next.extend_from_slice(next.unwrap_or_default());
        self.has_next = next.is_some();
        (self.offset, self.size, self.tag) = (offset, size, tag);
    }

    /// Bytes between the end of `before` and this block, if there is a usual number of them.
    pub(super) fn gap_after(&self, before: &Self) -> Option<u8> {
        let end = before.offset.checked_add(before.size)?;
        u8::try_from(self.offset.checked_sub(end)?).ok()
    }

    /// Last key and first key of the next block behind the first `skip` bytes, which all last keys of the group share.
    /// The first key is `None` where it does not share them: it is above all keys that do.
    fn rests(&self, skip: usize) -> (&[u8], Option<&[u8]>) {
        let last = self.last.get(skip..).unwrap_or_default();
        let shares = self.has_next && common_prefix_len(&self.last, &self.next) >= skip;
        (last, self.next.get(skip..).filter(|_| shares))
    }

    /// Length of the longer key behind the first `skip` bytes.
    pub(super) fn longest_rest(&self, skip: usize) -> usize {
        let (last, next) = self.rests(skip);
        last.len().max(next.map_or(0, <[u8]>::len))
    }

    /// The numbers of `width` bytes that, behind the first `skip` bytes of the last key, form a separator.
    pub(super) fn choice(&self, skip: usize, width: u32) -> Choice {
        let (last, next) = self.rests(skip);
        let number = |rest: &[u8]| load_be(rest, 0).checked_shr(64 - width * 8).unwrap_or(0);
        let longer = |rest: &[u8]| rest.len() > width as usize;
        let limit = u64::MAX.checked_shr(64 - width * 8).unwrap_or(0);

        // Strings of `width` bytes: a longer key with the same first bytes lies above the number, a shorter one below.
        let low = match longer(last) {
            true => number(last).checked_add(1).filter(|&low| low <= limit),
            false => Some(number(last)),
        };
        let high = match next {
            Some(next) if longer(next) => Some(number(next)),
            Some(next) => number(next).checked_sub(1),
            None if self.has_next => Some(limit),
            // The last separator is the last key itself: anything above it would send seeks behind the end of the file
            // into the last block.
            None => Some(number(last)).filter(|_| last.len() == width as usize),
        };
        match (low, high, self.tag) {
            (Some(low), Some(high), None) if low <= high => Choice::Among(Interval { low, high: Some(high) }),
            (low, ..) => Choice::Above(low),
        }
    }

    /// The separator behind the first `skip` bytes: the shortest one, or with `exact` the last key.
    pub(super) fn tail(&self, skip: usize, exact: bool) -> Vec<u8> {
        let (last, next) = self.rests(skip);
        if exact || self.tag.is_some() || !self.has_next {
            return last.to_vec();
        }
        shortest_between(last, next)
    }
}

/// A shortest string at or above `low` and below `high`; without `high`, any upper bound will do.
fn shortest_between(low: &[u8], high: Option<&[u8]>) -> Vec<u8> {
    let shared = high.map_or(0, |high| common_prefix_len(low, high));
    // No shorter string lies between: it would share its bytes with both and sort below `low`.
    let least = if shared == low.len() { shared } else { shared + 1 };
    if least >= low.len() {
        return low.to_vec();
    }
    if let Some(high) = high.filter(|high| high.len() > least) {
        return high.get(..least).unwrap_or_default().to_vec();
    }
    // Raise the first byte of `low` that can be raised without reaching `high`.
    let below_high = |shortened: &[u8]| high.is_none_or(|high| shortened < high);
    for end in shared..low.len() {
        if let Some((&byte, kept)) = low.get(..=end).and_then(<[u8]>::split_last)
            && let Some(raised) = byte.checked_add(1)
        {
            let mut shortened = kept.to_vec();
            shortened.push(raised);
            if below_high(&shortened) {
                return shortened;
            }
        }
    }
    low.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_separators() {
        type Case<'a> = (&'a [u8], Option<&'a [u8]>, &'a [u8]);
        let cases: [Case<'_>; 11] = [
            (b"abcdef", Some(b"abq"), b"abd"),
            (b"abcdef", Some(b"abqz"), b"abq"),
            (b"abc", Some(b"abd"), b"abc"),
            (b"abcxyz", Some(b"abd"), b"abcy"),
            (b"abc\xff\xffz", Some(b"abd"), b"abc\xff\xff{"),
            (b"abc\xff\xff", Some(b"abd"), b"abc\xff\xff"),
            (b"ab", Some(b"ab\0"), b"ab"),
            (b"", Some(b"a"), b""),
            (b"xyz", None, b"y"),
            (b"\xff\xff", None, b"\xff\xff"),
            (b"", None, b""),
        ];
        for (low, high, expected) in cases {
            assert_eq!(shortest_between(low, high), expected, "{low:?} {high:?}");
        }
    }
}
