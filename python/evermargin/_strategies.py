"""Query strategies: which rows of a pool are worth a label. See :mod:`evermargin.active`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from . import _core
from ._base import LargeMarginClassifier

#: Samples of which the nearest is among the nearest 5 % of all with a chance of 95 %.
POOL = 59


def closeness(estimator, X) -> np.ndarray:
    """How near rows are to the decision boundary of a classifier.

    Parameters
    ----------
    estimator : object
        A fitted classifier with ``decision_function`` or ``predict_proba``; of a pipeline or a search the
        classifier inside is looked at.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    near : ndarray of shape (n_samples,)
        0 on the boundary. By decision values 1 is the margin: \\|f\\| of two classes, half the lead of the
        first class over the second of more, the least lead in pairs where the classifier compares pairs.
        Without decision values the lead in probability.

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
        codes, decision, _ = estimator._said(X)
        return _core.closeness(decision, codes, len(estimator.classes_), estimator._model.scheme)
    if not hasattr(estimator, "decision_function"):
        return _lead(_probabilities(estimator, X))
    if hasattr(estimator, "decision_function_shape"):
        check_is_fitted(estimator)
        if len(estimator.classes_) > 2:
            return _closeness_of_pairs(estimator, X)
    decision = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.abs(decision) if decision.ndim == 1 else 0.5 * _lead(decision)


def _unwrapped(estimator, X):
    """The classifier inside learners that ask, pipelines and searches, and the rows as it sees them."""
    estimator = _inner(estimator)
    if hasattr(estimator, "best_estimator_"):
        return _unwrapped(estimator.best_estimator_, X)
    if not isinstance(estimator, Pipeline):
        return estimator, X
    check_is_fitted(estimator)
    for _, step in estimator.steps[:-1]:
        if hasattr(step, "transform"):  # else it passes all rows through
            X = step.transform(X)
    return _unwrapped(estimator.steps[-1][1], X)


def _closeness_of_pairs(estimator, X):
    """By the values of pairs, for votes hide it; scikit-learn's are positive for the first of a pair."""
    pairs = copy.copy(estimator)
    pairs.decision_function_shape = "ovo"
    codes = np.searchsorted(estimator.classes_, estimator.predict(X)).astype(np.int64)
    decision = np.ascontiguousarray(-pairs.decision_function(X), dtype=np.float64)
    return _core.closeness(decision, codes, len(estimator.classes_), "one-vs-one")


