#!/bin/sh
# Makes the Rust half of the C++ side: static library, bridge and headers, in the folder given (default: rust/ beside mountdb.mk).
# mountdb.mk and CMakeLists.txt call it from RocksDB's builds, tools/install.sh from `make install`. Files that are the same already
# keep their times.
set -eu

out=${1:-$(dirname "$0")/../rust}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."

# A folder of its own, since another set of features would compile everything anew each time.
target=${CARGO_TARGET_DIR:-target}/plugin
# Cargo's messages, one JSON object a line, tell the folder of this build's bridge: the target folder may hold those of several.
# No other package of a path has a build script.
messages=$(cargo rustc --target-dir "$target" --release --package mountdb --lib --crate-type staticlib --no-default-features \
    --message-format json-render-diagnostics)
bridge=$(echo "$messages" | sed -n '/"reason":"build-script-executed"/{/"package_id":"path+/s/.*"out_dir":"\([^"]*\)".*/\1/p;}' | tail -1)
bridge=$bridge/cxxbridge
[ -d "$bridge/include" ] || { echo "plugin.sh: cargo does not say where the bridge is" >&2 && exit 1; }

update() {
    cmp -s "$1" "$2" || { mkdir -p "$(dirname "$2")" && cp -L "$1" "$2"; }
}
update "$target/release/libmountdb.a" "$out/libmountdb.a"
update "$bridge/sources/mountdb/src/ffi.rs.cc" "$out/bridge.cc"
update "$bridge/include/mountdb/src/ffi.rs.h" "$out/include/mountdb/src/ffi.rs.h"
update "$bridge/include/rust/cxx.h" "$out/include/rust/cxx.h"
