//! Named arrays and a text in one file, as safetensors: eight bytes with the length of a JSON header, the header, the values in
//! little endian, one array behind the other.
//!
//! The header is that of the safetensors crate. Its readers and writers want a whole file as bytes in memory; here every array
//! goes straight from its slice to the file and from the file into its vector.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Read, Write};

use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::error::{Error, Result, shortened};
use crate::output::Output;
use crate::source::{Source, open_file, unreadable};

/// A longer header is refused, when it is read and when it is written.
const LONGEST_HEADER: usize = 1 << 24;
/// Bytes before the header.
const LENGTH_BYTES: usize = 8;
/// Values on their way at once; a stream that claims more than it holds is noticed before more memory is taken.
const BLOCK: usize = 1 << 16;
/// Where the format keeps texts, and which of them is ours.
const TEXTS: &str = "__metadata__";
const OUR_TEXT: &str = "taugraph";

/// The values of an array, borrowed to be written or owned after they were read.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorValues<'a> {
    /// Double precision.
    F64(Cow<'a, [f64]>),
    /// Whole numbers of 32 bits.
    U32(Cow<'a, [u32]>),
    /// Whole numbers of 64 bits.
    U64(Cow<'a, [u64]>),
}

impl TensorValues<'_> {
    fn len(&self) -> usize {
        match self {
            TensorValues::F64(values) => values.len(),
            TensorValues::U32(values) => values.len(),
            TensorValues::U64(values) => values.len(),
        }
    }

    fn dtype(&self) -> Dtype {
        match self {
            TensorValues::F64(_) => f64::DTYPE,
            TensorValues::U32(_) => u32::DTYPE,
            TensorValues::U64(_) => u64::DTYPE,
        }
    }

    fn write(&self, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
        match self {
            TensorValues::F64(values) => write_values(values, out),
            TensorValues::U32(values) => write_values(values, out),
            TensorValues::U64(values) => write_values(values, out),
        }
    }
}

/// An array of one or two axes, the last axis fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor<'a> {
    shape: Vec<usize>,
    values: TensorValues<'a>,
}

impl<'a> Tensor<'a> {
    /// # Panics
    /// If the shape has not one or two axes, or the values do not fill it.
    pub fn new(shape: Vec<usize>, values: TensorValues<'a>) -> Self {
        assert!(matches!(shape.len(), 1 | 2), "one or two axes");
        assert_eq!(shape.iter().product::<usize>(), values.len(), "values that fill the shape");
        Self { shape, values }
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values.
    pub fn values(&self) -> &TensorValues<'a> {
        &self.values
    }

    /// The values, taken out.
    pub fn into_values(self) -> TensorValues<'a> {
        self.values
    }
}

/// Named arrays, and a text that says what they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tensors<'a> {
    /// What the arrays are; JSON by convention, any text to this format.
    pub metadata: String,
    /// The arrays.
    pub arrays: BTreeMap<String, Tensor<'a>>,
}

/// What an array can hold.
pub trait Element: sealed::Element {}

impl Element for f64 {}
impl Element for u32 {}
impl Element for u64 {}

mod sealed {
    use super::{Cow, Dtype, TensorValues};

    pub trait Element: Copy + 'static {
        const DTYPE: Dtype;
        const BYTES: usize;
        fn put(self, bytes: &mut [u8]);
        fn get(bytes: &[u8]) -> Self;
        fn wrap(values: Vec<Self>) -> TensorValues<'static>;
        fn unwrap(values: TensorValues<'_>) -> Option<Cow<'_, [Self]>>;
    }

