//! Real keys that travel with the binary (`bench/data/README.md` names their origin and license).

use anyhow::{Context, Result};

use super::sosd;

static FILE: &[u8] = include_bytes!("../../data/cities_hilbert.u64");

pub(super) fn keys() -> Result<Vec<u64>> {
    sosd::parse(FILE).context("the embedded key set cities_hilbert.u64")
}
