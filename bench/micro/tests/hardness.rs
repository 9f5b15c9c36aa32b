//! The generated key sets are as hard for piecewise-linear models as the published ones that they are named after.

use mountdb::model::segments;
use mountdb_bench::KeySource;

/// Optimal segments per million keys at an error bound of 32, 128 and 1024, as published for the paper's data sets (200 million keys
/// each).
const PUBLISHED: [(KeySource, [f64; 3]); 4] = [
    (KeySource::Covid, [409.54, 115.09, 9.45]),
    (KeySource::Facebook, [5276.54, 1281.28, 92.47]),
    (KeySource::Genome, [6451.04, 363.39, 24.88]),
    (KeySource::Osm, [3305.57, 812.56, 105.82]),
];

#[test]
fn generated_sets_have_the_published_number_of_segments() {
    let num = 2_000_000;
    for seed in [1, 7] {
        for (source, published) in &PUBLISHED {
            let set = source.load(num, seed).unwrap();
            for (epsilon, published) in [32, 128, 1024].into_iter().zip(published) {
                let count = segments(set.keys().iter().copied(), epsilon).len() as f64 * 1e6 / num as f64;
                println!(
                    "{source}, seed {seed}, epsilon {epsilon}: {count} segments per million keys, published {published}"
                );
                assert!(
                    (0.75..=1.25).contains(&(count / published)),
                    "{source}, epsilon {epsilon}: {count}, not {published}"
                );
            }
        }
    }
}
