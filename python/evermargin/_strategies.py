"""Query strategies: which rows of a pool are worth a label. See :mod:`evermargin.active`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from . import _core
from ._base import LargeMarginClassifier

if TYPE_CHECKING:
    from ._types import RandomStateLike, Sampled

#: Size of a random pool whose nearest row is, with a probability of 95 %, among the nearest 5 % of all rows.
POOL_SIZE = 59


def closeness(estimator: Any, X: Any) -> np.ndarray:
    """Compute the distance of rows from the decision boundary, in units of the margin.

    Parameters
    ----------
    estimator : object
        A fitted classifier with ``decision_function`` or ``predict_proba``. In a pipeline or a search, the
        classifier inside is used.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    near : ndarray of shape (n_samples,)
        0 on the boundary and 1 at the margin. With two classes it is \\|f\\|; with more classes half the difference
        of the largest and the second largest decision value; with pairs of classes (one-vs-one) the smallest
        value of the predicted class against another class, at least 0. Without decision values it is the difference of the two
        largest probabilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import closeness
    >>> svc = LinearSVC(C=100).fit([[-1.0], [1.0]], [0, 1])
    >>> closeness(svc, [[0.0], [0.5], [-1.0]]).round(2) + 0.0
    array([0. , 0.5, 1. ])
    """
    estimator, X = _unwrapped(estimator, X)
    if isinstance(estimator, LargeMarginClassifier):
        codes, decision, _ = estimator._raw_predictions(X)
        return _core.closeness(decision, codes, len(estimator.classes_), estimator._model.scheme)
    if not hasattr(estimator, "decision_function"):
        return _lead(_probabilities(estimator, X))
    if hasattr(estimator, "decision_function_shape"):
        check_is_fitted(estimator)
        if len(estimator.classes_) > 2:
            return _closeness_of_pairs(estimator, X)
    decision = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.abs(decision) if decision.ndim == 1 else 0.5 * _lead(decision)


def _unwrapped(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The classifier inside an active learner, a pipeline or a search, and the transformed rows."""
    estimator = _inner(estimator)
    if hasattr(estimator, "best_estimator_"):
        return _unwrapped(estimator.best_estimator_, X)
    if not isinstance(estimator, Pipeline):
        return estimator, X
    check_is_fitted(estimator)
    for _, step in estimator.steps[:-1]:
        if hasattr(step, "transform"):  # "passthrough" and None have none
            X = step.transform(X)
    return _unwrapped(estimator.steps[-1][1], X)


def _closeness_of_pairs(estimator: Any, X: Any) -> np.ndarray:
    """Closeness by the decision values of pairs of classes; scikit-learn's are positive for the first class."""
    pairs = copy.copy(estimator)
    pairs.decision_function_shape = "ovo"
    codes = np.searchsorted(estimator.classes_, estimator.predict(X)).astype(np.int64)
    decision = np.ascontiguousarray(-pairs.decision_function(X), dtype=np.float64)
    return _core.closeness(decision, codes, len(estimator.classes_), "one-vs-one")


