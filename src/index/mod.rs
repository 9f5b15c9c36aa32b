//! The table index: which data block holds a key.
//!
//! [`IndexBuilder`] takes one boundary per data block and yields one byte string; [`Reader`] checks that byte string once
//! and then answers seeks without errors and without allocation; [`Cursor`] walks over the blocks. Builder and reader meet
//! only in the bytes that [`format`](crate::format) describes.
//!
//! Order of separators is that of internal keys: user key ascending, then tag descending. A boundary without a tag counts
//! as the lowest tag, so a target equal to its separator belongs to its block whatever the target's tag.

mod boundary;
mod builder;
#[doc(hidden)]
pub mod check;
mod cursor;
mod directory;
mod layout;
mod lookup;
mod reader;
#[cfg(test)]
mod tests;

pub use builder::{IndexBuilder, IndexOptions};
pub use cursor::Cursor;
pub use lookup::Lookup;
pub use reader::{Position, Reader};
