//! Headers in a Parquet file, read before the parquet crate reads them.
//!
//! They are written in Thrift's compact protocol. The parquet crate believes what they claim; a few bytes can claim hours of work.

use std::io::Read;

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::ChunkReader;

/// The type of pages that are passed over.
pub(crate) const INDEX_PAGE: u32 = 1;
/// Structures within structures in a header; those of the metadata have eight.
const MAX_DEPTH: usize = 16;

/// The part of a page's header that says how large it is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageHeader {
    pub kind: u32,
    pub plain: u32,
    pub compressed: u32,
}

impl PageHeader {
    /// From Thrift's compact protocol.
    pub fn read(source: &mut impl Read) -> Result<Self> {
        let mut header = Self::default();
        let mut field = 0;
        loop {
            let Some(kind) = next_field(source, &mut field)? else { return Ok(header) };
            match (field, kind) {
                (1..=3, 5) => {
                    let value = varint(source)?;
                    let number = u32::try_from(value >> 1).ok().filter(|_| value & 1 == 0);
                    let number =
                        number.ok_or_else(|| damaged("the header of a page has a negative number"))?;
                    match field {
                        1 => header.kind = number,
                        2 => header.plain = number,
                        _ => header.compressed = number,
                    }
                }
                (4, 5) | (6, 12) => skip(source, kind, 0)?,
                (5 | 7 | 8, 12) => skip_page(source, field)?,
                // The parquet crate takes the types of known fields for granted, and would read something else than we did.
                (1..=8, _) => return Err(damaged("a header has a field of another type")),
                _ => skip(source, kind, 0)?,
            }
        }
    }
}

/// Passes over what the header says about data (5), a dictionary (7) or data of the second version (8).
fn skip_page(source: &mut impl Read, of: i64) -> Result<()> {
    let (n_numbers, truth) = match of {
        5 => (4, None),
        7 => (2, Some(3)),
        _ => (6, Some(7)),
    };
    let mut field = 0;
    while let Some(kind) = next_field(source, &mut field)? {
        let is_right = match field {
            number if (1..=n_numbers).contains(&number) => kind == 5,
            other if Some(other) == truth => matches!(kind, 1 | 2),
            _ => true,
        };
        if !is_right {
            return Err(damaged("a header has a field of another type"));
        }
        skip(source, kind, 1)?;
    }
    Ok(())
}

/// Refuses metadata at the end of a file that the parquet crate must not read, see [`skip`].
pub(crate) fn check_metadata(source: &impl ChunkReader, length: u64) -> Result<()> {
    let bytes = match source.len().checked_sub(8 + length) {
        Some(start) => source.get_bytes(start, length as usize)?,
        // The parquet crate says best what is wrong with it.
        None => return Ok(()),
    };
    if bytes.is_empty() { Ok(()) } else { skip(&mut &bytes[..], 12, 0) }
}

/// The type of the next field; `None` at the end of a structure.
fn next_field(source: &mut impl Read, field: &mut i64) -> Result<Option<u8>> {
    let first = byte(source)?;
    if first == 0 {
        return Ok(None);
    }
    *field = match first >> 4 {
        0 => varint(source)? as i64 >> 1,
        more => field.wrapping_add(i64::from(more)),
    };
    Ok(Some(first & 15))
}

/// Passes over a value.
fn skip(source: &mut impl Read, kind: u8, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(damaged("a header is nested too deeply"));
    }
    match kind {
        // Truth is in the type itself.
        1 | 2 => Ok(()),
        3 => byte(source).map(drop),
        4..=6 => varint(source).map(drop),
        7 => pass(source, 8),
        8 => {
            let length = varint(source)?;
            pass(source, length)
        }
        9 | 10 => {
            let first = byte(source)?;
            let count = if first >> 4 == 15 { varint(source)? } else { u64::from(first >> 4) };
            // The parquet crate takes no byte for truth in a list: a few bytes would keep it busy for hours. No header has such a list.
            if matches!(first & 15, 1 | 2) && count > 0 {
                return Err(damaged("a header has a list of truths"));
            }
            (0..count).try_for_each(|_| skip(source, first & 15, depth + 1))
        }
        12 => {
            let mut field = 0;
            while let Some(kind) = next_field(source, &mut field)? {
                skip(source, kind, depth + 1)?;
            }
            Ok(())
        }
        _ => Err(damaged("a header is not one")),
    }
}

