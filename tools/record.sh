#!/bin/sh
# Runs the comparisons that README quotes and stores them as bench/record/<cpu>/<date>-<what>.json. Nothing else should run on
# the machine. About 12 minutes on two cores.
set -eu

mountdb=${1:-target/release/mountdb}
cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1 | sed 's/([^)]*)//g; s/@.*//; s/ CPU//' | tr 'A-Z' 'a-z' | sed 's/[^a-z0-9]\{1,\}/-/g; s/-*$//')
folder=bench/record/$cpu
mkdir -p "$folder"

record() {
    what=$1
    shift
    echo "== $what: mountdb ab $*"
    "$mountdb" ab "$@" --json "$folder/$(date +%F)-$what.json"
}

record fillrandom-stock --workload fillrandom --keys uniform --num 4000000 --threads 1 --learned memtable
record fillrandom-wal-stock --workload fillrandom --keys uniform --num 2000000 --threads 1 --learned memtable --wal --pairs 6
record fillrandom-vector --workload fillrandom --keys uniform --num 4000000 --threads 1 --learned memtable --against vector --pairs 6
record index-stock --workload readrandom,seekrandom,multiget --keys uniform,cities --num 2000000 --learned index
record index-tuned --workload readrandom,seekrandom,multiget --keys uniform --num 2000000 --learned index --against tuned
record balanced-stock --workload balanced --keys uniform --num 1000000
record equal-sides --workload readrandom --keys uniform --num 1000000 --learned memtable --b-options memtable_factory=skip_list
