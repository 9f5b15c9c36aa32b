//! Where RocksDB's sources lie and how `librocksdb-sys` compiles them.

use std::env;
use std::path::{Path, PathBuf};

/// The RocksDB source tree inside the `librocksdb-sys` package.
pub struct Source {
    package: PathBuf,
    /// Members of `librocksdb.a`, relative to the source tree.
    library: Vec<String>,
}

impl Source {
    /// Finds the tree through the variable that `librocksdb-sys` exports to build scripts.
    pub fn locate() -> Result<Self, String> {
        let package = env::var_os("DEP_ROCKSDB_CARGO_MANIFEST_DIR")
            .map(PathBuf::from)
            .ok_or("librocksdb-sys does not say where RocksDB's sources are (DEP_ROCKSDB_CARGO_MANIFEST_DIR)")?;
        let list = package.join("rocksdb_lib_sources.txt");
        let library = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
        let library = library
            .lines()
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect();
        Ok(Self { package, library })
    }

    /// The root of RocksDB's source tree.
    pub fn root(&self) -> PathBuf {
        self.package.join("rocksdb")
    }

    /// Whether `librocksdb.a` holds an object of this source file.
    pub fn is_library_source(&self, path: &Path) -> bool {
        self.library.iter().any(|source| Path::new(source) == path)
    }

    /// Sets everything that decides on class layouts and code generation to what `librocksdb-sys` 0.19 uses for its own
    /// objects (its `build.rs`, `build_rocksdb`). A define that differs here is a silent change of layout.
    ///
    /// Optimisation is the same in every profile: a debug build of an overlay would replace RocksDB's hot paths with slow
    /// ones, and equal flags let a compiler cache serve all profiles.
    pub fn flags(&self, cc: &mut cc::Build) {
        let target = cargo_var("TARGET");
        cc.cpp(true).opt_level(3).debug(false);

        let root = self.root();
        cc.include(root.join("include"))
            .include(&root)
            .include(root.join("third-party/gtest-1.8.1/fused-src"));
        cc.include(&self.package).include(self.package.join("snappy"));
        println!("cargo:rerun-if-env-changed=DEP_ZSTD_INCLUDE");
        for directory in env::var("DEP_ZSTD_INCLUDE")
            .unwrap_or_default()
            .split(';')
            .filter(|path| !path.is_empty())
        {
            cc.include(directory);
        }

        // `rocksdb` is taken with its default features, so all five are always there.
        for compression in ["SNAPPY", "LZ4", "ZSTD", "ZLIB", "BZIP2"] {
            cc.define(compression, "1");
        }
        cc.define("NDEBUG", "1").define("HAVE_ALIGNED_NEW", None);
        if !target.contains("msvc") {
            cc.define("HAVE_UINT128_EXTENSION", None);
        }
        platform_flags(cc, &target);
        cpu_flags(cc, &target);

        if target.contains("msvc") {
            cc.flag("-EHsc").flag("-std:c++20");
        } else {
            println!("cargo:rerun-if-env-changed=ROCKSDB_CXX_STD");
            let standard = env::var("ROCKSDB_CXX_STD").unwrap_or_else(|_| "c++20".to_owned());
            cc.flag(format!("-std={}", standard.trim_start_matches("-std=")));
            cc.flag("-Wno-invalid-offsetof").flag("-Wno-strict-aliasing");
        }
        if !target.contains("windows") {
            cc.flag("-include").flag("cstdint");
        }
    }
}

fn platform_flags(cc: &mut cc::Build, target: &str) {
    let system = if target.contains("darwin") || target.contains("apple-ios") {
        "OS_MACOSX"
    } else if target.contains("android") {
        "OS_ANDROID"
    } else if target.contains("linux") {
        for present in ["SCHED_GETCPU", "AUXV_GETAUXVAL", "FALLOCATE", "RANGESYNC"] {
            cc.define(&format!("ROCKSDB_{present}_PRESENT"), None);
        }
        "OS_LINUX"
    } else if target.contains("freebsd") {
        "OS_FREEBSD"
    } else if target.contains("windows") {
        for define in ["DWIN32", "_MBCS", "WIN64", "NOMINMAX", "ROCKSDB_WINDOWS_UTF8_FILENAMES"] {
            cc.define(define, None);
        }
        "OS_WIN"
    } else {
        println!("cargo:warning=mountdb is not tested on {target}: RocksDB's platform macros are missing");
        return;
    };
    cc.define(system, None);
    if system != "OS_WIN" {
        cc.define("ROCKSDB_PLATFORM_POSIX", None)
            .define("ROCKSDB_LIB_IO_POSIX", None);
    }
    if cargo_var("CARGO_CFG_TARGET_POINTER_WIDTH") != "64" {
        cc.define("_FILE_OFFSET_BITS", "64").define("_LARGEFILE64_SOURCE", "1");
    }
}

fn cpu_flags(cc: &mut cc::Build, target: &str) {
    let arch = cargo_var("CARGO_CFG_TARGET_ARCH");
    let features = cargo_var("CARGO_CFG_TARGET_FEATURE");
    let has = |feature| features.split(',').any(|name| name == feature);
    let cpu = rustflags::from_env().find_map(|flag| match flag {
        rustflags::Flag::Codegen { opt, value } if opt == "target-cpu" => value,
        _ => None,
    });
    match (arch.as_str(), &cpu) {
        ("x86_64", Some(cpu)) => drop(cc.flag_if_supported(format!("-march={cpu}"))),
        ("aarch64", Some(cpu)) => drop(cc.flag_if_supported(format!("-mcpu={cpu}"))),
        ("aarch64", None) if has("crc") && has("aes") => drop(cc.flag_if_supported("-march=armv8-a+crc+aes+crypto")),
        _ => {}
    }
    if arch == "x86_64" {
        let switches = [
            ("sse2", "-msse2"),
            ("sse4.1", "-msse4.1"),
            ("sse4.2", "-msse4.2"),
            ("avx2", "-mavx2"),
            ("bmi1", "-mbmi"),
            ("lzcnt", "-mlzcnt"),
            ("pclmulqdq", "-mpclmul"),
        ];
        for (feature, switch) in switches {
            if has(feature) && !(feature == "pclmulqdq" && target.contains("android")) {
                cc.flag_if_supported(switch);
            }
        }
    }
}

fn cargo_var(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
