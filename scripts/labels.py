"""Label propagation at every share of unlabeled rows: ours and its control beside scikit-learn's and graphlearning's.

    labels.py [--seed N] [--only SECTION ...] [--keep-peers] [OUTPUT]

Prints and writes docs/LABELS.md: shares of unlabeled rows, one label for each class of MNIST, calibration, rows to label next. Draws of
seed 0 are reported; others from 1000 on served the development.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

import taugraph
from bench import DATA, images_of_mnist, own_labels, save
from cluster_sets import real

ROOT = Path(__file__).resolve().parents[1]
SHARES = ["one row", 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 0.99, "all but one of each class"]
# Other readings of sets that are there already; arcene has 10,000 columns and takes longer than all the rest.
LEFT_OUT = {"arcene", "echocardiogram_alive_at_1", "thoracic_surgery_onehot"}


def tables(folder: Path):
    """The paper's sets; the last column is the class, and missing cells get the median."""
    for path in sorted((folder / "tidy").glob("*.csv*")):
        name = path.name.split(".")[0]
        if name in LEFT_OUT:
            continue
        with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
            rows = list(csv.reader(file))[1:]
        X = np.array([[float(cell) if cell else np.nan for cell in row[:-1]] for row in rows])
        X = np.where(np.isnan(X), np.nanmedian(X, 0), X)
        yield name, scaled(X), np.unique([row[-1] for row in rows], return_inverse=True)[1]


def sets():
    for name, load in [("iris", datasets.load_iris), ("digits", datasets.load_digits)]:
        X, y = load(return_X_y=True)
        yield name, scaled(X), y
    folder = os.environ.get("TAUGRAPH_DATA")
    if not folder:
        sys.exit("labels.py needs TAUGRAPH_DATA, the folder with the datasets")
    yield from tables(Path(folder))
    images = next(data for data in real() if data.group == "images")
    yield images.name, images.X, images.y


def scaled(X):
    spread = X.std(0)
    return (X[:, spread > 0] - X.mean(0)[spread > 0]) / spread[spread > 0]


def draws(y, share, rng):
    """Hidden rows, several times. Every class keeps a labeled row."""
    n = len(y)
    classes = [np.flatnonzero(y == label) for label in np.unique(y)]
    often = 3 if n > 1000 else 10
    for _ in range(100 if share == "one row" and n <= 1000 else often):
        kept = np.array([rng.choice(rows) for rows in classes])
        free = np.setdiff1d(np.arange(n), kept)
        size = {"one row": 1, "all but one of each class": len(free)}.get(share) or max(1, round(share * n))
        yield rng.choice(free, min(size, len(free)), replace=False)


def ours(preset):
    def labels(X, y):
        graph = taugraph.RobustGraph(preset=preset, standardize="none")
        return taugraph.LabelPropagation(graph=graph).fit(X, y).transduction_

    return labels


def scikit_learn(model, **params):
    def labels(X, y):
        if params["kernel"] == "rbf" and len(X) > 3000:
            return None
        return model(**params).fit(X, y).transduction_

    return labels


def nearest(X, y):
    known = y >= 0
    found = KNeighborsClassifier(min(5, known.sum())).fit(X[known], y[known])
    return np.where(known, y, found.predict(X))


def graphlearning(rule):
    def labels(X, y):
        import graphlearning as gl

        k = min(10, len(X) - 1)
        distances, ids = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
        weights = gl.weightmatrix.knn(X, k, knn_data=(ids, distances))
        known = np.flatnonzero(y >= 0)
        return getattr(gl.ssl, rule)(weights).fit_predict(known, y[known])

    return labels


METHODS = {
    "taugraph": ours("robust"),
    "its control (p = 1)": ours("constant-control"),
    "LabelPropagation, 7-NN": scikit_learn(LabelPropagation, kernel="knn", n_neighbors=7),
    "LabelSpreading, 7-NN": scikit_learn(LabelSpreading, kernel="knn", n_neighbors=7),
    "LabelPropagation, RBF": scikit_learn(LabelPropagation, kernel="rbf", gamma=20),
    "5 nearest neighbors": nearest,
    "graphlearning, Laplace": graphlearning("laplace"),
    "graphlearning, Poisson": graphlearning("poisson"),
}


def accuracy(method, X, y, hidden):
    given = y.copy()
    given[hidden] = -1
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = method(X, given)
        except Exception as error:  # A peer that fails has no answer there.
            print(f"failed: {error}", file=sys.stderr)
            return np.nan
    return np.nan if found is None else float(np.mean(found[hidden] == y[hidden]))


def one_of_each(y, rng):
    return [rng.choice(np.flatnonzero(y == label)) for label in np.unique(y)]


