//! Key sets: distinct 64-bit numbers in ascending order, stored in the database as 8 bytes, big-endian.

mod cities;
mod gaps;
mod hardness;
mod sequential;
mod sosd;
pub mod strings;
mod uniform;

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Result, ensure};

pub use hardness::{Published, published};

/// Where keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// Populated places of the world on a Hilbert curve; 135,182 real keys, part of the binary.
    Cities,
    /// Random 64-bit numbers, the same for the same seed.
    Uniform,
    /// 0, 1, 2 and so on.
    Sequential,
    /// Uniform random numbers from a stream, as the hashed identifiers of YCSB are.
    Ycsb,
    /// As hard for models as ranks of books that Amazon sold.
    Amazon,
    /// As hard as identifiers of tweets, in ascending order of time.
    Covid,
    /// As hard as identifiers of users.
    Facebook,
    /// As hard as pairs of places on chromosomes.
    Genome,
    /// As hard as cells of a map.
    Osm,
    /// A file in the SOSD binary format.
    Sosd(PathBuf),
}

/// All sources but files, by name.
const NAMED: [(&str, KeySource); 9] = [
    ("cities", KeySource::Cities),
    ("uniform", KeySource::Uniform),
    ("sequential", KeySource::Sequential),
    ("ycsb", KeySource::Ycsb),
    ("amazon", KeySource::Amazon),
    ("covid", KeySource::Covid),
    ("facebook", KeySource::Facebook),
    ("genome", KeySource::Genome),
    ("osm", KeySource::Osm),
];

impl KeySource {
    /// Produces the keys for `num` entries. A source that holds more keys than that is thinned out evenly, so that its
    /// distribution stays; one that holds fewer is used whole, and the workloads cycle through it.
    ///
    /// # Errors
    /// When a file cannot be read or is not in the SOSD format, or `num` is zero.
    pub fn load(&self, num: usize, seed: u64) -> Result<KeySet> {
        ensure!(num > 0, "the number of entries must be at least 1");
        let keys = match self {
            KeySource::Cities => cities::keys()?,
            KeySource::Uniform => uniform::keys(num, seed),
            KeySource::Sequential => sequential::keys(num),
            KeySource::Sosd(path) => sosd::read(path)?,
            generated => generated.stream(num, seed).map_or_else(Vec::new, |keys| keys.collect()),
        };
        Ok(KeySet {
            name: self.to_string(),
            keys: thin_out(keys, num),
        })
    }
}

impl KeySource {
    /// The keys of a generated set one by one, ascending, for counting without holding them; `None` for the other sources.
    pub fn stream(&self, num: usize, seed: u64) -> Option<impl Iterator<Item = u64> + use<>> {
        let gaps = match self {
            KeySource::Ycsb => gaps::YCSB,
            KeySource::Amazon => gaps::AMAZON,
            KeySource::Covid => gaps::COVID,
            KeySource::Facebook => gaps::FACEBOOK,
            KeySource::Genome => gaps::GENOME,
            KeySource::Osm => gaps::OSM,
            KeySource::Cities | KeySource::Uniform | KeySource::Sequential | KeySource::Sosd(_) => return None,
        };
        Some(gaps::keys(gaps, num, seed))
    }
}

impl FromStr for KeySource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, source)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(source.clone());
        }
        if text.ends_with(".sosd") || text.ends_with(".u64") || text.contains('/') {
            return Ok(KeySource::Sosd(PathBuf::from(text)));
        }
        let names = NAMED.map(|(name, _)| name).join(", ");
        Err(format!(
            "unknown key set {text:?}: expected {names} or the path of a .sosd file"
        ))
    }
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self, NAMED.iter().find(|(_, source)| source == self)) {
            (KeySource::Sosd(path), _) => write!(f, "{}", path.display()),
            (_, named) => f.write_str(named.map_or("", |(name, _)| name)),
        }
    }
}

/// Distinct keys in ascending order.
#[derive(Clone, Debug)]
pub struct KeySet {
    name: String,
    keys: Vec<u64>,
}

impl KeySet {
    /// The name under which results are reported.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The keys, ascending, each once.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Position of `key`, or the position of the first larger key.
    pub(crate) fn position(&self, key: u64) -> Result<usize, usize> {
        self.keys.binary_search(&key)
    }
}

/// Keeps `num` keys at even distances in rank, the first one included.
fn thin_out(keys: Vec<u64>, num: usize) -> Vec<u64> {
    if keys.len() <= num {
        return keys;
    }
    let count = keys.len() as u128;
    (0..num)
        .map(|i| keys[(i as u128 * count / num as u128) as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_ascending(keys: &[u64]) {
        assert!(
            keys.windows(2).all(|pair| pair[0] < pair[1]),
            "keys must be distinct and ascending"
        );
    }

    #[test]
    fn every_source_yields_distinct_ascending_keys() {
        for (_, source) in NAMED {
            let set = source.load(50_000, 7).unwrap();
            assert_eq!(set.keys().len(), 50_000, "{source}");
            assert_ascending(set.keys());
        }
    }

    #[test]
    fn uniform_depends_on_the_seed_alone() {
        let first = KeySource::Uniform.load(1_000, 1).unwrap();
        assert_eq!(first.keys(), KeySource::Uniform.load(1_000, 1).unwrap().keys());
        assert_ne!(first.keys(), KeySource::Uniform.load(1_000, 2).unwrap().keys());
    }

    #[test]
    fn cities_are_used_whole_when_more_entries_are_asked_for() {
        assert_eq!(KeySource::Cities.load(1_000_000, 0).unwrap().keys().len(), 135_182);
    }

    #[test]
    fn thinning_keeps_first_key_and_spread() {
        assert_eq!(thin_out((0..100).collect(), 4), [0, 25, 50, 75]);
        assert_eq!(thin_out(vec![3, 9], 5), [3, 9]);
    }

    #[test]
    fn names_parse_and_unknown_ones_are_refused() {
        for (name, source) in NAMED {
            assert_eq!((source.to_string(), name.parse()), (name.to_owned(), Ok(source)));
        }
        assert_eq!("cities".parse::<KeySource>().unwrap(), KeySource::Cities);
        assert_eq!(
            "a/b.sosd".parse::<KeySource>().unwrap(),
            KeySource::Sosd("a/b.sosd".into())
        );
        assert!("towns".parse::<KeySource>().unwrap_err().contains("towns"));
    }

    #[test]
    fn zero_entries_are_refused() {
        assert!(KeySource::Sequential.load(0, 0).is_err());
    }
}
