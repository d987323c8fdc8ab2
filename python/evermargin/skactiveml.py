"""Query strategies with the interface of scikit-activeml.

Needs ``pip install evermargin[active]``. Each class has the signature of scikit-activeml: ``query(X, y, ...,
candidates, batch_size, return_utilities)``, with NaN (or ``missing_label``) for missing labels.

Examples
--------
>>> import numpy as np
>>> from sklearn.datasets import make_moons
>>> from sklearn.svm import SVC
>>> from skactiveml.classifier import SklearnClassifier
>>> from evermargin.skactiveml import MarginSampling
>>> X, truth = make_moons(100, noise=0.1, random_state=0)
>>> y = np.full(100, np.nan)
>>> y[:6] = truth[:6]
>>> clf = SklearnClassifier(SVC(gamma=2), classes=[0, 1])
>>> strategy = MarginSampling(random_state=0)
>>> for _ in range(10):
...     index = strategy.query(X=X, y=y, clf=clf)
...     y[index] = truth[index]
>>> int(np.isfinite(y).sum())
16
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
    from skactiveml.utils import MISSING_LABEL, is_labeled, simple_batch
except ImportError as error:
    raise ImportError(
        "evermargin.skactiveml needs scikit-activeml: pip install evermargin[active]; "
        "evermargin.active works without it"
    ) from error

from ._batches import diverse_sampling, submod_sampling
from ._kernels import kernel_json, similarity, unit_rows
from ._strategies import POOL_SIZE, closeness

if TYPE_CHECKING:
    from ._types import Kernel, RandomStateLike, Sampled

__all__ = ["DiverseBatch", "MarginSampling", "RandomSampling", "SmallPool", "SubmodularBatch"]


#: Indices into the pool, and a function that computes the utilities before each choice.
Choice: TypeAlias = tuple[np.ndarray, Callable[[], np.ndarray]]


class _Strategy(SingleAnnotatorPoolQueryStrategy):
    """Base class of the strategies, which choose rows of ``X`` among candidates."""

    def _ask(
        self,
        X: ArrayLike,
        y: ArrayLike,
        candidates: ArrayLike | None,
        batch_size: int,
        return_utilities: bool,
        choose: Callable[[np.ndarray, np.ndarray, np.ndarray, int], Choice],
    ) -> Sampled:
        """Query with ``choose(X, y, pool, batch_size)``.

        It returns indices into the pool and a function that computes the utilities before each choice.
        """
        samples, labels, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        pool, mapping = self._transform_candidates(candidates, samples, labels)
        places, utilities = choose(samples, labels, pool, batch_size)
        if mapping is None:
            return (places, utilities()) if return_utilities else places
        if not return_utilities:
            return mapping[places]
        spread = np.full((len(places), len(samples)), np.nan)
        spread[:, mapping] = utilities()
        return mapping[places], spread

    def _closeness(
        self,
        X: np.ndarray,
        y: np.ndarray,
        pool: np.ndarray,
        clf: Any,
        fit_clf: bool,
        sample_weight: ArrayLike | None,
    ) -> np.ndarray:
        """Closeness of candidates to the decision boundary; zeros while there is no fitted classifier."""
        if fit_clf:
            clf = self._fitted(X, y, clf, sample_weight)
        if clf is None or not getattr(clf, "is_fitted_", True):
            return np.zeros(len(pool))
        try:
            return closeness(getattr(clf, "estimator_", clf) if _wraps(clf) else clf, pool)
        except NotFittedError:
            return np.zeros(len(pool))

    def _fitted(self, X: np.ndarray, y: np.ndarray, clf: Any, sample_weight: ArrayLike | None) -> Any:
        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        if isinstance(clf, SkactivemlClassifier):
            return clone(clf).fit(X, y, **weight)
        known = is_labeled(y, self.missing_label_)
        if len(np.unique(y[known])) < 2:
            return None
        weight = {name: values[known] for name, values in weight.items()}
        return clone(clf).fit(X[known], y[known], **weight)

    def _nearest(self, near: np.ndarray, batch_size: int) -> Choice:
        """The nearest candidates, with ties in random order."""
        places, utilities = simple_batch(
            -near, self.random_state_, batch_size=batch_size, return_utilities=True
        )
        return places, lambda: utilities


def _wraps(clf: Any) -> bool:
    return isinstance(clf, SkactivemlClassifier) and "estimator_" in vars(clf)


class RandomSampling(_Strategy):
    """Query random candidates: the baseline of the other strategies.

    Parameters
    ----------
    missing_label : scalar or string or np.nan or None, default=np.nan
        Value in ``y`` that marks unlabeled rows.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice.

    Examples
    --------
    >>> from evermargin.skactiveml import RandomSampling
    >>> RandomSampling(random_state=0).query([[0.0], [1.0]], [1.0, float("nan")])
    array([1])
    """

    def query(
        self,
        X: ArrayLike,
        y: ArrayLike,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Sampled:
        """Choose candidates to label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All samples.
        y : array-like of shape (n_samples,)
            Labels, some of them missing.
        candidates : None, array-like of int, or array-like of shape (n_candidates, n_features), default=None
            None for the unlabeled rows of ``X``, or indices of rows of ``X``, or other samples.
        batch_size : int, default=1
            Number of candidates to choose.
        return_utilities : bool, default=False
            Whether to return utilities, too.

        Returns
        -------
        query_indices : ndarray of shape (batch_size,)
            Indices of rows of ``X``, or of ``candidates`` if these are samples.
        utilities : ndarray of shape (batch_size, n_samples) or (batch_size, n_candidates)
            Utilities before each choice; NaN for rows that were no candidates.
        """

        def choose(X: np.ndarray, y: np.ndarray, pool: np.ndarray, batch_size: int) -> Choice:
            utilities = self.random_state_.random_sample(len(pool))
            places, steps = simple_batch(
                utilities, self.random_state_, batch_size=batch_size, return_utilities=True
            )
            return places, lambda: steps

        return self._ask(X, y, candidates, batch_size, return_utilities, choose)


class MarginSampling(_Strategy):
    """Query the candidates nearest to the decision boundary.

    Parameters
    ----------
    missing_label : scalar or string or np.nan or None, default=np.nan
        Value in ``y`` that marks unlabeled rows.
    random_state : int, RandomState instance or None, default=None
        Controls the order of ties.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.skactiveml import MarginSampling
    >>> nan = float("nan")
    >>> MarginSampling(random_state=0).query([[-1.0], [1.0], [0.1], [2.0]], [0, 1, nan, nan], LinearSVC())
    array([2])
    """

    def query(
        self,
        X: ArrayLike,
        y: ArrayLike,
        clf: Any,
        fit_clf: bool = True,
        sample_weight: ArrayLike | None = None,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Sampled:
        """Choose candidates to label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All samples.
        y : array-like of shape (n_samples,)
            Labels, some of them missing.
        clf : object
            A classifier of scikit-activeml, or of scikit-learn; the latter is fitted to labeled rows only.
        fit_clf : bool, default=True
            Whether to fit a copy of ``clf`` first.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples for that fit.
        candidates : None, array-like of int, or array-like of shape (n_candidates, n_features), default=None
            None for the unlabeled rows of ``X``, or indices of rows of ``X``, or other samples.
        batch_size : int, default=1
            Number of candidates to choose.
        return_utilities : bool, default=False
            Whether to return utilities, too.

        Returns
        -------
        query_indices : ndarray of shape (batch_size,)
            Indices of rows of ``X``, or of ``candidates`` if these are samples.
        utilities : ndarray of shape (batch_size, n_samples) or (batch_size, n_candidates)
            Utilities before each choice; NaN for rows that were no candidates.
        """

        def choose(X: np.ndarray, y: np.ndarray, pool: np.ndarray, batch_size: int) -> Choice:
            near = self._closeness(X, y, pool, clf, fit_clf, sample_weight)
            return self._choose(pool, near, batch_size)

        return self._ask(X, y, candidates, batch_size, return_utilities, choose)

    def _choose(self, pool: np.ndarray, near: np.ndarray, batch_size: int) -> Choice:
        return self._nearest(near, batch_size)


class SmallPool(MarginSampling):
    """Query the candidate nearest to the boundary in a small random pool (Ertekin 2009, section 3.3).

    The pool is drawn again for each choice. Candidates that were not drawn have no utility (NaN).

    Parameters
    ----------
    pool_size : int, default=59
        Number of candidates in a pool.
    missing_label : scalar or string or np.nan or None, default=np.nan
        Value in ``y`` that marks unlabeled rows.
    random_state : int, RandomState instance or None, default=None
        Controls how the pools are drawn.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.skactiveml import SmallPool
    >>> nan = float("nan")
    >>> SmallPool(random_state=0).query([[-1.0], [1.0], [0.1], [2.0]], [0, 1, nan, nan], LinearSVC())
    array([2])
    """

    def __init__(
        self,
        pool_size: int = POOL_SIZE,
        missing_label: Any = MISSING_LABEL,
        random_state: RandomStateLike = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.pool_size = pool_size

    def _choose(self, pool: np.ndarray, near: np.ndarray, batch_size: int) -> Choice:
        if self.pool_size != int(self.pool_size) or self.pool_size < 1:
            raise ValueError(f"pool_size={self.pool_size}: must be 1 or more")
        left, places = np.arange(len(near)), []
        steps = np.full((batch_size, len(near)), np.nan)
        for step in range(batch_size):
            size = min(int(self.pool_size), len(left))
            drawn = self.random_state_.choice(left, size=size, replace=False)
            steps[step, drawn] = -near[drawn]
            places.append(drawn[np.argmin(near[drawn])])
            left = left[left != places[-1]]
        return np.array(places), lambda: steps


class DiverseBatch(MarginSampling):
    """Query candidates inside the margin that represent the other candidates inside the margin.

    See :func:`evermargin.active.diverse_sampling`. The utility of a candidate inside the margin is its gain of the
    objective; outside it is the negative distance to the margin. Utilities compare all pairs of candidates inside
    the margin.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity of rows; linear is (1 + cosine)/2.
    gamma : float or "scale" or "auto", default="scale"
        Width of the rbf kernel; scale is 1/(n_features * X.var()), auto is 1/n_features.
    missing_label : scalar or string or np.nan or None, default=np.nan
        Value in ``y`` that marks unlabeled rows.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice while there is no fitted classifier.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from evermargin.skactiveml import DiverseBatch
    >>> nan = float("nan")
    >>> X = [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.3, 0.0], [0.1, 9.0]]
    >>> DiverseBatch(random_state=0).query(X, [0, 1, nan, nan, nan], LinearSVC(C=100), batch_size=2)
    array([2, 4])
    """

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        missing_label: Any = MISSING_LABEL,
        random_state: RandomStateLike = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.kernel = kernel
        self.gamma = gamma

    def _choose(self, pool: np.ndarray, near: np.ndarray, batch_size: int) -> Choice:
        kernel_params = json.loads(kernel_json(self.kernel, self.gamma, pool))
        if not near.any():
            return self._nearest(near, batch_size)
        known = _Precomputed(near)
        places = diverse_sampling(known, pool, batch_size, kernel=self.kernel, gamma=self.gamma)
        return places, lambda: self._gains(pool, near, places, kernel_params)

    @staticmethod
    def _gains(pool: np.ndarray, near: np.ndarray, places: np.ndarray, kernel_params: Kernel) -> np.ndarray:
        uncertainty = np.maximum(0.0, 1.0 - near)
        inside = np.flatnonzero(uncertainty > 0)
        if kernel_params["type"] == "rbf":
            similarities = similarity(pool[inside], pool[inside], kernel_params)
        else:
            similarities = 0.5 * (1.0 + similarity(unit_rows(pool[inside]), unit_rows(pool[inside]), kernel_params))
        covered = np.zeros(len(inside))
        steps = np.tile(np.minimum(0.0, 1.0 - near), (len(places), 1))
        for step, place in enumerate(places):
            steps[step, inside] = uncertainty[inside] @ np.maximum(0.0, similarities - covered[:, None])
            steps[step, places[:step]] = np.nan
            if uncertainty[place] > 0:
                covered = np.maximum(covered, similarities[:, np.searchsorted(inside, place)])
        return steps


class _Precomputed:
    """A classifier with precomputed decision values."""

    def __init__(self, decision: np.ndarray) -> None:
        self.decision = decision

    def decision_function(self, X: Any) -> np.ndarray:
        return self.decision


class SubmodularBatch(_Strategy):
    """Query candidates between or far from the labeled rows and dissimilar to each other (SUBMOD-ACTV).

    See :func:`evermargin.active.submod_sampling`. It uses labeled rows of two classes and no classifier.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        Similarity of rows; linear is the cosine.
    gamma : float or "scale" or "auto", default="scale"
        Width of the rbf kernel; scale is 1/(n_features * X.var()), auto is 1/n_features.
    diversity, labeled, density : float or "auto", default="auto"
        Weights of the three terms of the objective.
    seek : {"outliers", "dense"}, default="outliers"
        Whether to prefer candidates unlike most others (as in the source) or candidates similar to many others.
    missing_label : scalar or string or np.nan or None, default=np.nan
        Value in ``y`` that marks unlabeled rows.
    random_state : int, RandomState instance or None, default=None
        Not used; the choice is deterministic.

    Examples
    --------
    >>> from evermargin.skactiveml import SubmodularBatch
    >>> nan = float("nan")
    >>> SubmodularBatch(density=0.0).query([[0.0], [1.0], [0.5], [0.9]], [0, 1, nan, nan])
    array([2])
    """

    def __init__(
        self,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        diversity: float | str = "auto",
        labeled: float | str = "auto",
        density: float | str = "auto",
        seek: str = "outliers",
        missing_label: Any = MISSING_LABEL,
        random_state: RandomStateLike = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.kernel = kernel
        self.gamma = gamma
        self.diversity = diversity
        self.labeled = labeled
        self.density = density
        self.seek = seek

    def query(
        self,
        X: ArrayLike,
        y: ArrayLike,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Sampled:
        """Choose candidates to label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All samples.
        y : array-like of shape (n_samples,)
            Labels, some of them missing.
        candidates : None, array-like of int, or array-like of shape (n_candidates, n_features), default=None
            None for the unlabeled rows of ``X``, or indices of rows of ``X``, or other samples.
        batch_size : int, default=1
            Number of candidates to choose.
        return_utilities : bool, default=False
            Whether to return utilities, too.

        Returns
        -------
        query_indices : ndarray of shape (batch_size,)
            Indices of rows of ``X``, or of ``candidates`` if these are samples.
        utilities : ndarray of shape (batch_size, n_samples) or (batch_size, n_candidates)
            Gains before each choice; NaN for rows that were no candidates.
        """
        return self._ask(X, y, candidates, batch_size, return_utilities, self._choose)

    def _choose(self, X: np.ndarray, y: np.ndarray, pool: np.ndarray, batch_size: int) -> Choice:
        known = is_labeled(y, self.missing_label_)
        options: dict[str, Any] = {"X_labeled": X[known], "y_labeled": y[known]} if known.any() else {}
        options |= {name: getattr(self, name) for name in ("diversity", "labeled", "density", "seek")}
        options |= {"kernel": self.kernel, "gamma": self.gamma}
        places = submod_sampling(None, pool, batch_size, **options)
        return places, lambda: self._gains(X[known], y[known], pool, places)

    def _gains(self, known: np.ndarray, labels: np.ndarray, pool: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Gain of each candidate in the objective, before each choice."""
        kernel_params = json.loads(kernel_json(self.kernel, self.gamma, pool))
        if self.kernel == "linear":
            known, pool = unit_rows(known) if len(known) else known, unit_rows(pool)
        similarities = similarity(pool, pool, kernel_params)
        label_sum = np.zeros(len(pool))
        if len(known):
            sign = 2.0 * np.unique(labels, return_inverse=True)[1] - 1.0
            label_sum = similarity(pool, known, kernel_params) @ sign
        weight = self._weights(len(pool), len(known), len(places))
        gain = -weight["labeled"] * np.abs(label_sum) - weight["density"] * similarities.sum(axis=1)
        gain -= weight["diversity"] * np.diag(similarities)
        steps = np.empty((len(places), len(pool)))
        for step, place in enumerate(places):
            steps[step] = gain
            steps[step, places[:step]] = np.nan
            gain = gain - 2.0 * weight["diversity"] * similarities[place]
        return steps

    def _weights(self, rows: int, labels: int, count: int) -> dict[str, float]:
        means = {"diversity": 1 / (2 * count), "labeled": 1 / max(1, labels), "density": 1 / rows}
        given = {name: getattr(self, name) for name in means}
        weight = {name: mean if isinstance(given[name], str) else given[name] for name, mean in means.items()}
        if self.seek == "dense":
            weight["density"] *= -1
        return weight
