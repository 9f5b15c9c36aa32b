//! Criterion over one memtable index: `cargo bench -p mountdb-micro -- uniform`. Absolute times; the paired ratios come from
//! `cargo run --release -p mountdb-micro`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mountdb_micro::keys::Workload;
use mountdb_micro::memtable::{Factory, NEWEST, Writers};
use mountdb_micro::sides::{KEY_SETS, SIDES, capacity, warm_up};

fn memtables(criterion: &mut Criterion) {
    for name in KEY_SETS {
        let count = capacity(name);
        let Ok(workload) = Workload::load(name, count, 1) else {
            panic!("key set {name}");
        };
        let mut group = criterion.benchmark_group(name);
        group
            .sample_size(10)
            .sampling_mode(SamplingMode::Flat)
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(3));
        for side in SIDES {
            let factory = Factory::new(side.options).expect("a factory of this name");
            if side.warm {
                warm_up(&factory, &workload).expect("keys are distinct");
            }
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new("insert", side.name), |bencher| {
                bencher.iter_custom(|rounds| {
                    let mut total = Duration::ZERO;
                    for _ in 0..rounds {
                        let memtable = factory.open();
                        let begin = Instant::now();
                        memtable
                            .insert(&workload.inserts, 1, Writers::One)
                            .expect("keys are distinct");
                        total += begin.elapsed();
                    }
                    total
                });
            });
            let memtable = factory.open();
            memtable
                .insert(&workload.inserts, 1, Writers::One)
                .expect("keys are distinct");
            for (what, forward) in [("forward", true), ("reverse", false)] {
                group.bench_function(BenchmarkId::new(what, side.name), |bencher| {
                    bencher.iter(|| black_box(memtable.scan(forward)));
                });
            }
            group.throughput(Throughput::Elements(workload.hits.len() as u64));
            for (what, keys) in [("hit", &workload.hits), ("miss", &workload.misses)] {
                group.bench_function(BenchmarkId::new(what, side.name), |bencher| {
                    bencher.iter(|| black_box(memtable.get(keys, NEWEST)));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, memtables);
criterion_main!(benches);
