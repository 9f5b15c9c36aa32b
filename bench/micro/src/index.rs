//! Safe handles on the C++ harness around table indexes (`index.cc`).

use anyhow::{Result, ensure};

mod sys {
    use std::ffi::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub fn micro_index_new(kind: c_int) -> *mut c_void;
        pub fn micro_index_free(indexes: *mut c_void);
        pub fn micro_index_add(
            indexes: *mut c_void,
            last: *const c_char,
            last_len: usize,
            next: *const c_char,
            next_len: usize,
            offset: u64,
            size: u64,
        );
        pub fn micro_index_open(indexes: *mut c_void, copies: u64) -> u64;
        pub fn micro_index_seek(
            indexes: *mut c_void,
            files: *const u32,
            targets: *const c_char,
            length: u64,
            count: u64,
        ) -> u64;
    }
}

/// An index of SST files; the numbers are those of `index.cc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// RocksDB's default.
    Binary = 0,
    /// The same index, searched by interpolation.
    Interpolation = 1,
    /// RocksDB's trie.
    Trie = 2,
    /// PGM (Fence), exact.
    Learned = 3,
}

impl Kind {
    /// All, RocksDB's default first.
    pub const ALL: [Kind; 4] = [Kind::Binary, Kind::Interpolation, Kind::Trie, Kind::Learned];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Binary => "binary search",
            Kind::Interpolation => "interpolation search",
            Kind::Trie => "trie",
            Kind::Learned => "pgm",
        }
    }
}

/// Copies of the index of one file.
pub struct Indexes {
    handle: *mut std::ffi::c_void,
    copies: u32,
    bytes: u64,
}

/// Bytes of the tag behind a user key.
const TAG_LEN: usize = 8;

/// A data block: its last key, offset and size.
pub struct BlockEnd<'a> {
    /// First user key of the next block, unless this is the last one.
    pub next: Option<&'a [u8]>,
    /// Last user key.
    pub last: &'a [u8],
    /// Where the block starts.
    pub offset: u64,
    /// Bytes of the block.
    pub size: u64,
}

impl Indexes {
    /// Builds the index of the file with these blocks and opens `copies` of it.
    ///
    /// # Errors
    /// If there is no such index, or it cannot be built or opened.
    pub fn build<'a>(kind: Kind, blocks: impl Iterator<Item = BlockEnd<'a>>, copies: u32) -> Result<Self> {
        mountdb::register();
        // SAFETY: any number is taken.
        let handle = unsafe { sys::micro_index_new(kind as i32) };
        ensure!(!handle.is_null(), "no index {}", kind.name());
        let mut indexes = Indexes {
            handle,
            copies,
            bytes: 0,
        };
        for block in blocks {
            let next = block.next.map_or(std::ptr::null(), <[u8]>::as_ptr);
            let next_len = block.next.map_or(0, <[u8]>::len);
            // SAFETY: pointers and lengths are those of the slices, or null and 0.
            unsafe {
                let (last, len) = (block.last.as_ptr().cast(), block.last.len());
                sys::micro_index_add(handle, last, len, next.cast(), next_len, block.offset, block.size);
            }
        }
        // SAFETY: the handle is alive.
        indexes.bytes = unsafe { sys::micro_index_open(handle, copies.into()) };
        ensure!(indexes.bytes > 0, "{} cannot be built or opened", kind.name());
        Ok(indexes)
    }

    /// Bytes of one index.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Seeks target i, a user key of `length` bytes with a tag of 8, in copy `files[i]`; the sum of the offsets found.
    ///
    /// # Panics
    /// If a file number is not below the number of copies, or lengths do not agree.
    pub fn seek(&self, files: &[u32], targets: &[u8], length: usize) -> u64 {
        assert!(files.iter().all(|&file| file < self.copies));
        assert!(length >= TAG_LEN && targets.len() == files.len() * length);
        let count = files.len() as u64;
        // SAFETY: as asserted, there are `count` targets of `length` bytes, and every file number is that of a copy.
        unsafe {
            sys::micro_index_seek(
                self.handle,
                files.as_ptr(),
                targets.as_ptr().cast(),
                length as u64,
                count,
            )
        }
    }
}

impl Drop for Indexes {
    fn drop(&mut self) {
        // SAFETY: made by `micro_index_new`, dropped once.
        unsafe { sys::micro_index_free(self.handle) }
    }
}
