//! The folder of an evaluation: one JSON file for each finished experiment, so that an interrupted run goes on where it was.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::record::{Record, VERSION};
use crate::machine::Machine;

/// Folder of the experiments' files inside of the evaluation's.
pub const FOLDER: &str = "json";

/// What is there already.
#[derive(Debug)]
pub struct State {
    folder: PathBuf,
}

impl State {
    /// Opens the folder, which is made if it does not exist.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(out: &Path) -> Result<Self> {
        let folder = out.join(FOLDER);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(State { folder })
    }

    /// The stored record of an experiment, if it succeeded with these settings on this machine.
    ///
    /// # Errors
    /// When a file is there but cannot be read. One that holds something else is as good as none.
    pub fn finished(&self, id: &str, settings: &Value, machine: &Machine) -> Result<Option<Record>> {
        let path = self.path(id);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        Ok(serde_json::from_str::<Record>(&text).ok().filter(|record| {
            record.version == VERSION
                && record.error.is_none()
                && record.settings == *settings
                && record.machine == *machine
        }))
    }

    /// Stores a record; a reader sees the old file or the new one, whenever the process is killed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn store(&self, record: &Record) -> Result<()> {
        let path = self.path(&record.id);
        let draft = path.with_extension("json.part");
        let text = serde_json::to_string_pretty(record)? + "\n";
        fs::write(&draft, text).with_context(|| format!("cannot write {}", draft.display()))?;
        fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
    }

    /// All records in the folder, of other runs and scales too, in order of their names.
    ///
    /// # Errors
    /// When a file cannot be read or is not a record.
    pub fn all(&self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let record: Record = serde_json::from_str(&text).with_context(|| {
                    format!(
                        "{} is not a record of an experiment: remove it to have it run again",
                        path.display()
                    )
                })?;
                records.push(record);
            }
        }
        records.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(records)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::figure::Figure;
    use super::super::record::Measured;
    use super::*;

    fn record(settings: Value, error: Option<&str>) -> Record {
        Record {
            version: VERSION,
            id: "fig6-x".to_owned(),
            figure: Figure::Mixes,
            title: String::new(),
            command: String::new(),
            settings,
            machine: Machine::detect(),
            clock_nanos: 20.0,
            seconds: 1.0,
            measured: Measured::default(),
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn only_success_with_equal_settings_counts_as_finished() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(dir.path()).unwrap();
        let machine = Machine::detect();
        let finished = |settings: Value| state.finished("fig6-x", &settings, &machine).unwrap().is_some();
        assert!(!finished(json!(1)));
        state.store(&record(json!(1), None)).unwrap();
        assert!(finished(json!(1)) && !finished(json!(2)));
        let other = Machine {
            cpu: "another".to_owned(),
            ..machine.clone()
        };
        assert!(state.finished("fig6-x", &json!(1), &other).unwrap().is_none());
        state.store(&record(json!(1), Some("failed"))).unwrap();
        assert!(!finished(json!(1)));
        assert_eq!(state.all().unwrap().len(), 1, "a failed one is still shown");
    }

    #[test]
    fn a_torn_file_is_run_again_and_named_by_the_report() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(dir.path()).unwrap();
        fs::write(dir.path().join(FOLDER).join("fig6-x.json"), "{").unwrap();
        assert!(
            state
                .finished("fig6-x", &json!(1), &Machine::detect())
                .unwrap()
                .is_none()
        );
        assert!(format!("{:#}", state.all().unwrap_err()).contains("fig6-x.json"));
    }
}
