//! Planted faults, so that tests can prove what happens at the C++ border when something panics.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static FAULT: AtomicBool = AtomicBool::new(false);
static WRONG_SEPARATORS: AtomicU64 = AtomicU64::new(0);

/// Makes the next calls of cold functions of the border panic (or stops that).
pub fn inject_panic(on: bool) {
    FAULT.store(on, Ordering::SeqCst);
}

/// Makes builders of exact indexes from now on give every so-manieth block a separator that most of its keys lie above, so that
/// they are looked for in the next block; 0 stops that.
pub fn plant_wrong_separators(every: u64) {
    WRONG_SEPARATORS.store(every, Ordering::SeqCst);
}

pub(crate) fn wrong_separators() -> u64 {
    WRONG_SEPARATORS.load(Ordering::Relaxed)
}

pub(crate) fn fault_point() {
    assert!(!FAULT.load(Ordering::Relaxed), "planted fault");
}
