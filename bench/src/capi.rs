//! The two calls of RocksDB's C API that the `rocksdb` crate does not offer: options from a string and an event listener.
//! All `unsafe` of this crate is here.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use librocksdb_sys as ffi;
use rocksdb::{AsRawPtr, Options};

/// `base` with the settings of a RocksDB option string applied over it.
///
/// Settings of `block_based_table_factory` change the base's own table options and leave the rest of them, the block cache
/// included, as they are (`options/cf_options.cc`, `TableFactoryParseFn`).
///
/// RocksDB drops a factory that is not registered without an error; [`crate::database`] looks for that.
///
/// # Errors
/// RocksDB's own message for a string it does not take.
pub(crate) fn options_from_string(base: &Options, text: &str) -> Result<Options> {
    let c_text = CString::new(text).with_context(|| format!("option string {text:?}"))?;
    let options = Options::default();
    let mut error: *mut c_char = std::ptr::null_mut();
    // SAFETY: both options live for the whole call and are used by nobody else, the string ends in NUL, and `error` starts
    // as null, which is what the C API asks of an error slot.
    unsafe {
        ffi::rocksdb_get_options_from_string(base.as_raw_ptr(), c_text.as_ptr(), options.as_raw_ptr(), &raw mut error);
    }
    if !error.is_null() {
        // SAFETY: a non-null error is a NUL-terminated string from malloc that now belongs to the caller; it is copied before
        // it is freed, once.
        let message = unsafe {
            let message = CStr::from_ptr(error).to_string_lossy().into_owned();
            ffi::rocksdb_free(error.cast());
            message
        };
        bail!("RocksDB refuses the option string {text:?}: {message}");
    }
    Ok(options)
}

/// Number of flushes that a database has completed. Exact: RocksDB reports each one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlushCounter(Arc<AtomicU64>);

impl FlushCounter {
    /// A counter of the flushes of every database opened with `options` from now on.
    pub(crate) fn attach(options: &mut Options) -> Self {
        let counter = FlushCounter::default();
        let state = Arc::into_raw(Arc::clone(&counter.0)).cast_mut().cast::<c_void>();
        // SAFETY: `state` is one reference count of the Arc, given back by `release`, which RocksDB calls once, when the last
        // options or database that share the listener are gone. Every callback is set, because RocksDB calls each of them
        // without looking; those that ignore their event touch no argument. The listener passes into the options' ownership.
        unsafe {
            let listener = ffi::rocksdb_eventlistener_create(
                state,
                Some(release),
                Some(ignore_job),
                Some(count_flush),
                Some(ignore_job),
                Some(ignore_job),
                Some(ignore_event),
                Some(ignore_event),
                Some(ignore_job),
                Some(ignore_error),
                Some(ignore_event),
                Some(ignore_event),
            );
            ffi::rocksdb_options_add_eventlistener(options.as_raw_ptr(), listener);
        }
        counter
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

unsafe extern "C" fn release(state: *mut c_void) {
    // SAFETY: called once, with the pointer that `attach` made from an Arc.
    drop(unsafe { Arc::from_raw(state.cast_const().cast::<AtomicU64>()) });
}

unsafe extern "C" fn count_flush(
    state: *mut c_void,
    _db: *mut ffi::rocksdb_t,
    _info: *const ffi::rocksdb_flushjobinfo_t,
) {
    // SAFETY: the listener holds a reference count of this Arc until `release`.
    unsafe { &*state.cast_const().cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn ignore_job<T>(_state: *mut c_void, _db: *mut ffi::rocksdb_t, _info: *const T) {}

extern "C" fn ignore_event<T>(_state: *mut c_void, _info: *const T) {}

extern "C" fn ignore_error(_state: *mut c_void, _reason: u32, _status: *mut ffi::rocksdb_status_ptr_t) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_options_are_refused_with_rocksdbs_message() {
        let error = options_from_string(&Options::default(), "nonsense=1").err().unwrap();
        assert!(error.to_string().contains("nonsense"), "{error}");
        assert!(options_from_string(&Options::default(), "write_buffer_size=\0").is_err());
    }

    #[test]
    fn flushes_are_counted_per_options() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.create_if_missing(true);
        let counter = FlushCounter::attach(&mut options);
        let db = rocksdb::DB::open(&options, dir.path()).unwrap();
        for round in 1..=3 {
            db.put(b"key", [round]).unwrap();
            db.flush().unwrap();
            assert_eq!(counter.get(), u64::from(round));
        }
    }
}
