"""Reads what the program wrote with the libraries people use, and writes the same points and graphs with them.

Prints the arguments under which the program reads each written file.
"""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

run = json.load(open("run.json"))
labels = np.array(run["labels"])

# Tables in every format hold the same numbers.
for kind in ["csv", "tsv", "csv.gz", "csv.zst"]:
    separator = "\t" if kind == "tsv" else ","
    frame = pd.read_csv(f"labels.{kind}", sep=separator)
    assert list(frame.columns) == ["cluster"] and (frame["cluster"] == labels).all(), kind
frame = pd.read_parquet("labels.parquet")
assert frame["cluster"].dtype == np.int64 and (frame["cluster"] == labels).all()
assert (pl.read_parquet("labels.parquet")["cluster"].to_numpy() == labels).all()
array = np.load("labels.npy")
assert array.dtype == np.int64 and array.shape == (400,) and (array == labels).all()
for name, columns in [("scales", ["first_scale", "scale"]), ("embedding", [f"embedding_{i}" for i in (1, 2, 3)])]:
    exact = np.load(f"{name}.npy")
    assert exact.shape == (400, len(columns)) and exact.dtype == np.float64
    assert (pd.read_parquet(f"{name}.parquet")[columns].to_numpy() == exact).all(), name
    assert (pd.read_csv(f"{name}.csv", float_precision="round_trip")[columns].to_numpy() == exact).all(), name
    assert (pa.csv.read_csv(f"{name}.csv").to_pandas()[columns].to_numpy() == exact).all(), name

# Graphs: one matrix, three ways.
graph = sp.load_npz("graph.npz")
assert graph.format == "csr" and graph.shape == (400, 400) and graph.has_sorted_indices
assert abs(graph - graph.T).max() == 0 and graph.diagonal().sum() == 0
assert (scipy.io.mmread("graph.mtx").tocsr() != graph).nnz == 0
for edges in [pd.read_parquet("graph.parquet"), pd.read_csv("graph.csv", float_precision="round_trip")]:
    upper = sp.coo_matrix((edges["weight"], (edges["source"], edges["target"])), shape=graph.shape).tocsr()
    assert (upper + upper.T != graph).nnz == 0
    known = edges["probability"].notna()
    assert edges.loc[known, "probability"].between(0, 1).all() and (edges.loc[known, "distance"] > 0).all()

# The same points and graphs, written by others.
points = pd.read_csv("points.csv", float_precision="round_trip")
features = points.drop(columns="label")
files = []


def add(file, flags=""):
    files.append(f"{file} {flags}".strip())


for compression in ["snappy", "gzip", "zstd", None]:
    features.to_parquet(f"pandas-{compression}.parquet", compression=compression)
    add(f"pandas-{compression}.parquet")
features.set_index(pd.Index(range(1000, 1400))).to_parquet("index.parquet")
add("index.parquet")
pl.from_pandas(features).write_parquet("polars.parquet")
add("polars.parquet")
pa.parquet.write_table(pa.Table.from_pandas(features, preserve_index=False), "groups.parquet", row_group_size=37)
add("groups.parquet")
flat = pa.array(features.to_numpy().ravel())
fixed = pa.FixedSizeListArray.from_arrays(flat, 4)
pa.parquet.write_table(pa.table({"embedding": fixed}), "fixed.parquet")
add("fixed.parquet")
pa.parquet.write_table(pa.table({"id": np.arange(400), "embedding": fixed.cast(pa.list_(pa.float64()))}), "lists.parquet", row_group_size=37)
add("lists.parquet", "--drop id")
pl.DataFrame({"word": ["x"] * 400, "embedding": pl.Series(features.to_numpy())}).write_parquet("array.parquet")
add("array.parquet", "--columns embedding")
np.save("fortran.npy", np.asfortranarray(features.to_numpy()))
add("fortran.npy")
np.savez_compressed("both.npz", X=features.to_numpy(), y=points["label"].to_numpy())
add("both.npz", "--drop y")
features.to_csv("semicolon.csv", sep=";", index=False, quoting=1)
add("semicolon.csv")
features.to_csv("crlf.tsv", sep="\t", index=False, lineterminator="\r\n")
add("crlf.tsv")
with gzip.open("packed.data", "wt") as out:
    features.to_csv(out, index=False, header=False)
