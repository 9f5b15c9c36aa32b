//! Sizes of the indexes in an SST file, read from the file itself.
//!
//! Stock RocksDB's table property `index_size` counts the standard index alone, also where a user-defined index answers all
//! reads (`table/block_based/user_defined_index_wrapper.h`, `IndexSize`). The metaindex block names every index with its exact
//! size. Where the entry of the standard index points to a user-defined one, that is the only one (`mode=replace`). Layout: `table/format.h` (footer), `table/block_based/block_builder.cc` (block).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

const MAGIC: u64 = 0x88e2_41b7_85f4_cff7;
const FOOTER_LEN: usize = 53;
const EXTENDED_MAGIC: [u8; 4] = [0x3e, 0x00, 0x7a, 0x00];
/// Compression type and checksum behind each block; `index_size` counts them as well.
const TRAILER_LEN: u64 = 5;
const STANDARD: &[u8] = b"rocksdb.index";
const PROPERTIES: &[u8] = b"rocksdb.properties";
const DATA_BLOCKS: &[u8] = b"rocksdb.num.data.blocks";
const USER_DEFINED_PREFIX: &[u8] = b"rocksdb.user_defined_index.";

/// The indexes that an SST file holds, with their sizes in bytes, block trailers included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SstIndexes {
    /// RocksDB's own index block (the top level, if it is partitioned).
    pub standard: Option<u64>,
    /// User-defined indexes by the name of their factory.
    pub user_defined: Vec<(String, u64)>,
    /// Number of data blocks.
    pub data_blocks: u64,
}

impl SstIndexes {
    /// Size of the index that serves reads when a user-defined index is the primary one: that one, or else the standard one.
    pub fn primary(&self) -> Option<u64> {
        self.user_defined.first().map(|(_, size)| *size).or(self.standard)
    }
}

/// Reads which indexes an SST file holds and how large they are.
///
/// # Errors
/// When the file cannot be read, is not a block-based table, or is cut off. Checksums are not checked: that is RocksDB's
/// part.
pub fn read_sst_indexes(path: &Path) -> Result<SstIndexes> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    read(&mut file).with_context(|| format!("SST file {}", path.display()))
}

/// The bytes of a user-defined index as they are in the file, by the name of its factory.
///
/// # Errors
/// As [`read_sst_indexes`].
pub fn read_user_defined_index(path: &Path, factory: &str) -> Result<Option<Vec<u8>>> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let (indexes, places) = read_places(&mut file).with_context(|| format!("SST file {}", path.display()))?;
    let Some(at) = indexes.user_defined.iter().position(|(name, _)| name == factory) else {
        return Ok(None);
    };
    let end = file.seek(SeekFrom::End(0))?;
    Ok(Some(read_block(&mut file, places[at], end)?))
}

fn read(file: &mut (impl Read + Seek)) -> Result<SstIndexes> {
    Ok(read_places(file)?.0)
}

/// The indexes, and where the user-defined ones are.
fn read_places(file: &mut (impl Read + Seek)) -> Result<(SstIndexes, Vec<(u64, u64)>)> {
    let len = file.seek(SeekFrom::End(0))?;
    ensure!(
        len >= FOOTER_LEN as u64,
        "too short for a footer: expected at least {FOOTER_LEN} bytes, found {len}"
    );
    let footer_at = len - FOOTER_LEN as u64;
    let mut footer = [0; FOOTER_LEN];
    read_at(file, footer_at, &mut footer)?;
    let magic = u64::from_le_bytes(*footer.last_chunk().expect("a footer is longer than a magic number"));
    ensure!(
        magic == MAGIC,
        "not a block-based table: expected magic {MAGIC:#x}, found {magic:#x}"
    );
    let version = fixed32(&footer[FOOTER_LEN - 12..])?;

    let mut indexes = SstIndexes::default();
    let (mut standard, mut user_defined, mut properties) = (None, Vec::new(), None);
    let (offset, size) = if version >= 6 {
        ensure!(
            footer[1..5] == EXTENDED_MAGIC,
            "wrong extended magic number {:x?}",
            &footer[1..5]
        );
        let size = u64::from(fixed32(&footer[13..])?);
        let offset = footer_at
            .checked_sub(TRAILER_LEN + size)
            .context("metaindex block longer than the file")?;
        (offset, size)
    } else {
        let mut rest = &footer[1..];
        let metaindex = handle(&mut rest)?;
        standard = Some(handle(&mut rest)?);
        metaindex
    };
    let block = read_block(file, (offset, size), footer_at).context("metaindex block")?;
    for_each_entry(&block, |key, mut value| {
        if key == PROPERTIES {
            properties = Some(handle(&mut value)?);
        } else if key == STANDARD {
            standard = Some(handle(&mut value)?);
        } else if let Some(name) = key.strip_prefix(USER_DEFINED_PREFIX) {
            let name = String::from_utf8_lossy(name).into_owned();
            let place = handle(&mut value)?;
            user_defined.push(place);
            indexes.user_defined.push((name, place.1.saturating_add(TRAILER_LEN)));
        }
        Ok(())
    })?;
    indexes.standard = standard
        .filter(|place| !user_defined.contains(place))
        .map(|(_, size)| size.saturating_add(TRAILER_LEN));
    if let Some(place) = properties {
        let block = read_block(file, place, footer_at).context("properties block")?;
        for_each_entry(&block, |key, mut value| {
            if key == DATA_BLOCKS {
                indexes.data_blocks = varint(&mut value)?;
            }
            Ok(())
        })?;
    }
    Ok((indexes, user_defined))
}

