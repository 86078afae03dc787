//! Named arrays and a text as safetensors: eight bytes with the length of a JSON header, the header, then the little-endian
//! values, one array after the other.
//!
//! Every array goes straight from its slice to the writer, and from the reader into its vector.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

use super::{Array, Arrays, Cow, Dtype, Element, Values, shortened};
use crate::error::{Error, Result};
use crate::memory::probe;

/// The longest header that is written or read: 16 MiB.
const MAX_HEADER: usize = 1 << 24;
/// Bytes before the header.
const LENGTH_BYTES: usize = 8;
/// Values converted at once. A stream that claims more than it has is detected before more memory is allocated.
const BLOCK: usize = 1 << 16;
/// The format's key for texts, and the name of ours.
const TEXTS: &str = "__metadata__";
const OUR_TEXT: &str = "taugraph";

impl Arrays<'_> {
    /// Writes the arrays and a text as safetensors. The same arrays and text give the same bytes.
    pub fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        self.encoded(text)?.write(out).map_err(Error::from_io)
    }

    /// The same bytes in memory.
    pub fn to_bytes(&self, text: &str) -> Result<Vec<u8>> {
        let encoded = self.encoded(text)?;
        let mut bytes = Vec::with_capacity(LENGTH_BYTES + encoded.header.len() + encoded.n_data);
        encoded.write(&mut bytes).map_err(Error::from_io)?;
        Ok(bytes)
    }

    /// Wide values first, so that each is aligned to its width.
    fn encoded(&self, text: &str) -> Result<Encoded<'_>> {
        let mut arrays: Vec<(&str, &Array<'_>)> = self.iter().collect();
        arrays.sort_by_key(|(name, array)| (std::cmp::Reverse(array.values.dtype().bytes()), *name));
        let (mut header, mut n_data) = (Vec::new(), 0);
        let entries = arrays.iter().map(|(name, array)| {
            let (dtype, start) = (array.values.dtype(), n_data);
            n_data += array.values.len() * dtype.bytes();
            (*name, NewEntry { dtype, shape: &array.shape, data_offsets: (start, n_data) })
        });
        write_header(text, entries, &mut header).expect("names, numbers and texts are JSON");
        header.resize(header.len().next_multiple_of(LENGTH_BYTES), b' ');
        if header.len() > MAX_HEADER {
            return Err(bad(format!("its header would have {} bytes, more than 16 MiB", header.len())));
        }
        Ok(Encoded { header, arrays, n_data })
    }
}

/// Arrays in the order in which they are written.
struct Encoded<'a> {
    header: Vec<u8>,
    arrays: Vec<(&'a str, &'a Array<'a>)>,
    n_data: usize,
}

impl Encoded<'_> {
    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&(self.header.len() as u64).to_le_bytes())?;
        out.write_all(&self.header)?;
        self.arrays.iter().try_for_each(|(_, array)| match &array.values {
            Values::F64(values) => write_values(values, out),
            Values::F32(values) => write_values(values, out),
            Values::U32(values) => write_values(values, out),
            Values::U64(values) => write_values(values, out),
        })
    }
}

/// What the header says about an array.
#[derive(serde::Serialize)]
struct NewEntry<'a> {
    dtype: Dtype,
    shape: &'a [usize],
    data_offsets: (usize, usize),
}

fn write_header<'a>(
    text: &str,
    entries: impl Iterator<Item = (&'a str, NewEntry<'a>)>,
    header: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let mut serializer = serde_json::Serializer::new(header);
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(TEXTS, &BTreeMap::from([(OUR_TEXT, text)]))?;
    for (name, entry) in entries {
        map.serialize_entry(name, &entry)?;
    }
    map.end()
}

fn write_values<T: Element>(values: &[T], out: &mut dyn Write) -> std::io::Result<()> {
    let mut bytes = vec![0; T::BYTES * BLOCK.min(values.len())];
    for block in values.chunks(BLOCK) {
        let part = &mut bytes[..T::BYTES * block.len()];
        part.chunks_exact_mut(T::BYTES).zip(block).for_each(|(bytes, value)| value.put(bytes));
        out.write_all(part)?;
    }
    Ok(())
}

