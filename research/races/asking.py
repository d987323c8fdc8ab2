"""Measures the tables of docs/python-active.md: query strategies, density weighting, mislabeled rows.

    python research/races/asking.py strategies [--seeds 40] [--sets moons cancer digits]
    python research/races/asking.py density [--seeds 10]
    python research/races/asking.py noise [--seeds 10]

Needs evermargin with scikit-activeml; cleanlab is included if it is installed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "tests"))

from test_noise import mislabeled, precision
from test_skactiveml import area

from evermargin import active, find_label_issues
from evermargin.skactiveml import DiverseBatch, MarginSampling, RandomSampling, SmallPool, SubmodularBatch


def moons(seed, noise=0.2):
    return datasets.make_moons(500, noise=noise, random_state=seed)


def cancer(seed):
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits(seed):
    X, y = datasets.load_digits(return_X_y=True)
    return X[:1000] / 16, y[:1000] % 2


def circles(seed):
    return datasets.make_circles(500, noise=0.15, factor=0.5, random_state=seed)


def ten_features(seed):
    return datasets.make_classification(500, n_features=10, n_informative=5, random_state=seed)


def wine(seed):
    X, y = datasets.load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), (y == 1).astype(int)


def mean(values):
    values = np.asarray(values)
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def strategies(seeds, sets):
    """Accuracy in the pool loop of scikit-activeml, minus the accuracy of random queries."""
    strategies = [MarginSampling, SmallPool, DiverseBatch, SubmodularBatch, partial(SubmodularBatch, seek="dense")]
    for data in (d for d in (moons, cancer, digits) if d.__name__ in sets):
        for batch, cycles in ((1, 30), (5, 8)):
            run = partial(area, data=data, estimator=SVC(C=10), batch=batch, cycles=cycles)
            random = np.array([run(RandomSampling, seed=s) for s in range(seeds)])
            print(f"{data.__name__} by {batch}: random {random.mean():.4f}", flush=True)
            for strategy in strategies:
                gain = np.array([run(strategy, seed=s) for s in range(seeds)]) - random
                print(f"  {getattr(strategy, '__name__', 'dense')} {mean(gain)}", flush=True)


def single_query_area(strategy, data, seed):
    """Mean accuracy over 25 queries of one row each."""
    X, y = data(seed)
    order = np.random.RandomState(seed).permutation(len(y))
    X, y, half = X[order], y[order], len(y) // 2
    first = np.concatenate([np.flatnonzero(y[:half] == c)[:2] for c in (0, 1)])
    learner, left, scores = active.ActiveLearner(SVC(C=10), strategy, X[first], y[first]), np.arange(half), []
    for step in range(25):
        index, row = learner.query(X[left], random_state=1000 * seed + step)
        learner.teach(row, y[left[index]])
        left = np.delete(left, index)
        scores.append(learner.score(X[half:], y[half:]))
    return np.mean(scores)


def density(seeds):
    """Density weighting on data sets other than those with which it was designed."""
    strategies = (active.random_sampling, active.margin_sampling, active.density_sampling)
    for data in (partial(moons, noise=0.25), circles, ten_features, wine):
        scores = [np.mean([single_query_area(w, data, 100 + s) for s in range(seeds)]) for w in strategies]
        name = getattr(data, "__name__", "moons, noise 0.25")
        print(name, *(f"{w.__name__} {s:.4f}" for w, s in zip(strategies, scores, strict=True)), flush=True)


def quality_by_cleanlab(X, y, model, seed):
    from cleanlab.rank import get_label_quality_scores

    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    probabilities = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    return np.argsort(get_label_quality_scores(y, probabilities))


def noise(seeds):
    """Precision of the first k suspects, where k is the number of wrong labels."""

    def suspects(model, X, y, seed):
        return find_label_issues(X, y, model and model(seed), random_state=seed, threshold=np.inf)

    def scaled(model):
        return make_pipeline(StandardScaler(), model)

    def forest(seed):
        return RandomForestClassifier(random_state=seed)

    rankings = {
        "default": partial(suspects, None),
        "svc, one-vs-rest": partial(suspects, lambda seed: scaled(OneVsRestClassifier(SVC()))),
        "svc": partial(suspects, lambda seed: scaled(SVC())),
        "forest": partial(suspects, forest),
    }
    try:
        import cleanlab  # noqa: F401

        calibrated = CalibratedClassifierCV(SVC(), ensemble=False)
        rankings["cleanlab, svc"] = lambda X, y, seed: quality_by_cleanlab(X, y, scaled(calibrated), seed)
        rankings["cleanlab, forest"] = lambda X, y, seed: quality_by_cleanlab(X, y, forest(seed), seed)
    except ImportError:
        print("cleanlab is not installed and is left out")
    for load in (datasets.load_digits, datasets.load_breast_cancer):
        for name, rank in rankings.items():
            found = []
            for seed in range(seeds):
                X, y, wrong = mislabeled(load, seed)
                found.append(precision(rank(X, y, seed=seed), wrong))
            print(load.__name__, name, mean(found), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=["strategies", "density", "noise"])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--sets", nargs="+", default=["moons", "cancer", "digits"])
    arguments = parser.parse_args()
    if arguments.table == "strategies":
        strategies(arguments.seeds or 40, arguments.sets)
    else:
        {"density": density, "noise": noise}[arguments.table](arguments.seeds or 10)
