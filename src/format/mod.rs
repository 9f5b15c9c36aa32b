//! Byte layout of a learned index, version 1.
//!
//! ```text
//! index  := header (group* | lone)
//!
//! header := magic "MDIX"  version:u8  flags:u8  gap:u8  count:varint
//!           flags  bit 0    separators are exact last keys in an order other than bytewise
//!                  bit 1    one boundary, stored as lone rather than as a group
//!                  bit 2-7  zero
//!           gap    bytes between the end of a block and the start of the next one where a group says so
//!           count  number of boundaries = number of data blocks
//!
//! lone   := offset:varint  size:varint  separator      where a group with its descriptor would exceed plain separators
//!
//! group  := boundaries 64*g .. min(64*(g+1), count); m of them, e of which are stored as bytes ("exceptions"),
//!           the others as numbers near a line
//!
//!   descriptor:u64   bits  0-15  length of prefix
//!                         16-19  w: bytes of a number, 0..8
//!                         20-25  s: low bits of each number that are zero
//!                         26-31  b: bits of a correction, 0..56
//!                         32-34  bytes of slope           35-38  bytes of base
//!                         39-45  o: bits of an offset correction, 0..64
//!                         46-49  bytes of offset base     50-53  bytes of offset slope
//!                         54     sizes are stored         55     some boundaries are exceptions
//!                         56     all are exceptions       57     some exceptions have a tag
//!                         58-63  x: bits of an exception's end
//!   prefix           bytes that all separators of the group start with
//!   slope, base      number i = (base + (slope * i >> 8) + correction i) << s, modulo 256^w
//!   offset base, offset slope
//!                    offset i = offset base + (offset slope * i >> 8) + offset correction i, modulo 2^64
//!   [size base:u64  size bits:u8]                                                      if sizes are stored
//!   [exceptions:u64  bit i set = boundary i is an exception]                           if some are
//!   [tagged:u64      bit j set = exception j has a tag]                                if some have one
//!   corrections          m * b bits, unless all are exceptions
//!   offset corrections   m * o bits, or (m + 1) * o where sizes are not stored: size i = offset i+1 - offset i - gap
//!   [size corrections    m * size bits; size i = size base + correction]               if sizes are stored
//!   exception ends       e * x bits; exception j is bytes end j-1 .. end j of the last part
//!   tags                 u64 each
//!   exception bytes      what follows the prefix
//! ```
//!
//! Integers are little-endian, bit arrays start at the low bit of a byte and are padded to whole bytes. A number n stands
//! for the separator `prefix` followed by exactly `w` big-endian bytes of n. Numbers do not decrease; the number of an
//! exception is no separator but bounds it from above, so one search over all numbers finds the run of exceptions, if any,
//! that holds the answer. Groups delimit themselves, so there is no
//! stored directory that could disagree with them: opening walks over the groups, checks each, and keeps one upper bound
//! and one position per group in memory.
//!
//! Rejected: trimming trailing zero bytes of a number. Dense 8-byte keys that end in a zero byte would then be exceptions,
//! because the trimmed string sorts below the key that it must not sort below.

mod bits;
mod encode;
mod group;
mod header;
mod lone;

pub use bits::{bits_needed, bytes_needed, load_le, packed_len, read_bits, write_bits};
pub use encode::{GroupParts, Numbers, Offsets, Tail};
pub use group::Group;
pub use header::{HEADER_MAX_LEN, Header};
pub use lone::Lone;

/// First bytes of every index.
pub const MAGIC: [u8; 4] = *b"MDIX";

/// Format version that this build reads and writes.
pub const VERSION: u8 = 1;

/// Boundaries per group. Larger groups cost half a bit more per correction and save little of the group's 20 bytes.
pub const GROUP_LEN: usize = 64;

/// Widest correction: with 7 bits of offset in the first byte it still comes from one 8-byte load.
pub const MAX_CORRECTION_BITS: u32 = 56;

/// Fractional bits of slopes.
pub const SLOPE_FRACTION: u32 = 8;

/// Slopes stay below this, so that a slope times a position within a group fits in 64 bits.
pub const SLOPE_LIMIT: u64 = 1 << 56;
