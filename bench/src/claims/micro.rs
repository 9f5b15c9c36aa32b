//! The table of the memtable index alone, from a record of `mountdb-micro`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::records::Records;

#[derive(Deserialize)]
struct Record {
    outcomes: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    keys: String,
    side: String,
    /// Median, and ends of the interval, by operation.
    ratios: BTreeMap<String, [f64; 3]>,
    index_bytes_per_entry: f64,
}

/// The default, and the same without a skeleton.
const WARM: &str = "alex";
const COLD: &str = "alex cold";

pub(super) fn table(records: &Records) -> Result<String> {
    let (record, name): (Record, _) = records.need("micro")?;
    let mut text = format!(
        "The memtable index alone, through RocksDB's `MemTableRep` interface, times the skip list's speed (record `{name}`):\n\n\
         | keys | insert, with a skeleton | insert, without | look-up, there | look-up, not there | forward scan | reverse scan | index bytes per entry |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    for warm in record.outcomes.iter().filter(|outcome| outcome.side == WARM) {
        let cold = record
            .outcomes
            .iter()
            .find(|outcome| outcome.side == COLD && outcome.keys == warm.keys);
        let cold = cold.with_context(|| format!("record {name} has no {COLD} for {}", warm.keys))?;
        let keys = if warm.keys == "versions" {
            "versions of one key"
        } else {
            &warm.keys
        };
        text += &format!("| {keys} | {} | {}", ratio(warm, "insert")?, ratio(cold, "insert")?);
        for operation in ["hit", "miss", "forward", "reverse"] {
            text += &format!(" | {}", ratio(warm, operation)?);
        }
        text += &format!(" | {:.1} |\n", warm.index_bytes_per_entry);
    }
    Ok(text)
}

fn ratio(outcome: &Outcome, operation: &str) -> Result<String> {
    let ratio = outcome.ratios.get(operation);
    let [median, ..] = ratio.with_context(|| format!("no ratio of {operation} on {}", outcome.keys))?;
    Ok(format!("{median:.2}"))
}
