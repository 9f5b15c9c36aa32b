//! Key sets, from a seed that a failing test prints.

use std::time::{SystemTime, UNIX_EPOCH};

/// SplitMix64; prints its seed when a test that holds it panics.
pub(super) struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    /// A seed of the clock, or that of the environment variable `SEED`.
    pub(super) fn fresh() -> Self {
        let clock = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_nanos() as u64);
        Self::new(
            std::env::var("SEED")
                .ok()
                .and_then(|seed| seed.parse().ok())
                .unwrap_or(clock),
        )
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal, as the sum of uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

impl Drop for Random {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("SEED={}", self.seed);
        }
    }
}

/// Kinds of keys that [`keys`] makes.
pub(super) const KINDS: [&str; 18] = [
    "uniform",
    "sequential",
    "lognormal",
    "2^53",
    "2^63",
    "max",
    "clusters",
    "heavy-tailed",
    "time-ordered",
    "db_bench",
    "decimal",
    "hex",
    "uuid",
    "urls",
    "ff",
    "words",
    "outlier",
    "mixed",
];

/// `count` keys of `kind`, unsorted and not distinct.
pub(super) fn keys(kind: &str, count: usize, random: &mut Random) -> Vec<Vec<u8>> {
    let mut position = 0u64;
    let mut walk = 0u64;
    let mut key = |random: &mut Random| -> Vec<u8> {
        position += 1;
        let number = match kind {
            "uniform" => random.next(),
            "sequential" => position,
            "lognormal" => (random.normal() * 2.0).exp().mul_add(1e9, 0.0) as u64,
            "2^53" => (1 << 53) - 500 + position,
            "2^63" => (1 << 63) - 500 + position,
            "max" => u64::MAX - position,
            "clusters" => {
                if random.below(40) == 0 {
                    walk = random.next();
                }
                walk = walk.wrapping_add(random.below(1 << 20));
                walk
            }
            "heavy-tailed" => {
                walk = walk.wrapping_add((1.0 / (random.unit() + 1e-9)).powf(1.5) as u64 * 1000 + 1);
                walk
            }
            "time-ordered" => (position << 22) + random.below(1 << 22),
            "outlier" => {
                if position == 1 {
                    u64::MAX
                } else {
                    position * 1000 + random.below(900)
                }
            }
            _ => random.next(),
        };
        match kind {
            "db_bench" => [&(number % 10_000_000).to_be_bytes()[..], b"00000000"].concat(),
            "decimal" => format!("{}", number % 1_000_000_000_000).into_bytes(),
            "hex" => format!("{number:016x}").into_bytes(),
            "uuid" => {
                let low = random.next();
                let (a, b, c) = (number >> 32, (number >> 16) & 0xffff, number & 0xffff);
                format!(
                    "{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}",
                    low >> 48,
                    low & 0xffff_ffff_ffff
                )
                .into_bytes()
            }
            "urls" => {
                let path = number % 50_000;
                format!("https://www.example.com/shop/catalogue/id{path}/page{}.html", path % 17).into_bytes()
            }
            "ff" => vec![0xff; (number % 64) as usize],
            "words" => {
                let syllables = [
                    "an", "be", "con", "de", "er", "for", "ing", "ly", "ment", "ness", "re", "tion", "un", "s",
                ];
                let len = 1 + random.below(5);
                (0..len)
                    .flat_map(|_| syllables[random.below(syllables.len() as u64) as usize].bytes())
                    .collect()
            }
            "mixed" => {
                let alphabet = [0, 0, 1, 0x61, 0x62, 0xff, 0xff];
                let len = random.below(14);
                (0..len)
                    .map(|_| alphabet[random.below(alphabet.len() as u64) as usize])
                    .collect()
            }
            _ => number.to_be_bytes().to_vec(),
        }
    };
    (0..count).map(|_| key(random)).collect()
}
