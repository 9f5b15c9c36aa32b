//! Sizes of indexes: exact numbers, nothing is timed.

use anyhow::{Context as _, Result};

use super::Context;
use crate::config::Config;
use crate::eval::check;
use crate::eval::keys::Source;
use crate::eval::record::{Measured, Metric, Row, Samples};
use crate::eval::stage::{Recipe, Stage};
use crate::eval::systems::System;
use crate::values::ValueSize;

pub(in crate::eval) fn run(
    context: &mut Context,
    source: &Source,
    systems: &[&'static str],
    blocks: &[usize],
) -> Result<Measured> {
    let mut rows = Vec::new();
    let mut verified = String::new();
    for &block_size in blocks {
        let config = Config {
            block_size,
            ..context.config()
        };
        let recipe = Recipe {
            source: source.clone(),
            entries: context.sizes.fill_entries / 2,
            value: ValueSize::Fixed(100),
            seed: context.seed,
            block_size,
        };
        // Not the shared stage: another block size, fewer entries.
        let mut stage = Stage::new(recipe, config.clone())?;
        stage.prepare(systems)?;
        verified.clone_from(&stage.checked);
        let sides = stage.sides(systems)?;
        check::answers(&stage, &sides)?;
        let (mut memory, mut share) = (Vec::new(), Vec::new());
        for side in sides {
            let database = side.database()?;
            let size = database
                .index_size(&config)?
                .context("a loaded database without an index")?;
            let gigabytes = stage.data_bytes() as f64 / 1e9;
            let one = |number: f64| Samples {
                side: side.system.name.to_owned(),
                samples: vec![number],
            };
            memory.push(one(size.bytes as f64 / f64::from(1 << 20) / gigabytes));
            share.push(one(size.bytes as f64 * 100.0 / database.file_bytes()? as f64));
        }
        let name = source.name();
        let workload = format!("blocks of {} KiB", block_size >> 10);
        if blocks.len() > 1 {
            rows.push(Row::new(
                &name,
                &workload,
                Metric::IndexPerGigabyte,
                memory,
                &System::opponents(systems),
            ));
        } else {
            rows.push(Row::new(
                &name,
                &workload,
                Metric::IndexShare,
                share,
                &System::opponents(systems),
            ));
        }
    }
    Ok(Measured {
        rows,
        notes: vec![
            "The index that serves reads, over the files of a compacted database. Where RocksDB keeps its own index beside a \
             user-defined one, that copy is not counted; it is part of the files' size."
                .to_owned(),
        ],
        verified,
        ..Measured::default()
    })
}
