//! The densest key set: every number from 0 on.

pub(super) fn keys(num: usize) -> Vec<u64> {
    (0..num as u64).collect()
}
