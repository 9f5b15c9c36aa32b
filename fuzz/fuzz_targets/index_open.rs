//! Arbitrary bytes as an index block: an error, or answers within bounds.
#![no_main]

libfuzzer_sys::fuzz_target!(|block: &[u8]| mountdb_fuzz::index::check::open_anything(block));
