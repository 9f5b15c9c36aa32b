//! The sorted map: every version of every key, so that it can answer as of any earlier time.

use std::collections::BTreeMap;

/// Limits of an iterator: the lower one included, the upper one not.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub lower: Option<Vec<u8>>,
    pub upper: Option<Vec<u8>>,
}

impl Bounds {
    pub fn contain(&self, key: &[u8]) -> bool {
        self.lower.as_deref().is_none_or(|lower| lower <= key) && self.upper.as_deref().is_none_or(|upper| key < upper)
    }
}

/// Time of a write and what it left; nothing if it deleted.
type Version = (u64, Option<Vec<u8>>);

#[derive(Clone, Default)]
pub struct Model {
    versions: BTreeMap<Vec<u8>, Vec<Version>>,
    now: u64,
}

impl Model {
    /// The time of the last write.
    pub fn now(&self) -> u64 {
        self.now
    }

    fn push(&mut self, key: &[u8], value: Option<Vec<u8>>) {
        self.now += 1;
        self.versions.entry(key.to_vec()).or_default().push((self.now, value));
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.push(key, Some(value.to_vec()));
    }

    pub fn delete(&mut self, key: &[u8]) {
        self.push(key, None);
    }

    pub fn merge(&mut self, key: &[u8], operand: &[u8]) {
        let mut value = self.get(key, self.now).unwrap_or_default().to_vec();
        value.extend_from_slice(operand);
        self.push(key, Some(value));
    }

    pub fn delete_range(&mut self, from: &[u8], to: &[u8]) {
        let covered = Bounds {
            lower: Some(from.to_vec()),
            upper: Some(to.to_vec()),
        };
        let keys: Vec<_> = self
            .view(self.now, &covered)
            .iter()
            .map(|(key, _)| key.to_vec())
            .collect();
        keys.iter().for_each(|key| self.push(key, None));
    }

    fn at(versions: &[(u64, Option<Vec<u8>>)], time: u64) -> Option<&[u8]> {
        let newer = versions.partition_point(|version| version.0 <= time);
        versions[..newer].last().and_then(|version| version.1.as_deref())
    }

    pub fn get(&self, key: &[u8], time: u64) -> Option<&[u8]> {
        self.versions.get(key).and_then(|versions| Self::at(versions, time))
    }

    /// What a scan within `bounds` sees at `time`.
    pub fn view(&self, time: u64, bounds: &Bounds) -> Vec<(&[u8], &[u8])> {
        let entries = self.versions.iter().filter(|(key, _)| bounds.contain(key));
        entries
            .filter_map(|(key, versions)| Some((key.as_slice(), Self::at(versions, time)?)))
            .collect()
    }

    /// All keys ever written.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.versions.keys().cloned().collect()
    }
}
