//! Figure 5: distributions, and hardness beside the published one.

use anyhow::Result;

use super::Context;
use crate::eval::keys::Source;
use crate::eval::record::{Curve, Measured, Metric, Row, Samples};
use crate::keys::{KeySource, published};

/// Points of a distribution's curve.
const POINTS: usize = 256;

/// Error bounds for a set that nothing is published for.
const EPSILONS: [u64; 3] = [32, 128, 1024];

pub(in crate::eval) fn run(context: &Context, source: &Source) -> Result<Measured> {
    let Source::Numbers(source) = source else {
        anyhow::bail!("hardness is counted on numbers");
    };
    let name = source.to_string();
    let num = context.sizes.hardness_keys;
    let published = published().into_iter().find(|set| set.source == *source);
    let known: Vec<(u64, Option<f64>)> = match &published {
        Some(set) => set
            .segments
            .iter()
            .map(|&(epsilon, count)| (epsilon, Some(count)))
            .collect(),
        None => EPSILONS.map(|epsilon| (epsilon, None)).to_vec(),
    };

    let mut rows = Vec::new();
    for (epsilon, expected) in known {
        let mut keys = stream(source, num, context.seed)?;
        let mut count = 0u64;
        let segments = (context.segments)(&mut keys.by_ref().inspect(|_| count += 1), epsilon);
        let per_million = segments as f64 * 1e6 / count as f64;
        let samples = |side: &str, number| Samples {
            side: side.to_owned(),
            samples: vec![number],
        };
        let mut sides = vec![samples("generated", per_million)];
        sides.extend(expected.map(|expected| samples("published", expected)));
        rows.push(Row::new(
            &name,
            &format!("error bound {epsilon}"),
            Metric::Segments,
            sides,
            &[],
        ));
    }
    let notes = match published {
        Some(set) if set.name != name => vec![format!("{name} stands for the published set {}.", set.name)],
        Some(_) => Vec::new(),
        None => vec![format!("Nothing is published for {name}.")],
    };
    Ok(Measured {
        rows,
        curves: vec![distribution(source, num, context.seed)?],
        notes,
        verified: String::new(),
    })
}

/// Keys one by one; a set that does not come in a stream is held.
fn stream(source: &KeySource, num: usize, seed: u64) -> Result<Box<dyn Iterator<Item = u64>>> {
    if let Some(keys) = source.stream(num, seed) {
        return Ok(Box::new(keys));
    }
    let keys = source.load(num, seed)?.keys().to_vec();
    Ok(Box::new(keys.into_iter()))
}

/// Share of keys up to a place between the first and the last key. The last thousandth is left out: a few keys far away would
/// squeeze all others into a line.
fn distribution(source: &KeySource, num: usize, seed: u64) -> Result<Curve> {
    let step = (num / POINTS).max(1);
    let mut some: Vec<u64> = stream(source, num, seed)?.step_by(step).collect();
    some.truncate(some.len() - some.len() / 200);
    let (first, last) = (some.first().copied().unwrap_or(0), some.last().copied().unwrap_or(1));
    let width = (last - first).max(1) as f64;
    let share = 1.0 / some.len().max(1) as f64;
    Ok(Curve {
        chart: "Cumulative distributions".to_owned(),
        x: "key, from the first to the last".to_owned(),
        y: "share of keys".to_owned(),
        name: source.to_string(),
        points: some
            .iter()
            .enumerate()
            .map(|(at, key)| ((key - first) as f64 / width, at as f64 * share))
            .collect(),
    })
}
