"""The methods of the few-label matrix. Each gets a `Cell` and returns a class per row; all run with their defaults.

The peers get the preprocessed rows. Semi-supervised estimators of evermargin get the raw rows and `scale=None`, which
chooses a scaling from the data, as the command line does. `SVC` and `LinearSVC` see labeled rows only, from which no
scaling can be chosen, so they get the preprocessed rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sets import DataSet
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

import evermargin as em

try:
    import graphlearning
except Exception as error:  # a missing compiled part raises other errors than ImportError
    graphlearning = None
    GRAPHLEARNING_ERROR = f"{type(error).__name__}: {error}"

#: Costs among which cross-validation chooses for supervised learning; the first of equals wins.
COSTS = (1.0, 10.0, 0.1, 100.0, 0.01, 1000.0)

#: Lower bound on distances in the graph of graphlearning, whose weights are 0/0 for a row with 10 duplicates.
MIN_DISTANCE = 1e-6

#: Neighbors in the graph of graphlearning, which has no default; 10 is the number in its examples.
POISSON_NEIGHBORS = 10


@dataclass
class Cell:
    """A data set with one draw of labels."""

    data: DataSet
    labeled: np.ndarray
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def y(self) -> np.ndarray:
        return self.data.y[self.labeled]

    @property
    def few(self) -> np.ndarray:
        few = np.full(len(self.data.y), -1)
        few[self.labeled] = self.y
        return few


def folds(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Stratified folds of the labels as (training, held out).

    A class with one label keeps it in training. The list is empty if no class has two labels."""
    counts = np.bincount(y)
    several, single = np.flatnonzero(counts[y] > 1), np.flatnonzero(counts[y] == 1)
    if not len(several):
        return []
    split = StratifiedKFold(min(5, counts.max()), shuffle=True, random_state=0).split(several, y[several])
    return [(np.concatenate([several[train], single]), several[test]) for train, test in split]


def _cross_validated(name: str, model) -> Callable[[Cell], np.ndarray]:
    """C by stratified folds; C = 1 with one label per class."""

    def run(cell: Cell) -> np.ndarray:
        x, y = cell.data.scaled[cell.labeled], cell.y
        split = folds(y)
        if not split:
            return clone(model).set_params(C=1.0).fit(x, y).predict(cell.data.scaled)
        search = GridSearchCV(clone(model), {"C": COSTS}, cv=split).fit(x, y)
        cell.facts.setdefault("cross_validated", {})[name] = float(search.best_score_)
        return search.predict(cell.data.scaled)

    return run


def _fixed_cost(model) -> Callable[[Cell], np.ndarray]:
    return lambda cell: clone(model).set_params(C=1.0).fit(cell.data.scaled[cell.labeled], cell.y).predict(cell.data.scaled)


def _label_spreading(cell: Cell) -> np.ndarray:
    return LabelSpreading(kernel="knn").fit(cell.data.scaled, cell.few).transduction_


def _self_training(cell: Cell) -> np.ndarray:
    return SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(cell.data.scaled, cell.few).predict(cell.data.scaled)


def _graphlearning_poisson(cell: Cell) -> np.ndarray:
    search = NearestNeighbors(n_neighbors=POISSON_NEIGHBORS + 1).fit(cell.data.scaled)
    distance, neighbor = search.kneighbors(cell.data.scaled)
    weights = graphlearning.weightmatrix.knn(None, POISSON_NEIGHBORS, knn_data=(neighbor, np.maximum(distance, MIN_DISTANCE)))
    # Its default, conjugate gradients, breaks down where the graph is not connected and the system is singular.
    solver = "conjugate_gradient" if connected_components(weights)[0] == 1 else "gradient_descent"
    return graphlearning.ssl.poisson(weights, solver=solver).fit_predict(cell.labeled, cell.y)


def _supervised(make: Callable[[], Any]) -> Callable[[Cell], np.ndarray]:
    return lambda cell: make().fit(cell.data.scaled[cell.labeled], cell.y).predict(cell.data.scaled)


def _semi_supervised(make: Callable[..., Any]) -> Callable[[Cell], np.ndarray]:
    return lambda cell: make(scale=None, compare=False).fit(cell.data.raw, cell.few).transduction_


def _auto(cell: Cell) -> np.ndarray:
    model = em.AutoSemiSupervised(scale=None).fit(cell.data.raw, cell.few)
    cell.facts["candidates"] = model.candidates_
    cell.facts["estimated_accuracy"] = None if np.isnan(model.estimated_accuracy_) else model.estimated_accuracy_
    cell.facts["supervised_score"] = None if np.isnan(model.supervised_score_) else model.supervised_score_
    return model.transduction_


#: Supervised learners; the better of two is the baseline. C = 1 is for the rule without folds, see README.md.
ALONE = {
    "logistic regression": _cross_validated("logistic regression", LogisticRegression(max_iter=1000)),
    "SVC of scikit-learn": _cross_validated("SVC of scikit-learn", SVC()),
    "logistic regression, C = 1": _fixed_cost(LogisticRegression(max_iter=1000)),
    "SVC of scikit-learn, C = 1": _fixed_cost(SVC()),
}

PEERS = {"LabelSpreading": _label_spreading, "SelfTraining": _self_training}
if graphlearning is not None:
    PEERS["Poisson (graphlearning)"] = _graphlearning_poisson

CANDIDATES = {
    "SVC": _supervised(em.SVC),
    "LinearSVC": _supervised(em.LinearSVC),
    "harmonic": _semi_supervised(lambda **o: em.LabelPropagation(method="harmonic", **o)),
    "spreading": _semi_supervised(lambda **o: em.LabelPropagation(method="spreading", **o)),
    "poisson": _semi_supervised(lambda **o: em.LabelPropagation(method="poisson", **o)),
    "LapRLS": _semi_supervised(em.LapRLS),
    "TSVM": _semi_supervised(em.TSVM),
    "LinearDA": _semi_supervised(em.LinearDA),
    "SubmodularS3VM": _semi_supervised(em.SubmodularS3VM),
}

#: Methods of other packages; their results do not depend on the build of evermargin.
FOREIGN = {**ALONE, **PEERS}

METHODS = {**FOREIGN, "auto": _auto, **CANDIDATES}
