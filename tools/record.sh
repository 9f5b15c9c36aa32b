#!/bin/sh
# Runs the comparisons that README quotes and stores them as bench/record/<cpu>/<date>-<what>.json. Nothing else should run on
# the machine. About 25 minutes on two cores; a pattern as second argument picks some, such as 'micro*'.
set -eu

mountdb=${1:-target/release/mountdb}
pattern=${2:-*}
micro=$(dirname "$mountdb")/mountdb-micro
cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1 | sed 's/([^)]*)//g; s/@.*//; s/ CPU//' | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9]\{1,\}/-/g; s/-*$//')
folder=bench/record/$cpu
mkdir -p "$folder"

# run WHAT PROGRAM ARGUMENT...
run() {
    what=$1
    shift
    # shellcheck disable=SC2254 # a pattern is meant
    case $what in $pattern) ;; *) return 0 ;; esac
    # A record is never replaced: a later run of the same day gets a number.
    file=$folder/$(date +%F)-$what n=1
    while [ -e "$file.json" ]; do
        n=$((n + 1))
        file=$folder/$(date +%F)-$what-$n
    done
    echo "== $what: $*"
    "$@" --json "$file.json"
}

record() {
    what=$1
    shift
    run "$what" "$mountdb" ab "$@"
}

record fillrandom-stock --workload fillrandom --keys uniform --num 4000000 --threads 1 --learned memtable
record fillrandom-16-stock --workload fillrandom --keys uniform --num 2000000 --threads 16 --learned memtable --pairs 6
record fillrandom-wal-stock --workload fillrandom --keys uniform --num 2000000 --threads 1 --learned memtable --wal --pairs 6
record fillrandom-vector --workload fillrandom --keys uniform --num 4000000 --threads 1 --learned memtable --against vector --pairs 6
record balanced-stock --workload balanced --keys uniform --num 1000000
record balanced-tuned --workload balanced --keys uniform --num 1000000 --against tuned
record readmem-stock --workload readmem --keys uniform --num 1000000
record readmem-tuned --workload readmem --keys uniform --num 1000000 --against tuned

# One distribution after the other (paper figure 9), against stock and among the kinds of skeletons.
six=uniform,covid,genome,facebook,osm,sequential
record phases-stock --phases --keys $six --num 1500000 --learned memtable --pairs 4
record phases-periodic-single --phases --keys $six --num 1500000 --learned memtable --pairs 4 \
    --a-options 'memtable_factory={id=alex;skeleton=single}'
record phases-periodic-off --phases --keys $six --num 1500000 --learned memtable --pairs 4 \
    --a-options 'memtable_factory={id=alex;skeleton=off}'

# The memtable index alone.
run micro "$micro" --rounds 5
variants='{id=alex;skeleton=single;skeleton_content=keys} {id=alex;skeleton=off;data_node_slots=64} {id=alex;skeleton=off;data_node_slots=1024}
{id=alex;skeleton=off;data_node_slots=32768} {id=alex;skeleton=off;data_node_slots=32768;rebuild=background}
{id=alex;skeleton=off;data_node_slots=4096;rebuild=background} {id=alex;skeleton=off;rebuild=background}'
also=$(for variant in $variants; do printf -- '--also %s ' "$variant"; done)
# shellcheck disable=SC2086 # words are meant
run micro-variants "$micro" --keys uniform --rounds 3 $also
# shellcheck disable=SC2086
run micro-slow-1 "$micro" --keys uniform --rounds 3 --slow 1 $also
# shellcheck disable=SC2086
run micro-slow-16 "$micro" --keys uniform --rounds 3 --slow 16 $also

record index-stock --workload readrandom,seekrandom,multiget --keys uniform,cities --num 2000000 --learned replace
record index-tuned --workload readrandom,seekrandom,multiget --keys uniform --num 2000000 --learned replace --against tuned
record index-l0-stock --workload seekrandom --keys uniform --no-compact --learned replace
# Smaller blocks, which the small index affords, under a small cache.
record index-small-blocks --workload readrandom --keys uniform --cache-size 32 --learned replace \
    --b-options 'block_based_table_factory={block_size=1024;user_defined_index_factory={id=pgm;mode=replace};use_udi_as_primary_index=true}'

# The paper's form with its blocks of a third of the size, against the exact form with the default ones.
replace='mode=replace;lookup'
record index-window --workload readrandom,seekrandom,multiget --keys uniform --learned replace \
    --a-options "block_based_table_factory={user_defined_index_factory={id=pgm;$replace=exact};use_udi_as_primary_index=true}" \
    --b-options "block_based_table_factory={block_size=1365;user_defined_index_factory={id=pgm;$replace=window};use_udi_as_primary_index=true}"

# What verify mode costs, where RocksDB's index serves and where the learned one does.
pgm() { echo "block_based_table_factory={user_defined_index_factory={id=pgm;verify_one_in=$1};use_udi_as_primary_index=$2}"; }
for primary in false true; do
    record "index-verify-$primary" --workload readrandom,seekrandom,multiget --keys uniform --learned index \
        --a-options "$(pgm 0 $primary)" --b-options "$(pgm 1000 $primary)"
done

# The table index alone: seeks in a thousand files, and exact sizes of real files.
run micro-index-seek "$micro-index" --files 1000 --seeks 100000 --rounds 15
run micro-index-sizes "$micro-index" --sizes
run micro-index-shares "$micro-index" --shares
record equal-sides --workload readrandom --keys uniform --num 1000000 --learned memtable --b-options memtable_factory=skip_list
