"""The HTML report of a fit: the same as the program's."""

from __future__ import annotations

import json
import pickle
import subprocess

import numpy as np
import pytest

import taugraph


def data_of(page: str) -> dict:
    """What the page shows."""
    return json.loads(page.split('id="data">')[1].split("</script>")[0])


def test_the_page_is_the_programs(program, tmp_path, spirals):
    X, _ = spirals
    np.save(tmp_path / "x.npy", X)
    line = ["cluster", tmp_path / "x.npy", "--clusters", "2", "--seed", "1", "--quiet", "--output", tmp_path / "l.npy", "--report", tmp_path / "p.html"]
    done = subprocess.run([program, *map(str, line)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    estimator = taugraph.SpectralClustering(2, random_state=1).fit(X)
    page = estimator.report(tmp_path / "own.html", X)
    assert (tmp_path / "own.html").read_text() == page
    assert not list(tmp_path.glob(".taugraph-*"))
    own, programs = data_of(page), data_of((tmp_path / "p.html").read_text())
    assert own.keys() == programs.keys() and {"layouts", "edges", "steps"} <= own.keys()
    for key in ("layouts", "edges", "steps", "points"):
        assert own[key] == programs[key], key
    # The front ends differ in names of columns, times and settings; the rest is the same to the last bit.
    for name in ("decay", "scales", "eigenvalues", "comparison"):
        assert own["panels"][name] == programs["panels"][name], name


def test_every_estimator_with_a_page(tmp_path, blobs):
    X, y = blobs
    few = np.where(np.arange(len(y)) % 30 == 0, y, -1)
    for estimator in (taugraph.RobustGraph(), taugraph.SpectralClustering(4), taugraph.LabelPropagation()):
        fitted = estimator.fit(X, few) if isinstance(estimator, taugraph.LabelPropagation) else estimator.fit(X)
        page = fitted.report(X=X, ids=[f"row {i}" for i in range(len(X))], labels=y)
        assert page.startswith("<!doctype html>") and "row 17" in page
        assert "iframe" in fitted._repr_html_()
        with pytest.raises(taugraph.exceptions.NeedsPointsError, match="fit again"):
            pickle.loads(pickle.dumps(fitted)).report()


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path, blobs):
    fitted = taugraph.SpectralClustering(2).fit(blobs[0])
    with pytest.raises(OSError):
        fitted.report(tmp_path / "nowhere" / "page.html")
    assert list(tmp_path.iterdir()) == []
