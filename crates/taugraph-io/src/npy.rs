//! NumPy's array files (format versions 1 to 3): numbers of every common type, in C or Fortran order.

use std::io::{Read, Write};

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::source::expect_end;
use crate::values::{Number, Values};

/// The first bytes of every such file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
/// numpy writes no longer header.
const LONGEST_HEADER: usize = 1 << 20;
/// Values read at once; a file that claims more than it contains is detected before more memory is allocated.
const BLOCK: usize = 1 << 16;

/// Numbers with a shape, in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<V = Vec<f64>> {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The values, the last axis fastest; whole numbers beyond 2⁵³ are rounded.
    pub values: V,
}

/// How the values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
    /// Text of fixed length in bytes, one number per character.
    Bytes,
    /// The same in UTF-32.
    Unicode,
}

impl Kind {
    fn is_text(self) -> bool {
        matches!(self, Kind::Bytes | Kind::Unicode)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Type {
    kind: Kind,
    bytes: usize,
    is_big: bool,
}

impl Array {
    /// What the values take.
    pub(crate) fn bytes(&self) -> u64 {
        8 * self.values.len() as u64
    }
}

/// Reads one array; nothing may follow it. `name` is for messages.
pub fn read_npy(source: impl Read, name: &str, budget: &Budget) -> Result<Array> {
    let numbers = read::<f64>(source, name, budget)?.filter(|(_, kind)| !kind.is_text());
    Ok(numbers.ok_or_else(|| not_numbers(name))?.0)
}

/// The same in single precision if it holds every number of the array's type.
pub(crate) fn read_numbers(mut source: impl Read, name: &str, budget: &Budget) -> Result<Array<Values>> {
    let described = Description::of_numbers(&mut source, name)?;
    let shape = described.shape.clone();
    let values = match described.fits_single() {
        true => described.read_values::<f32>(source, name, budget)?.into(),
        false => described.read_values::<f64>(source, name, budget)?.into(),
    };
    Ok(Array { shape, values })
}

fn not_numbers(name: &str) -> Error {
    malformed(name, "it contains text or objects; save numbers (float64)".into())
}

/// The text of a zero-dimensional array of text, as scipy writes its formats.
pub(crate) fn read_text(source: impl Read, name: &str, budget: &Budget) -> Result<String> {
    let Some((array, _)) = read::<f64>(source, name, budget)?.filter(|(_, kind)| kind.is_text()) else {
        return Err(malformed(name, "it does not contain the expected text".into()));
    };
    let characters = array.values.iter().map(|&code| char::from_u32(code as u32).unwrap_or('?'));
    Ok(characters.filter(|&character| character != '\0').collect())
}

fn malformed(name: &str, problem: String) -> Error {
    Error::Malformed { name: name.to_string(), format: "NPY", problem }
}

/// `None` for a type that is neither number nor text.
fn read<T: Number>(
    mut source: impl Read,
    name: &str,
    budget: &Budget,
) -> Result<Option<(Array<Vec<T>>, Kind)>> {
    let Some(described) = Description::read(&mut source, name)? else { return Ok(None) };
    let (kind, shape) = (described.kind.kind, described.shape.clone());
    Ok(Some((Array { shape, values: described.read_values(source, name, budget)? }, kind)))
}

/// What the header of an array says.
pub(crate) struct Description {
    kind: Type,
    /// Whether the first axis is the fastest.
    pub is_fortran: bool,
    /// Length of each axis.
    pub shape: Vec<usize>,
    pub n_values: usize,
    /// Where the values begin, in bytes.
    pub begin: u64,
}

impl Description {
    /// Reads the header of an array of numbers and nothing after it.
    pub fn of_numbers(source: &mut impl Read, name: &str) -> Result<Self> {
        Self::if_numbers(source, name)?.ok_or_else(|| not_numbers(name))
    }

    /// The same; `None` for an array of anything else.
    pub fn if_numbers(source: &mut impl Read, name: &str) -> Result<Option<Self>> {
        Ok(Self::read(source, name)?.filter(|array| !array.kind.kind.is_text()))
    }

    /// `None` for a type that is neither number nor text.
    fn read(source: &mut impl Read, name: &str) -> Result<Option<Self>> {
        let (header, begin) = read_header(source, name)?;
        let unclear = || malformed(name, "its header is not that of an array".into());
        let Some(kind) = parse_type(entry(&header, "descr").ok_or_else(unclear)?) else { return Ok(None) };
        let is_fortran = entry(&header, "fortran_order").ok_or_else(unclear)?.starts_with("True");
        let mut shape = parse_shape(entry(&header, "shape").ok_or_else(unclear)?).ok_or_else(unclear)?;
        if kind.kind.is_text() {
            // Each character becomes a value.
            let width = if kind.kind == Kind::Bytes { 1 } else { 4 };
            shape.push(kind.bytes / width);
        }
        let count = shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
        let n_values = count.ok_or_else(|| malformed(name, format!("its shape {shape:?} is too large")))?;
        Ok(Some(Self { kind, is_fortran, shape, n_values, begin }))
    }

    /// Whether the values are floating-point numbers of so many bytes, in the machine's own representation.
    pub fn is_native(&self, bytes: usize) -> bool {
        let is_native = self.kind.is_big == cfg!(target_endian = "big");
        self.kind.kind == Kind::Float && self.kind.bytes == bytes && is_native
    }

    /// Whether single precision is that of the values: floating-point numbers of up to four bytes, and one byte of anything.
    pub fn fits_single(&self) -> bool {
        self.kind.bytes == 1 || (self.kind.kind == Kind::Float && self.kind.bytes <= 4)
    }

    /// Reads all values, in C order; nothing may follow them.
    fn read_values<T: Number>(self, mut source: impl Read, name: &str, budget: &Budget) -> Result<Vec<T>> {
        let bytes = (self.n_values as u64).saturating_mul(size_of::<T>() as u64);
        budget.take(bytes, name)?;
        let mut values = Vec::new();
        self.read_in_blocks(&mut source, name, 1, |block| {
            budget.reserve(&mut values, block.len(), name)?;
            values.extend_from_slice(block);
            Ok(())
        })?;
        expect_end(&mut source, name, "NPY")?;
        if self.is_fortran && !self.kind.kind.is_text() {
            let _turned = budget.hold(bytes, name)?;
            values = in_c_order(&values, &self.shape, name, budget)?;
        }
        Ok(values)
    }

    /// The error for a file that is shorter than its header says.
    pub fn ends_early(&self, name: &str) -> Error {
        malformed(
            name,
            format!("its header announces {} values, but it ends before that many", self.n_values),
        )
    }

    /// Reads all values, in blocks that are multiples of `unit`; they are in the order of the file.
    pub fn read_in_blocks<T: Number>(
        &self,
        source: &mut impl Read,
        name: &str,
        unit: usize,
        mut each: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        let width = match self.kind.kind {
            Kind::Bytes => 1,
            Kind::Unicode => 4,
            _ => self.kind.bytes,
        };
        let at_once = ((BLOCK / unit).max(1) * unit).min(self.n_values);
        let (mut bytes, mut block) = (vec![0; width * at_once], Vec::with_capacity(at_once));
        let mut left = self.n_values;
        while left > 0 {
            let part = &mut bytes[..width * at_once.min(left)];
            source.read_exact(part).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => self.ends_early(name),
                _ => crate::source::unreadable(name, error),
            })?;
            block.clear();
            block.extend(part.chunks_exact(width).map(|bytes| T::rounded(decode(bytes, self.kind))));
            left -= block.len();
            each(&block)?;
        }
        Ok(())
    }
}

