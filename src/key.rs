//! Byte-string keys seen as 64-bit numbers.
//!
//! Models work on numbers. [`Projection`] maps a key to one without ever reversing the order of two keys. It is
//! non-decreasing, not injective: `a` and `a\0` project equally, as do keys that differ only beyond the eight bytes after
//! the prefix. Whoever finds equal projections decides by comparing the full keys.

/// Bytes `skip..skip + 8` of `key` as a big-endian number, padded with zero bytes; 0 when `skip >= key.len()`.
#[inline]
pub fn load_be(key: &[u8], skip: usize) -> u64 {
    let rest = key.get(skip..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(chunk) => u64::from_be_bytes(*chunk),
        None => {
            let mut chunk = [0; 8];
            for (to, from) in chunk.iter_mut().zip(rest) {
                *to = *from;
            }
            u64::from_be_bytes(chunk)
        }
    }
}

/// Number of leading bytes that `a` and `b` have in common.
#[inline]
pub fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    let whole_words = a
        .chunks_exact(8)
        .zip(b.chunks_exact(8))
        .take_while(|(x, y)| x == y)
        .count();
    let start = whole_words * 8;
    start
        + a.iter()
            .skip(start)
            .zip(b.iter().skip(start))
            .take_while(|(x, y)| x == y)
            .count()
}

/// A monotone map from byte strings to `u64`: the eight bytes after a fixed prefix, big-endian.
///
/// Keys below every key with the prefix map to 0, keys above them to [`u64::MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    prefix: Box<[u8]>,
}

impl Projection {
    /// Projection of the eight bytes after `prefix`.
    pub fn new(prefix: &[u8]) -> Self {
        Self { prefix: prefix.into() }
    }

    /// The sharpest projection for keys in `first..=last`: its prefix is what the two have in common.
    pub fn between(first: &[u8], last: &[u8]) -> Self {
        let shared = common_prefix_len(first, last);
        Self::new(first.get(..shared).unwrap_or_default())
    }

    /// The prefix that the keys in range share.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The number of `key`: `a <= b` implies `project(a) <= project(b)`.
    #[inline]
    pub fn project(&self, key: &[u8]) -> u64 {
        project_after(&self.prefix, key)
    }
}

/// [`Projection::project`] of the projection with this prefix.
#[inline]
pub fn project_after(prefix: &[u8], key: &[u8]) -> u64 {
    match key.strip_prefix(prefix) {
        Some(rest) => load_be(rest, 0),
        // Covers proper prefixes of the prefix as well: they sort below it.
        None if key < prefix => 0,
        None => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_be_pads_with_zero_bytes() {
        assert_eq!(load_be(b"", 0), 0);
        assert_eq!(load_be(b"a", 0), 0x61 << 56);
        assert_eq!(load_be(b"a", 1), 0);
        assert_eq!(load_be(b"a", usize::MAX), 0);
        assert_eq!(load_be(&u64::MAX.to_be_bytes(), 0), u64::MAX);
        assert_eq!(load_be(b"abcdefghijk", 2), u64::from_be_bytes(*b"cdefghij"));
        assert_eq!(load_be(b"abcdefghijk", 5), u64::from_be_bytes(*b"fghijk\0\0"));
    }

    #[test]
    fn common_prefix_len_at_every_length() {
        let a: Vec<u8> = (0..40).collect();
        for length in 0..40 {
            assert_eq!(common_prefix_len(&a, &a[..length]), length);
            let mut b = a.clone();
            b[length] ^= 1;
            assert_eq!(common_prefix_len(&a, &b), length);
            assert_eq!(common_prefix_len(&b, &a), length);
        }
    }

    #[test]
    fn projection_never_reverses_two_keys() {
        let alphabet = [0u8, 1, 0x61, 0xfe, 0xff];
        let mut keys = vec![Vec::new()];
        for round in 0..4 {
            for key in keys.clone().into_iter().filter(|key: &Vec<u8>| key.len() == round) {
                keys.extend(alphabet.iter().map(|&byte| [key.as_slice(), &[byte]].concat()));
            }
        }
        keys.extend((0..64).map(|length| vec![0xff; length]));
        keys.sort();
        for prefix in [b"".as_slice(), b"a", b"\0", b"\xff", b"\xff\xff", b"a\0a", b"a\xff"] {
            let projection = Projection::new(prefix);
            for pair in keys.windows(2) {
                assert!(
                    projection.project(&pair[0]) <= projection.project(&pair[1]),
                    "{prefix:?} {pair:?}"
                );
            }
        }
        assert_eq!(Projection::between(b"user10", b"user29").prefix(), b"user");
        assert_eq!(
            Projection::between(b"a", b"a\0").project(b"a"),
            Projection::between(b"a", b"a\0").project(b"a\0")
        );
    }
}
