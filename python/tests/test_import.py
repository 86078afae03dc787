"""What `import taugraph` imports, and what it leaves for later."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import taugraph

# Each takes longer than all of taugraph, and some longer than a fit.
SLOW = ("sklearn", "scipy", "pandas", "matplotlib", "scanpy", "anndata", "tqdm", "networkx", "igraph", "pyarrow", "polars")


def slow_modules_after(code: str) -> list[str]:
    """The slow packages that a fresh interpreter has imported after this code."""
    told = f"import sys\n{code}\nprint(*[name for name in {SLOW!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize(
    "code",
    [
        "import taugraph",
        "import taugraph; taugraph.__version__, taugraph.exceptions.TaugraphError, dir(taugraph)",
        "import taugraph; taugraph.make_spirals(100, random_state=1), taugraph.params(), taugraph.PRESETS",
        "import taugraph; taugraph.metrics.nmi([0, 1], [0, 1])",
    ],
)
def test_slow_packages_are_not_imported(code: str) -> None:
    assert slow_modules_after(code) == []


def test_an_estimator_imports_what_it_needs() -> None:
    assert "sklearn" in slow_modules_after("import taugraph; taugraph.SpectralClustering")
    assert "sklearn" in slow_modules_after("from taugraph import SpectralClustering")


def test_every_name_is_there() -> None:
    assert dir(taugraph) == sorted(taugraph.__all__)
    for name in taugraph.__all__:
        assert getattr(taugraph, name) is not None
    everything: dict[str, object] = {}
    exec("from taugraph import *", everything)
    assert set(taugraph.__all__) <= set(everything)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        taugraph.nothing


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse(Path(taugraph.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    modules, module_of = taugraph.__dict__["_MODULES"], taugraph.__dict__["_MODULE_OF"]
    assert seen == {**dict.fromkeys(modules), **module_of}
    assert set(seen) | {"__version__", "exceptions"} == set(taugraph.__all__)
