//! The workloads that only read.
//!
//! Keys are drawn a step ahead of their use: the cache misses of drawing overlap with each other and not with the read that
//! is measured. Every answer is checked as far as that costs next to nothing; [`crate::verify`] checks the rest beforehand.

use anyhow::{Result, bail};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{MULTIGET_BATCH, STEP, Scene, Step};
use crate::database::{Database, read_options};

/// A step's worth of random keys that are in the database.
pub(super) fn draw(keys: &[u64], rng: &mut Xoshiro256PlusPlus) -> [[u8; 8]; STEP] {
    std::array::from_fn(|_| keys[rng.random_range(0..keys.len())].to_be_bytes())
}

pub(super) fn get<'a>(scene: &'a Scene<'_>, database: &'a Database, mut rng: Xoshiro256PlusPlus) -> Step<'a> {
    let options = read_options();
    Box::new(move || {
        for key in draw(scene.keys.keys(), &mut rng) {
            match database.db().get_pinned_opt(key, &options)? {
                Some(value) if value.len() == scene.values.size() => {}
                _ => bail!("get of key {:#018x} lost its value", u64::from_be_bytes(key)),
            }
        }
        Ok(STEP as u64)
    })
}

/// One iterator per thread and slice, as a server that answers range queries from one snapshot would keep it.
pub(super) fn seek<'a>(scene: &'a Scene<'_>, database: &'a Database, mut rng: Xoshiro256PlusPlus) -> Step<'a> {
    let mut iter = database.db().raw_iterator_opt(read_options());
    Box::new(move || {
        for key in draw(scene.keys.keys(), &mut rng) {
            iter.seek(key);
            if iter.key() != Some(&key) {
                iter.status()?;
                bail!("seek to key {:#018x} did not find it", u64::from_be_bytes(key));
            }
            std::hint::black_box(iter.value());
            for _ in 0..scene.config.seek_nexts {
                iter.next();
                // Past the last entry, key and value are absent: nothing is left to read.
                std::hint::black_box((iter.key(), iter.value()));
            }
        }
        Ok(STEP as u64)
    })
}

pub(super) fn multiget<'a>(
    scene: &'a Scene<'_>,
    database: &'a Database,
    mut rng: Xoshiro256PlusPlus,
) -> Result<Step<'a>> {
    let options = read_options();
    let family = database.family()?;
    Ok(Box::new(move || {
        for batch in draw(scene.keys.keys(), &mut rng).chunks(MULTIGET_BATCH) {
            let values = database.db().batched_multi_get_cf_opt(family, batch, false, &options);
            for (key, value) in batch.iter().zip(values) {
                match value? {
                    Some(value) if value.len() == scene.values.size() => {}
                    _ => bail!("multiget of key {:#018x} lost its value", u64::from_be_bytes(*key)),
                }
            }
        }
        Ok(STEP as u64)
    }))
}