impl Arrays<'static> {
    /// Reads what [`Arrays::write`] wrote: the text and the arrays.
    ///
    /// `size` is the number of bytes to read, if known: the header's claims are then compared with it before
    /// anything is allocated, and every vector is allocated once. Without it, vectors grow as values arrive.
    pub fn read(input: &mut dyn Read, size: Option<u64>) -> Result<(String, Self)> {
        let length = read_length(input)?;
        if size.is_some_and(|size| length as u64 > size) {
            return Err(bad(format!("its header claims {length} bytes, more than there are")));
        }
        let Header { text, entries, n_data } = read_header(input, length)?;
        let claimed = ((LENGTH_BYTES + length) as u64).saturating_add(n_data as u64);
        if let Some(size) = size.filter(|&size| size != claimed) {
            return Err(bad(format!("its header describes {claimed} bytes, but it has {size}")));
        }
        let mut arrays = BTreeMap::new();
        for (name, Entry { dtype, shape, .. }) in entries {
            let (count, is_known) = (shape.iter().product(), size.is_some());
            let values = match dtype {
                Dtype::F64 => Values::F64(Cow::Owned(read_values(input, count, is_known)?)),
                Dtype::F32 => Values::F32(Cow::Owned(read_values(input, count, is_known)?)),
                Dtype::U32 => Values::U32(Cow::Owned(read_values(input, count, is_known)?)),
                Dtype::U64 => Values::U64(Cow::Owned(read_values(input, count, is_known)?)),
            };
            arrays.insert(name, Array { shape, values });
        }
        match Read::take(input, 1).read_to_end(&mut Vec::new()).map_err(Error::from_io)? {
            0 => Ok((text, Arrays(arrays))),
            _ => Err(bad("it continues after its last array".into())),
        }
    }

    /// The same from bytes in memory.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<(String, Self)> {
        let size = bytes.len() as u64;
        Self::read(&mut bytes, Some(size))
    }
}

fn bad(problem: String) -> Error {
    Error::BadEncoding { problem }
}

/// An early end means a bad file; anything else is an I/O error.
fn cut(error: std::io::Error, problem: &str) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => bad(problem.to_string()),
        _ => Error::from_io(error),
    }
}

fn read_length(input: &mut dyn Read) -> Result<usize> {
    let mut length = [0; LENGTH_BYTES];
    input.read_exact(&mut length).map_err(|error| cut(error, "it has no header"))?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER as u64 {
        return Err(bad(format!("its header claims {length} bytes, more than the 16 MiB allowed")));
    }
    Ok(length as usize)
}

/// A header whose arrays follow each other without gaps and fill their shapes.
struct Header {
    text: String,
    /// In the order of their values.
    entries: Vec<(String, Entry)>,
    n_data: usize,
}

fn read_header(input: &mut dyn Read, length: usize) -> Result<Header> {
    let mut json = Vec::new();
    Read::take(input, length as u64)
        .read_to_end(&mut json)
        .map_err(|error| cut(error, "it ends within its header"))?;
    if json.len() < length {
        return Err(bad("it ends within its header".into()));
    }
    let json = std::str::from_utf8(&json).map_err(|_| bad("its header is not UTF-8".into()))?;
    if !json.starts_with('{') {
        return Err(bad("it does not begin with a header".into()));
    }
    let raw: RawHeader = serde_json::from_str(json)
        .map_err(|error| bad(format!("its header is wrong: {}", shortened(&error.to_string()))))?;
    let text = raw.texts.and_then(|mut texts| texts.remove(OUR_TEXT));
    let text =
        text.ok_or_else(|| bad("it was not written by taugraph: the header has no text of ours".into()))?;
    let mut entries: Vec<(String, Entry)> = raw.entries.into_iter().collect();
    entries.sort_by_key(|(_, entry)| entry.data_offsets);
    let mut n_data = 0;
    for (name, entry) in &entries {
        let name = shortened(name);
        let (start, end) = entry.data_offsets;
        if start != n_data || end < start {
            return Err(bad(format!(
                "its '{name}' has the offsets {start} to {end}, but must begin at {n_data}"
            )));
        }
        let count =
            entry.shape.iter().try_fold(entry.dtype.bytes(), |product, &axis| product.checked_mul(axis));
        if count != Some(end - start) {
            let n_bytes = end - start;
            return Err(bad(format!("its '{name}' of shape {:?} cannot have {n_bytes} bytes", entry.shape)));
        }
        n_data = end;
    }
    Ok(Header { text, entries, n_data })
}