def _lead(scores):
    """How far the largest of each row is before the second."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]


def _inner(estimator):
    """The estimator of a learner that asks, or itself."""
    return estimator.estimator if hasattr(estimator, "query_strategy") else estimator


def _probabilities(estimator, X):
    if not hasattr(estimator, "predict_proba"):
        name = type(_inner(estimator)).__name__
        if hasattr(estimator, "decision_function"):
            raise TypeError(
                f"{name} has no predict_proba, which is needed here: set probability=\"sigmoid\" of a classifier of "
                "evermargin, wrap another in CalibratedClassifierCV, or use margin_sampling"
            )
        raise TypeError(
            f"{name} has neither decision_function nor predict_proba: it "
            "cannot tell what it doubts; wrap it in CalibratedClassifierCV, or use random_sampling"
        )
    probabilities = estimator.predict_proba(X)
    if isinstance(probabilities, list):
        raise ValueError("several outputs at once cannot be asked about; take a learner for each")
    return np.asarray(probabilities, dtype=np.float64)


def or_equal(measure: Callable, estimator, X):
    """A measure of each row; the same for all while nothing is learned."""
    try:
        return measure(estimator, X)
    except NotFittedError:
        return np.zeros(_num_samples(X))


def count_of(n_instances, available):
    if n_instances != int(n_instances) or n_instances < 1:
        raise ValueError(f"n_instances={n_instances}: must be 1 or more")
    return min(int(n_instances), available)


def best(utility, n_instances, random_state):
    """The rows of largest utility, ties in random order."""
    utility = np.asarray(utility, dtype=np.float64)
    chance = check_random_state(random_state).permutation(len(utility))
    return np.lexsort((chance, -utility))[: count_of(n_instances, len(utility))]


def answer(indices, utility, return_metrics):
    indices = np.asarray(indices, dtype=np.intp)
    return (indices, utility[indices]) if return_metrics else indices


def _seed(random_state):
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def random_sampling(estimator, X, n_instances: int = 1, random_state=None, return_metrics: bool = False):
    """Any rows: what every other strategy has to beat.

    Parameters
    ----------
    estimator : object
        Not looked at.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        What chance depends on.
    return_metrics : bool, default=False
        Whether to return the utility of the rows as well.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from evermargin.active import random_sampling
    >>> len(random_sampling(None, [[0.0], [1.0], [2.0]], n_instances=2, random_state=0))
    2
    """
    utility = np.zeros(_num_samples(X))
    return answer(best(utility, n_instances, random_state), utility, return_metrics)


def margin_sampling(estimator, X, n_instances: int = 1, random_state=None, return_metrics: bool = False):
    """The rows nearest to the decision boundary.

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
        Whether to return the utility of the rows as well: minus their :func:`closeness`.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool, the nearest first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import margin_sampling
    >>> svc = LinearSVC().fit([[-1.0], [1.0]], [0, 1])
    >>> margin_sampling(svc, [[-2.0], [0.1], [1.0]])
    array([1])
    """
    utility = -or_equal(closeness, estimator, X)
    return answer(best(utility, n_instances, random_state), utility, return_metrics)


def uncertainty_sampling(estimator, X, n_instances: int = 1, random_state=None, return_metrics: bool = False):
    """The rows whose likeliest class is least likely; without probabilities those nearest to the boundary.

    Parameters
    ----------
    estimator : object
        A classifier with ``predict_proba`` or ``decision_function``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        What breaks ties.
    return_metrics : bool, default=False
        Whether to return the utility of the rows as well: 1 - the largest probability, or minus the
        closeness.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool, the most doubtful first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from evermargin.active import uncertainty_sampling
    >>> bayes = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> uncertainty_sampling(bayes, [[-2.0], [0.1], [1.0]])
    array([1])
    """
    utility = or_equal(_uncertainty, estimator, X)
    return answer(best(utility, n_instances, random_state), utility, return_metrics)


def _uncertainty(estimator, X):
    if hasattr(estimator, "predict_proba"):
        return 1.0 - _probabilities(estimator, X).max(axis=1)
    return -closeness(estimator, X)


def entropy_sampling(estimator, X, n_instances: int = 1, random_state=None, return_metrics: bool = False):
    """The rows whose predicted classes are spread most: largest -sum p log p.

    Parameters
    ----------
    estimator : object
        A classifier with ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        What breaks ties.
    return_metrics : bool, default=False
        Whether to return the utility of the rows as well: the entropy.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool, the most doubtful first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from evermargin.active import entropy_sampling
    >>> bayes = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> entropy_sampling(bayes, [[-2.0], [0.1], [1.0]])
    array([1])
    """
    utility = or_equal(lambda e, x: _entropy(_probabilities(e, x)), estimator, X)
    return answer(best(utility, n_instances, random_state), utility, return_metrics)


def _entropy(shares):
    return -np.sum(shares * np.log(np.where(shares > 0, shares, 1.0)), axis=1)


def small_pool_sampling(
    estimator, X, n_instances: int = 1, random_state=None, return_metrics: bool = False, pool_size: int = POOL
):
    """The row nearest to the boundary of a small random pool, a new pool for each.

    The nearest of 59 is among the nearest 5 % of all with a chance of 95 %, however long the pool is (Ertekin
    2009, section 3.3); and the rows of a batch differ more than the nearest of all.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        What the small pools depend on.
    return_metrics : bool, default=False
        Whether to return the utility of the rows as well: minus their :func:`closeness`.
    pool_size : int, default=59
        Rows of a small pool; 0 is all.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import small_pool_sampling
    >>> svc = LinearSVC().fit([[-1.0], [1.0]], [0, 1])
    >>> small_pool_sampling(svc, [[-2.0], [0.1], [1.0]], random_state=0)
    array([1])
    """
    if pool_size != int(pool_size) or pool_size < 0:
        raise ValueError(f"pool_size={pool_size}: must be 0 (all) or more")
    random_state = check_random_state(random_state)
    utility = -or_equal(closeness, estimator, X)
    if not utility.any():
        return answer(best(utility, n_instances, random_state), utility, return_metrics)
    count = count_of(n_instances, len(utility))
    chosen = _core.small_pool(-utility, count, int(pool_size), _seed(random_state))
    return answer(chosen, utility, return_metrics)


def committee_sampling(committee, X, n_instances: int = 1, random_state=None, return_metrics: bool = False):
    """The rows about which the members of a committee disagree most: largest entropy of their votes.

    Parameters
    ----------
    committee : sequence of estimators, or an ensemble
        Fitted classifiers, or one that holds some in ``estimators_``, like a random forest.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The pool.
    n_instances : int, default=1
        Rows to choose.
    random_state : int, RandomState instance or None, default=None
        What breaks ties, of which votes have many.
    return_metrics : bool, default=False
        Whether to return the utility of the rows as well: the entropy of the votes.

    Returns
    -------
    indices : ndarray of shape (n_instances,)
        Rows of the pool, the most disputed first; with ``return_metrics`` also their utilities.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.active import committee_sampling
    >>> committee = [LinearSVC().fit([[a], [b]], [0, 1]) for a, b in [(-3, 1), (-1, 3), (-2, 2)]]
    >>> committee_sampling(committee, [[-4.0], [0.1], [4.0]])
    array([1])
    """
    utility = or_equal(lambda c, x: _vote_entropy(_members(c), x), committee, X)
    return answer(best(utility, n_instances, random_state), utility, return_metrics)


def _members(committee) -> Sequence:
    committee = _inner(committee)
    if isinstance(committee, Sequence):
        members = committee
    elif hasattr(committee, "fit") and not hasattr(committee, "estimators_"):
        raise NotFittedError(f"{type(committee).__name__} holds no fitted estimators")
    else:
        members = np.ravel(committee.estimators_)
    if len(members) < 2:
        raise ValueError("a committee needs two members or more to disagree")
    return members


def _vote_entropy(members, X):
    votes = np.stack([np.asarray(m.predict(X)) for m in members])
    classes, codes = np.unique(votes, return_inverse=True)
    codes = codes.reshape(votes.shape)
    shares = np.stack([(codes == c).mean(axis=0) for c in range(len(classes))], axis=1)
    return _entropy(shares)
