//! Tests of the index as a whole: every kind of key, corrupt bytes, sizes.

mod corrupt;
mod keys;
mod kinds;
mod order;
mod size;
