//! What RocksDB's statistics, dumped into LOG by a process that has them switched on, say about the work of the indexes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::Result;

/// Of the end of LOG, which holds the newest dump.
const READ: u64 = 8 << 20;

/// One sentence for each share that the newest dump tells; empty without statistics.
pub fn shares(folder: &Path) -> Result<Vec<String>> {
    let mut log = match File::open(folder.join("LOG")) {
        Ok(log) => log,
        Err(_) => return Ok(Vec::new()),
    };
    let len = log.seek(SeekFrom::End(0))?;
    log.seek(SeekFrom::Start(len.saturating_sub(READ)))?;
    let mut bytes = Vec::new();
    log.take(READ).read_to_end(&mut bytes)?;
    Ok(sentences(&String::from_utf8_lossy(&bytes)))
}

fn sentences(log: &str) -> Vec<String> {
    let count = |name| field(log, name, "COUNT");
    let share = |part: f64, rest: f64| (part + rest > 0.0).then(|| 100.0 * part / (part + rest));
    let both = |a, b| Some((count(a)?, count(b)?));
    let mut said = Vec::new();
    if let (Some(keys), Some(micros)) = (
        count("rocksdb.number.keys.written").filter(|&keys| keys > 0.0),
        field(log, "rocksdb.db.write.micros", "SUM"),
    ) {
        said.push(format!(
            "{keys:.0} keys written, {:.2} us each in the mean, log and waiting included: the memtable index can win at most its part of that",
            micros / keys
        ));
    }
    if let Some((hit, miss)) = both("rocksdb.memtable.hit", "rocksdb.memtable.miss")
        && let Some(percent) = share(hit, miss)
    {
        said.push(format!(
            "{percent:.1}% of look-ups ended in a memtable; every look-up searches it"
        ));
    }
    if let Some((hit, miss)) = both("rocksdb.block.cache.data.hit", "rocksdb.block.cache.data.miss")
        && let Some(percent) = share(hit, miss)
    {
        said.push(format!(
            "{percent:.1}% of data blocks came from the block cache: only those reads are short enough for the table index to matter"
        ));
    }
    said
}

/// A number of the newest dump: `rocksdb.memtable.hit COUNT : 5`, `rocksdb.db.get.micros P50 : 1.0 … COUNT : 7 SUM : 9`.
fn field(log: &str, name: &str, field: &str) -> Option<f64> {
    let line = log
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    let mut words = line.split_whitespace();
    words.find(|word| *word == field)?;
    words.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_dump_counts() {
        let log = "rocksdb.memtable.hit COUNT : 9\nrocksdb.memtable.hit COUNT : 1\nrocksdb.memtable.miss COUNT : 3\n\
                   rocksdb.number.keys.written COUNT : 10\n\
                   rocksdb.db.write.micros P50 : 1.5 P95 : 2.0 P99 : 3.0 P100 : 4.0 COUNT : 10 SUM : 25\n";
        let said = sentences(log);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("10 keys written, 2.50 us"), "{said:?}");
        assert!(said[1].starts_with("25.0% of look-ups"), "{said:?}");
        assert_eq!(sentences("nothing of the kind"), Vec::<String>::new());
    }
}
