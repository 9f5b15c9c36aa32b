//! Unaligned little-endian loads and bit arrays. Every read is total: bytes beyond the slice read as zero.

/// Eight bytes at `at`, little-endian; bytes beyond the end of `block` count as zero.
#[inline]
pub fn load_le(block: &[u8], at: usize) -> u64 {
    match block.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => load_le_at_end(block, at),
    }
}

#[cold]
fn load_le_at_end(block: &[u8], at: usize) -> u64 {
    let mut chunk = [0; 8];
    for (to, from) in chunk.iter_mut().zip(block.get(at..).unwrap_or_default()) {
        *to = *from;
    }
    u64::from_le_bytes(chunk)
}

/// The lowest `width` bits set; all of them from 64 on.
#[inline]
pub(super) fn low_mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64u32.saturating_sub(width)).unwrap_or(0)
}

/// An integer of `len` bytes (0 to 8) at `at`.
#[inline]
pub(super) fn load_len(block: &[u8], at: usize, len: u32) -> u64 {
    load_le(block, at) & low_mask(len * 8)
}

/// Element `index` of the array of `width`-bit integers (0 to 64) that starts at byte `at`.
#[inline]
pub fn read_bits(block: &[u8], at: usize, index: usize, width: u32) -> u64 {
    let bit = index.wrapping_mul(width as usize);
    let (byte, shift) = (at.wrapping_add(bit / 8), (bit % 8) as u32);
    let mut value = load_le(block, byte) >> shift;
    if shift + width > 64 {
        value |= u64::from(block.get(byte.wrapping_add(8)).copied().unwrap_or(0)) << (64 - shift);
    }
    value & low_mask(width)
}

/// Bytes that `count` integers of `width` bits take.
pub fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends `values`, each below `2^width`, as a bit array.
pub fn write_bits(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    let (mut pending, mut filled) = (0u128, 0);
    for value in values {
        debug_assert!(value & !low_mask(width) == 0);
        pending |= u128::from(value) << filled;
        filled += width;
        while filled >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(pending as u8);
    }
}

/// Appends the low `len` bytes of `value`.
pub(super) fn write_len(out: &mut Vec<u8>, value: u64, len: u32) {
    out.extend(value.to_le_bytes().iter().take(len as usize));
}

/// Appends `value` seven bits a byte, low bits first, the high bit set on all bytes but the last.
pub(super) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The number at the start of `bytes`, and what follows; `None` where it is cut off or exceeds 64 bits.
#[inline]
pub(super) fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        let (bits, shift) = (u64::from(byte & 0x7f), 7 * index as u32);
        if (bits << shift) >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(index + 1..)?));
        }
    }
    None
}

/// Bits that hold `value`; 0 for 0.
pub fn bits_needed(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Bytes that hold `value`; 0 for 0.
pub fn bytes_needed(value: u64) -> u32 {
    bits_needed(value).div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sf_01_bit_arrays_come_back_at_every_width_and_offset() {
        for width in 0..=64 {
            let values: Vec<u64> = (0..70u64)
                .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & low_mask(width))
                .collect();
            for start in 0..16 {
                let mut out = vec![0xa5; start];
                write_bits(&mut out, values.iter().copied(), width);
                assert_eq!(out.len(), start + packed_len(values.len(), width));
                for (index, &value) in values.iter().enumerate() {
                    assert_eq!(
                        read_bits(&out, start, index, width),
                        value,
                        "width {width} start {start} index {index}"
                    );
                }
            }
        }
    }

    #[test]
    fn varints_come_back_and_longer_ones_are_refused() {
        for value in [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            write_varint(&mut out, value);
            for len in 0..out.len() {
                assert_eq!(read_varint(&out[..len]), None);
            }
            out.push(7);
            assert_eq!(read_varint(&out), Some((value, &[7][..])));
        }
        assert_eq!(read_varint(&[0xff; 10]), None);
        assert_eq!(read_varint(&[0x80; 11]), None);
    }

    #[test]
    fn reads_beyond_the_slice_are_zero() {
        assert_eq!(load_le(&[1, 2], 0), 0x201);
        assert_eq!(load_le(&[1, 2], 2), 0);
        assert_eq!(load_le(&[1, 2], usize::MAX), 0);
        assert_eq!(read_bits(&[0xff], usize::MAX - 3, 100, 63), 0);
        assert_eq!(low_mask(0), 0);
        assert_eq!(low_mask(64), u64::MAX);
    }
}
