//! `src/memtable/sync.rs` with atomics that count what the thread reads.

use std::cell::Cell;
pub use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{self, Ordering};

pub use parking_lot::Mutex;

thread_local! {
    static READS: Cell<u64> = const { Cell::new(0) };
}

/// Shared words that this thread has read.
pub fn reads() -> u64 {
    READS.get()
}

fn count() {
    READS.set(READS.get() + 1);
}

#[repr(transparent)]
#[derive(Debug, Default)]
pub struct AtomicU64(atomic::AtomicU64);

impl AtomicU64 {
    pub const fn new(value: u64) -> Self {
        AtomicU64(atomic::AtomicU64::new(value))
    }

    pub fn load(&self, order: Ordering) -> u64 {
        count();
        self.0.load(order)
    }

    pub fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }

    pub fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        count();
        self.0.fetch_or(value, order)
    }

    pub fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        count();
        self.0.fetch_and(value, order)
    }

    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        count();
        self.0.fetch_add(value, order)
    }

    pub fn compare_exchange(&self, old: u64, new: u64, yes: Ordering, no: Ordering) -> Result<u64, u64> {
        count();
        self.0.compare_exchange(old, new, yes, no)
    }

    pub fn compare_exchange_weak(&self, old: u64, new: u64, yes: Ordering, no: Ordering) -> Result<u64, u64> {
        count();
        self.0.compare_exchange_weak(old, new, yes, no)
    }
}

#[repr(transparent)]
#[derive(Debug)]
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    pub const fn new(value: *mut T) -> Self {
        AtomicPtr(atomic::AtomicPtr::new(value))
    }

    pub fn load(&self, order: Ordering) -> *mut T {
        count();
        self.0.load(order)
    }

    pub fn store(&self, value: *mut T, order: Ordering) {
        self.0.store(value, order);
    }

    pub fn compare_exchange(&self, old: *mut T, new: *mut T, yes: Ordering, no: Ordering) -> Result<*mut T, *mut T> {
        count();
        self.0.compare_exchange(old, new, yes, no)
    }
}

/// As there.
pub fn backoff(round: &mut u32) {
    *round += 1;
    std::thread::yield_now();
}

/// Changes nothing that is counted.
pub fn prefetch(_: *const u8) {}

#[repr(transparent)]
#[derive(Debug, Default)]
pub struct AtomicU32(atomic::AtomicU32);

impl AtomicU32 {
    pub const fn new(value: u32) -> Self {
        AtomicU32(atomic::AtomicU32::new(value))
    }

    pub fn load(&self, order: Ordering) -> u32 {
        count();
        self.0.load(order)
    }

    pub fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
    }
}

pub fn locked<T, R>(mutex: &Mutex<T>, change: impl FnOnce(&mut T) -> R) -> R {
    change(&mut mutex.lock())
}