    macro_rules! element {
        ($type:ty, $variant:ident) => {
            impl Element for $type {
                const DTYPE: Dtype = Dtype::$variant;
                const BYTES: usize = size_of::<$type>();

                fn put(self, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&self.to_le_bytes());
                }

                fn get(bytes: &[u8]) -> Self {
                    <$type>::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
                }

                fn wrap(values: Vec<Self>) -> TensorValues<'static> {
                    TensorValues::$variant(Cow::Owned(values))
                }

                fn unwrap(values: TensorValues<'_>) -> Option<Cow<'_, [Self]>> {
                    match values {
                        TensorValues::$variant(values) => Some(values),
                        _ => None,
                    }
                }
            }
        };
    }

    element!(f64, F64);
    element!(u32, U32);
    element!(u64, U64);
}

use sealed::Element as _;

impl Tensors<'_> {
    /// Shape of an array. `file` is for the message if there is none of this name.
    pub fn shape(&self, name: &str, file: &str) -> Result<&[usize]> {
        self.arrays.get(name).map(Tensor::shape).ok_or_else(|| malformed(file, format!("it has no '{name}'")))
    }

    /// Takes out an array that must be of this type and shape.
    pub fn take<T: Element>(&mut self, name: &str, shape: &[usize], file: &str) -> Result<Vec<T>> {
        let found = self.shape(name, file)?;
        if found != shape {
            return Err(malformed(file, format!("its '{name}' has shape {found:?}, not {shape:?}")));
        }
        let values = self.arrays.remove(name).expect("its shape was just looked at").values;
        let dtype = values.dtype();
        T::unwrap(values)
            .map(Cow::into_owned)
            .ok_or_else(|| malformed(file, format!("its '{name}' holds {dtype}, not {}", T::DTYPE)))
    }

    /// Writes the file, whole or not at all. The same arrays and text give the same bytes.
    pub fn write(&self, output: &Output) -> Result<()> {
        let arrays = self.in_order_of_the_file();
        let header = self.header(&arrays);
        if header.len() > LONGEST_HEADER {
            let name = match output {
                Output::File(path) => path.display().to_string(),
                Output::Stdout => "standard output".to_string(),
            };
            let problem = format!("a header of {} bytes is too long; it may have 16 MiB", header.len());
            return Err(Error::CannotHold { name, problem });
        }
        output.write(|out| {
            out.write_all(&(header.len() as u64).to_le_bytes())?;
            out.write_all(&header)?;
            arrays.iter().try_for_each(|(_, array)| array.values.write(out))
        })
    }

    /// Wide values first, so that each begins at a multiple of its width.
    fn in_order_of_the_file(&self) -> Vec<(&String, &Tensor<'_>)> {
        let mut arrays: Vec<_> = self.arrays.iter().collect();
        arrays.sort_by_key(|(name, array)| (std::cmp::Reverse(array.values.dtype().bitsize()), *name));
        arrays
    }

    fn header(&self, arrays: &[(&String, &Tensor<'_>)]) -> Vec<u8> {
        let mut end = 0;
        let infos = arrays.iter().map(|(name, array)| {
            let (dtype, start) = (array.values.dtype(), end);
            end += array.values.len() * dtype.bitsize() / 8;
            ((*name).clone(), TensorInfo { dtype, shape: array.shape.clone(), data_offsets: (start, end) })
        });
        let texts = [(OUR_TEXT.to_string(), self.metadata.clone())];
        let header = Metadata::new(Some(texts.into_iter().collect()), infos.collect())
            .expect("arrays that fill their shapes, one behind the other");
        let mut bytes = serde_json::to_vec(&header).expect("names, numbers and texts are JSON");
        bytes.resize(bytes.len().next_multiple_of(LENGTH_BYTES), b' ');
        bytes
    }
}

impl Tensors<'static> {
    /// Whether a file is one of named arrays, by its first bytes. Standard input, which cannot be read twice, is taken for something
    /// else.
    pub fn are_in(source: &Source) -> Result<bool> {
        if *source == Source::Stdin {
            return Ok(false);
        }
        let mut bytes = source.open()?;
        Ok(begins_like_tensors(bytes.fill_buf().map_err(|error| source.unreadable(error))?))
    }

    /// Reads a file that [`Tensors::write`] wrote, gzip and zstd undone.
    pub fn read(source: &Source) -> Result<Self> {
        let name = source.to_string();
        // Only of a plain file the length is known before it is read.
        let size = match source {
            Source::File(path) if !source.is_compressed()? => {
                let data = open_file(path, &name)?.metadata().ok();
                data.filter(std::fs::Metadata::is_file).map(|data| data.len())
            }
            _ => None,
        };
        Self::read_from(source.open()?, size, &name)
    }

    /// The same from any bytes. `size` says how many there are, if that is known: what the header claims is then held against it
    /// before anything is allocated. `name` is for messages.
    pub fn read_from(mut bytes: impl Read, size: Option<u64>, name: &str) -> Result<Self> {
        let length = read_length(&mut bytes, name)?;
        if size.is_some_and(|size| length as u64 > size) {
            return Err(malformed(name, format!("its header claims {length} bytes, more than the file has")));
        }
        let Header { metadata, arrays } = read_header(&mut bytes, length, name)?;
        let n_data = arrays.last().map_or(0, |(_, info)| info.data_offsets.1);
        let claimed = (LENGTH_BYTES + length) as u64 + n_data as u64;
        if let Some(size) = size.filter(|&size| size != claimed) {
            return Err(malformed(name, format!("its header describes {claimed} bytes, but it has {size}")));
        }
        let is_sure = size.is_some();
        let mut found = Tensors { metadata, arrays: BTreeMap::new() };
        for (array, TensorInfo { dtype, shape, .. }) in arrays {
            let count = shape.iter().product();
            let values = match dtype {
                Dtype::F64 => f64::wrap(read_values(&mut bytes, count, is_sure, name)?),
                Dtype::U32 => u32::wrap(read_values(&mut bytes, count, is_sure, name)?),
                Dtype::U64 => u64::wrap(read_values(&mut bytes, count, is_sure, name)?),
                other => {
                    let problem =
                        format!("its '{}' holds {other}, which is not read", shortened(array.as_bytes()));
                    return Err(malformed(name, problem));
                }
            };
            found.arrays.insert(array, Tensor { shape, values });
        }
        match bytes.read(&mut [0]).map_err(|error| unreadable(name, error))? {
            0 => Ok(found),
            _ => Err(malformed(name, "it goes on behind its last array".into())),
        }
    }
}

