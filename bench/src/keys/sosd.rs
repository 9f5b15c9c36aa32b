//! The binary format of SOSD ("Benchmarking Learned Indexes", Marcus et al., VLDB 2020): the number of keys as a 64-bit
//! little-endian number, then the keys, 64-bit little-endian, ascending.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

const WORD: usize = size_of::<u64>();

/// Reads the keys of a file; equal neighbours become one key.
pub(super) fn read(path: &Path) -> Result<Vec<u64>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read key file {}", path.display()))?;
    parse(&bytes).with_context(|| format!("key file {}", path.display()))
}

pub(super) fn parse(bytes: &[u8]) -> Result<Vec<u64>> {
    let Some((head, body)) = bytes.split_first_chunk::<WORD>() else {
        bail!(
            "too short for the key count: expected at least {WORD} bytes, found {}",
            bytes.len()
        );
    };
    let count = u64::from_le_bytes(*head);
    ensure!(count > 0, "holds no keys: its count is 0");
    let expected = u128::from(count) * WORD as u128;
    let found = body.len() as u128;
    ensure!(
        found >= expected,
        "too short: its count says {count} keys ({expected} bytes), {found} bytes follow"
    );
    ensure!(
        found <= expected,
        "too long: its count says {count} keys ({expected} bytes), {found} bytes follow"
    );

    let (words, _) = body.as_chunks::<WORD>();
    let mut keys: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    if let Some(at) = keys.windows(2).position(|pair| pair[0] > pair[1]) {
        bail!(
            "not sorted: key {} is {}, key {} is {}",
            at,
            keys[at],
            at + 1,
            keys[at + 1]
        );
    }
    keys.dedup();
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(count: u64, keys: &[u64]) -> Vec<u8> {
        std::iter::once(&count)
            .chain(keys)
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    fn error(bytes: &[u8]) -> String {
        format!("{:#}", parse(bytes).unwrap_err())
    }

    #[test]
    fn reads_keys_and_merges_equal_ones() {
        assert_eq!(parse(&file(4, &[1, 5, 5, u64::MAX])).unwrap(), [1, 5, u64::MAX]);
    }

    #[test]
    fn short_files_are_refused() {
        assert!(error(&[]).contains("too short for the key count"));
        assert!(error(&[1, 2, 3]).contains("found 3"));
        assert!(error(&file(3, &[1, 2])).contains("too short: its count says 3 keys (24 bytes), 16 bytes follow"));
        assert!(error(&file(u64::MAX, &[1])).contains("too short"));
    }

    #[test]
    fn oversized_files_are_refused() {
        let mut bytes = file(2, &[1, 2]);
        bytes.push(0);
        assert!(error(&bytes).contains("too long"));
    }

    #[test]
    fn unsorted_files_are_refused_with_the_place() {
        assert!(error(&file(3, &[1, 9, 4])).contains("key 1 is 9, key 2 is 4"));
    }

    #[test]
    fn empty_sets_are_refused() {
        assert!(error(&file(0, &[])).contains("no keys"));
    }

    #[test]
    fn missing_files_are_named() {
        let error = format!("{:#}", read(Path::new("/nowhere/keys.sosd")).unwrap_err());
        assert!(error.contains("/nowhere/keys.sosd"), "{error}");
    }
}