/// The header and its length in bytes, including what precedes it.
fn read_header(source: &mut impl Read, name: &str) -> Result<(String, u64)> {
    let cut = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => malformed(name, "it ends within its header".into()),
        _ => crate::source::unreadable(name, error),
    };
    let mut start = [0; 8];
    source.read_exact(&mut start).map_err(cut)?;
    if &start[..6] != MAGIC {
        return Err(malformed(name, "it does not begin like one".into()));
    }
    let (before, length) = if start[6] == 1 {
        let mut bytes = [0; 2];
        source.read_exact(&mut bytes).map_err(cut)?;
        (10, u16::from_le_bytes(bytes) as usize)
    } else {
        let mut bytes = [0; 4];
        source.read_exact(&mut bytes).map_err(cut)?;
        (12, u32::from_le_bytes(bytes) as usize)
    };
    if length > LONGEST_HEADER {
        return Err(malformed(name, format!("its header claims {length} bytes")));
    }
    let mut header = vec![0; length];
    source.read_exact(&mut header).map_err(cut)?;
    let header = String::from_utf8(header).map_err(|_| malformed(name, "its header is not text".into()))?;
    Ok((header, before + length as u64))
}

/// What follows `'key':` in the header, a Python dictionary.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after = [format!("'{key}'"), format!("\"{key}\"")]
        .iter()
        .find_map(|quoted| header.find(quoted.as_str()).map(|place| &header[place + quoted.len()..]))?;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

