//! The word that guards a node: lock bit, retired bit, version.

use super::sync::{AcqRel, Acquire, AtomicU64, Relaxed, Release, backoff};

const LOCKED: u64 = 1;
const RETIRED: u64 = 2;
const STEP: u64 = 4;

/// Writers lock it; readers note its value, read the node, and compare.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct VersionWord(AtomicU64);

/// Holds the lock; dropping it publishes a new version.
#[must_use]
pub struct Locked<'m>(&'m VersionWord);

impl VersionWord {
    /// Waits until the node is free and returns its version; `None` if it was retired.
    #[inline]
    pub fn read(&self) -> Option<u64> {
        let mut round = 0;
        loop {
            let word = self.0.load(Acquire);
            if word & RETIRED != 0 {
                return None;
            }
            if word & LOCKED == 0 {
                return Some(word);
            }
            backoff(&mut round);
        }
    }

    /// Whether nothing changed since [`VersionWord::read`] returned `version`.
    #[inline]
    pub fn unchanged(&self, version: u64) -> bool {
        self.0.load(Acquire) == version
    }

    /// Locks the node; `None` if it was retired.
    #[inline]
    pub fn lock(&self) -> Option<Locked<'_>> {
        let mut round = 0;
        loop {
            let word = self.read()?;
            if self.0.compare_exchange(word, word | LOCKED, AcqRel, Acquire).is_ok() {
                return Some(Locked(self));
            }
            backoff(&mut round);
        }
    }
}

impl VersionWord {
    /// Locks the node for the only writer there is, without an atomic read-modify-write: that would wait until the new entry has
    /// left the store buffer, a quarter of an ascending insert. `None` if the node was retired.
    #[inline]
    pub fn lock_alone(&self) -> Option<Locked<'_>> {
        let word = self.0.load(Relaxed);
        debug_assert!(word & LOCKED == 0, "there is another writer");
        if word & RETIRED != 0 {
            return None;
        }
        // All stores to the node are `Release`: who sees one sees this one too.
        self.0.store(word | LOCKED, Release);
        Some(Locked(self))
    }
}

impl Locked<'_> {
    /// Marks the node as replaced: whoever still finds it starts over. Its replacement must be reachable by now.
    pub fn retire(self) {
        let word = &self.0.0;
        word.store(word.load(Relaxed) | RETIRED, Release);
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let word = &self.0.0;
        word.store((word.load(Relaxed) & !LOCKED) + STEP, Release);
    }
}
