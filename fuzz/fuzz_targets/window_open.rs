//! Arbitrary bytes as a windowed index: an error, or answers within bounds.
#![no_main]

libfuzzer_sys::fuzz_target!(|block: &[u8]| mountdb_fuzz::window::check::open_anything(block));