/// `'<f8'` and its like.
fn parse_type(text: &str) -> Option<Type> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let inner = text[1..].split(quote).next()?;
    let mut characters = inner.chars();
    let order = characters.next()?;
    let (is_big, kind) = match order {
        '<' | '|' | '=' => (false, characters.next()?),
        '>' => (true, characters.next()?),
        _ => return None,
    };
    let bytes: usize = characters.as_str().parse().ok()?;
    let kind = match (kind, bytes) {
        ('f', 2 | 4 | 8) => Kind::Float,
        ('i', 1 | 2 | 4 | 8) => Kind::Signed,
        ('u', 1 | 2 | 4 | 8) => Kind::Unsigned,
        ('b', 1) => Kind::Bool,
        ('S', 1..=4096) => Kind::Bytes,
        ('U', 1..=4096) => return Some(Type { kind: Kind::Unicode, bytes: 4 * bytes, is_big }),
        _ => return None,
    };
    Some(Type { kind, bytes, is_big })
}

/// `(3, 4)`, `(3,)` or `()`.
fn parse_shape(text: &str) -> Option<Vec<usize>> {
    let inner = text.strip_prefix('(')?.split(')').next()?;
    inner
        .split(',')
        .map(str::trim)
        .filter(|length| !length.is_empty())
        .map(|length| length.trim_end_matches('L').parse().ok())
        .collect()
}

fn decode(bytes: &[u8], kind: Type) -> f64 {
    let mut little = [0u8; 8];
    little[..bytes.len()].copy_from_slice(bytes);
    if kind.is_big {
        little[..bytes.len()].reverse();
    }
    let bits = u64::from_le_bytes(little);
    let unused = 64 - 8 * bytes.len() as u32;
    match (kind.kind, bytes.len()) {
        (Kind::Float, 8) => f64::from_bits(bits),
        (Kind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
        (Kind::Float, _) => half(bits as u16),
        (Kind::Signed, _) => ((bits << unused) as i64 >> unused) as f64,
        _ => bits as f64,
    }
}

/// IEEE half precision.
pub(crate) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction / 16_777_216.0,
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        // A power of two from its bits: nothing is promised about the last bit of `powi`, as Miri shows.
        _ => (1.0 + fraction / 1024.0) * f64::from_bits((exponent as u64 + 1023 - 15) << 52),
    }
}

/// From Fortran order (the first axis fastest).
fn in_c_order<T: Number>(values: &[T], shape: &[usize], name: &str, budget: &Budget) -> Result<Vec<T>> {
    let mut turned = Vec::new();
    budget.reserve(&mut turned, values.len(), name)?;
    let mut index = vec![0; shape.len()];
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    turned.extend((0..values.len()).map(|_| {
        let place: usize = index.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
        values[place]
    }));
    Ok(turned)
}

