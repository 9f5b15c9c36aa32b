//! Results: their JSON form, tables and the HTML page.

pub(crate) mod chart;
pub(crate) mod html;
mod sentence;
mod text;

use serde::{Deserialize, Serialize};

use crate::config::Config;

use crate::machine::Machine;
use crate::stats::Interval;
use crate::workload::Workload;

pub use crate::database::IndexSize;
pub use html::html;
pub use sentence::{Verdict, sentence, verdict};
pub use text::text;

/// Version of the JSON form. Fields may be added without a new version; none is renamed or dropped within one.
pub const VERSION: u32 = 1;

/// The same quantity of side a, the opponent, and of side b.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerSide<T> {
    /// The opponent.
    pub a: T,
    /// The side with learned indexes.
    pub b: T,
}

/// Result of one workload on one key set. All ratios are b/a: above 1, side b is faster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was run.
    pub workload: Workload,
    /// Key set.
    pub keys: String,
    /// Entries.
    pub num: usize,
    /// Bytes of a value.
    pub value_size: usize,
    /// Threads at work at once.
    pub threads: usize,
    /// Which parts are learned on side b: `memtable`, `index`.
    pub learned: Vec<String>,
    /// Name of side a.
    pub against: String,
    /// Operations per second of side a, one number per pair.
    pub a_ops_per_sec: Vec<f64>,
    /// Operations per second of side b, one number per pair.
    pub b_ops_per_sec: Vec<f64>,
    /// Median of the pairs' ratios b/a with its 95% bootstrap interval; with fewer than six pairs, their range.
    pub ratio: Interval,
    /// Bytes of the index that serves reads, per data block, over the files of one database: after the last fill of
    /// `fillrandom`, at the end of the other workloads.
    pub index_bytes_per_block: PerSide<Option<f64>>,
    /// Flushes: the median per fill, the closing one included (`fillrandom`); all within warm-up and slices (`balanced`);
    /// those of loading (workloads that only read).
    pub flushes: PerSide<u64>,
    /// Name of side b.
    pub b_name: String,
    /// Option strings of the sides.
    pub options: PerSide<String>,
    /// The two numbers behind `index_bytes_per_block`.
    pub index: PerSide<Option<IndexSize>>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'a> {
    /// [`VERSION`].
    pub version: u32,
    /// Where it ran.
    pub machine: Machine,
    /// The command that was typed.
    pub command: String,
    /// Settings that both sides share.
    pub settings: &'a Config,
    /// One entry per workload and key set.
    pub results: Vec<Outcome>,
}

impl Report<'_> {
    /// The JSON form, indented, with a line end at the end.
    ///
    /// # Errors
    /// Only if a float is not finite in a way that JSON cannot hold, which measured rates are not.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// What both sides have in common, a short statement each.
    pub fn shared_settings(&self) -> Vec<String> {
        let config = self.settings;
        let bloom = if config.bloom_bits > 0.0 {
            format!("{} bits per key", config.bloom_bits)
        } else {
            "none".to_owned()
        };
        let state = if config.compact {
            "fully compacted"
        } else {
            "flushed, not compacted"
        };
        vec![
            format!("Databases for reads: loaded once per side in the same order, {state}."),
            format!(
                "Blocks of {} bytes, no compression, Bloom filter: {bloom}, block cache: {} MiB per side, checksums on.",
                config.block_size,
                config.cache_size >> 20
            ),
            format!(
                "Memtables of {} KiB, {} background jobs, write-ahead log: {}.",
                config.write_buffer_size >> 10,
                config.background_jobs,
                match config.wal {
                    crate::WalMode::PerWorkload => "off in fillrandom, on in balanced",
                    crate::WalMode::Always => "on",
                    crate::WalMode::Never => "off",
                }
            ),
            format!(
                "Slices: {} pairs of {} s; fills: {} pairs of whole fills, each into a fresh database, timed until the last \
                 write is accepted. One more slice per side warms up and is not counted.",
                config.pairs, config.seconds, config.fill_pairs
            ),
            format!(
                "seekrandom: a seek and {} entries more, one iterator per thread and slice; multiget: batches of 32, each key \
                 counted.",
                config.seek_nexts
            ),
            "Index bytes: the index that serves reads. RocksDB 11.8.1 stores its own index beside a user-defined one; that \
             copy is not counted."
                .to_owned(),
            "Intervals cover what varies from slice to slice. Reads use one pair of loaded databases: how those happen to lie in \
             memory is part of the ratio, and a run with another seed shows how much."
                .to_owned(),
        ]
    }
}

/// Thousands separated, for tables.
pub(crate) fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn optional(number: Option<f64>, digits: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.digits$}"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn outcome(workload: Workload, ratio: (f64, f64, f64)) -> Outcome {
        let (median, low, high) = ratio;
        Outcome {
            workload,
            keys: "uniform".to_owned(),
            num: 1000,
            value_size: 100,
            threads: 1,
            learned: vec!["memtable".to_owned(), "index".to_owned()],
            against: "stock".to_owned(),
            a_ops_per_sec: vec![1e6; 6],
            b_ops_per_sec: vec![1.2e6; 6],
            ratio: Interval { median, low, high },
            index_bytes_per_block: PerSide {
                a: Some(20.0),
                b: Some(5.0),
            },
            flushes: PerSide { a: 2, b: 3 },
            b_name: "learned".to_owned(),
            options: PerSide {
                a: String::new(),
                b: "memtable_factory={id=alex}".to_owned(),
            },
            index: PerSide {
                a: Some(IndexSize { bytes: 200, blocks: 10 }),
                b: Some(IndexSize { bytes: 50, blocks: 10 }),
            },
        }
    }

    #[test]
    fn json_has_the_agreed_fields() {
        let config = Config::default();
        let report = Report {
            version: VERSION,
            machine: Machine::detect(),
            command: "mountdb ab".to_owned(),
            settings: &config,
            results: vec![outcome(Workload::ReadRandom, (1.2, 1.1, 1.3))],
        };
        let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        assert_eq!(json["version"], 1);
        for field in ["cpu", "cores", "memory", "kernel", "os"] {
            assert!(!json["machine"][field].is_null(), "machine.{field}");
        }
        assert!(json["machine"]["cores"].as_u64().unwrap() > 0);
        let result = &json["results"][0];
        assert_eq!(result["workload"], "readrandom");
        assert_eq!(result["keys"], "uniform");
        assert_eq!(result["num"], 1000);
        assert_eq!(result["value_size"], 100);
        assert_eq!(result["threads"], 1);
        assert_eq!(result["learned"], serde_json::json!(["memtable", "index"]));
        assert_eq!(result["against"], "stock");
        assert_eq!(
            result["a_ops_per_sec"],
            serde_json::json!([1e6, 1e6, 1e6, 1e6, 1e6, 1e6])
        );
        assert_eq!(result["b_ops_per_sec"][5], 1.2e6);
        assert_eq!(
            result["ratio"],
            serde_json::json!({"median": 1.2, "low": 1.1, "high": 1.3})
        );
        assert_eq!(
            result["index_bytes_per_block"],
            serde_json::json!({"a": 20.0, "b": 5.0})
        );
        assert_eq!(result["flushes"], serde_json::json!({"a": 2, "b": 3}));
        assert_eq!(
            serde_json::from_value::<Outcome>(result.clone()).unwrap(),
            report.results[0]
        );
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(0.4), "0");
        assert_eq!(grouped(999.0), "999");
        assert_eq!(grouped(1_234_567.4), "1,234,567");
    }
}
