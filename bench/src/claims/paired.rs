//! Claims from records of `mountdb ab`.

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::records::Records;
use crate::report::{Outcome, PerSide, Verdict, grouped, verdict};

/// The part of a record that claims are made from.
#[derive(Deserialize)]
struct Record {
    results: Vec<Outcome>,
}

/// What README says, in order: kind of record, and what it shows. Each of the record's results is a row.
const CLAIMS: [(&str, &str); 17] = [
    ("fillrandom-stock", "memtable, log off"),
    ("fillrandom-16-stock", "memtable, log off"),
    ("fillrandom-wal-stock", "memtable, log on"),
    ("fillrandom-vector", "memtable, log off"),
    ("balanced-stock", "both indexes"),
    ("balanced-tuned", "both indexes"),
    ("readmem-stock", "both indexes, a full memtable in front"),
    ("readmem-tuned", "both indexes, a full memtable in front"),
    ("phases-stock", "memtable, key sets one after the other"),
    ("index-stock", "table index, all cached"),
    ("index-tuned", "table index, all cached"),
    ("index-l0-stock", "table index, files of level 0"),
    (
        "index-small-blocks",
        "table index with blocks of 1 KiB, block cache of 32 MiB",
    ),
    ("index-window", "windowed table index with blocks of 1,365 bytes"),
    (
        "index-verify-false",
        "both indexes in the files, one seek in 1,000 verified",
    ),
    ("index-verify-true", "table index, one seek in 1,000 verified"),
    ("equal-sides", "nothing learned: stock against itself"),
];

/// Opponents as README calls them, by kind of record where both sides are learned, else by side.
const OPPONENTS: [(&str, &str); 5] = [
    ("index-window", "exact table index with blocks of 4 KiB"),
    ("index-verify-false", "the same, none verified"),
    ("index-verify-true", "the same, none verified"),
    ("tuned", "stock at its best settings"),
    ("vector", "vector memtable, an index that costs nothing to fill"),
];

/// Records whose index sizes are stated, and those whose numbers of flushes are.
const INDEX_SIZES: &str = "index-stock";
const FLUSHES: &str = "fillrandom-stock";

pub(super) fn table(records: &Records) -> Result<String> {
    let mut text = String::from(
        "| what | keys | entries, threads | against | ratio (95% interval) | record |\n|---|---|---|---|---|---|\n",
    );
    for (kind, what) in CLAIMS {
        let (record, name): (Record, _) = records.need(kind)?;
        ensure!(!record.results.is_empty(), "record {name} has no results");
        for outcome in &record.results {
            text += &row(outcome, kind, what, &name);
        }
    }
    text += "\n| bytes | keys | against | stock | learned | record |\n|---|---|---|---|---|---|\n";
    let (record, name): (Record, _) = records.need(INDEX_SIZES)?;
    let mut seen: Vec<&str> = Vec::new();
    for outcome in &record.results {
        if let PerSide { a: Some(a), b: Some(b) } = outcome.index_bytes_per_block
            && !seen.contains(&outcome.keys.as_str())
        {
            seen.push(&outcome.keys);
            text += &format!(
                "| index per data block of 4 KiB | {} | {} | {a:.1} | {b:.1} | `{name}` |\n",
                outcome.keys, outcome.against
            );
        }
    }
    let (record, name): (Record, _) = records.need(FLUSHES)?;
    for outcome in &record.results {
        let PerSide { a, b } = outcome.flushes;
        text += &format!(
            "| flushes for {} entries | {} | {} | {a} | {b} | `{name}` |\n",
            grouped(outcome.num as f64),
            outcome.keys,
            outcome.against
        );
    }
    Ok(text)
}

fn row(outcome: &Outcome, kind: &str, what: &str, name: &str) -> String {
    let ratio = outcome.ratio;
    let pairs = outcome.a_ops_per_sec.len();
    let said = match verdict(outcome) {
        Verdict::Win => format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.low, ratio.high),
        Verdict::Loss => format!("{:.2} ({:.2} to {:.2}), slower", ratio.median, ratio.low, ratio.high),
        Verdict::NoDifference => format!(
            "{:.2} ({:.2} to {:.2}), no difference",
            ratio.median, ratio.low, ratio.high
        ),
        Verdict::TooFewPairs => format!(
            "{:.2} ({:.2} to {:.2} in {pairs} pairs)",
            ratio.median, ratio.low, ratio.high
        ),
    };
    let against = (OPPONENTS.iter()).find(|(opponent, _)| *opponent == kind || *opponent == outcome.against);
    format!(
        "| `{}`, {what} | {} | {}, {} | {} | {said} | `{name}` |\n",
        outcome.workload,
        outcome.keys,
        grouped(outcome.num as f64),
        outcome.threads,
        against.map_or(outcome.against.as_str(), |(_, words)| words)
    )
}
