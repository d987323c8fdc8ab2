"""Query strategies that compare samples: diversity, SUBMOD-ACTV and density. See :mod:`evermargin.active`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array

from . import _core
from ._base import rows
from ._kernels import gamma_of, kernel_json, similarity, unit_rows, weight
from ._strategies import checked_count, closeness, sampling_result, top_rows, zeros_if_not_fitted

if TYPE_CHECKING:
    from ._types import RandomStateLike, Sampled

#: Number of kernel values per block of the density computation.
_BLOCK_VALUES = 1_000_000


def _samples(X: Any) -> Any:
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C")


def diverse_sampling(
    estimator: Any,
    X: Any,
    n_instances: int = 1,
    random_state: RandomStateLike = None,
    return_metrics: bool = False,
    kernel: str = "rbf",
    gamma: float | str = "scale",
) -> Sampled:
    """Choose rows inside the margin that represent the other rows inside the margin.

    Maximizes the sum, over the rows inside the margin, of (1 - closeness) times the similarity to the most
    similar chosen row. Lazy greedy reaches at least 1 - 1/e of the optimum.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice while the classifier is not fitted.
    return_metrics : bool, default=False
        Whether to return utilities, too: the negative :func:`closeness` of each row.
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity of rows; linear is (1 + cosine)/2.
    gamma : float or "scale" or "auto", default="scale"
        Width of the rbf kernel; scale is 1/(n_features * X.var()).

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, in the order of choice; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import diverse_sampling
    >>> svc = LinearSVC(C=100).fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])
    >>> pool = [[0.0, 0.0], [0.3, 0.0], [0.1, 9.0], [5.0, 5.0]]
    >>> diverse_sampling(svc, pool, n_instances=2)
    array([0, 2])
    """
    utility = -zeros_if_not_fitted(closeness, estimator, X)
    if not utility.any():
        return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)
    X = _samples(X)
    count = checked_count(n_instances, len(utility))
    chosen, _ = _core.diverse_batch(rows(X), -utility, kernel_json(kernel, gamma, X), count)
    return sampling_result(chosen, utility, return_metrics)


def submod_sampling(
    estimator: Any,
    X: Any,
    n_instances: int = 1,
    random_state: RandomStateLike = None,
    return_metrics: bool = False,
    X_labeled: Any = None,
    y_labeled: ArrayLike | None = None,
    kernel: str = "rbf",
    gamma: float | str = "scale",
    diversity: float | str = "auto",
    labeled: float | str = "auto",
    density: float | str = "auto",
    seek: str = "outliers",
    relaxed: bool = False,
) -> Sampled:
    """Choose rows between or far from the labeled rows and dissimilar to each other (SUBMOD-ACTV).

    The method of Emara (2012), chapter V, for two classes. It uses labeled rows and the kernel K, but no
    classifier. For each row of the pool let a be the sum of y K over the labeled rows and t the sum of K over
    the pool. The batch V maximizes
    ``-labeled * sum |a| - density * sum t - diversity * sum of K over pairs of V``.

    Parameters
    ----------
    estimator : object
        An :class:`ActiveLearner`, whose labeled rows are used; ignored if ``X_labeled`` and ``y_labeled`` are
        given.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Not used; the choice is deterministic.
    return_metrics : bool, default=False
        Whether to return the gains of the rows, too.
    X_labeled, y_labeled : array-like, default=None
        Labeled rows that replace those of ``estimator``.
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity of rows; linear is the cosine.
    gamma : float or "scale" or "auto", default="scale"
        Width of the rbf kernel; scale is 1/(n_features * X.var()), auto is 1/n_features.
    diversity, labeled, density : float or "auto", default="auto"
        Weights of the three terms. auto turns the sums into means: 1/(2 n_instances), 1/n_labeled, 1/n_samples.
    seek : {"outliers", "dense"}, default="outliers"
        Whether to prefer rows unlike most others (as in the source) or rows similar to many others.
    relaxed : bool, default=False
        Whether to solve the convex relaxation and choose the rows of largest share; for small pools.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, in the order of choice; with ``return_metrics`` also their gains (shares if
        ``relaxed``).

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
    count = checked_count(n_instances, X.shape[0])
    parts = rows(X), rows(known), signs, json.dumps(settings), count
    if relaxed:
        chosen, share, _ = _core.relaxed_batch(*parts, 1e-3, 10_000_000)
        return sampling_result(chosen, share, return_metrics)
    chosen, gains = _core.submod_batch(*parts)
    return (chosen.astype(np.intp), gains) if return_metrics else chosen.astype(np.intp)


