#!/bin/sh
# Installs mountdb as a library beside a RocksDB that is already there:
#
#   tools/install.sh PREFIX
#
#   PREFIX/lib/libmountdb.a, libmountdb.so     neither contains RocksDB
#   PREFIX/lib/pkgconfig/mountdb.pc
#   PREFIX/include/mountdb/mountdb.h, c.h
#
# Environment: ROCKSDB, the source tree of the RocksDB that it will be linked with (default: the one that librocksdb-sys ships);
# ROCKSDB_CXXFLAGS, the flags that this RocksDB was compiled with (default: a release build, with the platform's flags from the tree's
# make_config.mk if it has been built there); CXX, CXXFLAGS, DESTDIR.
set -eu

prefix=${1:?usage: tools/install.sh PREFIX}
cd "$(dirname "$0")/.."
root=$PWD
destination=${DESTDIR:-}$prefix
cxx=${CXX:-c++}
work=${CARGO_TARGET_DIR:-target}/install
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
soname=libmountdb.so.${version%.*}

if [ -z "${ROCKSDB:-}" ]; then
    manifest=$(cargo metadata --format-version 1 --filter-platform "$(rustc -vV | sed -n 's/^host: //p')" | grep -o '"manifest_path":"[^"]*/librocksdb-sys-[^"]*/Cargo.toml"' | head -1 | cut -d'"' -f4)
    ROCKSDB=$(dirname "$manifest")/rocksdb
fi
[ -f "$ROCKSDB/include/rocksdb/version.h" ] || { echo "install: no RocksDB source tree at $ROCKSDB" >&2 && exit 1; }
if [ -z "${ROCKSDB_CXXFLAGS:-}" ]; then
    ROCKSDB_CXXFLAGS="-DNDEBUG "$(sed -n 's/^PLATFORM_CXXFLAGS=//p' "$ROCKSDB/make_config.mk" 2>/dev/null ||
        echo "-std=c++20 -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DOS_LINUX")
fi

rm -rf "$work"
mkdir -p "$work/objects"
tools/plugin.sh "$work/rust"

# Without type information, which a RocksDB built without it (its default) could not complete; it does not ask for ours.
flags="-O2 -fPIC $ROCKSDB_CXXFLAGS ${CXXFLAGS:-} -fno-rtti -include cstdint -I$root -I$work/rust/include -I$ROCKSDB/include -I$ROCKSDB"
{
    sed -n 's/^mountdb_SOURCES = //p' mountdb.mk | tr ' ' '\n' | grep '^cpp/'
    echo "$work/rust/bridge.cc"
} | xargs -P "$(nproc)" -I '{}' sh -c "$cxx $flags -c '{}' -o '$work/objects/'\$(basename '{}' .cc).o"

# The Rust half shows only what the C++ half calls, and what it calls itself (tools/plugin.sh). Once both are one object, nothing.
symbols() { readelf -sW "$@" 2>/dev/null | awk '$5 ~ /GLOBAL|WEAK/ && $7 != "UND" && $8 != "" { print $8 }'; }

ld -r -o "$work/mountdb.o" "$work"/objects/*.o --whole-archive "$work/rust/libmountdb.a"
{
    symbols "$work/rust/libmountdb.a"
    # A dollar is in no other name.
    symbols "$work"/objects/*.o | grep -F '$'
} | sort -u >"$work/hidden"
objcopy --localize-symbols="$work/hidden" "$work/mountdb.o"

install -d "$destination/lib/pkgconfig" "$destination/include/mountdb"
rm -f "$destination/lib/libmountdb.a"
ar rcs "$destination/lib/libmountdb.a" "$work/mountdb.o"

cat >"$work/exports" <<'END'
{
  global:
    mountdb_*;
    extern "C++" {
      "mountdb::Register()";
      mountdb::Apply*;
      mountdb::NewAlexMemTableFactory*;
      mountdb::NewPgmIndexFactory*;
    };
  local: *;
};
END
# RocksDB's symbols stay open: the program brings its own.
$cxx -shared -o "$destination/lib/libmountdb.so.$version" "$work/mountdb.o" -Wl,--gc-sections -Wl,-soname,"$soname" \
    -Wl,--version-script="$work/exports" -lpthread -ldl
ln -sf "libmountdb.so.$version" "$destination/lib/$soname"
ln -sf "$soname" "$destination/lib/libmountdb.so"

install -m 644 cpp/registry.h "$destination/include/mountdb/mountdb.h"
install -m 644 cpp/c.h "$destination/include/mountdb/c.h"

number() { sed -n "s/^#define ROCKSDB_$1 //p" "$ROCKSDB/include/rocksdb/version.h"; }
cat >"$destination/lib/pkgconfig/mountdb.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: mountdb
Description: Learned indexes for RocksDB
Version: $version
Requires: rocksdb >= $(number MAJOR).$(number MINOR), rocksdb < $(number MAJOR).$(($(number MINOR) + 1))
Libs: -L\${libdir} -lmountdb
Libs.private: -lpthread -ldl
Cflags: -I\${includedir}
END
echo "installed mountdb $version for RocksDB $(number MAJOR).$(number MINOR) in $destination"