/// What the header says about an array, with one or two axes.
struct Entry {
    dtype: Dtype,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    dtype: Dtype,
    shape: Axes,
    data_offsets: (usize, usize),
}

/// One or two lengths, and no room for more.
#[derive(serde::Deserialize)]
struct Axes(usize, #[serde(default)] Option<usize>);

/// The header as JSON, read entry by entry: any other form would take many times its size.
#[derive(Default)]
struct RawHeader {
    texts: Option<BTreeMap<String, String>>,
    entries: BTreeMap<String, Entry>,
}

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
                    let repeated = if name == TEXTS {
                        header.texts.replace(map.next_value()?).is_some()
                    } else {
                        let RawEntry { dtype, shape: Axes(first, second), data_offsets } =
                            map.next_value()?;
                        let shape = std::iter::once(first).chain(second).collect();
                        header.entries.insert(name.clone(), Entry { dtype, shape, data_offsets }).is_some()
                    };
                    if repeated {
                        let problem = format!("'{}' occurs twice", shortened(&name));
                        return Err(serde::de::Error::custom(problem));
                    }
                }
                Ok(header)
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// `is_known` means that the input is known to have this many values: then all memory is allocated at once.
fn read_values<T: Element>(input: &mut dyn Read, count: usize, is_known: bool) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let at_once = if is_known { count } else { count.min(BLOCK) };
    probe(T::BYTES.saturating_mul(at_once), "arrays of a file")?;
    values.reserve_exact(at_once);
    let mut block = vec![0; T::BYTES * BLOCK.min(count)];
    while values.len() < count {
        let part = &mut block[..T::BYTES * BLOCK.min(count - values.len())];
        input.read_exact(part).map_err(|error| cut(error, "it ends within its arrays"))?;
        values.extend(part.chunks_exact(T::BYTES).map(T::get));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use safetensors::SafeTensors;

    use super::*;

    const TEXT: &str = "{\"kind\": \"sämple\"}";

    fn sample() -> Arrays<'static> {
        let mut arrays = Arrays::new();
        arrays.put("ids", None, vec![7, 0, u32::MAX]);
        arrays.put("points", Some(2), vec![0.1, -0.0, f64::MAX, 1e-310]);
        arrays.put("offsets", None, vec![u64::MAX]);
        arrays.put("none", Some(5), Vec::<f64>::new());
        arrays
    }

    /// With and without a known size: errors in a stream are found later, but they are found.
    fn read(bytes: &[u8]) -> Result<(String, Arrays<'static>)> {
        let known = Arrays::from_bytes(bytes);
        let unknown = Arrays::read(&mut &bytes[..], None);
        assert_eq!(known.is_ok(), unknown.is_ok());
        known
    }

    fn refusal(bytes: &[u8]) -> String {
        match read(bytes) {
            Err(error @ Error::BadEncoding { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    /// A file with this header and this many bytes after it.
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
    fn arrays_and_text_come_back() {
        let bytes = sample().to_bytes(TEXT).unwrap();
        assert_eq!(bytes.capacity(), bytes.len());
        assert_eq!(read(&bytes).unwrap(), (TEXT.to_string(), sample()));
        assert_eq!(Arrays::read(&mut &bytes[..], None).unwrap().1, sample());
        let mut written = Vec::new();
        sample().write(TEXT, &mut written).unwrap();
        assert_eq!(written, bytes);
    }

    #[test]
    fn the_safetensors_crate_reads_what_is_written_and_writes_what_is_read() {
        let bytes = sample().to_bytes(TEXT).unwrap();
        let theirs = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(theirs.len(), 4);
        let points = theirs.tensor("points").unwrap();
        assert_eq!((points.dtype(), points.shape()), (safetensors::Dtype::F64, &[2, 2][..]));
        assert_eq!(points.data()[..8], 0.1f64.to_le_bytes());
        let texts = [("taugraph".to_string(), TEXT.to_string())].into_iter().collect();
        let again = safetensors::serialize(theirs.iter(), Some(texts)).unwrap();
        assert_eq!(read(&again).unwrap(), (TEXT.to_string(), sample()));
    }

    #[test]
    fn bytes_cut_anywhere_are_refused() {
        let bytes = sample().to_bytes(TEXT).unwrap();
        for length in 0..bytes.len() {
            refusal(&bytes[..length]);
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(refusal(&longer).contains("but it has"));
        let said = Arrays::read(&mut &longer[..], None).unwrap_err().to_string();
        assert!(said.contains("it continues after its last array"), "{said}");
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
            (file("[]", 0), "does not begin with a header"),
            (file("{}", 0), "it was not written by taugraph"),
            (file("{\"__metadata__\":{\"other\":\"\"}}", 0), "it was not written by taugraph"),
            (file("{\"__metadata__\":{\"taugraph\":1}}", 0), "its header is wrong"),
            (file("{\"__metadata__\":{\"taugraph\":\"", 0), "its header is wrong"),
            (file(&"{\"a\":".repeat(5000), 0), "its header is wrong"),
            (with_arrays(&one("F16", "[4]", "[0,8]"), 8), "unknown variant `F16`"),
            (with_arrays(&one("F64", "[]", "[0,8]"), 8), "its header is wrong"),
            (with_arrays(&one("F64", "[1,1,1]", "[0,8]"), 8), "its header is wrong"),
            (with_arrays(&one("F64", "[-1]", "[0,8]"), 8), "its header is wrong"),
            (with_arrays(&one("F64", "[1]", "[8,0]"), 8), "its 'a' has the offsets 8 to 0"),
            (with_arrays(&one("F64", "[1]", "[8,16]"), 16), "but must begin at 0"),
            (with_arrays(&one("F64", "[2]", "[0,8]"), 8), "its 'a' of shape [2] cannot have 8 bytes"),
            (with_arrays(&one("F64", "[1]", "[0,7]"), 7), "cannot have 7 bytes"),
            (with_arrays(&one("F64", "[1000000000000]", "[0,8000000000000]"), 8), "describes 8000000000"),
            (
                with_arrays(&one("F64", "[2305843009213693951]", "[0,18446744073709551608]"), 8),
                "describes 18446744073709551615",
            ),
            (with_arrays(&one("F64", "[18446744073709551615,2]", "[0,8]"), 8), "cannot have 8 bytes"),
            (with_arrays(&two(&one("F64", "[1]", "[4,12]")), 12), "but must begin at 8"),
            (with_arrays(&two(&one("F64", "[1]", "[16,24]")), 24), "but must begin at 8"),
            (
                with_arrays(&(one("F64", "[0]", "[0,0]") + "," + &one("F64", "[0]", "[0,0]")), 0),
                "'a' occurs twice",
            ),
            (file("{\"__metadata__\":{\"taugraph\":\"\"},\"__metadata__\":{}}", 0), "occurs twice"),
        ] {
            let said = refusal(&bytes);
            assert!(said.starts_with("not readable as safetensors: ") && said.contains(problem), "{said}");
        }
        let mut not_text = file("{\"__metadata__\":{\"taugraph\":\"?\"}}", 0);
        let place = not_text.iter().position(|&byte| byte == b'?').unwrap();
        not_text[place] = 0xff;
        assert!(refusal(&not_text).contains("not UTF-8"));
    }

    #[test]
    fn a_header_that_could_not_be_read_is_not_written() {
        let mut out = Vec::new();
        let refused = Arrays::new().write(&"x".repeat(MAX_HEADER), &mut out).unwrap_err();
        assert!(out.is_empty() && refused.to_string().contains("more than 16 MiB"), "{refused}");
    }

    /// A reader and writer that fails with this kind of error.
    struct Broken(std::io::ErrorKind);

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }
    }

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn failing_readers_and_writers_are_told_apart_from_bad_bytes() {
        use std::io::ErrorKind::{BrokenPipe, PermissionDenied};
        let read = Arrays::read(&mut Broken(PermissionDenied), None).unwrap_err();
        assert!(matches!(read, Error::Io { kind: PermissionDenied, .. }), "{read:?}");
        let written = sample().write("", &mut Broken(BrokenPipe)).unwrap_err();
        assert_eq!(std::io::Error::from(written).kind(), BrokenPipe);
    }

    proptest! {
        #[test]
        fn values_keep_their_bits(bits in prop::collection::vec(any::<u64>(), 0..40)) {
            let values: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
            let mut arrays = Arrays::new();
            arrays.put("x", None, &values[..]);
            let (_, mut back) = Arrays::from_bytes(&arrays.to_bytes("").unwrap()).unwrap();
            let back = back.take::<f64>("x", &[values.len()]).unwrap();
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
