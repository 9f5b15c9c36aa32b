//! Arbitrary keys and versions: the built index answers as a sorted list does.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mountdb_fuzz::index::check::build_anything(data));
