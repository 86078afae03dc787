//! The library's arrays under the names of files, and back: for models and for finished stages.

use taugraph::arrays::{Array, Arrays, Values};
use taugraph::error::Result;
use taugraph_io::{Tensor, TensorValues, Tensors};

/// A file of these arrays with a text; the values are lent.
pub fn tensors_of<'a>(metadata: String, arrays: &'a Arrays<'_>) -> Tensors<'a> {
    let lent = arrays.iter().map(|(name, array)| (name.to_string(), tensor(array)));
    Tensors { metadata, arrays: lent.collect() }
}

fn tensor<'a>(array: &'a Array<'_>) -> Tensor<'a> {
    let values = match array.values() {
        Values::F64(values) => TensorValues::F64(values.as_ref().into()),
        Values::U32(values) => TensorValues::U32(values.as_ref().into()),
        Values::U64(values) => TensorValues::U64(values.as_ref().into()),
    };
    Tensor::new(array.shape().to_vec(), values)
}

/// The arrays of a file.
pub fn arrays_of(tensors: Tensors<'static>) -> Result<Arrays<'static>> {
    let mut arrays = Arrays::new();
    for (name, tensor) in tensors.arrays {
        let shape = tensor.shape().to_vec();
        let values = match tensor.into_values() {
            TensorValues::F64(values) => Values::F64(values),
            TensorValues::U32(values) => Values::U32(values),
            TensorValues::U64(values) => Values::U64(values),
        };
        arrays.insert(name, Array::new(shape, values)?);
    }
    Ok(arrays)
}
