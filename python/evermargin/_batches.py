"""Query strategies that look at samples too: rows unlike each other, or like many (evermargin.active)."""

from __future__ import annotations

import json

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from . import _core
from ._base import rows
from ._kernels import gamma_of, kernel_json, similarity, unit_rows, weight
from ._strategies import answer, best, closeness, count_of, or_equal

#: Kernel values that density takes at a time.
_BLOCK = 1_000_000


def _samples(X):
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C")


def diverse_sampling(
    estimator,
    X,
    n_instances: int = 1,
    random_state=None,
    return_metrics: bool = False,
    kernel: str = "rbf",
    gamma: float | str = "scale",
):
    """Rows inside the margin that speak for the others there.

    Maximizes the sum over doubtful rows of (1 - closeness) times the similarity to the most similar row
    chosen, by lazy greedy: within 1 - 1/e of the best batch.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        What decides while the classifier is not fitted.
    return_metrics : bool, default=False
        Whether to return the utility of the rows as well: minus their :func:`closeness`.
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity; linear is (1 + cosine)/2.
    gamma : float or "scale" or "auto", default="scale"
        Of the rbf kernel; scale is 1/(features * variance).

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool in the order of choice; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import diverse_sampling
    >>> svc = LinearSVC(C=100).fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])
    >>> pool = [[0.0, 0.0], [0.3, 0.0], [0.1, 9.0], [5.0, 5.0]]
    >>> diverse_sampling(svc, pool, n_instances=2)
    array([0, 2])
    """
    utility = -or_equal(closeness, estimator, X)
    if not utility.any():
        return answer(best(utility, n_instances, random_state), utility, return_metrics)
    X = _samples(X)
    count = count_of(n_instances, len(utility))
    chosen, _ = _core.diverse_batch(rows(X), -utility, kernel_json(kernel, gamma, X), count)
    return answer(chosen, utility, return_metrics)


def submod_sampling(
    estimator,
    X,
    n_instances: int = 1,
    random_state=None,
    return_metrics: bool = False,
    X_labeled=None,
    y_labeled=None,
    kernel: str = "rbf",
    gamma: float | str = "scale",
    diversity: float | str = "auto",
    labeled: float | str = "auto",
    density: float | str = "auto",
    seek: str = "outliers",
    relaxed: bool = False,
):
    """Rows between the labels or far from them, unlike each other (SUBMOD-ACTV, Emara 2012, V). Two classes.

    No classifier is looked at. With a = the sum of y K over labeled rows and t = the sum of K over the pool,
    a batch V maximizes ``-labeled * sum |a| - density * sum t - diversity * sum of K over pairs of V``.

    Parameters
    ----------
    estimator : object
        An :class:`ActiveLearner`, whose labeled rows are used; anything with ``X_labeled`` and
        ``y_labeled``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        Not used: nothing here is left to chance.
    return_metrics : bool, default=False
        Whether to return the gain of the rows as well.
    X_labeled, y_labeled : array-like, default=None
        Labeled rows in place of the learner's.
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity; linear is of rows brought to unit length.
    gamma : float or "scale" or "auto", default="scale"
        Of the rbf kernel.
    diversity, labeled, density : float or "auto", default="auto"
        Weights of the three terms; auto makes means of them: 1/(2 n_instances), 1/labels, 1/rows.
    seek : {"outliers", "dense"}, default="outliers"
        Whether rows unlike most others are preferred, as in the source, or rows like many.
    relaxed : bool, default=False
        Whether to solve the convex relaxation and take the rows of largest share: for small pools.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool in the order of choice; with ``return_metrics`` also their gains (shares if relaxed).

    Examples
    --------
    >>> from evermargin.active import submod_sampling
    >>> known = {"X_labeled": [[0.0], [1.0]], "y_labeled": ["a", "b"]}
    >>> submod_sampling(None, [[0.1], [0.9], [0.5]], density=0, **known)
    array([2])
    """
    X = _samples(X)
    known, signs = _signs(estimator, X, X_labeled, y_labeled)
    settings = {
        "kernel": json.loads(kernel_json(kernel, gamma, X)),
        "diversity": weight("diversity", diversity),
        "labeled": weight("labeled", labeled),
        "density": weight("density", density),
        "seek": seek,
    }
    count = count_of(n_instances, X.shape[0])
    parts = rows(X), rows(known), signs, json.dumps(settings), count
    if relaxed:
        chosen, share, _ = _core.relaxed_batch(*parts, 1e-3, 10_000_000)
        return answer(chosen, share, return_metrics)
    chosen, gains = _core.submod_batch(*parts)
    return (chosen.astype(np.intp), gains) if return_metrics else chosen.astype(np.intp)


