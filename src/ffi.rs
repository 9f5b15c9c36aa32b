//! The border to C++: every function that crosses it, in both directions, and nothing else.
//!
//! Hot calls are infallible. A panic in a function without `Result` is stopped by cxx and aborts the process with the
//! panic's message, before it can unwind into C++; cold calls of the table index return it as an error (`guarded`).

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};
use crate::index::{Cursor, IndexBuilder, IndexOptions, Lookup, Reader};
use crate::memtable::rep::{AlexFactory, AlexRep};
use crate::window;

#[cxx::bridge(namespace = "mountdb::ffi")]
#[allow(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "each contract stands at the function that implements it"
)]
#[cfg_attr(
    not(feature = "bundled"),
    allow(dead_code, reason = "C++ calls what the Rust interface calls here")
)]
pub(crate) mod bridge {
    /// A place in a memtable; plain data. `entry` is null when it is on no entry.
    #[derive(Clone, Copy)]
    struct MemCursor {
        entry: *const u8,
        node: *mut u8,
        version: u64,
        slot: usize,
    }

    /// A place in a table index: separator and block handle, if `valid`.
    struct IndexPlace<'a> {
        valid: bool,
        separator: &'a [u8],
        offset: u64,
        size: u64,
    }

    /// A data block of a file by its number; `position` is the number of blocks where there is none.
    #[derive(Clone, Copy)]
    struct BlockPlace {
        position: u64,
        offset: u64,
        size: u64,
    }

    /// A [`Lookup`](crate::index::Lookup) that C++ keeps beside fields of its own: one cache line less to wait for.
    #[derive(Clone, Copy)]
    struct LookupLine {
        words: [*const u8; 8],
    }

    /// Options of the memtable; `AlexMemTableOptions` in cpp/registry.h says what they mean.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct AlexOptions {
        skeletons: bool,
        single: bool,
        period: u32,
        keys: bool,
        background: bool,
        data_node_slots: u32,
    }

    /// What is known about one memtable's index; the fields are those of `MemtableStats` in src/stats.rs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct MemStats {
        entries: u64,
        data_nodes: u64,
        depth: u64,
        index_bytes: u64,
        splits: u64,
        expansions: u64,
        rebuilds: u64,
        longest_pause_nanos: u64,
        moved_inserts: u64,
        planned_nodes: u64,
        skeleton_age: u64,
        skeleton_bytes: u64,
        skeleton_build_nanos: u64,
    }

    #[namespace = "rocksdb"]
    unsafe extern "C++" {
        include!("cpp/bridge.h");
        type Allocator;
        type Comparator;
        type Options;
    }

    unsafe extern "C++" {
        unsafe fn allocate_node(allocator: *mut Allocator, bytes: usize) -> *mut u8;
        unsafe fn compare_user_keys(comparator: *const Comparator, a: &[u8], b: &[u8]) -> i32;
        fn register_factories();
        unsafe fn apply_learned(options: *mut Options, memtable: &str, index: &str, primary: bool) -> Result<()>;
        unsafe fn apply_string(options: *mut Options, text: &str) -> Result<()>;
    }

    extern "Rust" {
        type AlexFactory;
        fn alex_factory(options: &AlexOptions) -> Box<AlexFactory>;
        unsafe fn alex_rep(factory: &AlexFactory, allocator: *mut Allocator, column_family: u32) -> Box<AlexRep>;

        type AlexRep;
        unsafe fn insert(self: &AlexRep, entry: *const u8) -> bool;
        unsafe fn insert_alone(self: &AlexRep, entry: *const u8) -> bool;
        unsafe fn lookup(self: &AlexRep, internal_key: &[u8]) -> MemCursor;
        unsafe fn prefetch(self: &AlexRep, keys: &[usize]);
        fn contains(self: &AlexRep, internal_key: &[u8]) -> bool;
        fn seek(self: &AlexRep, internal_key: &[u8]) -> MemCursor;
        fn seek_for_prev(self: &AlexRep, internal_key: &[u8]) -> MemCursor;
        fn first(self: &AlexRep) -> MemCursor;
        fn last(self: &AlexRep) -> MemCursor;
        unsafe fn next(self: &AlexRep, cursor: &mut MemCursor);
        unsafe fn prev(self: &AlexRep, cursor: &mut MemCursor);
        fn entries_between(self: &AlexRep, start: &[u8], end: &[u8]) -> u64;
        fn mark_read_only(self: &AlexRep);
        fn stats(self: &AlexRep) -> MemStats;

        type PgmBuilder;
        fn pgm_builder(plain: bool) -> Box<PgmBuilder>;
        fn add(self: &mut PgmBuilder, last: &[u8], next: &[u8], has_next: bool, offset: u64, size: u64, tags: [u64; 2]);
        fn add_straddling(self: &mut PgmBuilder, last: &[u8], offset: u64, size: u64, last_tag: u64);
        fn finish(self: &mut PgmBuilder) -> Result<&[u8]>;
        fn estimated_size(self: &PgmBuilder) -> u64;

        type PgmReader;
        unsafe fn pgm_open(block: &[u8], comparator: *const Comparator) -> Result<Box<PgmReader>>;
        fn memory_usage(self: &PgmReader) -> usize;
        fn len(self: &PgmReader) -> u64;
        fn lookup(self: &PgmReader) -> LookupLine;
        unsafe fn seek(self: &PgmReader, lookup: &LookupLine, block: &[u8], key: &[u8], tag: u64) -> BlockPlace;
        unsafe fn pgm_place(lookup: &LookupLine, block: &[u8], position: u64) -> BlockPlace;
        unsafe fn pgm_separator(lookup: &LookupLine, block: &[u8], position: u64, internal_key: &mut Vec<u8>);

        type WindowBuilder;
        fn window_builder() -> Box<WindowBuilder>;
        fn add(self: &mut WindowBuilder, first: &[u8], offset: u64, size: u64);
        fn finish(self: &mut WindowBuilder) -> Result<&[u8]>;
        fn estimated_size(self: &WindowBuilder) -> u64;

        type WindowReader;
        fn is_window_index(block: &[u8]) -> bool;
        fn window_open(block: &[u8]) -> Result<Box<WindowReader>>;
        fn memory_usage(self: &WindowReader) -> usize;
        fn len(self: &WindowReader) -> u64;
        fn predict(self: &WindowReader, block: &[u8], key: &[u8]) -> u64;
        fn place(self: &WindowReader, block: &[u8], position: u64) -> BlockPlace;

        type PgmCursor;
        fn pgm_cursor() -> Box<PgmCursor>;
        unsafe fn seek<'a>(
            self: &'a mut PgmCursor,
            reader: &PgmReader,
            block: &[u8],
            key: &[u8],
            tag: u64,
        ) -> IndexPlace<'a>;
        unsafe fn seek_to_first<'a>(self: &'a mut PgmCursor, reader: &PgmReader, block: &[u8]) -> IndexPlace<'a>;
        unsafe fn seek_to_last<'a>(self: &'a mut PgmCursor, reader: &PgmReader, block: &[u8]) -> IndexPlace<'a>;
        unsafe fn next<'a>(self: &'a mut PgmCursor, reader: &PgmReader, block: &[u8]) -> IndexPlace<'a>;
        unsafe fn prev<'a>(self: &'a mut PgmCursor, reader: &PgmReader, block: &[u8]) -> IndexPlace<'a>;
    }
}

