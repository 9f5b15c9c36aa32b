//! Tests of the windowed index as a whole: every kind of key, corrupt bytes, sizes.

mod corrupt;
mod kinds;
mod size;

/// The key sets that the exact index is tested with.
#[expect(
    clippy::duplicate_mod,
    reason = "the tests of a module that knows no index cannot name those of the index"
)]
#[path = "../../index/tests/keys.rs"]
mod keys;