/// Whether a file begins like one of named arrays: no text has the zeros of a short length.
pub(crate) fn begins_like_tensors(start: &[u8]) -> bool {
    let Some((length, rest)) = start.split_first_chunk::<LENGTH_BYTES>() else { return false };
    u64::from_le_bytes(*length) <= LONGEST_HEADER as u64 && rest.first() == Some(&b'{')
}

fn malformed(name: &str, problem: String) -> Error {
    Error::Malformed { name: name.to_string(), format: "safetensors", problem }
}

fn cut(name: &str, error: std::io::Error, problem: &str) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => malformed(name, problem.to_string()),
        _ => unreadable(name, error),
    }
}

fn read_length(bytes: &mut impl Read, name: &str) -> Result<usize> {
    let mut length = [0; LENGTH_BYTES];
    bytes.read_exact(&mut length).map_err(|error| cut(name, error, "it has no header"))?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER as u64 {
        return Err(malformed(
            name,
            format!("its header claims {length} bytes, more than the 16 MiB allowed"),
        ));
    }
    Ok(length as usize)
}

/// What the header says; arrays in the order of the file.
struct Header {
    metadata: String,
    arrays: Vec<(String, TensorInfo)>,
}

fn read_header(bytes: &mut impl Read, length: usize, name: &str) -> Result<Header> {
    let mut text = Vec::new();
    bytes.take(length as u64).read_to_end(&mut text).map_err(|error| unreadable(name, error))?;
    if text.len() < length {
        return Err(malformed(name, "it ends within its header".into()));
    }
    let text = std::str::from_utf8(&text).map_err(|_| malformed(name, "its header is not UTF-8".into()))?;
    if !text.starts_with('{') {
        return Err(malformed(name, "it does not begin like one".into()));
    }
    let raw: RawHeader = serde_json::from_str(text)
        .map_err(|error| malformed(name, format!("its header is wrong: {error}")))?;
    let no_text = || malformed(name, "taugraph did not write it: the header has no text of ours".into());
    let metadata = raw.texts.and_then(|mut texts| texts.remove(OUR_TEXT)).ok_or_else(no_text)?;
    let mut arrays: Vec<(String, TensorInfo)> = raw.arrays.into_iter().collect();
    arrays.sort_by_key(|(_, info)| info.data_offsets);
    // Without gaps and overlaps, and every shape as long as its bytes.
    Metadata::new(None, arrays.clone()).map_err(|error| malformed(name, error.to_string()))?;
    Ok(Header { metadata, arrays })
}

