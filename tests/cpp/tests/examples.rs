//! The examples, and a case in C: called as functions.

use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mountdb_cpp_tests as _;
use rocksdb::{DB, IteratorMode, Options};

#[path = "../../../examples/enable.rs"]
mod enable;

type Main = unsafe extern "C" fn(c_int, *mut *mut c_char) -> c_int;

unsafe extern "C" {
    // C++ mangles a function that is called main no more.
    #[link_name = "_Z19mountdb_example_cppiPPc"]
    fn example_cpp(argc: c_int, argv: *mut *mut c_char) -> c_int;
    #[link_name = "mountdb_example_c"]
    fn example_c(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn mountdb_test_c_interface(folder: *const c_char, message: *mut c_char, capacity: usize) -> c_int;
}

const OLD_KEYS: usize = 20_000;

/// A database as stock RocksDB leaves it: files in several levels and a log.
fn stock_database(folder: &Path) {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_write_buffer_size(256 << 10);
    let db = DB::open(&options, folder).unwrap();
    for number in 0..OLD_KEYS {
        db.put(format!("old {number:08}"), format!("value {number}")).unwrap();
    }
    db.flush().unwrap();
    db.put("old unflushed", "value").unwrap();
}

/// What stock RocksDB finds in the database that an example has left: the keys of before, and those that it wrote.
fn check_left(folder: &Path) {
    let db = DB::open(&Options::default(), folder).unwrap();
    for number in 0..OLD_KEYS {
        let value = db.get(format!("old {number:08}")).unwrap();
        assert_eq!(value, Some(format!("value {number}").into_bytes()));
    }
    assert_eq!(db.get("old unflushed").unwrap().as_deref(), Some(b"value".as_slice()));
    assert_eq!(db.iterator(IteratorMode::Start).count(), OLD_KEYS + 1 + 300_000);
}

fn run(main: Main) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("db");
    stock_database(&folder);
    let arguments = [
        CString::new("example").unwrap(),
        CString::new(folder.as_os_str().as_bytes()).unwrap(),
    ];
    let mut argv = arguments
        .each_ref()
        .map(|argument| argument.as_ptr().cast_mut())
        .to_vec();
    argv.push(std::ptr::null_mut());
    // SAFETY: two C strings and a null pointer, as main takes them.
    let status = unsafe { main(2, argv.as_mut_ptr()) };
    assert_eq!(status, 0);
    check_left(&folder);
}

#[test]
fn cpp() {
    run(example_cpp);
}

#[test]
fn c() {
    run(example_c);
}

#[test]
fn rust() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("db");
    stock_database(&folder);
    enable::run(&folder).unwrap();
    check_left(&folder);
}

#[test]
fn c_interface() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = CString::new(temporary.path().join("db").as_os_str().as_bytes()).unwrap();
    let mut message = vec![0u8; 4096];
    // SAFETY: the case writes a C string of at most the given length.
    let failed = unsafe { mountdb_test_c_interface(folder.as_ptr(), message.as_mut_ptr().cast(), message.len()) };
    let text = CStr::from_bytes_until_nul(&message).unwrap().to_string_lossy();
    assert_eq!(failed, 0, "{text}");
}
