//! Figure 2: throughput over time of a memtable that has to learn.

use std::time::Duration;

use anyhow::Result;

use super::Context;
use crate::database::Database;
use crate::eval::budget::{Budget, FEW};
use crate::eval::fills::{Fill, Watch};
use crate::eval::keys::{Keys, Source, shuffled};
use crate::eval::record::{Curve, Measured, Metric, Row, Samples};
use crate::eval::slices::order;
use crate::eval::systems::{LEARNED, STOCK, System};
use crate::stats::median;
use crate::values::Values;

/// Points of a curve, about.
const POINTS: f64 = 60.0;

pub(in crate::eval) fn run(
    context: &mut Context,
    budget: Budget,
    source: &Source,
    systems: &[&'static str],
    threads: usize,
) -> Result<Measured> {
    let config = context.config();
    let values = Values::new(100)?;
    let keys = Keys::load(source, context.sizes.cold_entries, context.seed)?;
    let mut rates: Vec<Samples> = systems.iter().map(|name| samples(name)).collect();
    let mut intervals: Vec<Vec<Vec<u64>>> = systems.iter().map(|_| Vec::new()).collect();
    let mut verified = String::new();
    let mut length = Duration::from_millis(100);
    for round in budget.rounds(FEW + 1) {
        let order_of_keys = shuffled(keys.len(), context.seed, round);
        for at in order(systems.len(), round) {
            let database = Database::create(&config, &System::named(systems[at])?.side())?;
            let fill = Fill {
                keys: &keys,
                values: &values,
                order: &order_of_keys,
                threads,
                log: false,
                watch: Watch::Intervals(length),
            };
            if round == 0 {
                // Not counted: answers are checked before anything is timed, and the length of intervals follows from it.
                let filled = fill.run(&database)?;
                let asked = fill.check(&database)?;
                verified = format!(
                    "{asked} keys of a fill, asked of {} before timing: all as written.",
                    systems.join(", ")
                );
                if at == 0 {
                    let seconds = keys.len() as f64 / filled.rate / POINTS;
                    length = Duration::from_secs_f64(seconds.clamp(0.005, 10.0));
                }
                continue;
            }
            let filled = fill.run(&database)?;
            rates[at].samples.push(filled.rate);
            intervals[at].push(filled.intervals);
        }
    }
    let name = source.name();
    let curves = systems.iter().zip(&intervals).map(|(system, rounds)| Curve {
        chart: format!("Inserts over time, {name}"),
        x: "seconds".to_owned(),
        y: "million op/s".to_owned(),
        name: (*system).to_owned(),
        points: medians(rounds, length.as_secs_f64()),
    });
    Ok(Measured {
        curves: curves.collect(),
        rows: vec![
            Row::new(&name, "fill, log off", Metric::Throughput, rates.clone(), &[STOCK]),
            Row::new(
                &name,
                "fill, log off, against plain ALEX+",
                Metric::Throughput,
                pick(&rates),
                &["plain ALEX+"],
            ),
        ],
        notes: vec![format!(
            "Curves: medians of {} fills, in intervals of {} ms.",
            rates[0].samples.len(),
            length.as_millis()
        )],
        verified,
    })
}

fn samples(name: &str) -> Samples {
    Samples {
        side: name.to_owned(),
        samples: Vec::new(),
    }
}

/// What a skeleton and small nodes are worth: this design against the one that the paper starts from.
fn pick(rates: &[Samples]) -> Vec<Samples> {
    let wanted = ["plain ALEX+", LEARNED];
    rates
        .iter()
        .filter(|side| wanted.contains(&side.side.as_str()))
        .cloned()
        .collect()
}

/// The median over rounds for each interval that all rounds have.
fn medians(rounds: &[Vec<u64>], length: f64) -> Vec<(f64, f64)> {
    let count = rounds.iter().map(Vec::len).min().unwrap_or(0);
    (0..count)
        .map(|at| {
            let numbers: Vec<f64> = rounds.iter().map(|round| round[at] as f64 / length / 1e6).collect();
            ((at as f64 + 0.5) * length, median(&numbers))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_medians_of_common_intervals() {
        let rounds = [vec![1_000_000, 3_000_000, 9], vec![3_000_000, 5_000_000]];
        assert_eq!(medians(&rounds, 1.0), [(0.5, 2.0), (1.5, 4.0)]);
        assert!(medians(&[], 1.0).is_empty());
    }
}
