"""What is written is true: examples run, names and types are those at run time, errors are all there."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import taugraph
from taugraph import exceptions

MODULES = [module.name for module in pkgutil.iter_modules(taugraph.__path__) if module.name != "_core"]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"taugraph.{name}".rstrip("."))
    assert doctest.testmod(module).failed == 0


def code_of(path):
    return "\n".join(re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S))


@pytest.mark.parametrize("name", ["README.md", "docs/PYTHON.md", "python/README.md"])
def test_code_in_documents(name, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    code = code_of(ROOT / name)
    assert code
    exec(compile(code, name, "exec"), {"__name__": "guide"})


def test_every_error_of_the_library_is_an_exception():
    text = (ROOT / "crates/taugraph/src/error.rs").read_text()
    variants = set(re.findall(r"^    ([A-Z]\w+)(?: \{|,|\()", text[text.index("pub enum Error") :], re.M))
    named = {name.removesuffix("Error") for name in exceptions.__all__ if name != "TaugraphError"}
    assert variants == named
    for name in exceptions.__all__:
        assert issubclass(getattr(exceptions, name), exceptions.TaugraphError)


def test_public_names_have_numpydoc():
    for name in taugraph.__all__:
        thing = getattr(taugraph, name)
        if isinstance(thing, type) and hasattr(thing, "fit"):
            listed = set(re.findall(r"\w+", re.search(r"Parameters\n.*?Attributes", thing.__doc__, re.S)[0]))
            assert set(thing().get_params()) <= listed, name
            attributes = thing.__doc__[thing.__doc__.index("Attributes") :]
            assert "LabeledNodes" in attributes, name


def test_documented_attributes_are_there(blobs):
    X, y = blobs
    for estimator in (taugraph.RobustGraph(), taugraph.SpectralClustering(4), taugraph.LabelPropagation(), taugraph.SpectralEmbedding()):
        fitted = estimator.fit(X, y)
        text = re.search(r"Attributes\n.*?LabeledNodes", type(estimator).__doc__, re.S)[0]
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
