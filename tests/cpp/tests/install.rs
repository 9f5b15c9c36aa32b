//! `make install`, and what programs do with it: C and C++ against the static and the shared library, beside another Rust library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use mountdb_cpp_tests as _;
use rocksdb::{DB, IteratorMode, Options};
use tempfile::TempDir;

/// Runs a command of a shell with the given environment; what it printed. `$CXX`, `$CC`, `$PREFIX` and the like are for the command.
fn shell(environment: &[(&str, &Path)], command: &str) -> Result<String, String> {
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", command])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{command}: {}\n{text}", output.status)),
    }
}

/// The newest file of this name below a folder: the build folder keeps those of other profiles and features as well.
fn newest(folder: &Path, name: &str) -> Option<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(folder).ok()?;
    let found = entries.flatten().filter_map(|entry| {
        // Not through links: the folder of a cxx bridge links to the whole source tree.
        let kind = entry.file_type().ok()?;
        let path = entry.path();
        if kind.is_dir() {
            newest(&path, name)
        } else if entry.file_name() == name {
            Some((entry.metadata().ok()?.modified().ok()?, path))
        } else {
            None
        }
    });
    found.max()
}

/// A prefix as an operator has it: this workspace's RocksDB, static and shared, and mountdb installed beside it.
struct Prefix {
    temporary: TempDir,
}

