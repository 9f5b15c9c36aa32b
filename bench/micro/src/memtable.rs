//! Safe handles on the C++ harness (`rep.cc`).

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::keys::Keys;

mod sys {
    use std::ffi::{c_char, c_void};

    unsafe extern "C" {
        pub fn micro_factory(options: *const c_char, length: usize) -> *mut c_void;
        pub fn micro_factory_free(factory: *mut c_void);
        pub fn micro_open(factory: *mut c_void) -> *mut c_void;
        pub fn micro_close(memtable: *mut c_void);
        pub fn micro_seal(memtable: *mut c_void);
        pub fn micro_bytes(memtable: *mut c_void) -> usize;
        pub fn micro_insert(
            memtable: *mut c_void,
            bytes: *const c_char,
            ends: *const u64,
            count: u64,
            first_seq: u64,
            concurrently: bool,
            slow_nanos: u64,
            slow: *mut u64,
        ) -> u64;
        pub fn micro_get(memtable: *mut c_void, bytes: *const c_char, ends: *const u64, count: u64, seq: u64) -> u64;
        pub fn micro_scan(memtable: *mut c_void, forward: bool, sum: *mut u64) -> u64;
    }
}

/// Highest sequence number: a look-up with it sees the newest version.
pub const NEWEST: u64 = (1 << 56) - 1;

/// Makes memtables of one kind; the skeletons of `alex` live in it.
pub struct Factory(*mut std::ffi::c_void);

impl Factory {
    /// From an option string, such as `skip_list` or `{id=alex;skeleton=off}`.
    ///
    /// # Errors
    /// If it names no memtable factory.
    pub fn new(options: &str) -> Result<Self> {
        mountdb::register();
        // SAFETY: pointer and length are those of the string.
        let factory = unsafe { sys::micro_factory(options.as_ptr().cast(), options.len()) };
        ensure!(!factory.is_null(), "no memtable factory: {options}");
        Ok(Factory(factory))
    }

    /// An empty memtable.
    pub fn open(&self) -> Memtable<'_> {
        // SAFETY: the factory is alive, and stays so as long as the memtable.
        Memtable(unsafe { sys::micro_open(self.0) }, self)
    }
}

impl Drop for Factory {
    fn drop(&mut self) {
        // SAFETY: made by `micro_factory`, dropped once; memtables borrow it.
        unsafe { sys::micro_factory_free(self.0) }
    }
}

/// One memtable index with its arena.
pub struct Memtable<'f>(
    *mut std::ffi::c_void,
    #[allow(dead_code, reason = "borrowed")] &'f Factory,
);

// SAFETY: a `MemTableRep` takes reads and concurrent inserts from any thread; `insert` of a shared memtable is concurrent.
unsafe impl Sync for Memtable<'_> {}

impl Drop for Memtable<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `micro_open`, dropped once.
        unsafe { sys::micro_close(self.0) }
    }
}

/// Who inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// One thread, which may use the cheaper calls.
    One,
    /// One of many.
    Many,
}

impl Memtable<'_> {
    /// Inserts all keys with sequence numbers from `first_seq` on.
    ///
    /// # Errors
    /// If one was refused.
    pub fn insert(&self, keys: &Keys, first_seq: u64, writers: Writers) -> Result<()> {
        self.insert_timed(keys, first_seq, writers, Duration::ZERO).map(drop)
    }

    /// As [`Memtable::insert`]; returns how many inserts took longer than `slow`, if that is not zero.
    ///
    /// # Errors
    /// If one was refused.
    pub fn insert_timed(&self, keys: &Keys, first_seq: u64, writers: Writers, slow: Duration) -> Result<u64> {
        let (count, mut slower) = (keys.len() as u64, 0);
        let nanos = u64::try_from(slow.as_nanos()).context("a limit below a few centuries")?;
        // SAFETY: `ends` has `count` numbers, which lie within `bytes`; one thread inserts unless told otherwise.
        let inserted = unsafe {
            let (bytes, ends) = (keys.bytes().as_ptr().cast(), keys.ends().as_ptr());
            let many = writers == Writers::Many;
            sys::micro_insert(self.0, bytes, ends, count, first_seq, many, nanos, &mut slower)
        };
        ensure!(inserted == count, "{inserted} of {count} keys were inserted");
        Ok(slower)
    }

    /// Number of keys of which a version is visible at `seq`.
    pub fn get(&self, keys: &Keys, seq: u64) -> u64 {
        // SAFETY: as above.
        unsafe {
            let (bytes, ends) = (keys.bytes().as_ptr().cast(), keys.ends().as_ptr());
            sys::micro_get(self.0, bytes, ends, keys.len() as u64, seq)
        }
    }

    /// Number of entries, and a checksum that depends on their order.
    pub fn scan(&self, forward: bool) -> (u64, u64) {
        let mut sum = 0;
        // SAFETY: the memtable is alive.
        let count = unsafe { sys::micro_scan(self.0, forward, &mut sum) };
        (count, sum)
    }

    /// No more inserts; `alex` builds a skeleton from it in the background.
    pub fn seal(&self) {
        // SAFETY: the memtable is alive.
        unsafe { sys::micro_seal(self.0) }
    }

    /// Bytes taken from the arena, entries included.
    pub fn bytes(&self) -> usize {
        // SAFETY: the memtable is alive.
        unsafe { sys::micro_bytes(self.0) }
    }
}
