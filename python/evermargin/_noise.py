"""Detection of mislabeled rows by cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import indexable

from ._estimators import LASVMClassifier

if TYPE_CHECKING:
    from ._types import RandomStateLike, Sampled


def find_label_issues(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    cv: Any = 5,
    random_state: RandomStateLike = None,
    return_scores: bool = False,
    threshold: float = 0.0,
) -> Sampled:
    """Find rows that are probably mislabeled, the most suspect first.

    Each row is scored by a classifier that was trained without it. A row is a suspect if its margin with
    respect to its own label is below ``threshold``. At 0 these are the rows on the wrong side of the boundary; at
    -1 (with decision values) those on the wrong side by more than the margin, which the command line lists as
    suspects.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Class labels, some of them wrong.
    estimator : object, default=None
        A classifier with ``decision_function`` or ``predict_proba``. The default is ``LASVMClassifier`` with
        ramp loss, which is robust to wrong labels, on standardized features.
    cv : int or splitter, default=5
        Cross-validation splitter; an integer is a number of stratified, shuffled folds.
    random_state : int, RandomState instance or None, default=None
        Controls the folds and the order in which the default classifier visits rows; None is a fixed seed.
    return_scores : bool, default=False
        Whether to return the quality of each label, too, as :func:`label_quality` computes it.
    threshold : float, default=0.0
        Margin below which a row is a suspect; ``inf`` returns all rows.

    Returns
    -------
    suspects : ndarray
        Indices of suspect rows, the smallest margin first.
    scores : ndarray of shape (n_samples,)
        Quality of all labels, from 0 to 1; only if ``return_scores``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from evermargin import find_label_issues
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 60]] = 2
    >>> sorted(find_label_issues(X, y)[:2].tolist())
    [3, 60]
    """
    margin, quality = _margins_and_quality(X, y, estimator, cv, random_state)
    order = np.argsort(margin, kind="stable")
    suspects = order[margin[order] < threshold]
    return (suspects, quality) if return_scores else suspects


def label_quality(
    X: Any, y: ArrayLike, estimator: Any = None, cv: Any = 5, random_state: RandomStateLike = None
) -> np.ndarray:
    """Score how well each label fits its row, by a classifier that was trained without the row.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Class labels.
    estimator : object, default=None
        See :func:`find_label_issues`.
    cv : int or splitter, default=5
        See :func:`find_label_issues`.
    random_state : int, RandomState instance or None, default=None
        Controls the folds and the order in which the default classifier visits rows; None is a fixed seed.

    Returns
    -------
    quality : ndarray of shape (n_samples,)
        Values from 0 to 1, with 1/2 on the boundary: 1/(1 + exp(-2 margin)) with decision values, (1 + margin)/2
        with probabilities. They rank labels, but are not calibrated probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from evermargin import label_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> y[3] = 2
    >>> int(label_quality(X, y).argmin())
    3
    """
    return _margins_and_quality(X, y, estimator, cv, random_state)[1]


def _margins_and_quality(
    X: Any, y: ArrayLike, estimator: Any, cv: Any, random_state: RandomStateLike
) -> tuple[np.ndarray, np.ndarray]:
    """Margin of each held-out row with respect to its label, and the quality of the label."""
    if estimator is None:
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
        estimator = LASVMClassifier(
            loss="ramp", scale="standard", multi="one-vs-rest", random_state=_seed_or_default(random_state)
        )
    X, labels = indexable(X, np.asarray(y))
    check_classification_targets(labels)
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"wrong labels can only be found among two classes or more; found: {classes[0]}")
    folds = _folds(cv, labels, classes, counts, random_state)
    margin, quality = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for train, test in folds.split(X, labels):
        model = clone(estimator).fit(_safe_indexing(X, train), labels[train])
        margin[test], quality[test] = _margins(model, _safe_indexing(X, test), labels[test])
    if np.isnan(margin).any():
        raise ValueError(
            "cv must hold out every row; use a splitter into disjoint folds, such as StratifiedKFold"
        )
    return margin, quality


def _seed_or_default(random_state: RandomStateLike) -> int | np.random.RandomState:
    return 1 if random_state is None else random_state


def _folds(cv: Any, y: np.ndarray, classes: np.ndarray, counts: np.ndarray, random_state: RandomStateLike) -> Any:
    if not isinstance(cv, int):
        return check_cv(cv, y, classifier=True)
    if counts.min() < cv:
        rarest = classes[np.argmin(counts)]
        raise ValueError(f"class {rarest} has {counts.min()} rows, fewer than the {cv} folds: use a smaller cv")
    return StratifiedKFold(cv, shuffle=True, random_state=_seed_or_default(random_state))


def _margins(model: Any, X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Margins of the labels over the best other class, and the qualities of the labels."""
    if not np.isin(y, model.classes_).all():
        raise ValueError("a fold holds out all rows of a class: use a stratified splitter or a smaller cv")
    by_decision = hasattr(model, "decision_function")
    scores = np.asarray(
        model.decision_function(X) if by_decision else model.predict_proba(X), dtype=np.float64
    )
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=1)
    own = np.searchsorted(model.classes_, y)
    row = np.arange(len(y))
    others = scores.copy()
    others[row, own] = -np.inf
    difference = scores[row, own] - others.max(axis=1)
    if by_decision:
        return 0.5 * difference, expit(difference)
    return difference, 0.5 * (1.0 + difference)
