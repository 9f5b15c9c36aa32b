//! Applies unified diffs. Reads no files and knows no cargo, so that `tests/patches.rs` can include it.

use std::collections::BTreeMap;

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};

/// Texts by path relative to the patched tree.
pub type Files = BTreeMap<String, String>;

/// Applies every hunk of `diff` to `files`; a file that is not there yet comes from `original`.
///
/// # Errors
/// Names the file and the number of the hunk that does not apply. A diff that creates, deletes or renames files, and one
/// with hunks that the parser does not recognise, is refused as a whole.
pub fn apply(diff: &str, files: &mut Files, original: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
    let mut hunks = 0;
    for patch in PatchSet::parse(diff, ParseOptions::unidiff()) {
        let patch = patch.map_err(|error| error.to_string())?;
        let operation = patch.operation().strip_prefix(1);
        let path = match &operation {
            FileOperation::Modify { original, modified } if original == modified => original.to_string(),
            _ => {
                return Err(format!(
                    "only changes of existing files are supported, not {operation:?}"
                ));
            }
        };
        let text = patch
            .patch()
            .as_text()
            .ok_or_else(|| format!("{path}: a binary patch is not supported"))?;
        hunks += text.hunks().len();

        let before = match files.remove(&path) {
            Some(text) => text,
            None => original(&path)?,
        };
        let after = diffy::apply(&before, text).map_err(|error| format!("{path}: {error}"))?;
        files.insert(path, after);
    }

    // Text that is no hunk is skipped by the parser, a hunk with a damaged header included.
    let headers = diff.lines().filter(|line| line.starts_with("@@")).count();
    if hunks == 0 || hunks != headers {
        return Err(format!("{headers} hunk headers, but {hunks} complete hunks"));
    }
    Ok(())
}
