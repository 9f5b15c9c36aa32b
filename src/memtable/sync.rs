//! The only place that names atomics, so that the model checker can put its own in their stead.
//!
//! Every shared word of the tree is read with `Acquire` and written with `Release`. That costs nothing on x86-64 and makes
//! the version check of an optimistic reader right without fences: a reader that saw any store of a writer also sees the
//! lock bit that the writer set before it.

#[cfg(feature = "loom")]
pub use loom::sync::Mutex;
#[cfg(feature = "loom")]
pub use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
#[cfg(not(feature = "loom"))]
pub use parking_lot::Mutex;
pub use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
#[cfg(not(feature = "loom"))]
pub use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

/// Runs `change` on what the lock guards.
pub fn locked<T, R>(mutex: &Mutex<T>, change: impl FnOnce(&mut T) -> R) -> R {
    #[cfg(feature = "loom")]
    return change(&mut mutex.lock().expect("a model that panics has failed"));
    #[cfg(not(feature = "loom"))]
    change(&mut mutex.lock())
}

/// Waits a little: `round` counts the attempts so far. After a few dozen it gives the core away, because the holder of a lock
/// may have been descheduled (on two cores with sixteen writers it usually was).
#[inline]
pub fn backoff(round: &mut u32) {
    *round += 1;
    #[cfg(feature = "loom")]
    loom::thread::yield_now();
    #[cfg(not(feature = "loom"))]
    if *round < 48 {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}
