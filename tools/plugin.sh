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

# The library becomes one object in which only what C++ calls is visible: two Rust libraries in a program would clash on the symbols of
# the standard library. Cxx's own stay, weak, so that those of another library with cxx do not clash either. Groups are dissolved
# because the linker would otherwise drop one that another library has, too, with symbols that now are local. readelf instead of nm,
# which hands objects to LLVM's plugin and falls over Rust's embedded bitcode.
library=$target/release/libmountdb.a
if [ "$(uname)" = Linux ]; then
    object=$target/mountdb.o
    readelf -sW "$library" 2>/dev/null |
        awk '$5 ~ /GLOBAL|WEAK/ && $7 != "UND" && $8 ~ /^(mountdb[$]|cxxbridge1[$]|_Z.*4rust10cxxbridge1)/ { print $8 }' |
        sort -u >"$object.visible"
    # shellcheck disable=SC2046 # words are meant
    ld -r --force-group-allocation --gc-sections $(sed 's/^/-u /' "$object.visible") -o "$object" "$library"
    objcopy --strip-debug --remove-section=.llvmbc --remove-section=.llvmcmd --keep-global-symbols="$object.visible" --weaken "$object"
    library=$target/libmountdb.a
    rm -f "$library"
    ar rcsD "$library" "$object"
fi

update() {
    cmp -s "$1" "$2" || { mkdir -p "$(dirname "$2")" && cp -L "$1" "$2"; }
}
update "$library" "$out/libmountdb.a"
update "$bridge/sources/mountdb/src/ffi.rs.cc" "$out/bridge.cc"
update "$bridge/include/mountdb/src/ffi.rs.h" "$out/include/mountdb/src/ffi.rs.h"
update "$bridge/include/rust/cxx.h" "$out/include/rust/cxx.h"
