//! Which keys a database is loaded with, and which are kept back to be inserted later.

use super::keys::shuffled;

/// Every so-manieth key is kept back.
const GROUP: usize = 8;

/// Marks the orders of loading and inserting among all shuffled orders.
const LOADING: u64 = u64::MAX - 1;
const INSERTING: u64 = u64::MAX - 2;

/// Key numbers `0..total`: the last of each full group of eight is kept back, the others are loaded.
pub(super) struct Layout {
    total: usize,
    /// Order of loading, in numbers among the loaded keys.
    order: Vec<u32>,
    /// Order of insertion, in numbers of groups.
    later: Vec<u32>,
    /// Place of each group in that order.
    place: Vec<u32>,
}

impl Layout {
    pub(super) fn new(total: usize, seed: u64) -> Self {
        let groups = total / GROUP;
        let later = shuffled(groups, seed, INSERTING);
        let mut place = vec![0; groups];
        for (at, &group) in later.iter().enumerate() {
            place[group as usize] = at as u32;
        }
        Layout {
            total,
            order: shuffled(total - groups, seed, LOADING),
            later,
            place,
        }
    }

    /// Number of loaded keys.
    pub(super) fn loaded(&self) -> usize {
        self.order.len()
    }

    /// Number of keys that are kept back.
    pub(super) fn reserve(&self) -> usize {
        self.later.len()
    }

    /// The loaded keys in order of loading.
    pub(super) fn loading(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&number| loaded_index(number as usize))
    }

    /// The key that is inserted as number `at`.
    pub(super) fn reserved(&self, at: usize) -> Option<usize> {
        self.later.get(at).map(|&group| group as usize * GROUP + GROUP - 1)
    }

    /// Loaded keys in ascending order, then inserted ones in order of insertion.
    pub(super) fn nth(&self, number: usize) -> usize {
        match number.checked_sub(self.loaded()) {
            Some(at) => self.reserved(at).unwrap_or(0),
            None => loaded_index(number),
        }
    }

    /// The key that came `rank` before the last one, when `inserted` of the kept ones have been inserted.
    pub(super) fn latest(&self, rank: usize, inserted: usize) -> usize {
        match inserted.checked_sub(rank + 1) {
            Some(at) => self.reserved(at).unwrap_or(0),
            None => {
                let back = (rank - inserted) % self.loaded();
                loaded_index(self.order[self.loaded() - 1 - back] as usize)
            }
        }
    }

    /// Whether key number `index` is there when `inserted` of the kept ones have been inserted.
    pub(super) fn present(&self, index: usize, inserted: usize) -> bool {
        index < self.total && (index % GROUP != GROUP - 1 || (self.place[index / GROUP] as usize) < inserted)
    }

    /// Number of the first key from `index` on that is there.
    pub(super) fn next_present(&self, index: usize, inserted: usize) -> Option<usize> {
        (index..self.total).find(|&at| self.present(at, inserted))
    }

    /// Number of the last key before `index` that is there.
    pub(super) fn previous_present(&self, index: usize, inserted: usize) -> Option<usize> {
        (0..index).rev().find(|&at| self.present(at, inserted))
    }
}

fn loaded_index(number: usize) -> usize {
    number + number / (GROUP - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_loaded_or_kept_back() {
        for total in [1, 7, 8, 9, 15, 16, 1000, 1003] {
            let layout = Layout::new(total, 1);
            let mut all: Vec<usize> = layout.loading().collect();
            assert!(all.iter().all(|&index| layout.present(index, 0)), "{total}");
            let kept: Vec<usize> = (0..layout.reserve()).map(|at| layout.reserved(at).unwrap()).collect();
            for (at, &index) in kept.iter().enumerate() {
                assert!(!layout.present(index, at) && layout.present(index, at + 1));
            }
            all.extend(kept);
            all.sort_unstable();
            assert_eq!(all, (0..total).collect::<Vec<_>>());
            assert_eq!(layout.reserved(layout.reserve()), None);
        }
    }

    #[test]
    fn latest_goes_back_from_inserted_to_loaded_keys() {
        let layout = Layout::new(80, 1);
        assert_eq!(layout.latest(0, 3), layout.reserved(2).unwrap());
        assert_eq!(layout.latest(2, 3), layout.reserved(0).unwrap());
        assert_eq!(layout.latest(3, 3), layout.loading().last().unwrap());
        assert!(layout.present(layout.latest(1_000_000, 3), 3));
    }

    #[test]
    fn neighbours_skip_what_is_not_there() {
        let layout = Layout::new(16, 1);
        assert_eq!(layout.next_present(7, 0), Some(8));
        assert_eq!(layout.next_present(15, 0), None);
        assert_eq!(layout.next_present(15, 2), Some(15));
        assert_eq!(layout.previous_present(8, 0), Some(6));
        assert_eq!(layout.previous_present(0, 0), None);
    }
}