def not_groups():
    """As many groups as classes, but other ones: a class of two groups, and a group of two classes."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(4), 2000)
    X = 6 * rng.normal(size=(4, 8))[groups] + rng.normal(size=(8000, 8))
    halves = np.where(X[:, 0] > np.median(X[groups == 3, 0]), 3, 2)
    return X, np.where(groups <= 1, 0, np.where(groups == 2, 1, halves))


def one_label(seed):
    """One label for each class of MNIST, all images and an imbalanced part of them."""
    path, values, classes, _ = images_of_mnist()
    # Classes in three groups, of which 100, 30 and 10 % of the images are kept.
    keep = np.random.default_rng(1).random(len(classes)) < np.array([1.0, 0.3, 0.1])[classes % 3]
    few = DATA / "mnist-imbalanced.f64"
    save(few, values[keep], classes[keep])
    other = DATA / "not-groups.f64"
    X, labels = not_groups()
    save(other, X, labels)
    text = [
        "## One label for each class of many points",
        "",
        "MNIST in 50 principal components, 100 draws, harmonic functions; accuracy in percent, mean ± standard deviation over the draws. `default`: each class gets a group where the graph has as many groups as classes, the ladder otherwise. The last set is where that fails: four groups and four classes, but one class is two of the groups, and one group is two classes.",
        "",
        line(["points", "graph", "accuracy", "lowest draw", "draws below 85", "s for a draw"]),
        "|---" * 6 + "|",
    ]
    for name, file, y in ((f"{len(classes):,}", path, classes), (f"imbalanced, {keep.sum():,}", few, classes[keep]), ("classes are not groups, 8,000", other, labels)):
        rng = np.random.default_rng(seed)
        draws_path = DATA / "one-label.txt"
        draws_path.write_text("".join(" ".join(map(str, one_of_each(y, rng))) + "\n" for _ in range(100)))
        for graph, label in (("default", "default"), ("ladder", "ladder only"), ("robust", "robust graph"), ("plain", "its control (p = 1)")):
            _, times, found = own_labels(file, graph, "harmonic", draws_path)
            cells = (f"{100 * found.mean():.1f} ± {100 * found.std(ddof=1):.1f}", f"{100 * found.min():.1f}", str(np.sum(found < 0.85)), f"{np.median(times):.2f}")
            text.append(line([name, label, *cells]))
    return text


def calibration_error(probabilities, truth):
    """Mean distance between confidence and accuracy in ten bins."""
    confidence, right = probabilities.max(1), probabilities.argmax(1) == truth
    bins = np.minimum((10 * confidence).astype(int), 9)
    return sum((bins == b).mean() * abs(confidence[bins == b].mean() - right[bins == b].mean()) for b in np.unique(bins))


def calibration(small, seed):
    """Expected calibration error and log loss on hidden rows, with and without the temperature."""
    text = [
        "## Calibration",
        "",
        "Expected calibration error (ten bins) and mean log loss on the hidden rows, five draws, with the temperature that is fitted on labeled rows left out, and without. Sets with fewer than 20 such rows are left out.",
        "",
        line(["set", "unlabeled", "temperature", "error", "error without", "log loss", "log loss without"]),
        "|---" * 7 + "|",
    ]
    sums = {0.5: [], 0.9: []}
    for name, X, y in small:
        for share in sums:
            rng = np.random.default_rng(seed)
            of_draws = []
            for hidden in list(draws(y, share, rng))[:5]:
                given = y.copy()
                given[hidden] = -1
                cells = []
                for calibrated in ("auto", "no"):
                    graph = taugraph.RobustGraph(standardize="none")
                    model = taugraph.LabelPropagation(graph=graph, params={"propagate.calibration": calibrated}).fit(X, given)
                    found, truth = model.label_distributions_[hidden], np.searchsorted(model.classes_, y[hidden])
                    loss = -np.log(found[np.arange(len(hidden)), truth].clip(1e-6)).mean()
                    cells += [model.temperature_, calibration_error(found, truth), loss]
                if cells[0] is not None:
                    of_draws.append([cells[0], cells[1], cells[4], cells[2], cells[5]])
            if of_draws:
                mean = np.mean(of_draws, 0)
                sums[share].append(mean)
                text.append(line([name, f"{share:.0%}", f"{mean[0]:.2f}", *(f"{value:.3f}" for value in mean[1:])]))
    for share, means in sums.items():
        mean = np.mean(means, 0)
        text.append(line(["**mean**", f"{share:.0%}", f"{mean[0]:.2f}", *(f"{value:.3f}" for value in mean[1:])]))
    return text


def suggestions(small, seed):
    """Accuracy after labeling suggested rows, random rows and those with the smallest margins."""
    text = [
        "## Which row to label next",
        "",
        "Accuracy on the rows without a label, in percent, from one label for each class and then twice as many rows as classes (at least 8): those of `suggest`, random ones (mean of four choices), those with the smallest margins. Means over six draws.",
        "",
        line(["set", "rows added", "before", "suggested", "random", "smallest margins"]),
        "|---" * 6 + "|",
    ]
    means = []
    for name, X, y in small:
        n = max(8, 2 * len(np.unique(y)))
        graph = taugraph.RobustGraph(standardize="none")
        fit = lambda given: taugraph.LabelPropagation(graph=graph).fit(X, given)
        right = lambda model, given: np.mean(model.transduction_[given < 0] == y[given < 0])
        of_draws = []
        for draw in range(6):
            rng = np.random.default_rng([seed, draw])
            given = np.full(len(y), -1)
            rows = one_of_each(y, rng)
            given[rows] = y[rows]
            model = fit(given)

            def after(rows):
                more = given.copy()
                more[rows] = y[rows]
                try:
                    return right(fit(more), more)
                except taugraph.exceptions.UnlabeledClassError:  # Its only point has a copy with another label.
                    return np.nan

            free = np.flatnonzero(given < 0)
            drawn = np.nanmean([after(rng.choice(free, n, replace=False)) for _ in range(4)])
            of_draws.append([right(model, given), after(model.suggest(n)), drawn, after(free[np.argsort(model.margin_[free], kind="stable")[:n]])])
        means.append(np.nanmean(of_draws, 0))
        text.append(line([name, str(n), *map(shown, means[-1])]))
    text.append(line(["**mean**", "", *map(shown, np.mean(means, 0))]))
    return text


def line(cells):
    return "| " + " | ".join(cells) + " |"


def shown(value):
    return "–" if np.isnan(value) else f"{100 * value:.1f}"


def stored_peers(page, names):
    """The columns of the peers from a page written before, by set; nothing if the page has other sets or shares."""
    blocks = dict(block.split("\n", 1) for block in page.read_text().split("\n## ")[1:])
    found = []
    for name in names:
        rows = [row.strip("| ").split(" | ") for row in blocks[name].splitlines() if row.startswith("| ")][1:]
        found.append([[np.nan if cell == "–" else float(cell) / 100 for cell in row[3:]] for row in rows])
    return np.array(found)


def shares(seed, peers_page):
    """Accuracy at every share of unlabeled rows. The answers of the peers may come from a page with the same draws."""
    names, found = [], []
    methods = dict(list(METHODS.items())[:2]) if peers_page else METHODS
    for name, X, y in sets():
        rng = np.random.default_rng(seed)
        names.append(f"{name} ({len(y):,} × {X.shape[1]}, {len(np.unique(y))} classes)")
        of_set = np.full((len(SHARES), len(methods)), np.nan)
        for row, share in enumerate(SHARES):
            hidden = list(draws(y, share, rng))
            for column, method in enumerate(methods.values()):
                of_set[row, column] = np.mean([accuracy(method, X, y, rows) for rows in hidden])
        found.append(of_set)
        print(names[-1], [shown(value) for value in of_set[:, 0]], flush=True)
    found = np.array(found)
    if peers_page:
        found = np.concatenate([found, stored_peers(peers_page, names)], axis=2)
    # Sets on which every method has an answer.
    complete = ~np.isnan(found).any((1, 2))
    means = found[complete].mean(0)
    best = means[:, 2:].max(1)
    of_share = lambda share: share if isinstance(share, str) else f"{share:.0%}"
    lines = [
        f"## Mean over the {complete.sum()} sets on which every method has an answer",
        "",
        line(["unlabeled", *METHODS, "against the best of the others"]),
        "|---" * (len(METHODS) + 2) + "|",
    ]
    for row, share in enumerate(SHARES):
        lines.append(line([of_share(share), *map(shown, means[row]), f"{100 * (means[row, 0] - best[row]):+.1f}"]))
    for name, of_set in zip(names, found):
        lines += ["", f"## {name}", "", line(["unlabeled", *METHODS]), "|---" * (len(METHODS) + 1) + "|"]
        lines += [line([of_share(share), *map(shown, of_set[row])]) for row, share in enumerate(SHARES)]
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output", nargs="?", default=ROOT / "docs" / "LABELS.md", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", metavar="SECTION", help="measure only these of one-label, calibration, suggestions, shares")
    parser.add_argument("--keep-peers", action="store_true", help="take the answers of the peers from the page as it is")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    small = lambda: [(name, X, y) for name, X, y in sets() if len(y) <= 2000]
    sections = {
        "one-label": lambda: one_label(arguments.seed),
        "calibration": lambda: calibration(small(), arguments.seed),
        "suggestions": lambda: suggestions(small(), arguments.seed),
        "shares": lambda: shares(arguments.seed, arguments.output if arguments.keep_peers else None),
    }
    DATA.mkdir(exist_ok=True)
    lines = [
        "# Labels at every share of unlabeled rows",
        "",
        "Written by `make labels`. Accuracy on the hidden rows in percent: the paper's sets (all but arcene), iris, digits and the first 10,000 images of MNIST (50 principal components); z-scored columns, the same draws for every method, each with its defaults.",
        "Every class keeps a labeled row. One hidden row: 100 draws; otherwise ten, three above 1,000 rows.",
    ]
    # A section that was measured is kept: a later one that fails loses nothing.
    for name, measure in sections.items():
        kept = DATA / f"labels-{name}-{arguments.seed}.md"
        if arguments.only is None or name in arguments.only:
            kept.write_text("\n".join(measure()))
        if kept.exists():
            lines += ["", kept.read_text()]
    arguments.output.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
