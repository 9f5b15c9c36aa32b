//! What an experiment leaves behind: one JSON file each.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::figure::Figure;
use crate::machine::Machine;
use crate::stats::{Interval, MIN_SAMPLE, bootstrap_median};

/// Version of the JSON form.
pub const VERSION: u32 = 1;

/// One experiment, finished or failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`VERSION`].
    pub version: u32,
    /// Name of the experiment, and of its file.
    pub id: String,
    /// Where it is shown.
    pub figure: Figure,
    /// What it is, in a few words.
    pub title: String,
    /// The command that repeats its figure.
    pub command: String,
    /// All that decides what is measured; a stored experiment with other settings is run again.
    pub settings: Value,
    /// Where it ran.
    pub machine: Machine,
    /// Nanoseconds that reading the clock twice adds to each measured operation.
    pub clock_nanos: f64,
    /// How long it took, loading and checks included.
    pub seconds: f64,
    /// What was measured.
    #[serde(default)]
    pub measured: Measured,
    /// Why there is nothing, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Results of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Quantities, compared between sides.
    pub rows: Vec<Row>,
    /// Curves.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Tables of plain numbers.
    #[serde(default)]
    pub notes: Vec<String>,
    /// How answers were checked before anything was timed; empty where nothing is asked.
    #[serde(default)]
    pub verified: String,
}

/// What a quantity is, and which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Operations per second.
    Throughput,
    /// 90th percentile in microseconds.
    P90,
    /// 99th percentile in microseconds.
    P99,
    /// 99.9th percentile in microseconds.
    P999,
    /// Seconds of a flush.
    FlushTime,
    /// Seconds of a compaction.
    CompactionTime,
    /// MiB of index per GB of keys and values.
    IndexPerGigabyte,
    /// Percent of the files that is index.
    IndexShare,
    /// Operations slower than 100 us, per million.
    SlowPerMillion,
    /// Nanoseconds of a read that go to one part of the read path.
    PartTime,
    /// Segments per million keys.
    Segments,
}

impl Metric {
    /// Name and unit in tables.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "op/s",
            Metric::P90 => "90th percentile, us",
            Metric::P99 => "99th percentile, us",
            Metric::P999 => "99.9th percentile, us",
            Metric::FlushTime => "flush, s",
            Metric::CompactionTime => "compaction, s",
            Metric::IndexPerGigabyte => "index, MiB per GB",
            Metric::IndexShare => "index, % of files",
            Metric::SlowPerMillion => "over 100 us, per million",
            Metric::PartTime => "ns per read",
            Metric::Segments => "segments per million keys",
        }
    }

    /// Whether more is better.
    pub fn more_is_better(self) -> bool {
        self == Metric::Throughput
    }

    /// Whether it is counted, not sampled: a single number is exact.
    pub fn exact(self) -> bool {
        matches!(self, Metric::IndexPerGigabyte | Metric::IndexShare | Metric::Segments)
    }
}

/// One quantity of several sides under the same conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Key set.
    pub keys: String,
    /// What was done.
    pub workload: String,
    /// Quantity.
    pub metric: Metric,
    /// Every side's numbers, one for each round, in the same order.
    pub sides: Vec<Samples>,
    /// Sides against each other.
    pub comparisons: Vec<Comparison>,
}

/// Numbers of a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Side.
    pub side: String,
    /// One number for each round.
    pub samples: Vec<f64>,
}

/// A side against another. Above 1, the side is better, whichever way the quantity points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Side.
    pub side: String,
    /// Its opponent.
    pub against: String,
    /// Median of the rounds' ratios with its 95% bootstrap interval; with fewer than six rounds, their range.
    pub ratio: Interval,
    /// Number of rounds.
    pub rounds: usize,
    /// What it says.
    pub verdict: Verdict,
}

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval lies above 1.
    Win,
    /// The interval lies below 1.
    Loss,
    /// The interval contains 1.
    NoDifference,
    /// Too few rounds for an interval.
    TooFewRounds,
}

impl Verdict {
    fn of(ratio: Interval, rounds: usize, exact: bool) -> Self {
        if rounds < MIN_SAMPLE && !exact {
            Verdict::TooFewRounds
        } else if ratio.low > 1.0 {
            Verdict::Win
        } else if ratio.high < 1.0 {
            Verdict::Loss
        } else {
            Verdict::NoDifference
        }
    }
}

impl Row {
    /// A row in which every side of `sides` but the opponents is compared with each of them.
    pub fn new(keys: &str, workload: &str, metric: Metric, sides: Vec<Samples>, opponents: &[&str]) -> Self {
        let mut comparisons = Vec::new();
        let is_opponent = |side: &Samples| opponents.contains(&side.side.as_str());
        for side in sides.iter().filter(|side| !is_opponent(side)) {
            for other in sides.iter().filter(|other| is_opponent(other)) {
                comparisons.extend(compare(side, other, metric));
            }
        }
        Row {
            keys: keys.to_owned(),
            workload: workload.to_owned(),
            metric,
            sides,
            comparisons,
        }
    }
}

/// `None` where nothing can be said: a side without numbers, or a zero to divide by.
fn compare(side: &Samples, against: &Samples, metric: Metric) -> Option<Comparison> {
    let ratio = |(mine, theirs): (&f64, &f64)| {
        if metric.more_is_better() {
            mine / theirs
        } else {
            theirs / mine
        }
    };
    let ratios: Vec<f64> = side.samples.iter().zip(&against.samples).map(ratio).collect();
    if ratios.is_empty() || ratios.iter().any(|ratio| !ratio.is_finite()) {
        return None;
    }
    let interval = bootstrap_median(&ratios);
    Some(Comparison {
        side: side.side.clone(),
        against: against.side.clone(),
        ratio: interval,
        rounds: ratios.len(),
        verdict: Verdict::of(interval, ratios.len(), metric.exact()),
    })
}

/// A curve of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Chart that it belongs to.
    pub chart: String,
    /// Label of the horizontal axis.
    pub x: String,
    /// Label of the vertical axis.
    pub y: String,
    /// Name in the legend.
    pub name: String,
    /// Points.
    pub points: Vec<(f64, f64)>,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn samples(side: &str, numbers: &[f64]) -> Samples {
        Samples {
            side: side.to_owned(),
            samples: numbers.to_vec(),
        }
    }

    #[test]
    fn above_one_is_better_whichever_way_the_quantity_points() {
        for (metric, expected) in [(Metric::Throughput, Verdict::Win), (Metric::P99, Verdict::Loss)] {
            let row = Row::new(
                "ycsb",
                "reads",
                metric,
                vec![samples("stock", &[1.0; 8]), samples("learned", &[2.0; 8])],
                &["stock"],
            );
            assert_eq!(row.comparisons.len(), 1);
            assert_eq!(row.comparisons[0].verdict, expected);
        }
    }

    #[test]
    fn few_rounds_give_no_verdict_but_for_exact_numbers() {
        for (metric, expected) in [
            (Metric::Throughput, Verdict::TooFewRounds),
            (Metric::IndexShare, Verdict::Loss),
        ] {
            let sides = vec![samples("stock", &[1.0]), samples("learned", &[2.0])];
            assert_eq!(
                Row::new("", "", metric, sides, &["stock"]).comparisons[0].verdict,
                expected
            );
        }
    }

    #[test]
    fn nothing_is_said_without_numbers() {
        let sides = vec![samples("stock", &[0.0]), samples("learned", &[])];
        assert!(Row::new("", "", Metric::P90, sides, &["stock"]).comparisons.is_empty());
    }
}
