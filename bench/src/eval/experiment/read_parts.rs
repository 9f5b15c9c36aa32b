//! Figure 10 e: where the time of a read goes, by RocksDB's own timers.

use anyhow::Result;
use rand::RngExt;
use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};

use super::Context;
use crate::database::read_options;
use crate::eval::budget::Budget;
use crate::eval::keys::Source;
use crate::eval::record::{Measured, Metric, Row, Samples};
use crate::eval::slices::order;
use crate::eval::stage::{Loaded, Stage};
use crate::eval::systems::System;
use crate::stats::MIN_SAMPLE;
use crate::values::ValueSize;
use crate::workload::rng_for;

/// Reads of a slice.
const READS: usize = 20_000;

/// The memtable in front holds one of so many keys, as in the middle of a balanced run.
const IN_MEMTABLE: usize = 4;

/// Most entries in that memtable: half of one of 64 MiB.
const MOST: usize = 230_000;

const PARTS: [&str; 3] = [
    "read part: memtable",
    "read part: index, filter and search in blocks",
    "read part: fetching blocks",
];

pub(in crate::eval) fn run(
    context: &mut Context,
    budget: Budget,
    source: &Source,
    systems: &[&'static str],
) -> Result<Measured> {
    let stage = context.stage(source, ValueSize::Fixed(100))?;
    stage.prepare(systems)?;
    let round = stage.next_round();
    let stage = &*stage;
    for side in stage.sides(systems)? {
        let fresh = stage.layout.loading().step_by(IN_MEMTABLE).take(MOST);
        stage.write(side.database()?, fresh, round)?;
    }
    let none = |name: &&'static str| Samples {
        side: (*name).to_owned(),
        samples: Vec::new(),
    };
    let mut parts: [Vec<Samples>; 3] = std::array::from_fn(|_| systems.iter().map(none).collect());
    for round in budget.rounds(MIN_SAMPLE) {
        let sides = stage.sides(systems)?;
        for at in order(systems.len(), round) {
            let times = reads(stage, sides[at], round)?;
            for (part, time) in parts.iter_mut().zip(times) {
                part[at].samples.push(time);
            }
        }
    }
    stage.settle(systems)?;
    let row = |(name, sides)| {
        Row::new(
            &source.name(),
            name,
            Metric::PartTime,
            sides,
            &System::opponents(systems),
        )
    };
    Ok(Measured {
        rows: PARTS.into_iter().zip(parts).map(row).collect(),
        notes: vec![
            "One thread, a quarter of the keys in the memtable too. RocksDB's timers do not tell the index from the search in a data block \
             where the index is user-defined, so both are one part; the timers themselves are in all parts."
                .to_owned(),
        ],
        verified: stage.checked.clone(),
        ..Measured::default()
    })
}

/// Nanoseconds per read in each part.
fn reads(stage: &Stage, side: &Loaded, round: u64) -> Result<[f64; 3]> {
    let mut rng = rng_for(stage.recipe.seed, round, 0);
    let drawn: Vec<usize> = (0..READS)
        .map(|_| stage.layout.nth(rng.random_range(0..stage.layout.loaded())))
        .collect();
    let options = read_options();
    let db = side.database()?.db();
    let mut context = PerfContext::default();
    set_perf_stats(PerfStatsLevel::EnableTimeExceptForMutex);
    context.reset();
    let mut buffer = [0; 8];
    let mut result = Ok(());
    for &index in &drawn {
        if let Err(error) = db.get_pinned_opt(stage.keys.bytes(index, &mut buffer), &options) {
            result = Err(error);
            break;
        }
    }
    let time = |metric| context.metric(metric) as f64 / READS as f64;
    let memtable = time(PerfMetric::GetFromMemtableTime);
    let files = time(PerfMetric::GetFromOutputFilesTime);
    let fetching = time(PerfMetric::BlockReadTime);
    set_perf_stats(PerfStatsLevel::Disable);
    result?;
    Ok([memtable, (files - fetching).max(0.0), fetching])
}