fn pass(source: &mut impl Read, length: u64) -> Result<()> {
    match std::io::copy(&mut source.take(length), &mut std::io::sink())? {
        passed if passed == length => Ok(()),
        _ => Err(damaged("the file ends within a header")),
    }
}

fn byte(source: &mut impl Read) -> Result<u8> {
    let mut byte = [0];
    source.read_exact(&mut byte)?;
    Ok(byte[0])
}

pub(crate) fn varint(source: &mut impl Read) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(source)?;
        value |= u64::from(next & 127) << shift;
        if next < 128 {
            return Ok(value);
        }
    }
    Err(damaged("a number does not end"))
}

/// Counts what is read.
pub(crate) struct Counted<R> {
    pub source: R,
    pub n_read: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.n_read += length as u64;
        Ok(length)
    }
}

pub(crate) fn damaged(problem: &str) -> ParquetError {
    ParquetError::General(problem.to_string())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn headers_are_read_up_to_their_end() {
        // Type 0, 300 bytes, 20 bytes, a structure with a text and a list of bytes, a field far out, the end.
        let bytes = [
            0x15, 0, 0x15, 0xd8, 0x04, 0x15, 40, 0x6c, 0x18, 3, b'a', b'b', b'c', 0x19, 0x23, 1, 2, 0, 0x05,
            100, 2, 0, 99,
        ];
        let mut counted = Counted { source: &bytes[..], n_read: 0 };
        let header = PageHeader::read(&mut counted).unwrap();
        assert_eq!(header, PageHeader { kind: 0, plain: 300, compressed: 20 });
        assert_eq!(counted.n_read as usize, bytes.len() - 1);
        for length in 0..bytes.len() - 1 {
            assert!(PageHeader::read(&mut &bytes[..length]).is_err());
        }
        assert!(PageHeader::read(&mut &[0x15, 1, 0][..]).is_err(), "a negative number");
        assert!(PageHeader::read(&mut &[0x1c; 64][..]).is_err(), "nested without end");
    }

    #[test]
    fn every_kind_of_field_is_passed_over() {
        let header = |field: &[u8]| {
            // The field in question, then the three that count, then the end, and one byte more.
            let mut bytes = field.to_vec();
            bytes.extend([0x05, 2, 0, 0x15, 14, 0x15, 6, 0, 99]);
            let mut counted = Counted { source: &bytes[..], n_read: 0 };
            let read = PageHeader::read(&mut counted).ok();
            read.filter(|_| counted.n_read as usize == bytes.len() - 1)
        };
        let expected = PageHeader { kind: 0, plain: 7, compressed: 3 };
        for field in [
            &[0x91][..],                           // true
            &[0x92],                               // false
            &[0x93, 200],                          // a byte
            &[0x94, 0x80, 0x01],                   // 16 bits
            &[0x96, 0xff, 0xff, 0x03],             // 64 bits
            &[0x97, 1, 2, 3, 4, 5, 6, 7, 8],       // a floating point number
            &[0x98, 2, 21, 21],                    // a text
            &[0x99, 0x23, 9, 9],                   // a list of two bytes
            &[0x9a, 0x13, 1],                      // a set of one byte
            &[0x99, 0x01],                         // a list of no truths
            &[0x99, 0xf3, 3, 7, 7, 7],             // a list whose length has its own byte
            &[0x99, 0x1c, 0x15, 8, 0],             // a list of one structure
            &[0x9c, 0x2c, 0x13, 5, 0, 0x13, 6, 0], // a structure with a structure
        ] {
            assert_eq!(header(field).as_ref(), Some(&expected), "{field:?}");
        }
        for field in
            [&[0x9b, 0][..], &[0x9d], &[0x9f, 1], &[0x99, 0x10, 0], &[0x99, 0x11, 1], &[0x9a, 0x12, 1]]
        {
            assert_eq!(header(field), None, "no such type, or a list of truths: {field:?}");
        }
    }

    /// Two billion truths in the metadata, which the parquet crate would count one by one.
    #[test]
    fn metadata_that_claims_billions_of_truths_is_refused() {
        let file = |metadata: &[u8]| {
            let length = (metadata.len() as u32).to_le_bytes();
            Bytes::from([b"PAR1", metadata, &length, b"PAR1"].concat())
        };
        let truths = [0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
        let options = crate::ReadOptions::numbers();
        for metadata in [[&[0xf9][..], &truths, &[0]].concat(), [&[0xf9, 0x19][..], &truths, &[0]].concat()] {
            let said = crate::read_parquet(file(&metadata), "x", &options).unwrap_err().to_string();
            assert!(said.contains("a list of truths"), "{said}");
        }
        // The same in the header of a page that is looked at before it is read.
        let page = Bytes::from_static(include_bytes!("../tests/data/truths.parquet"));
        let said = crate::read_parquet(page, "x", &options).unwrap_err().to_string();
        assert!(said.contains("a header has"), "{said}");
        // What is no metadata at all is left to the parquet crate.
        assert!(check_metadata(&file(b""), 0).is_ok() && check_metadata(&file(b""), 99).is_ok());
    }

    #[test]
    fn known_fields_have_their_types() {
        let read = |fields: &[u8]| {
            PageHeader::read(&mut &[&[0x15, 0, 0x15, 14, 0x15, 6][..], fields, &[0]].concat()[..]).is_ok()
        };
        let number = [0x15, 2];
        for (of, n_numbers, more) in [(0x2c, 4, &[][..]), (0x4c, 2, &[0x11]), (0x5c, 6, &[0x12])] {
            let page = |numbers: &[u8], more: &[u8]| read(&[&[of][..], numbers, more, &[0]].concat());
            // Numbers, truth, and a text that nobody knows.
            assert!(page(&number.repeat(n_numbers), &[more, &[0xd8, 1, 7]].concat()), "{of:x}");
            for wrong in 0..n_numbers {
                let mut numbers = number.repeat(n_numbers);
                numbers[2 * wrong] = 0x16;
                assert!(!page(&numbers, more), "{of:x}: {wrong}");
            }
            if !more.is_empty() {
                assert!(!page(&number.repeat(n_numbers + 1), &[]), "{of:x}: no truth");
            }
        }
        assert!(read(&[0x15, 9]) && read(&[0x3c, 0]), "a checksum, an index");
        for wrong in [&[0x16, 9][..], &[0x25, 9], &[0x35, 9], &[0x45, 9], &[0x55, 9]] {
            assert!(!read(wrong), "{wrong:?}");
        }
        assert!(PageHeader::read(&mut &[0x16, 0, 0][..]).is_err());
    }

    #[test]
    fn numbers_end() {
        assert_eq!(
            varint(&mut &[0xff; 9].iter().chain(&[1]).copied().collect::<Vec<_>>()[..]).unwrap(),
            u64::MAX
        );
        assert_eq!(varint(&mut &[0x80, 0x80, 0x04][..]).unwrap(), 1 << 16);
        assert!(varint(&mut &[0xff; 64][..]).is_err());
        assert!(varint(&mut &[0x80][..]).is_err());
        // As deep as it may be, and deeper.
        let nested = |depth: usize| [vec![0x9c], vec![0x1c; depth - 1], vec![0; depth + 1]].concat();
        assert!(PageHeader::read(&mut &nested(MAX_DEPTH)[..]).is_ok());
        assert!(PageHeader::read(&mut &nested(MAX_DEPTH + 2)[..]).is_err());
    }
}
