//! Figure 10, a to c: reads with less and less cache.

use anyhow::Result;
use serde::Serialize;

use super::Context;
use crate::config::Config;
use crate::eval::budget::Budget;
use crate::eval::keys::Source;
use crate::eval::mix::READ_ONLY;
use crate::eval::record::{Measured, Metric, Row};
use crate::eval::slices::{Load, throughput};
use crate::eval::systems::System;
use crate::values::ValueSize;

/// How much of the data is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// All of it in the block cache.
    All,
    /// A tenth in the block cache, the rest read past the page cache.
    Tenth,
    /// Hardly anything; every read goes to the disk.
    None,
}

impl Cache {
    /// From much to little.
    pub const ALL: [Cache; 3] = [Cache::All, Cache::Tenth, Cache::None];

    /// In names of experiments.
    pub fn id(self) -> &'static str {
        match self {
            Cache::All => "cached",
            Cache::Tenth => "tenth",
            Cache::None => "direct",
        }
    }

    /// In tables.
    pub fn name(self) -> &'static str {
        match self {
            Cache::All => "all cached",
            Cache::Tenth => "10% cached",
            Cache::None => "direct I/O",
        }
    }

    fn config(self, data: u64, usual: Config) -> Config {
        // A cache that is not full has no room in some of its shards: twice the data holds all of it.
        let (cache, direct_reads) = match self {
            Cache::All => (data * 2, false),
            Cache::Tenth => (data / 10, true),
            Cache::None => (data / 500, true),
        };
        Config {
            cache_size: (cache as usize).max(64 << 10),
            direct_reads,
            ..usual
        }
    }
}

pub(in crate::eval) fn run(
    context: &mut Context,
    budget: Budget,
    source: &Source,
    systems: &[&'static str],
    threads: usize,
    cache: Cache,
) -> Result<Measured> {
    let usual = context.config();
    let seconds = context.sizes.slice;
    let stage = context.stage(source, ValueSize::Fixed(100))?;
    stage.prepare(systems)?;
    let config = cache.config(stage.data_bytes(), usual.clone());
    stage.reopen(systems, &config)?;
    let load = Load {
        mix: READ_ONLY,
        threads,
        log: true,
        seconds,
    };
    if cache == Cache::All {
        // Brings everything into the cache.
        for side in stage.sides(systems)? {
            let mut iter = side.database()?.db().raw_iterator();
            iter.seek_to_first();
            while iter.valid() {
                iter.next();
            }
            iter.status()?;
        }
    }
    let measured = throughput(stage, systems, load, budget);
    // Other experiments use the same databases.
    stage.reopen(systems, &usual)?;
    let workload = format!("read-only, {}", cache.name());
    Ok(Measured {
        rows: vec![Row::new(
            &source.name(),
            &workload,
            Metric::Throughput,
            measured?,
            &System::opponents(systems),
        )],
        notes: vec![format!(
            "Block cache of {:.1} MiB for {:.1} MiB of keys and values{}.",
            config.cache_size as f64 / f64::from(1 << 20),
            stage.data_bytes() as f64 / f64::from(1 << 20),
            if config.direct_reads { ", direct reads" } else { "" }
        )],
        verified: stage.checked.clone(),
        ..Measured::default()
    })
}
