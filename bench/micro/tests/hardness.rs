//! The generated key sets are as hard for piecewise-linear models as the published ones that they are named after.

use mountdb::model::segments;
use mountdb_bench::{KeySource, published};

const NUM: usize = 2_000_000;

fn count(source: &KeySource, seed: u64, epsilon: u64) -> f64 {
    segments(source.stream(NUM, seed).expect("a generated set"), epsilon).len() as f64
}

#[test]
fn generated_sets_have_the_published_number_of_segments() {
    for seed in [1, 7] {
        for set in published() {
            for epsilon in [32, 128, 1024] {
                let (_, per_million) = set.segments.iter().find(|(at, _)| *at == epsilon).unwrap();
                let (found, expected) = (count(&set.source, seed, epsilon), per_million * NUM as f64 / 1e6);
                println!(
                    "{}, seed {seed}, epsilon {epsilon}: {found} segments, {} published has {expected}",
                    set.source, set.name
                );
                // The easiest set has four segments at 1024: one more or less is no difference.
                assert!(
                    (0.75..=1.25).contains(&(found / expected)) || (found - expected).abs() < 1.0,
                    "{}, epsilon {epsilon}: {found}, not {expected}",
                    set.source
                );
            }
        }
    }
}

/// Nothing is published for `ycsb`; its keys have to be like sorted random numbers, which another generator makes.
#[test]
fn ycsb_is_like_sorted_random_numbers() {
    let sorted = KeySource::Uniform.load(NUM, 3).unwrap();
    for epsilon in [32, 128] {
        let (found, expected) = (
            count(&KeySource::Ycsb, 1, epsilon),
            segments(sorted.keys().iter().copied(), epsilon).len() as f64,
        );
        println!("ycsb, epsilon {epsilon}: {found} segments, sorted random numbers {expected}");
        assert!(
            (0.85..=1.15).contains(&(found / expected)) || (found - expected).abs() < 5.0,
            "epsilon {epsilon}: {found}, not {expected}"
        );
    }
}
