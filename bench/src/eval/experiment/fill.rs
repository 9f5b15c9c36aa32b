//! Whole fills of empty databases, side by side.

use anyhow::Result;

use super::Context;
use crate::database::Database;
use crate::eval::budget::{Budget, FEW};
use crate::eval::fills::{Fill, Watch};
use crate::eval::keys::{Keys, Source, shuffled};
use crate::eval::record::{Measured, Metric, Row, Samples};
use crate::eval::slices::order;
use crate::eval::systems::System;
use crate::values::{ValueSize, Values};

#[derive(Clone, Copy)]
pub(in crate::eval) struct Settings {
    pub(in crate::eval) value: ValueSize,
    pub(in crate::eval) threads: usize,
    pub(in crate::eval) log: bool,
    /// Whether writes over 100 us are counted instead of speed.
    pub(in crate::eval) slow: bool,
}

pub(in crate::eval) fn run(
    context: &mut Context,
    budget: Budget,
    source: &Source,
    systems: &[&'static str],
    settings: Settings,
) -> Result<Measured> {
    let Settings {
        value,
        threads,
        log,
        slow,
    } = settings;
    let config = context.config();
    let values = Values::of(value)?;
    let keys = Keys::load(source, entries(context, value, &values), context.seed)?;
    let mut samples: Vec<Samples> = systems
        .iter()
        .map(|name| Samples {
            side: (*name).to_owned(),
            samples: Vec::new(),
        })
        .collect();
    let mut verified = String::new();
    for round in budget.rounds(FEW) {
        let order_of_keys = shuffled(keys.len(), context.seed, round);
        let fill = Fill {
            keys: &keys,
            values: &values,
            order: &order_of_keys,
            threads,
            log,
            watch: if slow { Watch::Slow } else { Watch::Total },
        };
        if round == 0 {
            // A part of a fill that is not counted: answers are checked before anything is timed.
            let fill = Fill {
                order: &order_of_keys[..keys.len().div_ceil(4)],
                ..fill
            };
            for name in systems {
                let database = Database::create(&config, &System::named(name)?.side())?;
                fill.run(&database)?;
                let asked = fill.check(&database)?;
                verified = format!(
                    "{asked} keys of a part of a fill, asked of {} before timing: all as written.",
                    systems.join(", ")
                );
            }
        }
        for at in order(systems.len(), round) {
            let database = Database::create(&config, &System::named(systems[at])?.side())?;
            let filled = fill.run(&database)?;
            samples[at].samples.push(if slow {
                filled.slow as f64 * 1e6 / keys.len() as f64
            } else {
                filled.rate
            });
            database.wait_until_idle()?;
        }
    }
    let (workload, metric) = label(settings);
    Ok(Measured {
        rows: vec![Row::new(
            &source.name(),
            &workload,
            metric,
            samples,
            &System::opponents(systems),
        )],
        verified,
        ..Measured::default()
    })
}

/// As many bytes whatever the size of a value, so that as many memtables fill up.
fn entries(context: &Context, value: ValueSize, values: &Values) -> usize {
    const KEY_AND_INDEX: usize = 36;
    match value {
        ValueSize::Fixed(100) => context.sizes.fill_entries,
        _ => context.sizes.value_entries * (100 + KEY_AND_INDEX) / (mean(values) + KEY_AND_INDEX),
    }
}

fn mean(values: &Values) -> usize {
    const SOME: usize = 1_000;
    (0..SOME as u64).map(|index| values.size_of(index)).sum::<usize>() / SOME
}

fn label(settings: Settings) -> (String, Metric) {
    let log = if settings.log { "" } else { ", log off" };
    let threads = settings.threads;
    let text = format!(
        "fill, {}, {threads} {}{log}",
        size_name(settings.value),
        if threads == 1 { "thread" } else { "threads" }
    );
    (
        text,
        if settings.slow {
            Metric::SlowPerMillion
        } else {
            Metric::Throughput
        },
    )
}

/// How values of a kind are called in tables.
pub(in crate::eval) fn size_name(value: ValueSize) -> String {
    match value {
        ValueSize::Fixed(size) => format!("values of {size} B"),
        ValueSize::Mixed { mean, deviation } => format!("values of {mean} B (deviation {deviation})"),
    }
}