def relaxed_sampling(
    estimator: Any,
    X: Any,
    n_instances: int = 1,
    random_state: RandomStateLike = None,
    return_metrics: bool = False,
    **options: Any,
) -> Sampled:
    """Choose rows by the rounded convex relaxation of :func:`submod_sampling` (QP-ACTV).

    For small pools, to check :func:`submod_sampling`.

    Parameters
    ----------
    estimator : object
        See :func:`submod_sampling`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Not used; the choice is deterministic.
    return_metrics : bool, default=False
        Whether to return the shares of the rows, too.
    **options
        Further parameters of :func:`submod_sampling`.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, the largest share first; with ``return_metrics`` also the shares.

    Examples
    --------
    >>> from evermargin.active import relaxed_sampling
    >>> known = {"X_labeled": [[0.0], [1.0]], "y_labeled": ["a", "b"]}
    >>> relaxed_sampling(None, [[0.1], [0.9], [0.5]], density=0, **known)
    array([2])
    """
    return submod_sampling(estimator, X, n_instances, random_state, return_metrics, relaxed=True, **options)


def _signs(estimator: Any, X: Any, X_labeled: Any, y_labeled: ArrayLike | None) -> tuple[Any, np.ndarray]:
    """Labeled rows, and a sign (-1 or 1) for each."""
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
            f"this strategy supports two classes, and there are {len(classes)}; use diverse_sampling"
        )
    return known, 2.0 * codes.reshape(-1) - 1.0


def _like(rows_: Any, X: Any) -> Any:
    """Convert rows to the format of ``X``: dense or sparse."""
    if sparse.issparse(X):
        return sparse.csr_array(rows_)
    return rows_.toarray() if sparse.issparse(rows_) else rows_


def density_sampling(
    estimator: Any,
    X: Any,
    n_instances: int = 1,
    random_state: RandomStateLike = None,
    return_metrics: bool = False,
    beta: float = 1.0,
    kernel: str = "rbf",
    gamma: float | str = "local",
) -> Sampled:
    """Choose uncertain rows in dense regions: uncertainty times (mean similarity to the pool) ** ``beta``.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Controls the order of ties.
    return_metrics : bool, default=False
        Whether to return utilities, too.
    beta : float, default=1.0
        Exponent of the density; 0 ignores it.
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity of rows; linear is (1 + cosine)/2.
    gamma : float or "local", "scale" or "auto", default="local"
        Width of the rbf kernel. local is ten times scale, because with scale the densest rows are those near
        the mean of all rows.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, the top_rows first; with ``return_metrics`` also their utilities.

    Notes
    -----
    The uncertainty is exp(-3 closeness): 1 on the boundary, 1/20 at the margin. All pairs of the pool are
    compared. On data without isolated rows, :func:`margin_sampling` was mostly better
    (``docs/python-active.md`` has the numbers).

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import density_sampling
    >>> svc = LinearSVC(C=100).fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])
    >>> density_sampling(svc, [[0.0, 9.0], [0.1, 0.0], [0.2, 0.0], [0.3, 0.1]])
    array([1])
    """
    X = _samples(X)
    uncertainty = np.exp(-3.0 * zeros_if_not_fitted(closeness, estimator, X))
    utility = uncertainty * _density(X, kernel, gamma) ** beta
    return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)


def _density(X: Any, kernel: str, gamma: float | str) -> np.ndarray:
    """Mean similarity of each row to all rows."""
    if isinstance(gamma, str) and gamma == "local":
        gamma = 10.0 * gamma_of("scale", X)
    kernel_params = json.loads(kernel_json(kernel, gamma, X))
    if kernel == "linear":
        X = unit_rows(X)
    step = max(1, _BLOCK_VALUES // X.shape[0])
    blocks = [similarity(X[i : i + step], X, kernel_params).mean(axis=1) for i in range(0, X.shape[0], step)]
    mean = np.concatenate(blocks)
    return 0.5 * (1.0 + mean) if kernel == "linear" else mean
