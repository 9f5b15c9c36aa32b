//! RocksDB source files with our patches applied, linked in front of `librocksdb.a`.
//!
//! The overlay's objects define the same symbols as the archive members they replace and are always linked
//! (`+whole-archive`), so the linker never has a reason to pull the members in. That holds only while a patch keeps every
//! symbol of its file and changes no class layout.

use std::fs;
use std::path::{Path, PathBuf};

use crate::patch::{self, Files};
use crate::rocksdb::Source;
use crate::{compile, out_dir};

/// The RocksDB version of the patches.
const PATCHES: &str = "patches/11.8.1";

/// The patched files, written below [`Patched::root`].
pub struct Patched {
    root: PathBuf,
    paths: Vec<PathBuf>,
}

impl Patched {
    /// Applies all patches in the order of their names and writes the files they touch below `root`.
    pub fn write(rocksdb: &Source, root: &Path) -> Result<Self, String> {
        let mut files = Files::new();
        for path in patch_files()? {
            let diff = read(&path)?;
            patch::apply(&diff, &mut files, |file| read(&rocksdb.root().join(file)))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        if root.exists() {
            fs::remove_dir_all(root).map_err(|error| format!("{}: {error}", root.display()))?;
        }
        for (file, text) in &files {
            write(&root.join(file), text)?;
        }
        fs::create_dir_all(root).map_err(|error| format!("{}: {error}", root.display()))?;
        Ok(Self {
            root: root.to_owned(),
            paths: files.into_keys().map(PathBuf::from).collect(),
        })
    }

    /// The folder to put first on the include path, for patched headers.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The patched source files (not the headers), relative to the source tree.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        self.paths
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| path.extension().is_some_and(|ext| ext == "cc"))
    }

    /// Adds `file` to `cc`: the patched one where there is one, else RocksDB's own.
    pub fn add(&self, cc: &mut cc::Build, rocksdb: &Source, file: &Path) {
        let original = rocksdb.root().join(file);
        if self.paths.iter().any(|path| path == file) {
            // A moved file no longer finds headers that it includes from its own folder.
            cc.file(self.root.join(file))
                .include(original.parent().expect("a file has a folder"));
        } else {
            cc.file(original);
        }
    }
}

/// Compiles the patched members of `librocksdb.a`.
pub fn build(rocksdb: &Source, patched: &Patched) -> Result<(), String> {
    let sources: Vec<_> = patched
        .sources()
        .filter(|path| rocksdb.is_library_source(path))
        .collect();
    if let Some(lost) = patched
        .sources()
        .find(|path| !sources.contains(path) && !crate::tools::is_source(path))
    {
        return Err(format!(
            "{PATCHES} changes {}, which is compiled nowhere",
            lost.display()
        ));
    }
    if sources.is_empty() {
        return Ok(());
    }
    let mut cc = cc::Build::new();
    cc.include(patched.root());
    rocksdb.flags(&mut cc);
    cc.warnings(false).flag_if_supported("-w").cargo_metadata(false);
    for source in sources {
        patched.add(&mut cc, rocksdb, source);
    }
    compile(&cc, "mountdb_overlay")?;
    println!("cargo:rustc-link-search=native={}", out_dir().display());
    println!("cargo:rustc-link-lib=static:+whole-archive,-bundle=mountdb_overlay");
    Ok(())
}

fn patch_files() -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(PATCHES).map_err(|error| format!("{PATCHES}: {error}"))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| format!("{PATCHES}: {error}"))?.path();
        if path.extension().is_some_and(|ext| ext == "patch") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().expect("a file has a folder");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}
