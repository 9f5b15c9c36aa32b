//! Figure 11: times of flush and compaction.

use std::time::Instant;

use anyhow::Result;

use super::Context;
use crate::database::Database;
use crate::eval::budget::{Budget, FEW};
use crate::eval::fills::{Fill, Watch};
use crate::eval::keys::{Keys, Source, shuffled};
use crate::eval::record::{Measured, Metric, Row, Samples};
use crate::eval::slices::order;
use crate::eval::systems::{STOCK, System};
use crate::values::Values;

/// Files that are compacted into one run.
const FILES: usize = 3;

/// Most entries of a memtable that is not flushed of itself.
const MOST: usize = 350_000;

pub(in crate::eval) fn run(
    context: &mut Context,
    budget: Budget,
    source: &Source,
    systems: &[&'static str],
) -> Result<Measured> {
    let config = context.config();
    let values = Values::new(100)?;
    let per_file = (context.sizes.fill_entries / 2).min(MOST);
    let keys = Keys::load(source, per_file * FILES, context.seed)?;
    let none = |name: &&'static str| Samples {
        side: (*name).to_owned(),
        samples: Vec::new(),
    };
    let mut flushes: Vec<Samples> = systems.iter().map(none).collect();
    let mut compactions = flushes.clone();
    let mut asked = 0;
    for round in budget.rounds(FEW) {
        let order_of_keys = shuffled(keys.len(), context.seed, round);
        for at in order(systems.len(), round) {
            let mut side = System::named(systems[at])?.side();
            side.append("disable_auto_compactions=true");
            let database = Database::create(&config, &side)?;
            for part in order_of_keys.chunks(per_file.max(1)) {
                let fill = Fill {
                    keys: &keys,
                    values: &values,
                    order: part,
                    threads: 1,
                    log: false,
                    watch: Watch::Total,
                };
                fill.run(&database)?;
                let begun = Instant::now();
                database.flush()?;
                flushes[at].samples.push(begun.elapsed().as_secs_f64());
                if round == 0 {
                    asked += fill.check(&database)?;
                }
            }
            let begun = Instant::now();
            database.compact()?;
            compactions[at].samples.push(begun.elapsed().as_secs_f64());
        }
    }
    let name = source.name();
    let mut rows = Vec::new();
    for (metric, workload, sides) in [
        (Metric::FlushTime, format!("flush of {per_file} entries"), flushes),
        (
            Metric::CompactionTime,
            format!("compaction of {FILES} files"),
            compactions,
        ),
    ] {
        rows.push(Row::new(&name, &workload, metric, sides.clone(), &[STOCK]));
        // What building a skeleton at each flush costs, all else equal.
        let pair = ["no skeleton", "skeleton every flush"];
        let pair: Vec<Samples> = sides
            .into_iter()
            .filter(|side| pair.contains(&side.side.as_str()))
            .collect();
        if metric == Metric::FlushTime {
            rows.push(Row::new(
                &name,
                "flush, cost of a skeleton",
                metric,
                pair,
                &["no skeleton"],
            ));
        }
    }
    Ok(Measured {
        rows,
        verified: format!(
            "{asked} keys, asked of {} after each flush of the first round: all as written.",
            systems.join(", ")
        ),
        ..Measured::default()
    })
}
