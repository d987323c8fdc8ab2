"""Active learning: query strategies and an active learner with the names and signatures of modAL.

A strategy is a function ``strategy(estimator, X, n_instances=1, random_state=None, ...)`` that returns the
indices of the rows of ``X`` that are worth a label, the best first. It works with every fitted classifier that
has ``decision_function`` or ``predict_proba``; while the classifier is not fitted, rows are chosen at random.
Ties are broken at random, so that the order of the pool does not matter; ``random_state=None`` draws from
numpy's global generator, as in scikit-learn.

Examples
--------
>>> from sklearn.datasets import make_moons
>>> from sklearn.svm import SVC
>>> from evermargin.active import ActiveLearner, margin_sampling
>>> X, y = make_moons(200, noise=0.1, random_state=0)
>>> learner = ActiveLearner(SVC(gamma=2), margin_sampling, X_training=X[:10], y_training=y[:10])
>>> for _ in range(20):
...     index, row = learner.query(X[10:], random_state=0)
...     learner.teach(row, y[10:][index])
>>> len(learner.y_training)
30
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from ._base import Method, available_when
from ._batches import density_sampling, diverse_sampling, relaxed_sampling, submod_sampling
from ._labels import is_missing
from ._strategies import (
    closeness,
    committee_sampling,
    entropy_sampling,
    margin_sampling,
    random_sampling,
    small_pool_sampling,
    uncertainty_sampling,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import RandomStateLike

__all__ = [
    "ActiveLearner",
    "closeness",
    "committee_sampling",
    "density_sampling",
    "diverse_sampling",
    "entropy_sampling",
    "margin_sampling",
    "random_sampling",
    "relaxed_sampling",
    "small_pool_sampling",
    "submod_sampling",
    "uncertainty_sampling",
]


def _if_estimator_has(name: str) -> Callable[[Method], Method]:
    return available_when(lambda self: hasattr(self.estimator, name))


class ActiveLearner:
    """Active learner that queries the labels of selected rows, with the interface of modAL.

    It can start without labels: until the labeled rows contain two classes, they are stored but not learned, and
    queries are random. Rows that the estimator rejects are not stored.

    Parameters
    ----------
    estimator : object
        Any scikit-learn estimator.
    query_strategy : callable, default=uncertainty_sampling
        Function ``strategy(learner, X, ...)`` that returns indices of rows of ``X``.
    X_training, y_training : array-like, default=None
        Initial labeled rows. The estimator is fitted to them at once if they contain two classes.
    bootstrap_init : bool, default=False
        Whether to draw the rows of the first fit with replacement.
    random_state : int, RandomState instance or None, default=None
        Controls the bootstrap samples.
    **fit_kwargs
        Passed to the first ``fit``.

    Attributes
    ----------
    X_training, y_training : array-like
        All labeled rows so far.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from evermargin.active import ActiveLearner
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(random_state=0)
    >>> learner = ActiveLearner(estimator=forest, X_training=X[::15], y_training=y[::15])
    >>> query_idx, query_inst = learner.query(X, random_state=0)
    >>> learner.teach(X[query_idx], y[query_idx])
    >>> len(learner.y_training)
    11
    """

    def __init__(
        self,
        estimator: Any,
        query_strategy: Callable[..., Any] = uncertainty_sampling,
        X_training: Any = None,
        y_training: Any = None,
        bootstrap_init: bool = False,
        random_state: RandomStateLike = None,
        **fit_kwargs: Any,
    ) -> None:
        if not callable(query_strategy):
            raise TypeError("query_strategy must be a function of a learner and a pool")
        if (X_training is None) != (y_training is None):
            raise ValueError("give both X_training and y_training, or neither")
        self.estimator = estimator
        self.query_strategy = query_strategy
        self.random_state = random_state
        self._rng = check_random_state(random_state)
        self.X_training, self.y_training = None, None
        self._needs_second_class = False
        if X_training is not None:
            _same_length(X_training, y_training)
            self._learn(X_training, y_training, (X_training, y_training), bootstrap_init, fit_kwargs)

    def fit(self, X: Any, y: Any, bootstrap: bool = False, **fit_kwargs: Any) -> Self:
        """Replace all labeled rows by these and fit the estimator; if it fails, nothing changes.

        Parameters
        ----------
        X, y : array-like
            Labeled rows.
        bootstrap : bool, default=False
            Whether to learn from a bootstrap sample of the rows.
        **fit_kwargs
            Passed to the estimator.

        Returns
        -------
        self : ActiveLearner
            The active learner.
        """
        _same_length(X, y)
        self._learn(X, y, (X, y), bootstrap, fit_kwargs, fitted_goes_on=True)
        return self

    def teach(self, X: Any, y: Any, bootstrap: bool = False, only_new: bool = False, **fit_kwargs: Any) -> None:
        """Add labeled rows and update the estimator; if it fails, nothing changes.

        Parameters
        ----------
        X, y : array-like
            Rows and their labels; a single row may be one-dimensional.
        bootstrap : bool, default=False
            Whether to learn from a bootstrap sample of the rows.
        only_new : bool, default=False
            Whether to learn from these rows only: with ``partial_fit`` if the estimator has it, else with ``fit``.
        **fit_kwargs
            Passed to the estimator.
        """
        X, y = _as_rows(X, y)
        first = self.X_training is None
        X_all, y_all = (X, y) if first else (_stack(self.X_training, X), _stack(self.y_training, y))
        rows = (X, y) if only_new and not self._needs_second_class else (X_all, y_all)
        self._learn(X_all, y_all, rows, bootstrap, fit_kwargs, more=only_new, fitted_goes_on=only_new)

    def _learn(
        self,
        X: Any,
        y: Any,
        rows: tuple[Any, Any],
        bootstrap: bool,
        fit_kwargs: dict[str, Any],
        more: bool = False,
        fitted_goes_on: bool = False,
    ) -> None:
        """Fit or update the estimator with ``rows``, then store ``X`` and ``y`` as all labeled rows."""
        fitted = fitted_goes_on and hasattr(self.estimator, "classes_")
        needs_second_class = not fitted and "classes" not in fit_kwargs and _one_class(self.estimator, y)
        if not needs_second_class:
            with _restored_on_error(self.estimator):
                if more and hasattr(self.estimator, "partial_fit"):
                    self._learn_more(*self._bootstrap_sample(*rows, bootstrap), y, fit_kwargs)
                else:
                    self.estimator.fit(*self._bootstrap_sample(*rows, bootstrap), **fit_kwargs)
        self.X_training, self.y_training, self._needs_second_class = X, y, needs_second_class

    def _learn_more(self, X: Any, y: Any, known: Any, fit_kwargs: dict[str, Any]) -> None:
        takes_classes = "classes" in inspect.signature(self.estimator.partial_fit).parameters
        if takes_classes and not hasattr(self.estimator, "classes_"):
            fit_kwargs.setdefault("classes", np.unique(known))
        self.estimator.partial_fit(X, y, **fit_kwargs)

    def _bootstrap_sample(self, X: Any, y: Any, bootstrap: bool) -> tuple[Any, Any]:
        if not bootstrap:
            return X, y
        n = _num_samples(X)
        drawn = self._rng.choice(n, size=n, replace=True)
        return _safe_indexing(X, drawn), _safe_indexing(y, drawn)

    def query(self, X_pool: Any, *query_args: Any, return_metrics: bool = False, **query_kwargs: Any) -> tuple[Any, ...]:
        """Choose rows of the pool to label.

        Parameters
        ----------
        X_pool : {array-like, sparse matrix} of shape (n_samples, n_features)
            Pool of candidate rows.
        *query_args, **query_kwargs
            Passed to the strategy; the first positional argument is ``n_instances``.
        return_metrics : bool, default=False
            Whether to return the utilities of the rows, too.

        Returns
        -------
        query_idx : ndarray of shape (n_instances,)
            Indices of the chosen rows.
        query_instance : array-like
            The chosen rows.
        metrics : ndarray or None
            Utilities, or None if the strategy has none; only if ``return_metrics``.
        """
        if return_metrics and "return_metrics" in inspect.signature(self.query_strategy).parameters:
            query_kwargs["return_metrics"] = True
        answer = self.query_strategy(self, X_pool, *query_args, **query_kwargs)
        chosen, metrics = (answer[0], answer[1]) if isinstance(answer, tuple) else (answer, None)
        instance = _safe_indexing(X_pool, chosen) if np.ndim(chosen) else _single_row(X_pool, chosen)
        return (chosen, instance, metrics) if return_metrics else (chosen, instance)

    def predict(self, X: Any, **predict_kwargs: Any) -> np.ndarray:
        """Predict classes with the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        **predict_kwargs
            Passed to the estimator.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted classes.
        """
        return self.estimator.predict(X, **predict_kwargs)

    @_if_estimator_has("predict_proba")
    def predict_proba(self, X: Any, **predict_proba_kwargs: Any) -> np.ndarray:
        """Predict class probabilities with the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        **predict_proba_kwargs
            Passed to the estimator.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Class probabilities.
        """
        return self.estimator.predict_proba(X, **predict_proba_kwargs)

    @_if_estimator_has("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Compute decision values with the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray
            Decision values.
        """
        return self.estimator.decision_function(X)

    def score(self, X: Any, y: Any, **score_kwargs: Any) -> float:
        """Compute the score of the estimator, which is accuracy for classifiers.

        Parameters
        ----------
        X, y : array-like
            Samples and their true labels.
        **score_kwargs
            Passed to the estimator.

        Returns
        -------
        score : float
            Score.
        """
        return self.estimator.score(X, y, **score_kwargs)

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the estimator."""
        return self.estimator.classes_

    def __sklearn_is_fitted__(self) -> bool:
        return self.X_training is not None and not self._needs_second_class

    def __repr__(self) -> str:
        known = 0 if self.X_training is None else _num_samples(self.X_training)
        return f"ActiveLearner({self.estimator!r}, {self.query_strategy.__name__}, {known} labels)"


def _one_class(estimator: Any, y: Any) -> bool:
    """Whether the labels have fewer than two classes, so that a classifier cannot learn from them yet."""
    try:
        if not is_classifier(estimator):
            return False
    except AttributeError:  # not an estimator of scikit-learn: leave the check to it
        return False
    y = np.asarray(y)
    if y.ndim != 1:
        return False
    if hasattr(estimator, "missing_label"):
        y = y[~is_missing(y, estimator.missing_label)]
    return len(set(y.tolist())) < 2


@contextlib.contextmanager
def _restored_on_error(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator, and of the estimators inside it, if the block fails."""
    inside = estimator.get_params().values() if hasattr(estimator, "get_params") else []
    estimators = [e for e in [estimator, *inside] if hasattr(e, "fit") and hasattr(e, "__dict__")]
    before = [(e, dict(vars(e))) for e in estimators if not isinstance(e, type)]
    try:
        yield
    except BaseException:
        for e, attributes in before:
            vars(e).clear()
            vars(e).update(attributes)
        raise


def _same_length(X: Any, y: Any) -> None:
    if _num_samples(X) != _num_samples(y):
        raise ValueError(f"{_num_samples(X)} rows and {_num_samples(y)} labels: each row needs one label")


def _as_rows(X: Any, y: Any) -> tuple[Any, Any]:
    """New rows and labels; a single row or label gets its missing dimension."""
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if X.ndim == 1:
        X = np.asarray(X).reshape(1, -1)
    if np.ndim(y) == 0:
        y = np.asarray(y).reshape(1)
    _same_length(X, y)
    return X, y


def _single_row(X: Any, index: Any) -> Any:
    """A single row, as indexing with an integer returns it."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    return X[[index]] if sparse.issparse(X) else X[index]


def _stack(above: Any, below: Any) -> Any:
    """Concatenate rows; sparse matrices and data frames keep their type."""
    if sparse.issparse(above) or sparse.issparse(below):
        return sparse.vstack([above, below], format="csr")
    if hasattr(above, "iloc") and hasattr(below, "iloc"):
        import pandas

        return pandas.concat([above, below], ignore_index=True)
    return np.concatenate([np.asarray(above), np.asarray(below)])