/// An uncompressed block below `end`.
fn read_block(file: &mut (impl Read + Seek), (offset, size): (u64, u64), end: u64) -> Result<Vec<u8>> {
    ensure!(
        offset.checked_add(size).is_some_and(|last| last <= end),
        "outside of the file"
    );
    let mut block = vec![0; usize::try_from(size)?];
    read_at(file, offset, &mut block)?;
    Ok(block)
}

fn read_at(file: &mut (impl Read + Seek), offset: u64, buffer: &mut [u8]) -> Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    Ok(file.read_exact(buffer)?)
}

/// Visits the entries of a block: shared key length, rest of key length, value length (varint32 each), rest of key, value.
fn for_each_entry(block: &[u8], mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
    let count_at = block
        .len()
        .checked_sub(4)
        .context("block too short for its restart count")?;
    let restarts = fixed32(&block[count_at..])?;
    // The top four bits are flags of data and index blocks; a metaindex block has none.
    ensure!(restarts >> 28 == 0, "unexpected block flags {:#x}", restarts >> 28);
    let end = count_at
        .checked_sub(restarts as usize * 4)
        .context("more restarts than the block holds")?;
    let mut rest = &block[..end];
    let mut key = Vec::new();
    while !rest.is_empty() {
        let shared = usize::try_from(varint(&mut rest)?)?;
        let unshared = usize::try_from(varint(&mut rest)?)?;
        let value_len = usize::try_from(varint(&mut rest)?)?;
        ensure!(
            shared <= key.len(),
            "entry shares {shared} bytes with a key of {}",
            key.len()
        );
        key.truncate(shared);
        key.extend_from_slice(take(&mut rest, unshared)?);
        visit(&key, take(&mut rest, value_len)?)?;
    }
    Ok(())
}

/// Offset and size of a block.
fn handle(bytes: &mut &[u8]) -> Result<(u64, u64)> {
    Ok((varint(bytes)?, varint(bytes)?))
}

fn varint(bytes: &mut &[u8]) -> Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    bail!("number longer than ten bytes")
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    let (head, tail) = bytes
        .split_at_checked(len)
        .with_context(|| format!("cut off: {len} bytes expected"))?;
    *bytes = tail;
    Ok(head)
}

fn fixed32(bytes: &[u8]) -> Result<u32> {
    Ok(u32::from_le_bytes(
        *bytes.first_chunk().context("cut off in a 32-bit number")?,
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A file that holds nothing but a metaindex block and a footer of format version 7.
    fn file(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut block = Vec::new();
        for (key, value) in entries {
            block.extend([0, key.len() as u8, value.len() as u8]);
            block.extend(*key);
            block.extend(*value);
        }
        block.extend(0u32.to_le_bytes());
        block.extend(1u32.to_le_bytes());
        let size = block.len() as u32;
        let mut bytes = block;
        bytes.extend([0; 5]);
        let mut footer = [0; FOOTER_LEN];
        footer[1..5].copy_from_slice(&EXTENDED_MAGIC);
        footer[13..17].copy_from_slice(&size.to_le_bytes());
        footer[41..45].copy_from_slice(&7u32.to_le_bytes());
        footer[45..].copy_from_slice(&MAGIC.to_le_bytes());
        bytes.extend(footer);
        bytes
    }

    #[test]
    fn finds_both_indexes() {
        let bytes = file(&[
            (STANDARD, &[0, 100]),
            (b"rocksdb.user_defined_index.pgm", &[0x80, 1, 30]),
        ]);
        let indexes = read(&mut Cursor::new(&bytes)).unwrap();
        assert_eq!(indexes.standard, Some(105));
        assert_eq!(indexes.user_defined, [("pgm".to_owned(), 35)]);
        assert_eq!(indexes.primary(), Some(35));
    }

    #[test]
    fn an_only_index_is_not_counted_twice() {
        let bytes = file(&[(STANDARD, &[7, 30]), (b"rocksdb.user_defined_index.pgm", &[7, 30])]);
        let indexes = read(&mut Cursor::new(&bytes)).unwrap();
        assert_eq!(indexes.standard, None);
        assert_eq!(indexes.primary(), Some(35));
    }

    #[test]
    fn every_cut_is_an_error_or_a_shorter_file_no_panic() {
        let bytes = file(&[(STANDARD, &[0, 100])]);
        for len in 0..bytes.len() {
            assert!(read(&mut Cursor::new(&bytes[..len])).is_err(), "{len} bytes");
        }
    }

    #[test]
    fn changed_bytes_do_not_panic() {
        let bytes = file(&[(STANDARD, &[0, 100])]);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let _ = read(&mut Cursor::new(&changed));
            }
        }
    }
}
