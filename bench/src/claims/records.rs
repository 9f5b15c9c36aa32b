//! The newest record of a kind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// All records, by name.
pub(super) struct Records {
    files: Vec<PathBuf>,
}

impl Records {
    /// Looks into the folder's folders, one for each processor.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let list = |folder: &Path| -> Result<Vec<PathBuf>> {
            let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
            entries.map(|entry| Ok(entry?.path())).collect()
        };
        let mut files = Vec::new();
        for path in list(folder)? {
            if path.is_dir() {
                files.extend(list(&path)?);
            }
        }
        files.sort();
        Ok(Records { files })
    }

    /// Content and name, `<cpu>/<date>-<kind>`, of the newest record of a kind; `None` if there is none.
    pub(super) fn newest<T: DeserializeOwned>(&self, kind: &str) -> Result<Option<(T, String)>> {
        let named = self.files.iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
            Some((age(name, kind)?, name, path))
        });
        let Some((_, name, path)) = named.max_by(|(a, ..), (b, ..)| a.cmp(b)) else {
            return Ok(None);
        };
        let read = || -> Result<T> { Ok(serde_json::from_str(&fs::read_to_string(path)?)?) };
        let record = read().with_context(|| format!("record {}", path.display()))?;
        let machine = path.parent().and_then(|folder| folder.file_name()?.to_str());
        Ok(Some((record, format!("{}/{name}", machine.unwrap_or_default()))))
    }

    /// As [`Records::newest`], for one that has to be there.
    pub(super) fn need<T: DeserializeOwned>(&self, kind: &str) -> Result<(T, String)> {
        let found = self.newest(kind)?;
        found.with_context(|| format!("there is no record of {kind}"))
    }
}

/// `2026-01-31-`
const DATE: usize = 11;

/// Date and number of a record of this kind: `<date>-<kind>` or, for later ones of a day, `<date>-<kind>-<number>`.
fn age<'a>(name: &'a str, kind: &str) -> Option<(&'a str, u32)> {
    let (date, rest) = name.split_at_checked(DATE)?;
    match rest.strip_prefix(kind)? {
        "" => Some((date, 1)),
        more => Some((date, more.strip_prefix('-')?.parse().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_run_of_the_latest_day_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("some-cpu");
        fs::create_dir(&folder).unwrap();
        for (at, name) in [
            "2026-01-02-x",
            "2026-01-02-x-2",
            "2026-01-02-x-10",
            "2026-01-01-x-99",
            "2026-01-03-x-y",
        ]
        .into_iter()
        .enumerate()
        {
            fs::write(folder.join(format!("{name}.json")), at.to_string()).unwrap();
        }
        let records = Records::open(dir.path()).unwrap();
        assert_eq!(
            records.newest::<u32>("x").unwrap(),
            Some((2, "some-cpu/2026-01-02-x-10".to_owned()))
        );
        assert_eq!(records.newest::<u32>("z").unwrap(), None);

        // On two processors: the newest, and the name says which.
        fs::create_dir(dir.path().join("another-cpu")).unwrap();
        fs::write(dir.path().join("another-cpu/2026-01-04-x.json"), "9").unwrap();
        let records = Records::open(dir.path()).unwrap();
        assert_eq!(
            records.newest::<u32>("x").unwrap(),
            Some((9, "another-cpu/2026-01-04-x".to_owned()))
        );
        assert!(records.need::<u32>("z").unwrap_err().to_string().contains('z'));
        assert!(records.newest::<String>("x").is_err());
    }
}