impl Prefix {
    fn new() -> Self {
        let prefix = Self {
            temporary: TempDir::new().unwrap(),
        };
        let lib = prefix.path("lib");
        fs::create_dir_all(lib.join("pkgconfig")).unwrap();
        let rocksdb = Path::new(env!("ROCKSDB_OUT_DIR"));
        fs::copy(rocksdb.join("librocksdb.a"), lib.join("librocksdb.a")).unwrap();
        fs::copy(rocksdb.join("libsnappy.a"), lib.join("libsnappy.a")).unwrap();
        let builds = rocksdb.ancestors().nth(2).unwrap();
        for name in ["libbz2.a", "liblz4.a", "libz.a", "libzstd.a"] {
            let (_, found) = newest(builds, name).unwrap_or_else(|| panic!("no {name} in {}", builds.display()));
            fs::copy(found, lib.join(name)).unwrap();
        }
        prefix.write_rocksdb_pc("11.8.1");
        // The crate around bzip2 defines this one in Rust.
        prefix
            .shell(
                "cd $PREFIX; echo 'void bz_internal_error(int error) { __builtin_abort(); }' | $CC -fPIC -x c -c - -o bz.o; \
                 ar q lib/libbz2.a bz.o",
            )
            .unwrap();
        prefix.shell("tools/install.sh $PREFIX").unwrap();
        prefix
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    /// The one that RocksDB's own `make install` would have written.
    fn write_rocksdb_pc(&self, version: &str) {
        let text = format!(
            "prefix={}\nlibdir=${{prefix}}/lib\n\nName: rocksdb\nDescription: RocksDB\nVersion: {version}\n\
             Libs: -L${{libdir}} -lrocksdb\nLibs.private: -lsnappy -llz4 -lzstd -lz -lbz2 -lpthread -ldl\nCflags: -I{}\n",
            self.temporary.path().display(),
            Path::new(env!("ROCKSDB_INCLUDE")).display()
        );
        fs::write(self.path("lib/pkgconfig/rocksdb.pc"), text).unwrap();
    }

    fn shell(&self, command: &str) -> Result<String, String> {
        let prefix = self.temporary.path();
        let pkgconfig = self.path("lib/pkgconfig");
        let lib = self.path("lib");
        let rocksdb = Path::new(env!("ROCKSDB_INCLUDE")).parent().unwrap();
        let environment = [
            ("PREFIX", prefix),
            ("ROCKSDB", rocksdb),
            ("PKG_CONFIG_PATH", &pkgconfig),
            ("LD_LIBRARY_PATH", &lib),
        ];
        let compilers = "export CC=${CC:-cc} CXX=${CXX:-c++}; ";
        shell(&environment, &format!("{compilers}{command}"))
    }
}

/// The linker takes a shared library where there is one, so a static link names the archive.
const STATIC: &str =
    "$PREFIX/lib/libmountdb.a $PREFIX/lib/librocksdb.a -L$PREFIX/lib -lsnappy -llz4 -lzstd -lz -lbz2 -lpthread -ldl";
const COMPILE: &str = "$CXX -std=c++20 $(pkg-config --cflags mountdb)";

fn check_database(folder: &Path) {
    let db = DB::open(&Options::default(), folder).unwrap();
    assert_eq!(db.iterator(IteratorMode::Start).count(), 300_000);
}

/// One test, since all of it needs the same installation.
#[test]
fn fb_03_installed_library() {
    let prefix = Prefix::new();

    // Symbols: the interface, and nothing of Rust.
    let exported = prefix
        .shell("readelf --dyn-syms -W $PREFIX/lib/libmountdb.so | awk '$7 != \"UND\" && $5 == \"GLOBAL\" { print $8 }' | c++filt")
        .unwrap();
    let names: Vec<_> = exported.lines().filter(|line| !line.is_empty()).collect();
    assert!(names.len() >= 7, "{exported}");
    for name in &names {
        assert!(
            name.starts_with("mountdb::") || name.starts_with("mountdb_"),
            "{name} is exported"
        );
    }
    let visible = prefix
        .shell("readelf -sW $PREFIX/lib/libmountdb.a | awk '$7 != \"UND\" && $5 ~ /GLOBAL|WEAK/ { print $8 }'")
        .unwrap();
    assert!(visible.contains("mountdb_register"));
    for name in visible.lines() {
        let rust = ["rust_", "__rust", "__rdl", "_R", "cxxbridge"]
            .iter()
            .any(|part| name.starts_with(part));
        assert!(
            !rust && !name.contains("17h") && !name.contains('$'),
            "{name} is visible"
        );
    }

    // The examples, as their first lines say.
    prefix
        .shell(&format!("{COMPILE} examples/cpp/enable.cc {STATIC} -o $PREFIX/cpp"))
        .unwrap();
    prefix.shell("$PREFIX/cpp $PREFIX/cpp.db").unwrap();
    check_database(&prefix.path("cpp.db"));
    prefix
        .shell(&format!(
            "$CC -std=c99 -c $(pkg-config --cflags mountdb) examples/c/enable.c -o $PREFIX/c.o; $CXX $PREFIX/c.o {STATIC} -o $PREFIX/c"
        ))
        .unwrap();
    prefix.shell("$PREFIX/c $PREFIX/c.db").unwrap();
    check_database(&prefix.path("c.db"));

    // Another Rust library, before and behind in the order of linking.
    prefix
        .shell("rustc --edition 2024 -O --crate-type staticlib -o $PREFIX/lib/libother.a tests/cpp/install/other.rs")
        .unwrap();
    for libraries in [
        format!("$PREFIX/lib/libother.a {STATIC}"),
        format!("{STATIC} $PREFIX/lib/libother.a"),
    ] {
        prefix
            .shell(&format!(
                "{COMPILE} tests/cpp/install/both.cc {libraries} -o $PREFIX/both"
            ))
            .unwrap();
        prefix
            .shell("rm -rf $PREFIX/both.db; $PREFIX/both $PREFIX/both.db")
            .unwrap();
    }

    // FB-02: another version is refused, in one line each.
    prefix
        .shell(&format!(
            "{COMPILE} tests/cpp/install/mismatch.cc -Wl,--wrap=_ZN7rocksdb23GetRocksVersionAsStringB5cxx11Eb {STATIC} -o $PREFIX/mismatch"
        ))
        .unwrap();
    let refused = prefix.shell("$PREFIX/mismatch").unwrap();
    let lines: Vec<_> = refused.lines().collect();
    assert_eq!(lines.len(), 4, "{refused}");
    for line in lines {
        assert!(
            line.contains("compiled for RocksDB 11.8 (release)") && line.contains("RocksDB 11.9"),
            "{line}"
        );
    }
    // So is another kind of build, of mountdb or of RocksDB.
    for (flags, ours, theirs) in [
        ("-DNDEBUG", "", ""),
        ("", "11.8 (debug)", "11.8 (release)"),
        ("-DNDEBUG -DWITH_SYNC_POINT", "11.8 (release)", "11.8 (debug)"),
        (
            "-DNDEBUG -DWITH_CHECKED_STATUS \
             -Wl,--wrap=_ZN7rocksdb6StatusC1ENS0_4CodeENS0_7SubCodeERKNS_5SliceES5_NS0_8SeverityE",
            "11.8 (release)",
            "11.8 (release, ROCKSDB_ASSERT_STATUS_CHECKED)",
        ),
        (
            "-DNDEBUG -DROCKSDB_ASSERT_STATUS_CHECKED",
            "11.8 (release, ROCKSDB_ASSERT_STATUS_CHECKED)",
            "11.8 (release)",
        ),
    ] {
        let sources = "-I. -I$ROCKSDB tests/cpp/install/flavour.cc cpp/build_check.cc";
        prefix
            .shell(&format!("{COMPILE} {flags} {sources} {STATIC} -o $PREFIX/flavour"))
            .unwrap();
        let line = prefix.shell("$PREFIX/flavour").unwrap();
        if ours.is_empty() {
            assert_eq!(line, "\n");
        } else {
            assert!(line.contains(&format!("for RocksDB {ours} ")), "{flags}: {line}");
            assert!(line.contains(&format!("with RocksDB {theirs}:")), "{flags}: {line}");
        }
    }
    prefix.write_rocksdb_pc("11.9.0");
    let refused = prefix.shell("pkg-config --libs mountdb").unwrap_err();
    assert!(refused.contains("rocksdb < 11.9"), "{refused}");
    prefix.write_rocksdb_pc("11.8.1");

    // Shared libraries, as pkg-config says it.
    prefix
        .shell(
            "cd $PREFIX/lib; $CXX -shared -o librocksdb.so -Wl,-soname,librocksdb.so -Wl,--whole-archive librocksdb.a \
             -Wl,--no-whole-archive -L. -l:libsnappy.a -l:liblz4.a -l:libzstd.a -l:libz.a -l:libbz2.a -lpthread -ldl",
        )
        .unwrap();
    prefix
        .shell(&format!(
            "{COMPILE} tests/cpp/install/both.cc $(pkg-config --libs mountdb) $PREFIX/lib/libother.a -o $PREFIX/shared"
        ))
        .unwrap();
    let needed = prefix.shell("readelf -d $PREFIX/shared").unwrap();
    assert!(
        needed.contains("libmountdb.so.0") && needed.contains("librocksdb.so"),
        "{needed}"
    );
    prefix.shell("$PREFIX/shared $PREFIX/shared.db").unwrap();

    // The build does not need CMake: its example is tried where it is installed.
    if prefix.shell("command -v cmake").is_ok() {
        prefix
            .shell("unset CC CXX; cmake -S examples/cpp -B $PREFIX/cmake && cmake --build $PREFIX/cmake")
            .unwrap();
        prefix.shell("$PREFIX/cmake/enable $PREFIX/cmake.db").unwrap();
        check_database(&prefix.path("cmake.db"));
    }
}
