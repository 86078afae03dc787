//! Pages of a Parquet file, within a budget.
//!
//! The parquet crate allocates what the header of a page claims, and what the first bytes of some encodings claim. Here the claims are
//! read first and charged, or refused.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::budget::{Budget, Held};
use crate::parquet_headers::{Counted, INDEX_PAGE, PageHeader, damaged, varint};

/// A source that can be handed out twice.
pub(crate) struct Shared<R>(Arc<R>);

impl<R> Shared<R> {
    pub fn new(source: R) -> Self {
        Self(Arc::new(source))
    }
}

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Length> Length for Shared<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Shared<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// What is decoded of a column of lists. A list can have any number of elements on any number of pages, so every page is charged as
/// if all of it were decoded, until the lists that were read are dropped.
#[derive(Clone)]
pub(crate) struct Decoded(Arc<Mutex<(Held, u64)>>);

impl Decoded {
    pub fn new(budget: &Budget) -> Self {
        Self(Arc::new(Mutex::new((Held::nothing(budget), 0))))
    }

    /// A page of so many bytes follows.
    fn charge(&self, bytes: u64) -> Result<()> {
        let mut state = self.0.lock().expect("nothing panics with it");
        state.1 = bytes;
        Ok(state.0.add_io(bytes)?)
    }

    /// All lists that were read have been dropped: only the last page may still be decoded.
    pub fn settle(&self) {
        let mut state = self.0.lock().expect("nothing panics with it");
        let last = state.1;
        // Never more than before, so never refused.
        let _ = state.0.set_io(last);
    }
}

/// The pages of a column, charged before they are read.
pub(crate) struct Pages<R> {
    inner: Box<dyn PageReader>,
    source: Shared<R>,
    physical: PhysicalType,
    /// How many lists of levels precede the values: cells may be missing, or lists.
    n_levels: usize,
    /// For lists.
    decoded: Option<Decoded>,
    offset: u64,
    end: u64,
    /// The page, and the one before it, whose texts may still be in use.
    page: Held,
    dictionary: Held,
}

impl<R: ChunkReader> Pages<R> {
    pub fn new(
        inner: Box<dyn PageReader>,
        source: Shared<R>,
        column: &ColumnChunkMetaData,
        budget: &Budget,
        decoded: &Decoded,
    ) -> Self {
        let (offset, length) = column.byte_range();
        let descriptor = column.column_descr();
        Self {
            inner,
            source,
            physical: descriptor.physical_type(),
            n_levels: usize::from(descriptor.max_def_level() > 0)
                + usize::from(descriptor.max_rep_level() > 0),
            decoded: (descriptor.max_rep_level() > 0).then(|| decoded.clone()),
            offset,
            end: offset.saturating_add(length),
            page: Held::nothing(budget),
            dictionary: Held::nothing(budget),
        }
    }

    /// Charges the next page by what its header says.
    fn charge_next(&mut self) -> Result<()> {
        while self.offset < self.end {
            let mut counted = Counted { source: self.source.get_read(self.offset)?, n_read: 0 };
            let header = PageHeader::read(&mut counted)?;
            self.offset =
                self.offset.saturating_add(counted.n_read).saturating_add(u64::from(header.compressed));
            if header.kind != INDEX_PAGE {
                let bytes = 2 * counted.n_read + u64::from(header.compressed) + 2 * u64::from(header.plain);
                return Ok(self.page.set_io(bytes)?);
            }
        }
        Ok(())
    }

    /// Charges what the values of a page of lists and their levels take when they are decoded.
    fn charge_decoded(&self, n_values: u32) -> Result<()> {
        let Some(decoded) = &self.decoded else { return Ok(()) };
        let of_value = match self.physical {
            PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY => size_of::<ByteArray>() as u64,
            _ => 8,
        };
        // Two levels, and a reference while a list is passed on; vectors grow by doubling.
        decoded.charge(2 * u64::from(n_values) * (of_value + 4 + size_of::<Option<&f64>>() as u64))
    }

    /// Reads the headers that the parquet crate reads to look at the next page, which must be ones that it may read.
    fn check_next(&self) -> Result<()> {
        let mut offset = self.offset;
        while offset < self.end {
            let mut counted = Counted { source: self.source.get_read(offset)?, n_read: 0 };
            let header = PageHeader::read(&mut counted)?;
            if header.kind != INDEX_PAGE {
                break;
            }
            offset = offset.saturating_add(counted.n_read).saturating_add(u64::from(header.compressed));
        }
        Ok(())
    }

