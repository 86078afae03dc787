"""Models in files: a loaded model gives the same results for new points as the estimator."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import taugraph
from taugraph import exceptions


def test_every_estimator_comes_back(blobs, tmp_path):
    X = pd.DataFrame(blobs[0], columns=list("vwxyz"))
    new, y = X.iloc[:40] + 0.01, blobs[1]
    path = tmp_path / "model.safetensors"

    def loaded(estimator):
        assert estimator.save(path) is estimator
        found = taugraph.load(path)
        assert list(found.feature_names_in_) == list("vwxyz") and found.n_features_in_ == 5
        assert found.origin_["command"] == type(estimator).__name__ and found.origin_["settings"]["params"]["preset"] == "robust"
        return pickle.loads(pickle.dumps(found))

    graph = taugraph.RobustGraph().fit(X)
    assert (loaded(graph).transform(new) != graph.transform(new)).nnz == 0
    clusters = taugraph.SpectralClustering(4).fit(X)
    assert (loaded(clusters).predict(new) == clusters.predict(new)).all()
    embedding = taugraph.SpectralEmbedding(3).fit(X)
    assert (loaded(embedding).transform(new) == embedding.transform(new)).all()
    for labels in (y, y % 2 == 0, y * 1.0, np.array(["a", "b", "c", "d"])[y]):
        model = taugraph.LabelPropagation().fit(X, labels)
        found = loaded(model)
        assert (found.classes_ == model.classes_).all() and found.classes_.dtype.kind == model.classes_.dtype.kind
        assert (found.predict(new) == model.predict(new)).all()
        assert (found.predict_proba(new) == model.predict_proba(new)).all()
    with pytest.raises(exceptions.NeedsPointsError, match="neither"):
        loaded(embedding).predict(new)
    with pytest.raises(exceptions.NeedsPointsError, match="no clusters"):
        loaded(embedding).predict_membership(new)
    with pytest.raises(ValueError, match="feature names"):
        found.predict(new.rename(columns={"v": "other"}))
    # The same model gives the same bytes.
    before = path.read_bytes()
    clusters.save(path)
    taugraph.SpectralClustering(4).fit(X).save(tmp_path / "again.safetensors")
    assert path.read_bytes() == (tmp_path / "again.safetensors").read_bytes() != before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again.safetensors", "model.safetensors"]


def test_sparse_points(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.random((120, 30)) * (rng.random((120, 30)) < 0.2) + np.eye(120, 30))
    model = taugraph.SpectralClustering(3, params={"preparation.standardize": "max-abs"}).fit(X)
    model.save(tmp_path / "m.safetensors")
    assert (taugraph.load(tmp_path / "m.safetensors").predict(X * 1.1) == model.predict(X * 1.1)).all()


def test_what_cannot_be_saved_or_read(blobs, tmp_path):
    graph = taugraph.RobustGraph().fit_transform(blobs[0])
    with pytest.raises(exceptions.NeedsPointsError):
        taugraph.SpectralClustering(4, graph="precomputed").fit(graph).save(tmp_path / "m.safetensors")
    (tmp_path / "m.safetensors").write_bytes(b"nothing of that kind")
    with pytest.raises(exceptions.BadEncodingError):
        taugraph.load(tmp_path / "m.safetensors")
    with pytest.raises(FileNotFoundError):
        taugraph.load(tmp_path / "none.safetensors")
