//! Key sets that are text.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SECTIONS: [&str; 12] = [
    "articles", "products", "users", "news", "wiki", "forum", "images", "video", "docs", "search", "static", "api",
];
const WORDS: [&str; 16] = [
    "spring", "river", "market", "index", "travel", "garden", "history", "science", "music", "weather", "island",
    "winter", "camera", "engine", "school", "letter",
];

/// `count` distinct keys of the set in ascending order; `None` if the set is not one of text.
pub fn keys(name: &str, count: usize, seed: u64) -> Option<Vec<Vec<u8>>> {
    let draw: fn(&mut Xoshiro256PlusPlus) -> String = match name {
        "decimal" => |rng| format!("{:016}", rng.random_range(0..10_000_000_000_000_000u64)),
        "uuid" => uuid,
        "url" => url,
        "words" => words,
        _ => return None,
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut keys = Vec::with_capacity(count);
    while keys.len() < count {
        keys.extend((keys.len()..count).map(|_| draw(&mut rng).into_bytes()));
        keys.sort_unstable();
        keys.dedup();
    }
    Some(keys)
}

/// Version 4, in lower case.
fn uuid(rng: &mut Xoshiro256PlusPlus) -> String {
    let (high, low) = (rng.next_u64(), rng.next_u64());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        (low >> 48) & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// Pages of 200 hosts, of which few have most: long common prefixes, and parts of many lengths.
fn url(rng: &mut Xoshiro256PlusPlus) -> String {
    let skewed = |rng: &mut Xoshiro256PlusPlus, n: f64| (n * rng.random::<f64>().powi(3)) as usize;
    let host = skewed(rng, 200.0);
    let section = SECTIONS[skewed(rng, SECTIONS.len() as f64)];
    let (first, second) = (
        WORDS[rng.random_range(0..WORDS.len())],
        WORDS[rng.random_range(0..WORDS.len())],
    );
    let page = rng.random_range(0..1_000_000u32);
    format!(
        "https://www.{first}{host}.example.org/{section}/{}/{first}-{second}-{page}",
        2000 + page % 27
    )
}

/// Compounds of words with the endings of a dictionary, in lower case.
fn words(rng: &mut Xoshiro256PlusPlus) -> String {
    const ENDINGS: [&str; 12] = [
        "", "s", "ed", "ing", "er", "ers", "ly", "less", "ness", "ful", "able", "ation",
    ];
    let all = [&WORDS[..], &SECTIONS[..]].concat();
    let count = rng.random_range(2..=4);
    let mut word: String = (0..count).map(|_| all[rng.random_range(0..all.len())]).collect();
    word += ENDINGS[rng.random_range(0..ENDINGS.len())];
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_ascending_and_repeatable() {
        for (name, length) in [
            ("decimal", 16..=16),
            ("uuid", 36..=36),
            ("url", 40..=120),
            ("words", 6..=40),
        ] {
            let set = keys(name, 20_000, 5).unwrap();
            assert_eq!(set.len(), 20_000);
            assert!(set.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
            assert!(set.iter().all(|key| length.contains(&key.len())), "{name}");
            assert_eq!(set, keys(name, 20_000, 5).unwrap());
        }
        assert!(keys("uniform", 10, 1).is_none());
    }
}
