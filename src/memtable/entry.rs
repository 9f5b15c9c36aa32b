//! Memtable entries, as RocksDB lays them out in its arena (`db/memtable.cc`, `MemTable::Add`).
//!
//! varint32 length of the internal key, user key, 8 bytes little-endian `sequence << 8 | type`, then the value, which the index
//! never reads. Order: user key ascending, sequence number descending; the type takes no part (`CompareKeySeq`), so two
//! entries with one user key and one sequence number are duplicates whatever their types.

use std::cmp::Ordering;

/// User key and sequence number: all that decides the order of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// The user key, any bytes.
    pub user: &'a [u8],
    /// The sequence number, 56 bits.
    pub seq: u64,
}

impl<'a> Key<'a> {
    /// Splits an internal key (user key and 8-byte tag).
    ///
    /// # Panics
    /// If it is shorter than its tag: no caller of a memtable may pass such a key.
    #[inline]
    pub fn from_internal(internal: &'a [u8]) -> Self {
        let (user, tag) = internal
            .split_last_chunk::<8>()
            .expect("an internal key ends in an 8-byte tag");
        Key {
            user,
            seq: u64::from_le_bytes(*tag) >> 8,
        }
    }
}

impl Ord for Key<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.user.cmp(other.user).then(other.seq.cmp(&self.seq))
    }
}

impl PartialOrd for Key<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Address of an entry, or of a bare length-prefixed internal key that serves as a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Entry(*const u8);

// SAFETY: the bytes behind an entry never change and outlive the tree (contract of `from_raw`), so any thread may read them.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Entry {
    /// # Safety
    /// `address` points to a well-formed length-prefixed internal key of at least 8 bytes that is complete, never changes, and
    /// outlives every tree, cursor and reference that is made from it. RocksDB's arena gives that: it frees nothing before
    /// the memtable dies.
    #[inline]
    pub unsafe fn from_raw(address: *const u8) -> Self {
        debug_assert!(!address.is_null());
        Entry(address)
    }

    /// The address given to [`Entry::from_raw`].
    #[inline]
    pub fn as_ptr(self) -> *const u8 {
        self.0
    }

    /// User key and sequence number. The lifetime is the caller's: see [`Entry::from_raw`].
    #[inline]
    pub fn key<'m>(self) -> Key<'m> {
        // SAFETY: the contract of `from_raw`: a varint32 length, then that many readable bytes, alive as long as the tree.
        unsafe {
            let (len, head) = match *self.0 {
                b if b < 0x80 => (b as usize, 1),
                _ => varint32(self.0),
            };
            Key::from_internal(std::slice::from_raw_parts(self.0.add(head), len))
        }
    }
}

/// # Safety
/// `p` points to a complete varint32.
#[cold]
unsafe fn varint32(p: *const u8) -> (usize, usize) {
    let mut value = 0usize;
    for i in 0..5 {
        // SAFETY: the varint is complete, so its bytes up to the first without the continuation bit are readable.
        let byte = unsafe { *p.add(i) } as usize;
        value |= (byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return (value, i + 1);
        }
    }
    panic!("memtable entry has a malformed length");
}

/// Appends the length-prefixed form of an internal key to `out` (for fences and for seek targets).
pub fn encode(out: &mut Vec<u8>, user: &[u8], tag: u64) {
    let mut len = user.len() + 8;
    while len >= 0x80 {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
    out.extend_from_slice(user);
    out.extend_from_slice(&tag.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_length_round_trip() {
        for len in [0usize, 1, 8, 119, 120, 127, 128, 300, 16_383, 16_384, 70_000] {
            let user = vec![0xabu8; len];
            let mut bytes = Vec::new();
            encode(&mut bytes, &user, 77 << 8 | 1);
            // SAFETY: `bytes` holds a complete length-prefixed internal key and outlives the entry.
            let key = unsafe { Entry::from_raw(bytes.as_ptr()) }.key();
            assert_eq!(key, Key { user: &user, seq: 77 });
        }
    }

    #[test]
    fn newer_versions_come_first_and_the_type_takes_no_part() {
        let (a, b) = (Key { user: b"k", seq: 9 }, Key { user: b"k", seq: 8 });
        assert!(a < b && Key { user: b"j", seq: 0 } < a && b < Key { user: b"k\0", seq: 99 });
        let internal = |t: u64| [b"k".as_slice(), &(5u64 << 8 | t).to_le_bytes()].concat();
        assert_eq!(Key::from_internal(&internal(0)), Key::from_internal(&internal(1)));
    }
}