add("packed.data")
for name, matrix in [("csc", graph.tocsc()), ("coo", graph.tocoo())]:
    sp.save_npz(f"{name}.npz", matrix)
    add(f"{name}.npz")
scipy.io.mmwrite("general.mtx", graph, symmetry="general")
add("general.mtx")

# Types that are stored as something else; the test asks the program what it sees.
n = 40
types = pa.table(
    {
        "id": pa.array([2**60 + i for i in range(n)], pa.uint64()),
        "unsigned": pa.array([2**32 - 1 - i for i in range(n)], pa.uint32()),
        "decimal": pa.array([__import__("decimal").Decimal(i) / 4 for i in range(n)], pa.decimal128(9, 2)),
        "half": pa.array(np.arange(n, dtype=np.float16) / 8),
        "flag": pa.array([i % 3 == 0 for i in range(n)]),
        "gaps": pa.array([None if i == 5 else float(i) for i in range(n)]),
        "day": pa.array([__import__("datetime").date(2020, 1, 1)] * n),
        "list": pa.array([[i] for i in range(n)]),
        "text": pa.array([f"t{i}" for i in range(n)]).dictionary_encode(),
    }
)
pa.parquet.write_table(types, "types.parquet", store_decimal_as_integer=True)
print("\n".join(files))

# Single precision: the first file holds the same values in double precision.
single = features.to_numpy().astype(np.float32)
np.save("wide.npy", single.astype(np.float64))
np.save("single.npy", single)
np.save("turned-single.npy", np.asfortranarray(single))
np.savez("single.npz", X=single)
pa.parquet.write_table(pa.table({f"x{i}": single[:, i] for i in range(4)}), "single.parquet")
nested = pa.FixedSizeListArray.from_arrays(pa.array(single.ravel()), 4)
pa.parquet.write_table(pa.table({"embedding": nested}), "single-fixed.parquet", compression="zstd")
pl.DataFrame({"embedding": pl.Series(single)}).write_parquet("single-array.parquet")
print("single:\nwide.npy\nsingle.npy\nturned-single.npy\nsingle.npz\nsingle.parquet\nsingle-fixed.parquet\nsingle-array.parquet")
ragged = pa.array([[1.0, 2.0]] * 5 + [[1.0]] + [[2.0, 3.0]] * 5)
pa.parquet.write_table(pa.table({"embedding": ragged}), "ragged.parquet")

# Sparse points: three topics with words of their own and common ones, in every format and order.
random = np.random.default_rng(5)
topics = np.arange(150) % 3
counts = np.zeros((150, 120))
for row, topic in enumerate(topics):
    np.add.at(counts[row], 30 + 30 * topic + random.integers(0, 30, 20), 1)
    np.add.at(counts[row], random.integers(0, 30, 5), 1)
np.save("documents.npy", counts)
documents = sp.csr_matrix(counts)
print("sparse:")
for kind in ["csr", "csc", "coo"]:
    sp.save_npz(f"documents-{kind}.npz", documents.asformat(kind))
    print(f"documents-{kind}.npz")
# Entries of a row in any order, with an explicit zero and one in two parts, are the same matrix.
entries = documents.tocoo()
order = random.permutation(entries.nnz)
rows, columns, values = entries.row[order], entries.col[order], entries.data[order]
empty = np.flatnonzero(counts[0] == 0)[0]
rows, columns = np.append(rows, [rows[0], 0]), np.append(columns, [columns[0], empty])
values = np.append(values, [values[0] / 2, 0.0])
values[0] /= 2
sp.save_npz("documents-parts.npz", sp.coo_array((values, (rows, columns)), shape=documents.shape))
print("documents-parts.npz")
scipy.io.mmwrite("documents.mtx", documents)
print("documents.mtx")
dump_svmlight_file(documents, topics, "documents.svm")
print("documents.svm")
dump_svmlight_file(documents, topics.astype(float), "documents-one.svm", zero_based=False, comment="words")
with open("documents-one.svm", "rb") as plain, gzip.open("documents-one.packed", "wb") as out:
    out.write(plain.read())
print("documents-one.packed")
