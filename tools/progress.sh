#!/bin/sh
# Runs a cargo command. While librocksdb-sys compiles RocksDB, in which cargo prints nothing, tells how far it is.
set -eu

target=${CARGO_TARGET_DIR:-target}
started=$(mktemp)
trap 'rm -f "$started"' EXIT

report() {
    last=0
    seconds=0
    # The output is redirected so that a sleep which outlives us does not keep a pipe open.
    while sleep 15 </dev/null >/dev/null 2>&1; do
        seconds=$((seconds + 15))
        count=$(find "$target" -path '*/build/librocksdb-sys-*/out/*.o' -newer "$started" 2>/dev/null | wc -l)
        [ "$count" -le "$last" ] && continue
        total=$(cat "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/librocksdb-sys-0.19.*/rocksdb_lib_sources.txt 2>/dev/null | wc -l)
        [ "$count" -gt "$total" ] && continue
        [ "$last" -eq 0 ] && echo "Compiling RocksDB, once per profile: up to half an hour on two cores, a few minutes from ccache"
        last=$count
        echo "RocksDB: $count of $total files, $((100 * count / total))%, $((seconds / 60)) min $((seconds % 60)) s"
    done
}

report &
reporter=$!
status=0
"$@" || status=$?
kill "$reporter" 2>/dev/null || true
exit "$status"
