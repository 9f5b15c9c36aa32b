//! How many segments published data sets need.

use super::KeySource;

static TABLE: &str = include_str!("../../data/hardness.csv");

/// Optimal segments of a published data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The generated set that stands for it.
    pub source: KeySource,
    /// Its own name.
    pub name: &'static str,
    /// Error bound and segments per million keys, by error bound.
    pub segments: Vec<(u64, f64)>,
}

/// The published sets that a generator stands for, by name of the generator.
pub fn published() -> Vec<Published> {
    let sets = [
        (KeySource::Amazon, "books"),
        (KeySource::Covid, "covid"),
        (KeySource::Facebook, "facebook"),
        (KeySource::Genome, "genome"),
        (KeySource::Osm, "osm"),
    ];
    sets.into_iter()
        .map(|(source, name)| Published {
            source,
            name,
            segments: rows(name).collect(),
        })
        .collect()
}

/// Columns: data set, keys, error bound, segments, segments per million keys.
fn rows(name: &str) -> impl Iterator<Item = (u64, f64)> {
    TABLE.lines().filter_map(move |line| {
        let cells: Vec<&str> = line.split(',').collect();
        match cells[..] {
            [set, _, epsilon, _, per_million] if set == name => {
                Some((epsilon.parse().ok()?, per_million.parse().ok()?))
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_has_all_error_bounds() {
        for set in published() {
            let epsilons: Vec<u64> = set.segments.iter().map(|(epsilon, _)| *epsilon).collect();
            assert_eq!(epsilons, [8, 16, 32, 64, 128, 512, 1024, 4096], "{}", set.name);
        }
    }
}