def _lead(scores: np.ndarray) -> np.ndarray:
    """Difference of the two largest scores of each row."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]


def _inner(estimator: Any) -> Any:
    """The estimator inside an active learner; other estimators are returned as they are."""
    return estimator.estimator if hasattr(estimator, "query_strategy") else estimator


def _probabilities(estimator: Any, X: Any) -> np.ndarray:
    if not hasattr(estimator, "predict_proba"):
        name = type(_inner(estimator)).__name__
        if hasattr(estimator, "decision_function"):
            raise TypeError(
                f"{name} has no predict_proba, which this strategy needs: for a classifier of evermargin set "
                'probability="sigmoid", wrap any other in CalibratedClassifierCV, or use margin_sampling'
            )
        raise TypeError(
            f"{name} has neither decision_function nor predict_proba, so its uncertainty is unknown: wrap it in "
            "CalibratedClassifierCV, or use random_sampling"
        )
    probabilities = estimator.predict_proba(X)
    if isinstance(probabilities, list):
        raise ValueError("predict_proba returns several outputs; use one active learner per output")
    return np.asarray(probabilities, dtype=np.float64)


def zeros_if_not_fitted(measure: Callable[[Any, Any], np.ndarray], estimator: Any, X: Any) -> np.ndarray:
    """A measure of each row; zeros while the estimator is not fitted."""
    try:
        return measure(estimator, X)
    except NotFittedError:
        return np.zeros(_num_samples(X))


def checked_count(n_instances: int, available: int) -> int:
    if n_instances != int(n_instances) or n_instances < 1:
        raise ValueError(f"n_instances={n_instances}: must be 1 or more")
    return min(int(n_instances), available)


def top_rows(utility: np.ndarray, n_instances: int, random_state: RandomStateLike) -> np.ndarray:
    """Indices of the rows of largest utility, ties in random order."""
    utility = np.asarray(utility, dtype=np.float64)
    tie_order = check_random_state(random_state).permutation(len(utility))
    return np.lexsort((tie_order, -utility))[: checked_count(n_instances, len(utility))]


def sampling_result(indices: np.ndarray, utility: np.ndarray, return_metrics: bool) -> Sampled:
    indices = np.asarray(indices, dtype=np.intp)
    return (indices, utility[indices]) if return_metrics else indices


def _seed(random_state: RandomStateLike) -> int:
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def random_sampling(
    estimator: Any, X: Any, n_instances: int = 1, random_state: RandomStateLike = None, return_metrics: bool = False
) -> Sampled:
    """Choose rows at random: the baseline of every other strategy.

    Parameters
    ----------
    estimator : object
        Not used.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice.
    return_metrics : bool, default=False
        Whether to return utilities, too.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from evermargin.active import random_sampling
    >>> len(random_sampling(None, [[0.0], [1.0], [2.0]], n_instances=2, random_state=0))
    2
    """
    utility = np.zeros(_num_samples(X))
    return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)


def margin_sampling(
    estimator: Any, X: Any, n_instances: int = 1, random_state: RandomStateLike = None, return_metrics: bool = False
) -> Sampled:
    """Choose the rows nearest to the decision boundary.

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
        Whether to return utilities, too: the negative :func:`closeness` of each row.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, the nearest first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import margin_sampling
    >>> svc = LinearSVC().fit([[-1.0], [1.0]], [0, 1])
    >>> margin_sampling(svc, [[-2.0], [0.1], [1.0]])
    array([1])
    """
    utility = -zeros_if_not_fitted(closeness, estimator, X)
    return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)


def uncertainty_sampling(
    estimator: Any, X: Any, n_instances: int = 1, random_state: RandomStateLike = None, return_metrics: bool = False
) -> Sampled:
    """Choose the rows whose most probable class has the lowest probability.

    Without probabilities, the rows nearest to the decision boundary.

    Parameters
    ----------
    estimator : object
        A classifier with ``predict_proba`` or ``decision_function``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Controls the order of ties.
    return_metrics : bool, default=False
        Whether to return utilities, too: 1 minus the largest probability, or the negative closeness.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, the most uncertain first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from evermargin.active import uncertainty_sampling
    >>> bayes = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> uncertainty_sampling(bayes, [[-2.0], [0.1], [1.0]])
    array([1])
    """
    utility = zeros_if_not_fitted(_uncertainty, estimator, X)
    return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)


def _uncertainty(estimator: Any, X: Any) -> np.ndarray:
    if hasattr(estimator, "predict_proba"):
        return 1.0 - _probabilities(estimator, X).max(axis=1)
    return -closeness(estimator, X)


def entropy_sampling(
    estimator: Any, X: Any, n_instances: int = 1, random_state: RandomStateLike = None, return_metrics: bool = False
) -> Sampled:
    """Choose the rows of largest predictive entropy, -sum p log p.

    Parameters
    ----------
    estimator : object
        A classifier with ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Controls the order of ties.
    return_metrics : bool, default=False
        Whether to return utilities, too: the entropies.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, the most uncertain first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from evermargin.active import entropy_sampling
    >>> bayes = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> entropy_sampling(bayes, [[-2.0], [0.1], [1.0]])
    array([1])
    """
    utility = zeros_if_not_fitted(lambda e, x: _entropy(_probabilities(e, x)), estimator, X)
    return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)


def _entropy(shares: np.ndarray) -> np.ndarray:
    return -np.sum(shares * np.log(np.where(shares > 0, shares, 1.0)), axis=1)


def small_pool_sampling(
    estimator: Any,
    X: Any,
    n_instances: int = 1,
    random_state: RandomStateLike = None,
    return_metrics: bool = False,
    pool_size: int = POOL_SIZE,
) -> Sampled:
    """Choose the row nearest to the boundary in a small random pool, drawn again for each choice.

    The nearest of 59 rows is among the nearest 5 % of all rows with a probability of 95 %, whatever the number
    of rows (Ertekin 2009, section 3.3). The rows of a batch differ more than the nearest rows of all.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Controls how the small pools are drawn.
    return_metrics : bool, default=False
        Whether to return utilities, too: the negative :func:`closeness` of each row.
    pool_size : int, default=59
        Number of rows in a small pool; 0 uses all rows.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import small_pool_sampling
    >>> svc = LinearSVC().fit([[-1.0], [1.0]], [0, 1])
    >>> small_pool_sampling(svc, [[-2.0], [0.1], [1.0]], random_state=0)
    array([1])
    """
    if pool_size != int(pool_size) or pool_size < 0:
        raise ValueError(f"pool_size={pool_size}: must be 0 or more; 0 uses all rows")
    random_state = check_random_state(random_state)
    utility = -zeros_if_not_fitted(closeness, estimator, X)
    if not utility.any():
        return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)
    count = checked_count(n_instances, len(utility))
    chosen = _core.small_pool(-utility, count, int(pool_size), _seed(random_state))
    return sampling_result(chosen, utility, return_metrics)


def committee_sampling(
    committee: Any, X: Any, n_instances: int = 1, random_state: RandomStateLike = None, return_metrics: bool = False
) -> Sampled:
    """Choose the rows on which the members of a committee disagree most: largest entropy of the votes.

    Parameters
    ----------
    committee : sequence of estimators, or an ensemble
        Fitted classifiers, or an ensemble with ``estimators_``, such as a random forest.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Pool of candidate rows.
    n_instances : int, default=1
        Number of rows to choose.
    random_state : int, RandomState instance or None, default=None
        Controls the order of ties, which are frequent between votes.
    return_metrics : bool, default=False
        Whether to return utilities, too: the entropies of the votes.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Indices of the chosen rows, the most disputed first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import committee_sampling
    >>> committee = [LinearSVC().fit([[a], [b]], [0, 1]) for a, b in [(-3, 1), (-1, 3), (-2, 2)]]
    >>> committee_sampling(committee, [[-4.0], [0.1], [4.0]])
    array([1])
    """
    utility = zeros_if_not_fitted(lambda c, x: _vote_entropy(_members(c), x), committee, X)
    return sampling_result(top_rows(utility, n_instances, random_state), utility, return_metrics)


def _members(committee: Any) -> Sequence[Any] | np.ndarray:
    committee = _inner(committee)
    if isinstance(committee, Sequence):
        members: Sequence[Any] | np.ndarray = committee
    elif hasattr(committee, "fit") and not hasattr(committee, "estimators_"):
        raise NotFittedError(f"{type(committee).__name__} holds no fitted estimators")
    else:
        members = np.ravel(committee.estimators_)
    if len(members) < 2:
        raise ValueError("a committee needs at least two members")
    return members


def _vote_entropy(members: Sequence[Any] | np.ndarray, X: Any) -> np.ndarray:
    votes = np.stack([np.asarray(m.predict(X)) for m in members])
    classes, codes = np.unique(votes, return_inverse=True)
    codes = codes.reshape(votes.shape)
    shares = np.stack([(codes == c).mean(axis=0) for c in range(len(classes))], axis=1)
    return _entropy(shares)
