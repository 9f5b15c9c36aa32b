//! Nothing but tests: see `tests/refuses.rs`.
