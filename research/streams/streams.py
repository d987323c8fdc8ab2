"""The streams of the stream matrix, in a fixed order.

Settings of the engine are chosen on the streams at even positions (0, 2, 4, ...) and reported on the others. The order was fixed
before any setting was chosen; add new streams at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_circles, make_moons

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "few_labels"))
import sets

SEED = 7

#: Maximum number of test rows that are not in the stream.
TEST_ROWS = 600


@dataclass(frozen=True)
class Stream:
    """A stream of batches.

    Either `labels` rows of the first batch are labeled and none later, or `queries` queries per batch are answered and no row
    arrives with a label."""

    name: str
    load: Callable
    batch: int
    max_rows: int
    labels: int = 0
    queries: int = 0
    shuffled: bool = True


def _text_drift():
    """Embeddings of two topics whose subgroups change along the stream."""
    x, y = sets._embedding("20news")
    parts = [("comp.graphics", "rec.autos"), ("comp.sys.mac.hardware", "rec.motorcycles"),
             ("comp.windows.x", "rec.sport.hockey"), ("comp.os.ms-windows.misc", "rec.sport.baseball")]
    rng = np.random.default_rng(SEED)
    order = [i for pair in parts for i in rng.permutation(np.flatnonzero(np.isin(y, pair)))]
    return x[order], np.array([name.split(".")[0] for name in y[order]])


def _table(path: str):
    table = np.array([line.split(",") for line in sets._lines(path)[1:]], float)
    return table[:, :-1], table[:, -1].astype(int)


def _kdd99():
    lines = sets._text("kdd99/kddcup.data_10_percent.xz").splitlines()
    rng = np.random.default_rng(SEED)
    x, y = sets._one_hot([lines[i].split(",") for i in rng.permutation(len(lines))[:20000]])
    return x, np.where(y == "normal.", "normal", "attack")


def _rings():
    return make_circles(4000, noise=0.12, factor=0.5, random_state=SEED)


def _comp_rec_embeddings():
    x, y = sets._embedding("20news")
    kind = np.array([name.split(".")[0] for name in y])
    keep = np.isin(kind, ("comp", "rec"))
    return x[keep], kind[keep]


def _comp_rec_counts():
    sets.MAX_ROWS, rows = 4000, sets.MAX_ROWS
    try:
        return sets._comp_rec()
    finally:
        sets.MAX_ROWS = rows


def _with_labels(name, load, labels, batch=200, max_rows=2400):
    return Stream(name, load, batch, max_rows, labels=labels)


def _with_queries(name, load, queries, batch=500, max_rows=20000, shuffled=True):
    return Stream(name, load, batch, max_rows, queries=queries, shuffled=shuffled)


ALL = [
    _with_labels("comp-rec, 50 labels", _comp_rec_counts, 50),
    _with_labels("pcmac, 20 labels", lambda: sets._libsvm("text/PCMAC.libsvm.xz"), 20),
    _with_labels("mushrooms, 20 labels", lambda: sets._libsvm("libsvm/mushrooms.xz"), 20),
    _with_labels("kdd99, 9 labels", _kdd99, 9, batch=500, max_rows=6000),
    _with_labels("moons, 10 labels", lambda: make_moons(4000, noise=0.15, random_state=SEED), 10),
    _with_labels("circles, 10 labels", _rings, 10),
    _with_labels("comp-rec embeddings, 30 labels", _comp_rec_embeddings, 30),
    _with_labels("comp-rec, 20 labels", _comp_rec_counts, 20),
    _with_labels("webkb-course, 20 labels", sets._webkb_course, 20, batch=100),
    _with_labels("ibm-mac embeddings, 30 labels", sets.SETS["ibm-mac"], 30),
    _with_labels("banana, 30 labels", lambda: sets._dense_libsvm("raetsch/banana.libsvm.xz"), 30),
    _with_labels("g50c, 30 labels", sets.SETS["g50c"], 30, batch=100),
    _with_labels("adult, 30 labels", sets._adult, 30),
    _with_labels("satimage, 30 labels", sets._satimage, 30),
    _with_labels("usps, 50 labels", sets._usps, 50),
    _with_labels("mnist, 100 labels", sets._mnist, 100),
    _with_labels("sms embeddings, 30 labels", sets.SETS["sms"], 30),
    _with_labels("20news-20 embeddings, 100 labels", sets.SETS["20news-20"], 100, batch=400),
    _with_labels("twonorm, 20 labels", lambda: _table("raetsch/twonorm.csv.xz"), 20),
    _with_labels("text1, 50 labels", sets.SETS["text1"], 50),
    _with_queries("electricity, 10 queries", lambda: _table("streams/elec.csv.xz"), 10, max_rows=45312, shuffled=False),
    _with_queries("sea, 10 queries", lambda: _table("streams/sea_stream.csv.xz"), 10, max_rows=40000, shuffled=False),
    _with_queries("changing newsgroups, 5 queries", _text_drift, 5, batch=200, shuffled=False),
    _with_queries("comp-rec, 5 queries", _comp_rec_counts, 5, batch=200),
    _with_queries("review BetaBlockers, 5 queries", lambda: sets._review("BetaBlockers"), 5, batch=200),
    _with_queries("pcmac, 5 queries", lambda: sets._libsvm("text/PCMAC.libsvm.xz"), 5, batch=200),
    _with_queries("mushrooms, 5 queries", lambda: sets._libsvm("libsvm/mushrooms.xz"), 5, batch=200),
    _with_queries("kdd99, 5 queries", _kdd99, 5),
    _with_queries("moons, 5 queries", lambda: make_moons(4000, noise=0.15, random_state=SEED), 5, batch=200),
    _with_queries("circles, 5 queries", _rings, 5, batch=200),
]


def half(stream: Stream) -> str:
    """The half of a stream: settings are chosen on "decide" and reported on "report"."""
    return "decide" if ALL.index(stream) % 2 == 0 else "report"


def draw(stream: Stream, x, y, number: int):
    """Rows of a draw in order, their classes and a mask of labeled rows; test rows outside of the stream and their classes."""
    rng = np.random.default_rng(100 + number)
    y = np.unique(y, return_inverse=True)[1]
    if sp.issparse(x):
        filled = np.flatnonzero(np.diff(sp.csr_matrix(x).indptr) > 0)
        x, y = x[filled], y[filled]
    order = rng.permutation(len(y)) if stream.shuffled else np.arange(len(y))
    rows = min(stream.max_rows, len(order) - TEST_ROWS // 2) if stream.shuffled else stream.max_rows
    order, unseen = order[:rows], order[rows:][:TEST_ROWS]
    if not stream.shuffled:
        unseen = unseen[:0]
    labeled = np.zeros(len(order), bool)
    if stream.labels:
        # the first batch has all labels, at least one per class
        classes = np.unique(y[order])
        first = [rng.choice(np.flatnonzero(y[order] == c)) for c in classes]
        front = np.concatenate([first, rng.permutation(np.setdiff1d(np.arange(len(order)), first))])
        picked = front[: stream.labels]
        rest = np.setdiff1d(np.arange(len(order)), picked)
        fill = stream.batch - stream.labels
        head = rng.permutation(np.concatenate([picked, rest[:fill]]))
        order = order[np.concatenate([head, rest[fill:]])]
        labeled[: stream.batch] = np.isin(head, picked)
    return x[order], y[order], labeled, x[unseen], y[unseen]
