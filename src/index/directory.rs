//! Which group may hold a key: one upper bound per group, and a table that narrows the search.

use super::lookup::Lookup;
use crate::key::Projection;

/// A group as the directory sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Projection of the last separator of the group.
    pub(super) upper: u64,
    /// Position of the group in the block.
    pub(super) at: u32,
}

/// Groups in order, and a table over equal ranges of the projection: `table[r]` is the first group whose upper bound is in
/// range r or above.
///
/// Bound and position of a group share a cache line, so a seek touches one line of the table and mostly one of the entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    projection: Projection,
    entries: Box<[Entry]>,
    table: Box<[u32]>,
    /// Projection where range 0 starts.
    origin: u64,
    /// Size of a range, as a power of two.
    shift: u8,
}

impl Directory {
    /// A directory of `entries` with ascending upper bounds.
    pub(super) fn new(projection: Projection, mut entries: Vec<Entry>) -> Self {
        entries.shrink_to_fit();
        let entries = entries.into_boxed_slice();
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Self::default();
        };
        let origin = first.upper;
        // The last bound may be an outlier; ranges end at the one before it, and what lies above falls into the last.
        let end = entries
            .len()
            .checked_sub(2)
            .and_then(|index| entries.get(index))
            .unwrap_or(last)
            .upper;
        let span_bits = u64::BITS - (end - origin).leading_zeros();
        let shift = span_bits.saturating_sub(entries.len().next_power_of_two().trailing_zeros());
        let range_of = |upper: u64| (upper - origin).checked_shr(shift).unwrap_or(0);
        let ranges = range_of(end) + 1;
        let mut table = Vec::with_capacity(ranges as usize + 1);
        for (index, entry) in entries.iter().enumerate() {
            while (table.len() as u64) <= range_of(entry.upper).min(ranges) {
                table.push(index as u32);
            }
        }
        table.resize(ranges as usize + 1, entries.len() as u32);
        Self {
            projection,
            entries,
            table: table.into(),
            origin,
            shift: shift as u8,
        }
    }

    /// What a look-up needs, but for the four last fields.
    pub(super) fn lookup(&self, count: u32, gap: u8, plain: bool, lone: bool) -> Lookup<'_> {
        Lookup {
            prefix: self.projection.prefix(),
            entries: &self.entries,
            table: &self.table,
            origin: self.origin,
            count,
            shift: self.shift,
            gap,
            plain,
            lone,
        }
    }

    /// Heap bytes.
    pub(super) fn memory_usage(&self) -> usize {
        self.projection.prefix().len() + size_of_val(&*self.entries) + size_of_val(&*self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uppers: &[u64]) {
        let entries = uppers.iter().map(|&upper| Entry { upper, at: 0 }).collect();
        let directory = Directory::new(Projection::default(), entries);
        let near = uppers
            .iter()
            .flat_map(|&upper| [upper.saturating_sub(1), upper, upper.saturating_add(1)]);
        for probe in near.chain([0, 1, u64::MAX / 2, u64::MAX]) {
            let start = uppers.partition_point(|&upper| upper < probe);
            let end = uppers.partition_point(|&upper| upper <= probe);
            assert_eq!(
                directory.lookup(0, 0, false, false).candidates(&probe.to_be_bytes()),
                start..end,
                "{probe:#x} in {uppers:x?}"
            );
        }
    }

    #[test]
    fn ln_03_candidates_of_small_skewed_and_equal_bounds() {
        check(&[]);
        check(&[0]);
        check(&[u64::MAX]);
        check(&[0, u64::MAX]);
        check(&[5, 5, 5]);
        check(&[0, 1, 2, 3, 1 << 63, u64::MAX]);
        check(&(0..1000).map(|i| i * i * i).collect::<Vec<_>>());
        check(&(0..1000).map(|i| u64::MAX - 5000 + i / 3).collect::<Vec<_>>());
        check(&(0..64).map(|i| 1 << i).collect::<Vec<_>>());
    }
}
