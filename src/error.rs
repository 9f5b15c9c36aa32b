//! What can go wrong, in the terms of the caller's status codes.

use std::fmt;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a learned index. Each variant has a status code of the same name at the RocksDB border.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Stored bytes do not follow the format.
    Corruption {
        /// The field or rule that is violated.
        what: &'static str,
        /// What the format demands there.
        expected: String,
        /// What the bytes hold.
        found: String,
    },
    /// The caller passed something outside the documented range.
    InvalidArgument(String),
    /// A valid request that this build or format version does not serve.
    NotSupported(String),
}

impl Error {
    /// A [`Error::Corruption`] with both sides formatted.
    pub fn corruption(what: &'static str, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::Corruption {
            what,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corruption { what, expected, found } => {
                write!(out, "learned index: {what}: expected {expected}, found {found}")
            }
            Self::InvalidArgument(message) => write!(out, "learned index: {message}"),
            Self::NotSupported(message) => write!(out, "learned index: {message}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_was_expected_and_found() {
        let error = Error::corruption("version", 1, 7);
        assert_eq!(error.to_string(), "learned index: version: expected 1, found 7");
    }
}
