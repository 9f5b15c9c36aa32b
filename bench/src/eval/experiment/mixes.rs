//! Mixes of operations on loaded databases, throughput and latency.

use anyhow::Result;

use super::Context;
use super::fill::size_name;
use crate::eval::budget::Budget;
use crate::eval::check;
use crate::eval::keys::Source;
use crate::eval::mix::{Mix, OVERWRITE};
use crate::eval::record::{Measured, Metric, Row, Samples};
use crate::eval::slices::{Latencies, Load, latencies, throughput};
use crate::eval::systems::System;
use crate::stats::median;
use crate::values::ValueSize;

#[derive(Clone, Copy)]
pub(in crate::eval) struct Settings {
    pub(in crate::eval) value: ValueSize,
    pub(in crate::eval) threads: usize,
    pub(in crate::eval) latency: bool,
}

/// Share of the slowest side's throughput at which latencies are taken: all sides keep up, none is idle.
const PACE: f64 = 0.5;

pub(in crate::eval) fn run(
    context: &mut Context,
    budget: Budget,
    source: &Source,
    systems: &[&'static str],
    mixes: &[Mix],
    settings: Settings,
) -> Result<Measured> {
    let (slice, pace_slice) = (context.sizes.slice, context.sizes.pace_slice);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let stage = context.stage(source, settings.value)?;
    stage.prepare(systems)?;
    let mut measured = Measured {
        verified: stage.checked.clone(),
        ..Measured::default()
    };

    let load = |mix| Load {
        mix,
        threads: settings.threads,
        log: true,
        seconds: slice,
    };
    let parts = mixes.len() + if settings.latency { mixes.len() + 1 } else { 0 };
    let mut parts_left = parts as f64;
    let mut part = || {
        let share = 1.0 / parts_left;
        parts_left -= 1.0;
        budget.part(share)
    };
    let name = source.name();
    let label = |mix: &Mix| match (settings.value, settings.threads) {
        (ValueSize::Fixed(100), 16) => mix.name.to_owned(),
        (ValueSize::Fixed(100), 1) => format!("{}, 1 thread", mix.name),
        (ValueSize::Fixed(100), threads) => format!("{}, {threads} threads", mix.name),
        (value, _) => format!("{}, {}", mix.name, size_name(value)),
    };
    for mix in mixes {
        let samples = throughput(stage, systems, load(*mix), part())?;
        stage.settle(systems)?;
        let slowest = slowest(&samples);
        measured.rows.push(Row::new(
            &name,
            &label(mix),
            Metric::Throughput,
            samples,
            &System::opponents(systems),
        ));
        if settings.latency {
            paced(
                stage,
                systems,
                load(*mix),
                (cores, pace_slice),
                slowest,
                part(),
                &name,
                &mut measured,
            )?;
        }
    }
    if settings.latency {
        // Latencies of writes alone; their throughput is that of whole fills.
        let probe = throughput(stage, systems, load(OVERWRITE), part().part(0.3))?;
        let slowest = slowest(&probe);
        paced(
            stage,
            systems,
            load(OVERWRITE),
            (cores, pace_slice),
            slowest,
            budget.part(1.0),
            &name,
            &mut measured,
        )?;
        measured.rows.push(Row::new(
            &name,
            OVERWRITE.name,
            Metric::Throughput,
            probe,
            &System::opponents(systems),
        ));
    }
    if mixes.iter().any(Mix::writes) || settings.latency {
        stage.settle(systems)?;
        let sides = stage.sides(systems)?;
        check::answers(stage, &sides)?;
        measured.verified += " Asked again after the writes.";
    }
    Ok(measured)
}

fn slowest(samples: &[Samples]) -> f64 {
    samples
        .iter()
        .map(|side| median(&side.samples))
        .fold(f64::INFINITY, f64::min)
}

#[allow(clippy::too_many_arguments)] // One call site each for reads and writes; a struct would be built and taken apart at once.
fn paced(
    stage: &mut crate::eval::stage::Stage,
    systems: &[&'static str],
    load: Load,
    (cores, seconds): (usize, f64),
    slowest: f64,
    budget: Budget,
    name: &str,
    measured: &mut Measured,
) -> Result<()> {
    let rate = (slowest * PACE).max(1.0);
    // A client that waits for its time keeps a core busy, so there are as many as cores.
    let load = Load {
        threads: cores,
        seconds,
        ..load
    };
    let Latencies {
        percentiles,
        slices,
        behind,
    } = latencies(stage, systems, load, rate, budget)?;
    stage.settle(systems)?;
    let workload = format!("{} at {:.0} op/s", load.mix.name, rate);
    if behind > 0 {
        measured.notes.push(format!(
            "{workload}: in {behind} of {slices} slices a side fell behind its schedule; its latencies then say how far."
        ));
    }
    for (metric, samples) in [Metric::P90, Metric::P99, Metric::P999].into_iter().zip(percentiles) {
        measured
            .rows
            .push(Row::new(name, &workload, metric, samples, &System::opponents(systems)));
    }
    Ok(())
}
