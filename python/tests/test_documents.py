"""The documentation is true: examples run, names and types match those at run time, all errors are listed."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest
from places import ROOT

import taugraph
from taugraph import _core, exceptions

MODULES = [module.name for module in pkgutil.iter_modules(taugraph.__path__) if module.name != "_core"]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"taugraph.{name}".rstrip("."))
    assert doctest.testmod(module).failed == 0


def code_of(path):
    return "\n".join(re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S))


@pytest.mark.parametrize("name", ["README.md", "docs/DISTRIBUTED.md", "docs/PYTHON.md", "python/README.md"])
def test_code_in_documents(name, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    code = code_of(ROOT / name)
    assert code
    exec(compile(code, name, "exec"), {"__name__": "guide"})


def test_every_error_of_the_library_is_an_exception():
    named = [name for name in exceptions.__all__ if not name.endswith("Warning")]
    assert {name.removesuffix("Error") for name in named if name != "TaugraphError"} == set(_core.error_names())
    for name in named:
        assert issubclass(getattr(exceptions, name), exceptions.TaugraphError)
    assert exceptions.__all__ == sorted(exceptions.__all__)


def test_unknown_names_are_errors_in_the_native_module_too():
    labels = np.zeros(3, dtype=np.uint32)
    made = {"n": 9, "n_columns": 2, "n_blobs": 2, "inner": 0.5, "noise": 0.0, "share": 1.0, "seed": 0}
    given = _core.Input.points(np.random.default_rng(0).random((30, 2)))
    for call, what in (
        (lambda: _core.score("magic", labels, labels), "score"),
        (lambda: _core.generate("magic", density="uniform-angle", **made), "shape"),
        (lambda: _core.generate("spirals", density="magic", **made), "density"),
        (lambda: _core.fit_clusters(given, _core.Config(), (0, 1, None, None), "magic"), "graph"),
        (lambda: _core.Config("magic"), "preset"),
        (lambda: _core.Config().set("graph.estimator", "magic"), "graph.estimator"),
    ):
        with pytest.raises(exceptions.ParameterError, match=f"{what} = magic: must be"):
            call()
    with pytest.raises(exceptions.UnknownParameterError, match="graph.magic"):
        _core.Config().get("graph.magic")


def test_parameters_are_listed():
    listed = {row["path"]: row for row in taugraph.params()}
    assert listed["cluster.kmeans.restarts"]["kind"] == "whole number" and listed["graph.threshold"]["range"]
    assert not {"preset", "seed"} & set(listed)
    assert all(row["meaning"] for row in listed.values())
    for preset in taugraph.PRESETS:
        config = _core.Config(preset)
        for row in taugraph.params(preset):
            if row["only_with"] is None:
                config.set(row["path"], row["default"])
        assert config.to_dict() == _core.Config(preset).to_dict(), preset


def test_public_names_have_numpydoc():
    for name in taugraph.__all__:
        thing = getattr(taugraph, name)
        if isinstance(thing, type) and hasattr(thing, "fit"):
            listed = set(re.findall(r"\w+", re.search(r"Parameters\n.*?Attributes", thing.__doc__, re.S)[0]))
            assert set(thing().get_params()) <= listed, name
            attributes = thing.__doc__[thing.__doc__.index("Attributes") :]
            assert "Examples" in attributes, name


def test_documented_attributes_are_there(blobs):
    X, y = blobs
    for estimator in (
        taugraph.RobustGraph(),
        taugraph.RobustNeighbors(),
        taugraph.SpectralClustering(4),
        taugraph.LabelPropagation(),
        taugraph.LabelSpreading(),
        taugraph.SpectralEmbedding(),
    ):
        fitted = estimator.fit(X, y)
        text = re.search(r"Attributes\n.*?Examples", type(estimator).__doc__, re.S)[0]
        for line in re.findall(r"^    (\w+_(?:, \w+_)*) : ", text, re.M):
            for name in line.split(", "):
                assert hasattr(fitted, name), name


@pytest.mark.parametrize("command", [["mypy", "python/taugraph"], ["mypy.stubtest", "taugraph._core"]])
def test_types(command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_versions_agree():
    assert re.search(rf'^version = "{re.escape(taugraph.__version__)}"', (ROOT / "Cargo.toml").read_text(), re.M)
    assert isinstance(taugraph.PRESETS["robust"]["threshold"], float) and np.isfinite(taugraph.PRESETS["robust"]["threshold"])
