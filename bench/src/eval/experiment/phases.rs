//! Figure 9: key sets one after the other, written into one database.

use anyhow::Result;

use super::Context;
use crate::database::Database;
use crate::eval::budget::{Budget, FEW};
use crate::eval::fills::{Fill, Watch};
use crate::eval::keys::{Keys, Source, shuffled};
use crate::eval::record::{Curve, Measured, Metric, Row, Samples};
use crate::eval::slices::order;
use crate::eval::systems::System;
use crate::stats::median;
use crate::values::Values;

pub(in crate::eval) fn run(
    context: &mut Context,
    budget: Budget,
    sources: &[Source],
    systems: &[&'static str],
    threads: usize,
) -> Result<Measured> {
    let config = context.config();
    let values = Values::new(100)?;
    let num = context.sizes.phase_entries;
    let sets = sources
        .iter()
        .map(|source| Keys::load(source, num, context.seed))
        .collect::<Result<Vec<_>>>()?;
    // rates[phase][side]
    let none = |name: &&'static str| Samples {
        side: (*name).to_owned(),
        samples: Vec::new(),
    };
    let mut rates: Vec<Vec<Samples>> = sets.iter().map(|_| systems.iter().map(none).collect()).collect();
    let mut asked = 0;
    for round in budget.rounds(FEW) {
        for at in order(systems.len(), round) {
            let database = Database::create(&config, &System::named(systems[at])?.side())?;
            for (phase, keys) in sets.iter().enumerate() {
                let order_of_keys = shuffled(keys.len(), context.seed, round);
                let fill = Fill {
                    keys,
                    values: &values,
                    order: &order_of_keys,
                    threads,
                    log: true,
                    watch: Watch::Total,
                };
                let filled = fill.run(&database)?;
                rates[phase][at].samples.push(filled.rate);
                if round == 0 {
                    asked += fill.check(&database)?;
                }
            }
            database.wait_until_idle()?;
        }
    }

    let mut opponents: Vec<&str> = systems.to_vec();
    opponents.retain(|name| *name != crate::eval::systems::LEARNED);
    let curves = systems.iter().enumerate().map(|(at, system)| Curve {
        chart: "Throughput as the distribution changes".to_owned(),
        x: "million entries written".to_owned(),
        y: "million op/s".to_owned(),
        name: (*system).to_owned(),
        points: rates
            .iter()
            .enumerate()
            .flat_map(|(phase, sides)| {
                let rate = median(&sides[at].samples) / 1e6;
                let start = (phase * num) as f64 / 1e6;
                [(start, rate), (start + num as f64 / 1e6, rate)]
            })
            .collect(),
    });
    let curves = curves.collect();
    let rows = sources.iter().zip(rates).enumerate().map(|(phase, (source, sides))| {
        let workload = format!("fill, phase {} of {}", phase + 1, sources.len());
        Row::new(&source.name(), &workload, Metric::Throughput, sides, &opponents)
    });
    Ok(Measured {
        rows: rows.collect(),
        curves,
        notes: Vec::new(),
        verified: format!(
            "{asked} keys, asked of {} after each phase of the first round: all as written.",
            systems.join(", ")
        ),
    })
}
