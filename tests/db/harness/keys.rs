//! Key sets, and keys near those of a set.

use std::collections::BTreeSet;

use rand::RngExt;

use super::Rng;

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Random,
    Sequential,
    DbBench,
    Decimal,
    PaddedDecimal,
    Hex,
    Uuid,
    Url,
    Lengths,
    PowersOfTwo,
    Maximum,
    Prefixes,
    Skewed,
    Few,
}

/// Printable, shortened.
pub fn show(bytes: &[u8]) -> String {
    let text = bytes[..bytes.len().min(80)].escape_ascii().to_string();
    if bytes.len() > 80 {
        format!("{text}... ({} bytes)", bytes.len())
    } else {
        text
    }
}

fn uuid(rng: &mut Rng) -> String {
    let x: u128 = rng.random();
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        x as u32,
        (x >> 32) as u16,
        (x >> 48) & 0xfff,
        (x >> 60) & 0xfff,
        x >> 80
    )
}

/// About a thousand keys of a kind (fewer where the kind has not as many), in order.
pub fn universe(kind: Kind, rng: &mut Rng) -> Vec<Vec<u8>> {
    let count = 1200;
    let big_endian = |x: u64| x.to_be_bytes().to_vec();
    let mut keys = BTreeSet::new();
    match kind {
        Kind::Random => keys.extend((0..count).map(|_| big_endian(rng.random()))),
        Kind::Sequential => keys.extend((0..count).map(big_endian)),
        // db_bench: the number, big-endian, then zeros as text.
        Kind::DbBench => keys.extend((0..count).map(|i| [&(i * 3).to_be_bytes()[..], b"00000000"].concat())),
        Kind::Decimal => keys.extend((0..count).map(|_| rng.random_range(0..100_000_000u64).to_string().into_bytes())),
        Kind::PaddedDecimal => keys.extend((0..count).map(|_| format!("{:020}", rng.random::<u64>()).into_bytes())),
        Kind::Hex => keys.extend((0..count).map(|_| format!("{:032x}", rng.random::<u128>()).into_bytes())),
        Kind::Uuid => keys.extend((0..count).map(|_| uuid(rng).into_bytes())),
        Kind::Url => {
            let prefix = b"https://www.example.org/archive/2024/05/";
            assert_eq!(prefix.len(), 40);
            for _ in 0..count {
                let tail = format!("{}/page-{}.html", rng.random_range(0..40), rng.random_range(0..5000));
                keys.insert([prefix, tail.as_bytes()].concat());
            }
        }
        Kind::Lengths => {
            for length in 0..=64 {
                keys.insert(vec![0xff; length]);
                keys.insert(vec![0; length]);
                for _ in 0..8 {
                    let mut key = vec![[0u8, 0x7f, 0xff][rng.random_range(0..3)]; length];
                    if let Some(last) = key.last_mut() {
                        *last = rng.random();
                    }
                    keys.insert(key);
                }
            }
        }
        Kind::PowersOfTwo => {
            for power in [0, 1, 31, 32, 52, 53, 54, 62, 63] {
                keys.extend((0..64).map(|k| big_endian((1u64 << power).wrapping_add(k))));
                keys.extend((0..64).map(|k| big_endian((1u64 << power).wrapping_sub(k))));
            }
        }
        Kind::Maximum => {
            keys.extend((0..500).map(|k| big_endian(u64::MAX - k)));
            keys.extend((0..500).map(big_endian));
        }
        Kind::Prefixes => {
            for stem in [
                &b""[..],
                b"a",
                b"ab",
                b"abcdefgh",
                b"abcdefgi",
                b"abcdefghijklmnop",
                b"\xff\xff",
            ] {
                for zeros in 0..20 {
                    for tail in [&b""[..], b"\x01", b"a", b"\xff"] {
                        keys.insert([stem, &vec![0; zeros], tail].concat());
                    }
                }
            }
        }
        Kind::Skewed => {
            let mut at = 0u64;
            for _ in 0..count {
                at = at.wrapping_add(1u64 << rng.random_range(0..52u32)).wrapping_add(1);
                keys.insert(big_endian(at));
            }
            keys.insert(big_endian(u64::MAX));
        }
        Kind::Few => keys.extend([&b""[..], b"a", b"a\0", b"a\0\0", b"b", b"\xff\xff"].map(<[u8]>::to_vec)),
    }
    keys.into_iter().collect()
}

/// A key of the set, or one near to it.
pub fn probe(universe: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut key = universe[rng.random_range(0..universe.len())].clone();
    match rng.random_range(0..8) {
        0 => key.push(0),
        1 => {
            key.pop();
        }
        2 => key.push(0xff),
        3 => {
            if let Some(last) = key.last_mut() {
                *last = last.wrapping_add(1);
            }
        }
        4 => {
            if let Some(last) = key.last_mut() {
                *last = last.wrapping_sub(1);
            }
        }
        _ => (),
    }
    key
}
