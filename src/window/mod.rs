//! The windowed table index of the MountDB paper (section 4.3, algorithm 2): which three data blocks may hold a key.
//!
//! [`WindowBuilder`] takes the first key of each data block and yields one byte string; [`WindowReader`] checks that byte
//! string once and then predicts without errors and without allocation. Keys are not stored: a piecewise-linear model with
//! epsilon = 1 maps the projection of a key to a position, and whoever reads the blocks sees which of three it is.
//!
//! # What a prediction guarantees
//! Call the projections of first keys `x(i)`. For a target t and p = predict(t), the home of t is the last block whose first
//! key is at or below t, or block 0. `x` does not descend, so the blocks with `x(i)` equal to that of t, if there are any,
//! form one run `a..=b`.
//! - The home is never left of p - 1.
//! - No run, or a run of one or two blocks: the home is within p - 1..=p + 1.
//! - A longer run, in an index of more than three blocks: p = a, and the home is within a - 1..=b. It may have to be
//!   searched for to the right of the window, as far as the run goes. A caller who has read block q of the window or to the
//!   right of it needs to go on to q + 1 only if the first key of q [projects as the target
//!   does](WindowReader::projects_equally).
//!
//! All of this holds in the order of internal keys as well, where versions of one user key span blocks: the blocks that may
//! hold a version of t are those of the run and the one before. The newest are in a - 1 and a, which are in every window.
//!
//! # Byte layout, version 1
//! ```text
//! window  := header  prefix  level*  lines  [lines]  corrections  [corrections]
//!
//! header  := magic "MDWX"  version:u8  flags:u8  gap:u8  levels:u8  count:u32  prefix length:u32  (records:u32)*
//!            flags    bit 0    sizes of blocks are stored; the second lines and corrections are theirs
//!                     bit 1-7  zero
//!            gap      bytes between the end of a block and the start of the next one; 0 with stored sizes
//!            levels   number of levels; 0 with up to three blocks, which one window covers
//!            count    number of data blocks
//!            records  of each level, at most 8 in the last one, the root, and more in all others
//! prefix     the projection of a key is the eight bytes after it; what the first keys of all blocks start with
//! level   := record*      level 0 predicts the block, level k the record of level k - 1
//! record  := first:u64  intercept:u32  slope:u32
//!            first      projection from which on the record counts, up to the next one's
//!            slope      bits 0-24  mantissa
//!                            25-31 exponent, at most 64
//!            value at x = min(intercept + (mantissa * (x - first) >> exponent), next record's intercept)
//!            position   = (value >> fraction) - reach, within 0 .. number of blocks or records that it points into
//!            fraction   = min(8, 32 - bits of (number + 4));  reach = 1 in level 0 and 2 above
//! lines   := line*        one for each 64 values: offsets, and the end of the last block + gap unless sizes are stored
//! line    := base:u64  slope:u32  place:u32
//!            place      bits 0-6   w: bits of a correction, 0..64
//!                            7-31  where the corrections of these values start, in units of 8 bytes
//!            value i    = base + (slope * i >> 8) + correction i, modulo 2^64
//!            size i     = offset i+1 - offset i - gap, unless stored
//! corrections             64 * w bits for each line, fewer in the last one
//! ```
//! Integers are little-endian; bit arrays start at the low bit of a byte and are padded to whole bytes.
//!
//! A record's line meets a range of values at every first key that it covers: the builder computes them in the integer
//! arithmetic that readers use, and ends a record where rounding would miss one. A predicted record is within reach of the
//! right one, so one step down a level compares 2 * reach keys that lie side by side.
//!
//! Why level 0 needs no wider error for keys that are not stored: between `x(i)` and `x(i + 1)` the home is i. A line that
//! passes within [i - 1, i + 1) at `x(i)` and within [i, i + 2) at `x(i + 1)` is within [i - 1, i + 2) between, which rounds
//! down to the three blocks. The same range serves targets that project as `x(i)` and lie below the first key. Behind the
//! last first key that a record covers, the next record's intercept bounds the line from above.

mod builder;
#[doc(hidden)]
pub mod check;
mod cover;
mod header;
mod level;
mod lines;
mod reader;
#[cfg(test)]
mod tests;

pub use builder::{WindowBuilder, WindowStats};
pub use reader::{Position, WindowReader};

/// First bytes of every windowed index.
pub const MAGIC: [u8; 4] = *b"MDWX";

/// Format version that this build reads and writes.
pub const VERSION: u8 = 1;

/// Blocks that one window covers wherever it is centred; so many need no model.
const WINDOW: usize = 3;

/// Records of the root, which readers keep at hand: two cache lines.
const ROOT_LEN: usize = 8;

/// Each level has at most a quarter of the records below (a flat line reaches four), so that 2^29 blocks end within these.
const MAX_LEVELS: usize = 15;

/// Most data blocks of a file; leaves two fractional bits to the intercepts.
const MAX_BLOCKS: usize = 1 << 29;
