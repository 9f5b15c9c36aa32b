//! Holds the compiled C++ cases; `tests/cases.rs` runs them.

use std::ffi::{CStr, c_char, c_int};

// The cases refer to symbols of mountdb's shim and of RocksDB.
use librocksdb_sys as _;
use rocksdb as _;
use zstd_sys as _;

/// A case: 0, or 1 and what failed as a C string in the buffer.
pub type Case = unsafe extern "C" fn(message: *mut c_char, capacity: usize) -> c_int;

/// Runs one case with mountdb's factories registered.
///
/// # Errors
/// What failed, with the seed.
pub fn run(case: Case) -> Result<(), String> {
    mountdb::register();
    let mut message = vec![0u8; 4096];
    // SAFETY: the case writes a C string of at most the given length.
    let failed = unsafe { case(message.as_mut_ptr().cast(), message.len()) };
    if failed == 0 {
        return Ok(());
    }
    let text = CStr::from_bytes_until_nul(&message).map_or("no message".into(), CStr::to_string_lossy);
    Err(text.into_owned())
}

/// Option strings of the memtables that are compared; RocksDB's own comes first.
pub fn memtables() -> Vec<String> {
    unsafe extern "C" {
        fn mountdb_test_memtable(number: usize) -> *const c_char;
    }
    // SAFETY: any number is allowed.
    let all = (0..).map(|number| unsafe { mountdb_test_memtable(number) });
    // SAFETY: what is not null is a C string that is never freed.
    all.take_while(|text| !text.is_null())
        .map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        .collect()
}