/// The header as JSON. Read entry by entry, because deriving it would hold all of it in a form many times its size.
#[derive(Default)]
struct RawHeader {
    texts: Option<BTreeMap<String, String>>,
    arrays: BTreeMap<String, TensorInfo>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInfo {
    dtype: Dtype,
    shape: Axes,
    data_offsets: (usize, usize),
}

/// One or two lengths, and no room for more.
#[derive(Deserialize)]
struct Axes(usize, #[serde(default)] Option<usize>);

impl<'de> Deserialize<'de> for RawHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = RawHeader;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names of arrays")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<RawHeader, M::Error> {
                let mut header = RawHeader::default();
                while let Some(name) = map.next_key::<String>()? {
                    let is_known = if name == TEXTS {
                        header.texts.replace(map.next_value()?).is_some()
                    } else {
                        let RawInfo { dtype, shape: Axes(first, second), data_offsets } = map.next_value()?;
                        let shape = std::iter::once(first).chain(second).collect();
                        header
                            .arrays
                            .insert(name.clone(), TensorInfo { dtype, shape, data_offsets })
                            .is_some()
                    };
                    if is_known {
                        let name = shortened(name.as_bytes());
                        return Err(serde::de::Error::custom(format!("'{name}' is there twice")));
                    }
                }
                Ok(header)
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

fn write_values<T: Element>(values: &[T], out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let mut bytes = vec![0; T::BYTES * BLOCK.min(values.len())];
    for block in values.chunks(BLOCK) {
        let part = &mut bytes[..T::BYTES * block.len()];
        part.chunks_exact_mut(T::BYTES).zip(block).for_each(|(bytes, value)| value.put(bytes));
        out.write_all(part)?;
    }
    Ok(())
}

/// `is_sure` says that the file is known to hold so many values: all memory is taken at once then, and little by little otherwise.
fn read_values<T: Element>(bytes: &mut impl Read, count: usize, is_sure: bool, name: &str) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let at_once = if is_sure { count } else { count.min(BLOCK) };
    values
        .try_reserve_exact(at_once)
        .map_err(|_| malformed(name, "there is not enough memory for it".into()))?;
    let mut block = vec![0; T::BYTES * BLOCK.min(count)];
    while values.len() < count {
        let part = &mut block[..T::BYTES * BLOCK.min(count - values.len())];
        bytes.read_exact(part).map_err(|error| cut(name, error, "it ends within its arrays"))?;
        values.extend(part.chunks_exact(T::BYTES).map(T::get));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use safetensors::SafeTensors;

    fn sample() -> Tensors<'static> {
        let array = |shape: &[usize], values| Tensor::new(shape.to_vec(), values);
        let arrays = [
            ("ids", array(&[3], TensorValues::U32(Cow::Owned(vec![7, 0, u32::MAX])))),
            ("points", array(&[2, 2], TensorValues::F64(Cow::Owned(vec![0.1, -0.0, f64::MAX, 1e-310])))),
            ("offsets", array(&[1], TensorValues::U64(Cow::Owned(vec![u64::MAX])))),
            ("none", array(&[0, 5], TensorValues::F64(Cow::Owned(vec![])))),
        ];
        let arrays = arrays.into_iter().map(|(name, array)| (name.to_string(), array)).collect();
        Tensors { metadata: "{\"kind\": \"sämple\"}".into(), arrays }
    }

    fn bytes_of(tensors: &Tensors<'_>) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        tensors.write(&Output::new(&path)).unwrap();
        let read = Tensors::read(&Source::new(&path)).unwrap();
        assert_eq!(&read, tensors);
        std::fs::read(path).unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Tensors<'static>> {
        let known = Tensors::read_from(bytes, Some(bytes.len() as u64), "x");
        let unknown = Tensors::read_from(bytes, None, "x");
        // A stream is noticed to be wrong later, but it is noticed.
        assert_eq!(known.is_ok(), unknown.is_ok());
        known
    }

    fn refusal(bytes: &[u8]) -> String {
        match read(bytes) {
            Err(error @ Error::Malformed { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    /// A file with this header and so many bytes behind it.
    fn file(header: &str, n_bytes: usize) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len() + n_bytes, 0);
        bytes
    }

    /// The same around the entries of arrays.
    fn with_arrays(entries: &str, n_bytes: usize) -> Vec<u8> {
        file(&format!("{{\"__metadata__\":{{\"taugraph\":\"\"}},{entries}}}"), n_bytes)
    }

    #[test]
    fn the_safetensors_crate_reads_what_is_written_and_writes_what_is_read() {
        let bytes = bytes_of(&sample());
        assert!(begins_like_tensors(&bytes));
        let theirs = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(theirs.len(), 4);
        let points = theirs.tensor("points").unwrap();
        assert_eq!((points.dtype(), points.shape()), (Dtype::F64, &[2, 2][..]));
        assert_eq!(points.data()[..8], 0.1f64.to_le_bytes());
        let texts = [("taugraph".to_string(), sample().metadata)].into_iter().collect();
        let again = safetensors::serialize(theirs.iter(), Some(texts)).unwrap();
        assert_eq!(read(&again).unwrap(), sample());
    }

    #[test]
    fn arrays_are_taken_by_name_type_and_shape() {
        let mut tensors = sample();
        for (name, shape, problem) in [
            ("nothing", &[3][..], "it has no 'nothing'"),
            ("ids", &[4], "its 'ids' has shape [3], not [4]"),
            ("points", &[4], "its 'points' has shape [2, 2], not [4]"),
        ] {
            let said = tensors.take::<u32>(name, shape, "m").unwrap_err().to_string();
            assert!(said.starts_with("m is not") && said.contains(problem), "{said}");
        }
        assert_eq!(tensors.take::<u32>("ids", &[3], "m").unwrap(), [7, 0, u32::MAX]);
        let said = tensors.take::<u64>("points", &[2, 2], "m").unwrap_err().to_string();
        assert!(said.contains("its 'points' holds F64, not U64"), "{said}");
    }

    #[test]
    fn a_file_cut_anywhere_is_refused() {
        let bytes = bytes_of(&sample());
        for length in 0..bytes.len() {
            refusal(&bytes[..length]);
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(refusal(&longer).contains("but it has"));
        let said = Tensors::read_from(&longer[..], None, "x").unwrap_err().to_string();
        assert!(said.contains("it goes on behind its last array"), "{said}");
    }

    #[test]
    fn hostile_headers_are_refused_with_what_is_wrong() {
        let one = |dtype: &str, shape: &str, offsets: &str| {
            format!("\"a\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{offsets}}}")
        };
        let two = |second: &str| {
            let second = second.replacen("\"a\"", "\"b\"", 1);
            format!("{},{second}", one("F64", "[1]", "[0,8]"))
        };
        for (bytes, problem) in [
            (b"a,b\n1,2\n3,4\n".to_vec(), "more than the 16 MiB"),
            (u64::MAX.to_le_bytes().to_vec(), "more than the 16 MiB"),
            (((1u64 << 24) + 1).to_le_bytes().to_vec(), "more than the 16 MiB"),
            (file("[]", 0), "does not begin like one"),
            (file("{}", 0), "taugraph did not write it"),
            (file("{\"__metadata__\":{\"other\":\"\"}}", 0), "taugraph did not write it"),
            (file("{\"__metadata__\":{\"taugraph\":1}}", 0), "its header is wrong"),
            (file("{\"__metadata__\":{\"taugraph\":\"", 0), "its header is wrong"),
            (file(&"{\"a\":".repeat(5000), 0), "its header is wrong"),
            (with_arrays(&one("F32", "[2]", "[0,8]"), 8), "its 'a' holds F32"),
            (with_arrays(&one("F99", "[2]", "[0,8]"), 8), "F99"),
            (with_arrays(&one("F64", "[]", "[0,8]"), 8), "its header is wrong"),
            (with_arrays(&one("F64", "[1,1,1]", "[0,8]"), 8), "its header is wrong"),
            (with_arrays(&one("F64", "[-1]", "[0,8]"), 8), "its header is wrong"),
            (with_arrays(&one("F64", "[1]", "[8,0]"), 8), "invalid offset"),
            (with_arrays(&one("F64", "[1]", "[8,16]"), 16), "invalid offset"),
            (with_arrays(&one("F64", "[2]", "[0,8]"), 8), "invalid shape"),
            (with_arrays(&one("F64", "[1000000000000]", "[0,8000000000000]"), 8), "describes 8000000000"),
            (with_arrays(&one("F64", "[18446744073709551615,2]", "[0,8]"), 8), "overflow"),
            (with_arrays(&two(&one("F64", "[1]", "[4,12]")), 12), "invalid offset"),
            (with_arrays(&two(&one("F64", "[1]", "[16,24]")), 24), "invalid offset"),
            (
                with_arrays(&(one("F64", "[0]", "[0,0]") + "," + &one("F64", "[0]", "[0,0]")), 0),
                "'a' is there twice",
            ),
        ] {
            let said = refusal(&bytes);
            assert!(
                said.starts_with("x is not a readable safetensors file") && said.contains(problem),
                "{said}"
            );
        }
        let mut not_text = file("{\"__metadata__\":{\"taugraph\":\"?\"}}", 0);
        let place = not_text.iter().position(|&byte| byte == b'?').unwrap();
        not_text[place] = 0xff;
        assert!(refusal(&not_text).contains("not UTF-8"));
    }

    #[test]
    fn a_header_that_could_not_be_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let long = Tensors { metadata: "x".repeat(LONGEST_HEADER), arrays: BTreeMap::new() };
        let refused = long.write(&Output::new(&folder.path().join("x"))).unwrap_err();
        assert!(refused.is_output() && refused.to_string().contains("too long"), "{refused}");
    }

    #[test]
    fn a_compressed_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors.gz");
        sample().write(&Output::new(&path)).unwrap();
        assert_eq!(Tensors::read(&Source::new(&path)).unwrap(), sample());
    }

    proptest! {
        #[test]
        fn values_keep_their_bits(bits in prop::collection::vec(any::<u64>(), 0..40)) {
            let values: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
            let array = Tensor::new(vec![values.len()], TensorValues::F64(Cow::Borrowed(&values)));
            let tensors = Tensors { metadata: String::new(), arrays: [("x".to_string(), array)].into() };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x");
            tensors.write(&Output::new(&path)).unwrap();
            let mut back = Tensors::read(&Source::new(&path)).unwrap();
            let back = back.take::<f64>("x", &[values.len()], "x").unwrap();
            prop_assert_eq!(back.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), bits);
        }

        #[test]
        fn changed_bytes_are_read_or_refused(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let mut bytes = file(
                "{\"__metadata__\":{\"taugraph\":\"\"},\"a\":{\"dtype\":\"U32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}",
                24,
            );
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            let _ = read(&bytes);
        }
    }
}
