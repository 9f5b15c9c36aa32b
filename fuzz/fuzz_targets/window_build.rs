//! Arbitrary first keys: the built index predicts as a sorted list of them demands.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mountdb_fuzz::window::check::build_anything(data));