pub(crate) use bridge::{AlexOptions, Allocator, BlockPlace, IndexPlace, LookupLine, MemCursor, MemStats};

fn alex_factory(options: &AlexOptions) -> Box<AlexFactory> {
    Box::new(AlexFactory::new(options))
}

/// # Safety
/// `allocator` outlives the returned rep, and with it all that it allocated.
unsafe fn alex_rep(factory: &AlexFactory, allocator: *mut Allocator, column_family: u32) -> Box<AlexRep> {
    // SAFETY: the caller's promise.
    Box::new(unsafe { factory.rep(allocator, column_family) })
}

/// Turns a panic into an error: for calls that can return one.
fn guarded<T>(what: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(Error::corruption(what, "no panic", message.unwrap_or_default()))
    })
}

/// Builder of one file's index.
pub struct PgmBuilder {
    builder: IndexBuilder,
    /// For planted faults only: the number of blocks, and the first key of the next one.
    planted: (u64, Vec<u8>),
}

fn pgm_builder(plain: bool) -> Box<PgmBuilder> {
    let options = if plain {
        IndexOptions::plain()
    } else {
        IndexOptions::default()
    };
    Box::new(PgmBuilder {
        builder: IndexBuilder::new(options),
        planted: Default::default(),
    })
}

impl PgmBuilder {
    fn add(&mut self, last: &[u8], next: &[u8], has_next: bool, offset: u64, size: u64, tags: [u64; 2]) {
        let every = crate::testing::wrong_separators();
        if every > 0 {
            let (blocks, first) = &mut self.planted;
            let first = std::mem::replace(first, next.to_vec());
            *blocks += 1;
            if blocks.is_multiple_of(every) && first.as_slice() < last {
                self.builder.add(&first, Some(last), offset, size, tags[0], tags[1]);
                return;
            }
        }
        self.builder
            .add(last, has_next.then_some(next), offset, size, tags[0], tags[1]);
    }