/// Writes the header of an array in C order.
pub(crate) fn write_header(out: &mut impl Write, kind: &str, shape: &[usize]) -> std::io::Result<()> {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut header =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}{comma}), }}", lengths.join(", "));
    // The values begin at a multiple of 64 bytes.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, is_fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
        let order = if is_fortran { "True" } else { "False" };
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut all = MAGIC.to_vec();
        all.extend([1, 0]);
        all.extend((header.len() as u16).to_le_bytes());
        all.extend(header.as_bytes());
        all.extend(bytes);
        all
    }

    fn values(descr: &str, bytes: &[u8]) -> Vec<f64> {
        let count = format!("({},)", bytes.len() / descr[2..].parse::<usize>().unwrap());
        read_npy(&file(descr, false, &count, bytes)[..], "x", Budget::unlimited()).unwrap().values
    }

    #[test]
    fn every_type_is_decoded() {
        assert_eq!(values("<f8", &1.5f64.to_le_bytes()), [1.5]);
        assert_eq!(values(">f8", &1.5f64.to_be_bytes()), [1.5]);
        assert_eq!(values("<f4", &(-0.25f32).to_le_bytes()), [-0.25]);
        assert_eq!(values("<f2", &[0x00, 0x3c, 0x01, 0x00]), [1.0, 1.0 / 16_777_216.0]);
        assert_eq!(values("<i2", &(-3i16).to_le_bytes()), [-3.0]);
        assert_eq!(values(">i8", &(-7i64).to_be_bytes()), [-7.0]);
        assert_eq!(values("|u1", &[200]), [200.0]);
        assert_eq!(values("|b1", &[1, 0]), [1.0, 0.0]);
    }

    /// Single precision is used where it holds every value of a type, and only there.
    #[test]
    fn tables_are_as_precise_as_their_type() {
        for (descr, bytes, is_single) in [
            ("<f4", &(-0.3f32).to_le_bytes()[..], true),
            (">f4", &(-0.3f32).to_be_bytes(), true),
            ("<f2", &[0x00, 0x3c], true),
            ("|i1", &[0xfe], true),
            ("|u1", &[200], true),
            ("|b1", &[1], true),
            ("<i2", &(-3i16).to_le_bytes(), false),
            ("<i4", &7i32.to_le_bytes(), false),
            ("<f8", &0.1f64.to_le_bytes(), false),
        ] {
            let file = file(descr, false, "(1, 1)", bytes);
            let found = read_numbers(&file[..], "x", Budget::unlimited()).unwrap();
            assert_eq!(found.values.is_single(), is_single, "{descr}");
            assert_eq!(found.values.to_f64()[..], values(descr, bytes), "{descr}");
            // Charged by what they take.
            let needed = if is_single { 4 } else { 8 };
            assert!(read_numbers(&file[..], "x", &Budget::of(Some(needed))).is_ok(), "{descr}");
            assert!(read_numbers(&file[..], "x", &Budget::of(Some(needed - 1))).is_err(), "{descr}");
        }
    }

    #[test]
    fn fortran_order_is_turned() {
        let bytes: Vec<u8> = [1.0f64, 4.0, 2.0, 5.0, 3.0, 6.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let array = read_npy(&file("<f8", true, "(2, 3)", &bytes)[..], "x", Budget::unlimited()).unwrap();
        assert_eq!((array.shape, array.values), (vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }

    #[test]
    fn three_axes_are_turned() {
        // In Fortran order the value at (i, j, k) is at i + 2·j + 6·k.
        let bytes: Vec<u8> = (0..24).flat_map(|v| f64::from(v).to_le_bytes()).collect();
        let array = read_npy(&file("<f8", true, "(2, 3, 4)", &bytes)[..], "x", Budget::unlimited()).unwrap();
        let all = (0..2).flat_map(|i| (0..3).flat_map(move |j| (0..4).map(move |k| i + 2 * j + 6 * k)));
        assert_eq!(array.values, all.map(f64::from).collect::<Vec<_>>());
    }

    /// Every number of half precision, counted upwards: each is the one before it and a unit of its last place.
    #[test]
    fn half_precision_has_no_gaps() {
        let (mut value, mut unit) = (0.0, 1.0 / 16_777_216.0);
        for bits in 0..0x7c00 {
            assert_eq!((half(bits), half(bits | 0x8000)), (value, -value), "{bits:x}");
            assert!(half(bits | 0x8000).is_sign_negative());
            value += unit;
            // The unit doubles with every exponent but the first two.
            if bits % 1024 == 1023 && bits > 1024 {
                unit *= 2.0;
            }
        }
        assert_eq!((half(0x7bff), half(0x7c00), half(0xfc00)), (65504.0, f64::INFINITY, f64::NEG_INFINITY));
        assert!((0x7c01..0x8000).all(|bits| half(bits).is_nan() && half(bits | 0x8000).is_nan()));
    }

    #[test]
    fn hostile_headers_are_refused() {
        let huge = file("<f8", false, "(1000000000000, 10)", &[0; 16]);
        let overflow = file("<f8", false, "(18446744073709551615, 18446744073709551615)", &[]);
        for bytes in [
            b"".to_vec(),
            b"\x93NUMPY\x01\x00\xff\xff{".to_vec(),
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(),
            huge,
            overflow,
            file("|O", false, "(1,)", &[]),
            file("<c16", false, "(1,)", &[0; 16]),
            file("<f8", false, "(-1,)", &[0; 16]),
            file("<f8", false, "(3,)", &[0; 16]),
        ] {
            assert!(matches!(read_npy(&bytes[..], "x", Budget::unlimited()), Err(Error::Malformed { .. })));
        }
    }

    #[test]
    fn a_written_header_is_read() {
        let mut bytes = Vec::new();
        write_header(&mut bytes, "<f8", &[2, 1]).unwrap();
        assert_eq!(bytes.len() % 64, 0);
        bytes.extend([1.0f64, 2.0].iter().flat_map(|v| v.to_le_bytes()));
        assert_eq!(read_npy(&bytes[..], "x", Budget::unlimited()).unwrap().values, [1.0, 2.0]);
    }
}
