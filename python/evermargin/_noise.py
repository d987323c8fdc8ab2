"""Labels that are probably wrong."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import indexable

from ._estimators import LASVMClassifier


def find_label_issues(
    X, y, estimator=None, cv=5, random_state=None, return_scores: bool = False, threshold: float = 0.0
):
    """Rows whose label is probably wrong, the most suspect first.

    Every row is judged by a classifier that did not see it. A row is a suspect if its margin toward its own
    label is below ``threshold``: 0 is the wrong side of the boundary, -1 (with decision values) the wrong
    side by a whole margin, which is what the command line calls a suspect.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their labels, some of them wrong.
    estimator : object, default=None
        A classifier with ``decision_function`` or ``predict_proba``; by default an online machine with ramp
        loss on standardized features, which wrong labels do not pull.
    cv : int or splitter, default=5
        How rows are held out; a number is of stratified, shuffled folds.
    random_state : int, RandomState instance or None, default=None
        What the folds depend on, and the order in which the default machine learns; None is always the same.
    return_scores : bool, default=False
        Whether to return the quality of each label too, as :func:`label_quality` gives it.
    threshold : float, default=0.0
        Margin below which a row is a suspect; ``inf`` ranks all rows.

    Returns
    -------
    suspects : ndarray
        Numbers of rows, the smallest margin first.
    scores : ndarray of shape (n_samples,)
        With ``return_scores``: quality of all labels, from 0 to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from evermargin import find_label_issues
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[3, 60]] = 2
    >>> sorted(find_label_issues(X, y)[:2].tolist())
    [3, 60]
    """
    margin, quality = _judged(X, y, estimator, cv, random_state)
    order = np.argsort(margin, kind="stable")
    suspects = order[margin[order] < threshold]
    return (suspects, quality) if return_scores else suspects


def label_quality(X, y, estimator=None, cv=5, random_state=None) -> np.ndarray:
    """How well each label goes with its row, judged by a classifier that did not see it.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Their labels.
    estimator : object, default=None
        As of :func:`find_label_issues`.
    cv : int or splitter, default=5
        How rows are held out.
    random_state : int, RandomState instance or None, default=None
        What the folds depend on, and the order in which the default machine learns; None is always the same.

    Returns
    -------
    quality : ndarray of shape (n_samples,)
        From 0 to 1; 1/2 is on the boundary. 1/(1 + exp(-2 margin)) of decision values, (1 + lead)/2 of
        probabilities. It is a rank, not a calibrated probability.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from evermargin import label_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> y[3] = 2
    >>> int(label_quality(X, y).argmin())
    3
    """
    return _judged(X, y, estimator, cv, random_state)[1]


def _judged(X, y, estimator, cv, random_state):
    """Margin of each row toward its label when it was held out, and that as a quality."""
    if estimator is None:
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
        estimator = LASVMClassifier(
            loss="ramp", scale="standard", multi="one-vs-rest", random_state=_whole(random_state)
        )
    X, y = indexable(X, np.asarray(y))
    check_classification_targets(y)
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"wrong labels are told from right ones by two classes or more; found: {classes[0]}")
    folds = _folds(cv, y, classes, counts, random_state)
    margin, quality = np.full(len(y), np.nan), np.full(len(y), np.nan)
    for train, test in folds.split(X, y):
        model = clone(estimator).fit(_safe_indexing(X, train), y[train])
        margin[test], quality[test] = _margins(model, _safe_indexing(X, test), y[test])
    if np.isnan(margin).any():
        raise ValueError(
            "cv must hold every row out once; give a splitter into parts, such as StratifiedKFold"
        )
    return margin, quality


def _whole(random_state):
    return 1 if random_state is None else random_state


def _folds(cv, y, classes, counts, random_state):
    if not isinstance(cv, int):
        return check_cv(cv, y, classifier=True)
    if counts.min() < cv:
        few = classes[np.argmin(counts)]
        raise ValueError(f"class {few} has {counts.min()} rows, fewer than the {cv} folds: take a smaller cv")
    return StratifiedKFold(cv, shuffle=True, random_state=_whole(random_state))


def _margins(model, X, y):
    """Lead of the own class over the best other, and that from 0 to 1."""
    if not np.isin(y, model.classes_).all():
        raise ValueError("a fold holds all rows of a class out: take a stratified splitter or a smaller cv")
    by_decision = hasattr(model, "decision_function")
    scores = np.asarray(
        model.decision_function(X) if by_decision else model.predict_proba(X), dtype=np.float64
    )
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=1)
    own = np.searchsorted(model.classes_, y)
    at = np.arange(len(y))
    others = scores.copy()
    others[at, own] = -np.inf
    lead = scores[at, own] - others.max(axis=1)
    if by_decision:
        return 0.5 * lead, expit(lead)
    return lead, 0.5 * (1.0 + lead)