    fn add_straddling(&mut self, last: &[u8], offset: u64, size: u64, last_tag: u64) {
        self.builder.add_straddling(last, offset, size, last_tag);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        guarded("building an index", || {
            crate::testing::fault_point();
            self.builder.finish()
        })
    }

    fn estimated_size(&self) -> u64 {
        self.builder.estimated_size()
    }
}

/// An opened index and, unless its order is bytewise, its comparator.
pub struct PgmReader {
    reader: Reader,
    comparator: *const bridge::Comparator,
}

/// # Safety
/// `comparator` is null for bytewise order or outlives the reader.
unsafe fn pgm_open(block: &[u8], comparator: *const bridge::Comparator) -> Result<Box<PgmReader>> {
    guarded("opening an index", || {
        crate::testing::fault_point();
        let reader = Reader::open(block)?;
        if !comparator.is_null() {
            if !reader.is_plain() {
                return Err(Error::corruption(
                    "order of keys",
                    "the comparator of this column family",
                    "bytewise",
                ));
            }
            reader.check_order(block, order_of(comparator))?;
        }
        Ok(Box::new(PgmReader { reader, comparator }))
    })
}

/// The order of user keys under `comparator`, which is not null and outlives every use (`pgm_open`).
fn order_of(comparator: *const bridge::Comparator) -> impl Fn(&[u8], &[u8]) -> Ordering {
    move |a, b| {
        // SAFETY: see above.
        unsafe { bridge::compare_user_keys(comparator, a, b) }.cmp(&0)
    }
}

impl PgmReader {
    fn memory_usage(&self) -> usize {
        self.reader.memory_usage()
    }

    fn len(&self) -> u64 {
        self.reader.len() as u64
    }