    /// Checks the numbers that decoders trust.
    fn check(&mut self, page: &Page) -> Result<()> {
        match page {
            Page::DictionaryPage { num_values, buf, .. } => {
                let size = match self.physical {
                    PhysicalType::BOOLEAN => 1,
                    PhysicalType::INT32 | PhysicalType::FLOAT => 4,
                    PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
                    PhysicalType::INT96 => 16,
                    PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                        size_of::<ByteArray>() as u64
                    }
                };
                Ok(self.dictionary.set_io(size * u64::from(*num_values) + buf.len() as u64)?)
            }
            Page::DataPage { buf, num_values, encoding, .. } => {
                self.charge_decoded(*num_values)?;
                let mut values = &buf[..];
                for _ in 0..self.n_levels {
                    if let Some(&[a, b, c, d]) = values.get(..4) {
                        let levels = 4 + u32::from_le_bytes([a, b, c, d]) as usize;
                        values = values.get(levels..).unwrap_or_default();
                    }
                }
                check_lengths(values, *encoding, *num_values)
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                self.charge_decoded(*num_values)?;
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                check_lengths(buf.get(levels..).unwrap_or_default(), *encoding, *num_values)
            }
        }
    }
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.charge_next()?;
        let page = self.inner.get_next_page()?;
        page.iter().try_for_each(|page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.check_next()?;
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.charge_next()?;
        self.inner.skip_next_page()
    }
}

/// Texts of these encodings begin with their lengths, as many as a number before them says: no more than there are values.
fn check_lengths(bytes: &[u8], encoding: Encoding, n_values: u32) -> Result<()> {
    let wrong = || damaged("a page has more lengths than texts");
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => packed(bytes, n_values).map(drop).ok_or_else(wrong),
        Encoding::DELTA_BYTE_ARRAY => {
            let suffixes = packed(bytes, n_values).ok_or_else(wrong)?;
            packed(suffixes, n_values).map(drop).ok_or_else(wrong)
        }
        _ => Ok(()),
    }
}

/// What follows numbers in the encoding `DELTA_BINARY_PACKED`; `None` if they are broken or more than `most`.
fn packed(bytes: &[u8], most: u32) -> Option<&[u8]> {
    let mut rest = bytes;
    let block = varint(&mut rest).ok()?;
    let parts = varint(&mut rest).ok()?;
    let count = varint(&mut rest).ok()?;
    varint(&mut rest).ok()?;
    if count > u64::from(most) || parts == 0 || block % parts != 0 {
        return None;
    }
    let (part, mut left) = (block / parts, count.saturating_sub(1));
    while left > 0 && part > 0 {
        varint(&mut rest).ok()?;
        let (widths, values) = rest.split_at_checked(usize::try_from(parts).ok()?)?;
        rest = values;
        for &width in widths {
            if left == 0 {
                break;
            }
            let length = part.checked_mul(u64::from(width))? / 8;
            // The last part may be cut after its last value.
            rest = rest.get(usize::try_from(length).ok()?..).unwrap_or_default();
            left = left.saturating_sub(part);
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_more_lengths_than_there_are() {
        // Three lengths in one part of width 0, and the same for suffixes.
        let lengths = [0x80, 0x01, 4, 3, 10, 0, 0, 0, 0, 0];
        let both = [lengths, lengths].concat();
        for (bytes, encoding, n_values, is_right) in [
            (&lengths[..], Encoding::DELTA_LENGTH_BYTE_ARRAY, 3, true),
            (&lengths, Encoding::DELTA_LENGTH_BYTE_ARRAY, 2, false),
            (&both, Encoding::DELTA_BYTE_ARRAY, 3, true),
            (&both, Encoding::DELTA_BYTE_ARRAY, 2, false),
            (&lengths, Encoding::DELTA_BYTE_ARRAY, 3, false),
            (&lengths, Encoding::PLAIN, 0, true),
            (&[], Encoding::DELTA_LENGTH_BYTE_ARRAY, 3, false),
        ] {
            assert_eq!(check_lengths(bytes, encoding, n_values).is_ok(), is_right, "{encoding:?} {n_values}");
        }
    }

    #[test]
    fn lengths_are_counted_and_passed_over() {
        // Blocks of 128 in 4 parts, 3 numbers: one block, its first part has width 2, the others none.
        let bytes = [0x80, 0x01, 4, 3, 10, 0, 2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 77];
        assert_eq!(packed(&bytes, 3), Some(&[77][..]));
        assert_eq!(packed(&bytes, 2), None);
        assert_eq!(packed(&[0x80, 0x01, 4, 1, 10, 77], 5), Some(&[77][..]));
        assert_eq!(packed(&[0x80, 0x01, 0, 1, 10], 5), None);
        assert_eq!(packed(&[7, 4, 1, 10], 5), None, "parts of different lengths");
        // 40 numbers: two parts, of width 1 and 3, and what the other two would take is not there.
        let mut two = vec![0x80, 0x01, 4, 40, 10, 0, 1, 3, 9, 9];
        two.extend([0; 4 + 12]);
        two.push(77);
        assert_eq!(packed(&two, 40), Some(&[77][..]));
        // 200 numbers: a second block.
        let block = [0, 0, 0, 0, 0];
        let three = [&[0x80, 0x01, 4, 0xc8, 0x01, 10][..], &block, &block, &[77]].concat();
        assert_eq!(packed(&three, 200), Some(&[77][..]));
        assert_eq!(packed(&three[..12], 200), None, "its second block is cut");
    }
}
