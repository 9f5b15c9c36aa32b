//! Slices of fixed length: every round gives each side one, in an order that turns from round to round.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;

use super::budget::Budget;
use super::mix::{Client, Mix};
use super::record::Samples;
use super::stage::{Loaded, Stage};
use crate::stats::MIN_SAMPLE;
use crate::workload::{on_threads, rng_for};

/// Operations between two looks at the clock.
const STEP: u64 = 64;

/// Round number of the slices that are not counted.
const WARM_UP: u64 = u64::MAX;

/// How clients work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) mix: Mix,
    pub(super) threads: usize,
    /// Whether writes are logged.
    pub(super) log: bool,
    /// Seconds of a slice.
    pub(super) seconds: f64,
}

/// Places of `count` sides in a round: each side has each place equally often.
pub(super) fn order(count: usize, round: u64) -> impl Iterator<Item = usize> {
    let first = round as usize % count.max(1);
    (0..count).map(move |at| (first + at) % count)
}

/// Operations per second of each side, as many rounds as the budget allows.
pub(super) fn throughput(stage: &mut Stage, names: &[&str], load: Load, budget: Budget) -> Result<Vec<Samples>> {
    let mut samples = empty(names);
    turns(stage, names, budget, |stage, side, number, round, at| {
        let rate = slice(stage, side, load, number, round)?;
        if number != WARM_UP {
            samples[at].samples.push(rate);
        }
        Ok(())
    })?;
    Ok(samples)
}

/// Latencies of each side.
pub(super) struct Latencies {
    /// For each of [`PERCENTILES`] the sides' numbers, one for each round, in microseconds.
    pub(super) percentiles: [Vec<Samples>; 3],
    /// Slices, and those among them in which the side fell behind its schedule and did not catch up.
    pub(super) slices: usize,
    pub(super) behind: usize,
}

/// A side that keeps up is not late by a tenth of the slice with one operation of ten.
const BEHIND: f64 = 0.1;

/// The percentiles that are taken.
pub(super) const PERCENTILES: [f64; 3] = [0.90, 0.99, 0.999];

/// Latencies of operations that are due at fixed times, `rate` of them per second over all clients: from when the operation was due
/// to its end. An operation that has to wait for a slow one before it counts its wait, as a user's request would.
pub(super) fn latencies(stage: &mut Stage, names: &[&str], load: Load, rate: f64, budget: Budget) -> Result<Latencies> {
    let mut all = Latencies {
        percentiles: std::array::from_fn(|_| empty(names)),
        slices: 0,
        behind: 0,
    };
    turns(stage, names, budget, |stage, side, number, round, at| {
        let histogram = paced(stage, side, load, rate, number, round)?;
        if number != WARM_UP {
            for (samples, share) in all.percentiles.iter_mut().zip(PERCENTILES) {
                samples[at]
                    .samples
                    .push(histogram.value_at_quantile(share) as f64 / 1e3);
            }
            all.slices += 1;
            all.behind += usize::from(histogram.value_at_quantile(PERCENTILES[0]) as f64 > load.seconds * BEHIND * 1e9);
        }
        Ok(())
    })?;
    Ok(all)
}

fn empty(names: &[&str]) -> Vec<Samples> {
    let of = |name: &&str| Samples {
        side: (*name).to_owned(),
        samples: Vec::new(),
    };
    names.iter().map(of).collect()
}

fn turns(
    stage: &mut Stage,
    names: &[&str],
    budget: Budget,
    mut turn: impl FnMut(&Stage, &Loaded, u64, u32, usize) -> Result<()>,
) -> Result<()> {
    for number in std::iter::once(WARM_UP).chain(budget.rounds(MIN_SAMPLE)) {
        let round = stage.next_round();
        let stage = &*stage;
        let sides = stage.sides(names)?;
        for at in order(sides.len(), number) {
            for side in &sides {
                side.database()?.wait_until_idle()?;
            }
            turn(stage, sides[at], number, round, at)?;
        }
    }
    Ok(())
}

fn slice(stage: &Stage, side: &Loaded, load: Load, number: u64, round: u32) -> Result<f64> {
    let limit = Duration::from_secs_f64(load.seconds);
    let rates = on_threads(load.threads, |thread, start| {
        let rng = rng_for(stage.recipe.seed, number, thread);
        let mut client = Client::new(stage, side, load.mix, load.log, round, rng);
        start.wait();
        let begun = Instant::now();
        let mut operations = 0;
        loop {
            for _ in 0..STEP {
                client.step()?;
            }
            operations += STEP;
            let elapsed = begun.elapsed();
            if elapsed >= limit {
                return Ok(operations as f64 / elapsed.as_secs_f64());
            }
        }
    })?;
    Ok(rates.iter().sum())
}

/// Each client is due every `threads / rate` seconds, the clients one after the other.
fn paced(stage: &Stage, side: &Loaded, load: Load, rate: f64, number: u64, round: u32) -> Result<Histogram<u64>> {
    let gap = load.threads as f64 / rate;
    let count = (load.seconds / gap).ceil().max(1.0) as u64;
    let histograms = on_threads(load.threads, |thread, start| {
        let rng = rng_for(stage.recipe.seed, number, thread);
        let mut client = Client::new(stage, side, load.mix, load.log, round, rng);
        let mut histogram = Histogram::<u64>::new(3)?;
        let first = thread as f64 / rate;
        start.wait();
        let begun = Instant::now();
        for operation in 0..count {
            let due = Duration::from_secs_f64(first + operation as f64 * gap);
            wait_until(begun, due);
            client.step()?;
            let late = begun.elapsed().saturating_sub(due);
            histogram.record(u64::try_from(late.as_nanos())?.max(1))?;
        }
        Ok(histogram)
    })?;
    let mut all = Histogram::<u64>::new(3)?;
    for histogram in &histograms {
        all.add(histogram)?;
    }
    Ok(all)
}

/// Sleeping wakes up some 50 us late, so the last stretch is spent looking at the clock.
fn wait_until(begun: Instant, due: Duration) {
    const SPIN: Duration = Duration::from_micros(200);
    loop {
        let left = due.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return;
        }
        if left > SPIN {
            thread::sleep(left - SPIN);
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Nanoseconds of a look at the clock, the median of many.
pub(super) fn clock_nanos() -> f64 {
    let looks: Vec<f64> = (0..1_000)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..100 {
                std::hint::black_box(Instant::now());
            }
            begun.elapsed().as_nanos() as f64 / 100.0
        })
        .collect();
    crate::stats::median(&looks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_take_turns() {
        let places: Vec<Vec<usize>> = (0..3).map(|round| order(3, round).collect()).collect();
        assert_eq!(places, [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
    }

    #[test]
    fn waiting_ends_when_due() {
        let begun = Instant::now();
        wait_until(begun, Duration::from_millis(2));
        assert!(begun.elapsed() >= Duration::from_millis(2));
        wait_until(begun, Duration::ZERO);
    }

    #[test]
    fn clock_costs_something() {
        assert!((0.5..100_000.0).contains(&clock_nanos()));
    }
}
