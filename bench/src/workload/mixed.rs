//! Reads and writes mixed.

use anyhow::{Result, bail};
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{STEP, Scene, Step, Workload};
use crate::database::{Database, read_options, write_options};

/// Half gets, half overwrites, decided by one random bit per operation.
pub(super) fn balanced<'a>(
    scene: &'a Scene<'_>,
    database: &'a Database,
    mut rng: Xoshiro256PlusPlus,
    round: u32,
) -> Step<'a> {
    let read = read_options();
    let write = write_options(Workload::Balanced.logs(scene.config.wal));
    let keys = scene.keys.keys();
    let mut buffer = vec![0; scene.values.size()];
    Box::new(move || {
        let indexes: [usize; STEP] = std::array::from_fn(|_| rng.random_range(0..keys.len()));
        let step_keys = indexes.map(|index| keys[index].to_be_bytes());
        let mut coins = rng.next_u64();
        for (key, index) in step_keys.iter().zip(indexes) {
            if coins & 1 == 0 {
                scene.values.fill(&mut buffer, index as u64, round);
                database.db().put_opt(key, &buffer, &write)?;
            } else {
                check(
                    database.db().get_pinned_opt(key, &read)?.map(|value| value.len()),
                    scene,
                    key,
                )?;
            }
            coins >>= 1;
        }
        Ok(STEP as u64)
    })
}

fn check(len: Option<usize>, scene: &Scene<'_>, key: &[u8; 8]) -> Result<()> {
    if len != Some(scene.values.size()) {
        bail!("get of key {:#018x} lost its value", u64::from_be_bytes(*key));
    }
    Ok(())
}