def relaxed_sampling(
    estimator, X, n_instances: int = 1, random_state=None, return_metrics: bool = False, **options
):
    """The convex relaxation of :func:`submod_sampling`, rounded (QP-ACTV): a check of it on small pools.

    Parameters
    ----------
    estimator : object
        As of :func:`submod_sampling`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        Not used.
    return_metrics : bool, default=False
        Whether to return the shares of the rows as well.
    **options
        The other parameters of :func:`submod_sampling`.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool, the largest share first; with ``return_metrics`` also the shares.

    Examples
    --------
    >>> from evermargin.active import relaxed_sampling
    >>> known = {"X_labeled": [[0.0], [1.0]], "y_labeled": ["a", "b"]}
    >>> relaxed_sampling(None, [[0.1], [0.9], [0.5]], density=0, **known)
    array([2])
    """
    return submod_sampling(estimator, X, n_instances, random_state, return_metrics, relaxed=True, **options)


def _signs(estimator, X, X_labeled, y_labeled):
    """Labeled rows and -1 or 1 for each."""
    if (X_labeled is None) != (y_labeled is None):
        raise ValueError("give both X_labeled and y_labeled, or neither")
    if X_labeled is None:
        X_labeled = getattr(estimator, "X_training", None)
        y_labeled = getattr(estimator, "y_training", None)
    if X_labeled is None:
        return _like(np.empty((0, X.shape[1])), X), np.empty(0)
    known = _like(_samples(X_labeled), X)
    if known.shape[1] != X.shape[1]:
        raise ValueError(f"labeled rows have {known.shape[1]} features, the pool has {X.shape[1]}")
    classes, codes = np.unique(np.asarray(y_labeled), return_inverse=True)
    if len(codes) != known.shape[0]:
        raise ValueError(f"{known.shape[0]} labeled rows and {len(codes)} labels")
    if len(classes) > 2:
        raise ValueError(
            f"this strategy knows two classes, and there are {len(classes)}: take diverse_sampling"
        )
    return known, 2.0 * codes.reshape(-1) - 1.0


def _like(rows_, X):
    """Rows stored as those of ``X`` are."""
    if sparse.issparse(X):
        return sparse.csr_array(rows_)
    return rows_.toarray() if sparse.issparse(rows_) else rows_


def density_sampling(
    estimator,
    X,
    n_instances: int = 1,
    random_state=None,
    return_metrics: bool = False,
    beta: float = 1.0,
    kernel: str = "rbf",
    gamma: float | str = "local",
):
    """Doubtful rows where rows are dense: doubt times (mean similarity to the pool) to the power ``beta``.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        What breaks ties.
    return_metrics : bool, default=False
        Whether to return the utility of the rows as well.
    beta : float, default=1.0
        How much density counts; 0 is not at all.
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity; linear is (1 + cosine)/2.
    gamma : float or "local", "scale" or "auto", default="local"
        Of the rbf kernel. local is ten times scale: with scale the densest rows are those in the middle of
        everything.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool, the best first; with ``return_metrics`` also their utilities.

    Notes
    -----
    Doubt is exp(-3 closeness): 1 on the boundary, 1/20 at the margin. All pairs of the pool are compared. No
    rule: where rows are not lonely, :func:`margin_sampling` was mostly better (docs/python-active.md has the
    numbers).

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import density_sampling
    >>> svc = LinearSVC(C=100).fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])
    >>> density_sampling(svc, [[0.0, 9.0], [0.1, 0.0], [0.2, 0.0], [0.3, 0.1]])
    array([1])
    """
    X = _samples(X)
    doubt = np.exp(-3.0 * or_equal(closeness, estimator, X))
    utility = doubt * _density(X, kernel, gamma) ** beta
    return answer(best(utility, n_instances, random_state), utility, return_metrics)


def _density(X, kernel, gamma):
    """Mean similarity of each row to all rows."""
    if isinstance(gamma, str) and gamma == "local":
        gamma = 10.0 * gamma_of("scale", X)
    how = json.loads(kernel_json(kernel, gamma, X))
    if kernel == "linear":
        X = unit_rows(X)
    step = max(1, _BLOCK // X.shape[0])
    blocks = [similarity(X[i : i + step], X, how).mean(axis=1) for i in range(0, X.shape[0], step)]
    mean = np.concatenate(blocks)
    return 0.5 * (1.0 + mean) if kernel == "linear" else mean