    fn lookup(&self) -> LookupLine {
        // SAFETY: both are eight words; a lookup has no padding, and words that are pointers may hold anything.
        unsafe { std::mem::transmute::<Lookup<'_>, LookupLine>(self.reader.lookup()) }
    }

    /// # Safety
    /// `lookup` is this reader's.
    unsafe fn seek(&self, lookup: &LookupLine, block: &[u8], key: &[u8], tag: u64) -> BlockPlace {
        // SAFETY: the caller's promise.
        let lookup = unsafe { lookup.get() };
        // The reader itself is looked at only where it is needed: it lies on a cache line of its own.
        let (position, (offset, size)) = if lookup.is_plain() && !self.comparator.is_null() {
            let position = lookup.seek_with(block, key, tag, order_of(self.comparator));
            (position, lookup.handle(block, position))
        } else {
            lookup.seek_handle(block, key, tag)
        };
        let position = position as u64;
        BlockPlace { position, offset, size }
    }
}

impl LookupLine {
    /// # Safety
    /// `self` is from [`PgmReader::lookup`] of a reader that outlives `'a`.
    #[inline]
    unsafe fn get<'a>(&self) -> Lookup<'a> {
        // SAFETY: the bytes are those of a lookup, whose slices are the reader's, unchanged for its life.
        unsafe { std::mem::transmute::<LookupLine, Lookup<'a>>(*self) }
    }
}

/// # Safety
/// `lookup` is from [`PgmReader::lookup`] of a reader that is alive.
unsafe fn pgm_place(lookup: &LookupLine, block: &[u8], position: u64) -> BlockPlace {
    // SAFETY: the caller's promise.
    let (offset, size) = unsafe { lookup.get() }.handle(block, position as usize);
    BlockPlace { position, offset, size }
}

/// The separator as an internal key with the lowest tag, that of a value with sequence number 0: at or above every entry
/// of the block, whatever their tags.
///
/// # Safety
/// `lookup` is from [`PgmReader::lookup`] of a reader that is alive.
unsafe fn pgm_separator(lookup: &LookupLine, block: &[u8], position: u64, internal_key: &mut Vec<u8>) {
    const LOWEST: u64 = 1;
    // SAFETY: the caller's promise.
    unsafe { lookup.get() }.separator(block, position as usize, internal_key);
    internal_key.extend_from_slice(&LOWEST.to_le_bytes());
}

/// Builder of one file's windowed index.
pub struct WindowBuilder(window::WindowBuilder);

fn window_builder() -> Box<WindowBuilder> {
    Box::new(WindowBuilder(window::WindowBuilder::new()))
}

impl WindowBuilder {
    fn add(&mut self, first: &[u8], offset: u64, size: u64) {
        self.0.add(first, offset, size);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        guarded("building an index", || {
            crate::testing::fault_point();
            self.0.finish()
        })
    }

    fn estimated_size(&self) -> u64 {
        self.0.estimated_size()
    }
}

/// An opened windowed index.
pub struct WindowReader(window::WindowReader);

fn is_window_index(block: &[u8]) -> bool {
    block.starts_with(&window::MAGIC)
}

fn window_open(block: &[u8]) -> Result<Box<WindowReader>> {
    guarded("opening an index", || {
        crate::testing::fault_point();
        Ok(Box::new(WindowReader(window::WindowReader::open(block)?)))
    })
}

impl WindowReader {
    fn memory_usage(&self) -> usize {
        self.0.memory_usage()
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn predict(&self, block: &[u8], key: &[u8]) -> u64 {
        self.0.predict(block, key) as u64
    }

    fn place(&self, block: &[u8], position: u64) -> BlockPlace {
        let (offset, size) = self.0.handle(block, position as usize);
        BlockPlace { position, offset, size }
    }
}

/// Iterator state over one index.
pub struct PgmCursor(Cursor);

fn pgm_cursor() -> Box<PgmCursor> {
    Box::new(PgmCursor(Cursor::new()))
}

impl PgmCursor {
    fn place(&self) -> IndexPlace<'_> {
        let (offset, size) = self.0.handle();
        IndexPlace {
            valid: self.0.valid(),
            separator: self.0.separator(),
            offset,
            size,
        }
    }

    fn seek(&mut self, reader: &PgmReader, block: &[u8], key: &[u8], tag: u64) -> IndexPlace<'_> {
        if reader.comparator.is_null() {
            self.0.seek(&reader.reader, block, key, tag);
        } else {
            let position = reader.reader.seek_with(block, key, tag, order_of(reader.comparator));
            self.0.set_position(&reader.reader, block, position);
        }
        self.place()
    }

    fn seek_to_first(&mut self, reader: &PgmReader, block: &[u8]) -> IndexPlace<'_> {
        self.0.seek_to_first(&reader.reader, block);
        self.place()
    }

    fn seek_to_last(&mut self, reader: &PgmReader, block: &[u8]) -> IndexPlace<'_> {
        self.0.seek_to_last(&reader.reader, block);
        self.place()
    }

    fn next(&mut self, reader: &PgmReader, block: &[u8]) -> IndexPlace<'_> {
        self.0.next(&reader.reader, block);
        self.place()
    }

    fn prev(&mut self, reader: &PgmReader, block: &[u8]) -> IndexPlace<'_> {
        self.0.prev(&reader.reader, block);
        self.place()
    }
}
