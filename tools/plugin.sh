#!/bin/sh
# Makes the Rust half of the RocksDB plugin: static library, bridge and headers, in the folder given (default: rust/ beside
# mountdb.mk). RocksDB's make compiles the rest: README, "RocksDB's own build".
set -eu

cd "$(dirname "$0")/.."
out=${1:-rust}
# A folder of its own: the bridge of another build must not be taken for this one's.
target=${CARGO_TARGET_DIR:-target}/plugin
cargo rustc --target-dir "$target" --release --package mountdb --lib --crate-type staticlib --no-default-features
mkdir -p "$out/include"
cp "$target/release/libmountdb.a" "$out/"
cp "$target/cxxbridge/mountdb/src/ffi.rs.cc" "$out/bridge.cc"
rm -rf "$out/include/mountdb" "$out/include/rust"
cp -rL "$target/cxxbridge/rust" "$out/include/"
mkdir -p "$out/include/mountdb/src"
cp -L "$target/cxxbridge/mountdb/src/ffi.rs.h" "$out/include/mountdb/src/"
