"""Cross-validation with unlabeled rows, which are used for training and never for scoring."""

import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_moons
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from evermargin import LapRLS
from evermargin.model_selection import LabeledKFold, labeled_scorer


@pytest.fixture
def moons():
    X, truth = make_moons(150, noise=0.1, random_state=0)
    y = truth.copy()
    y[np.random.RandomState(0).permutation(150)[:110]] = -1
    return X, y


@pytest.mark.parametrize("missing", [-1, float("nan"), None, "?"])
def test_unlabeled_rows_are_in_every_training_part_and_no_test_part(moons, missing):
    X, codes = moons
    kind = float if missing != missing else (object if missing is None else (str if missing == "?" else int))
    y = np.array(
        [missing if c == -1 else (kind(c) if kind is not object else int(c)) for c in codes], dtype=kind
    )
    folds = LabeledKFold(4, shuffle=True, random_state=1, missing_label=missing)
    known = np.flatnonzero(codes != -1)
    tested = []
    for train, test in folds.split(X, y):
        assert set(np.flatnonzero(codes == -1)) <= set(train)
        assert (codes[test] != -1).all() and not set(train) & set(test)
        assert len(train) + len(test) == 150 and (np.diff(train) > 0).all()
        shares = np.bincount(codes[test], minlength=2), np.bincount(codes[known], minlength=2) / 4
        assert np.abs(np.subtract(*shares)).max() < 1
        tested.extend(test)
    assert sorted(tested) == known.tolist()
    assert folds.get_n_splits() == 4


def test_folds_of_labeled_data_equal_stratified_folds():
    X, y = make_moons(60, random_state=0)
    ours = list(LabeledKFold(3, shuffle=True, random_state=5).split(X, y))
    theirs = list(StratifiedKFold(3, shuffle=True, random_state=5).split(X, y))
    assert all(np.array_equal(a, b) for o, t in zip(ours, theirs, strict=True) for a, b in zip(o, t, strict=True))


class UnlabeledCounter(ClassifierMixin, BaseEstimator):
    """Records the number of unlabeled rows in each call of fit."""

    seen: ClassVar[list[int]] = []

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        UnlabeledCounter.seen.append(int((y == -1).sum()))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_cross_val_score_passes_all_unlabeled_rows_to_fit(moons):
    X, y = moons
    UnlabeledCounter.seen.clear()
    scores = cross_val_score(UnlabeledCounter(), X, y, cv=LabeledKFold(4))
    assert UnlabeledCounter.seen == [110] * 4
    assert scores.mean() == pytest.approx((y[y != -1] == 0).mean(), abs=0.02)


@pytest.mark.parametrize(
    "estimator", [LabelSpreading(gamma=10), LapRLS(), SelfTrainingClassifier(SVC(probability=True))]
)
@pytest.mark.filterwarnings("ignore")
def test_cross_val_score_of_semi_supervised_estimators(moons, estimator):
    X, y = moons
    scores = cross_val_score(estimator, X, y, cv=LabeledKFold(4, shuffle=True, random_state=0))
    assert scores.mean() > 0.8


def test_grid_search_with_unlabeled_rows(moons):
    X, y = moons
    search = GridSearchCV(
        LabelSpreading(max_iter=100),
        {"gamma": [0.01, 10]},
        cv=LabeledKFold(4, shuffle=True, random_state=0),
        scoring=labeled_scorer("balanced_accuracy"),
    ).fit(X, y)
    assert search.best_params_ == {"gamma": 10} and search.best_score_ > 0.9
    assert clone(search).get_params()["cv"] is not None


def test_labeled_scorer_ignores_unlabeled_rows(moons):
    X, y = moons
    model = LabelSpreading(gamma=10).fit(X, y)
    known = y != -1
    expected = accuracy_score(y[known], model.predict(X[known]))
    for scoring in ("accuracy", None, make_scorer(accuracy_score)):
        assert labeled_scorer(scoring)(model, X, y) == expected
    assert accuracy_score(y, model.predict(X)) < 0.5, "unlabeled rows count as errors without the scorer"
    y_nan = np.where(known, y, np.nan)
    assert labeled_scorer("accuracy", missing_label=float("nan"))(model, X, y_nan) == expected
    assert np.isnan(labeled_scorer("accuracy")(model, X[:3], [-1, -1, -1]))
    assert pickle.loads(pickle.dumps(labeled_scorer("accuracy")))(model, X, y) == expected


def test_wrong_input_is_an_error(moons):
    X, y = moons
    with pytest.raises(ValueError, match="needs y"):
        next(LabeledKFold().split(X))
    with pytest.raises(ValueError, match="no row has a label"):
        next(LabeledKFold().split(X, np.full(150, -1)))
    with pytest.raises(ValueError, match="fewer than the 50"):
        next(LabeledKFold(50).split(X, y))
    with pytest.raises(ValueError, match="150 rows and 149 labels"):
        next(LabeledKFold().split(X, y[:149]))
    assert repr(LabeledKFold(3)).startswith("LabeledKFold(n_splits=3")
