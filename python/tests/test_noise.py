"""Detection of mislabeled rows is far better than chance."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from evermargin import find_label_issues, label_quality


def mislabeled(load, seed, share=0.1, max_rows=800):
    """Rows, labels of which a share is wrong, and the indices of the wrong ones."""
    X, y = load(return_X_y=True)
    rng = np.random.RandomState(seed)
    rows = rng.permutation(len(y))[:max_rows]
    X, y = X[rows], y[rows].copy()
    wrong = rng.permutation(len(y))[: round(share * len(y))]
    classes = len(np.unique(y))
    y[wrong] = (y[wrong] + rng.randint(1, classes, len(wrong))) % classes
    return X, y, wrong


def precision(ranked, wrong):
    return np.isin(ranked[: len(wrong)], wrong).mean()


def plain_ranking(X, y, seed):
    """Ranking by the held-out margins of a one-vs-rest SVC without ramp loss."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = make_pipeline(StandardScaler(), OneVsRestClassifier(SVC()))
    f = cross_val_predict(model, X, y, cv=folds, method="decision_function")
    if f.ndim == 1:
        return np.argsort(np.where(y == 1, f, -f))
    own = f[np.arange(len(y)), y]
    f[np.arange(len(y)), y] = -np.inf
    return np.argsort(own - f.max(axis=1))


@pytest.mark.parametrize(("load", "min_precision"), [(load_digits, 0.85), (load_breast_cancer, 0.7)])
def test_wrong_labels_rank_first(load, min_precision):
    ours, plain = [], []
    for seed in range(3):
        X, y, wrong = mislabeled(load, seed)
        ours.append(precision(find_label_issues(X, y, random_state=seed, threshold=np.inf), wrong))
        plain.append(precision(plain_ranking(X, y, seed), wrong))
    assert np.mean(ours) > min_precision, "chance is 0.1"
    assert np.mean(ours) > np.mean(plain) - 0.05


def test_suspects_are_the_rows_on_the_wrong_side():
    X, y, wrong = mislabeled(load_breast_cancer, 0)
    suspects, scores = find_label_issues(X, y, random_state=0, return_scores=True)
    assert np.array_equal(suspects, np.argsort(scores, kind="stable")[: len(suspects)])
    assert (scores[suspects] < 0.5).all() and (np.delete(scores, suspects) >= 0.5).all()
    assert np.isin(wrong, suspects).mean() > 0.8
    assert scores.min() >= 0 and scores.max() <= 1
    strict = find_label_issues(X, y, random_state=0, threshold=-1.0)
    assert len(strict) < len(suspects) and np.array_equal(strict, suspects[: len(strict)])
    assert np.array_equal(scores, label_quality(X, y, random_state=0))


def test_rows_are_scored_by_models_trained_without_them():
    """A model that fits all labels cannot find wrong ones among its training rows; held-out rows are needed."""
    X, y, wrong = mislabeled(load_breast_cancer, 1)
    overfitting = make_pipeline(StandardScaler(), SVC(C=1e6, gamma=10))
    fitted = overfitting.fit(X, y).predict(X) == y
    assert fitted.all()
    assert (
        precision(find_label_issues(X, y, LinearSVC(max_iter=100_000, C=0.01), threshold=np.inf), wrong) > 0.5
    )


def test_quality_is_computed_from_held_out_probabilities():
    X, y = load_iris(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    quality = label_quality(X, y, RandomForestClassifier(random_state=0), cv=folds)
    p = cross_val_predict(RandomForestClassifier(random_state=0), X, y, cv=folds, method="predict_proba")
    own = p[np.arange(150), y]
    p[np.arange(150), y] = -np.inf
    np.testing.assert_allclose(quality, 0.5 * (1 + own - p.max(axis=1)))


def test_accepts_text_labels_and_sparse_rows_reproducibly():
    X, y, _ = mislabeled(load_digits, 0, max_rows=300)
    names = np.array([f"digit {c}" for c in y])
    first = find_label_issues(X, names, random_state=3)
    assert np.array_equal(first, find_label_issues(X, y, random_state=3))
    assert np.array_equal(find_label_issues(X, y), find_label_issues(X, y))
    assert len(find_label_issues(sparse.csr_matrix(X), y)) > 0


def test_wrong_input_is_an_error():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="two classes or more; found: 0"):
        find_label_issues(X[:50], y[:50])
    with pytest.raises(ValueError, match="class 2 has 3 rows, fewer than the 5 folds"):
        find_label_issues(X[:103], y[:103])
    with pytest.raises(ValueError, match="holds out all rows of a class"):
        find_label_issues(X, y, cv=KFold(3))
    with pytest.raises(ValueError, match="NaN"):
        find_label_issues(np.full((10, 2), np.nan), np.arange(10) % 2)
