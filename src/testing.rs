//! Planted faults, so that tests can prove what happens at the C++ border when something panics.

use std::sync::atomic::{AtomicBool, Ordering};

static FAULT: AtomicBool = AtomicBool::new(false);

/// Makes the next calls of cold functions of the border panic (or stops that).
pub fn inject_panic(on: bool) {
    FAULT.store(on, Ordering::SeqCst);
}

pub(crate) fn fault_point() {
    assert!(!FAULT.load(Ordering::Relaxed), "planted fault");
}
