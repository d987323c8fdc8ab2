"""Base classes of sequential maximum entropy discrimination, which updates a posterior batch by batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from . import _core
from ._base import (
    LargeMarginClassifier,
    LargeMarginEstimator,
    SemiSupervisedClassifier,
    class_names,
    rows,
    transactional,
)
from ._labels import check_minus_one, known_labels
from ._online import codes_among, declared_classes

if TYPE_CHECKING:
    from typing_extensions import Self


class _Sequential(LargeMarginEstimator):
    """Base class: the posterior, held as a handle of the core, and its updates."""

    _posterior: _core.Sequential

    def _update(
        self,
        X: Any,
        codes: np.ndarray,
        classes: np.ndarray,
        sample_weight: np.ndarray | None = None,
        restart: bool = False,
    ) -> dict[str, Any]:
        """Update the posterior with rows; it stays unchanged if the update fails."""
        state: _core.Sequential | None = None if restart else getattr(self, "_posterior", None)
        with self._python_names():
            if state is None:
                names = class_names(classes)
                state = _core.Sequential.begin(self._name(), rows(X), names, self._settings(classes))
            report: dict[str, Any] = json.loads(state.learn(rows(X), codes, sample_weight, bool(self.verbose)))
        self._posterior = state
        self.classes_ = classes
        return report

    def _set_results(self, report: dict[str, Any]) -> Self:
        exits = {output["exit"] for output in report["outputs"]}
        self._model = self._posterior.classifier()
        self.report_ = {**report, "batches": self._posterior.batches}
        self.n_iter_ = max(1, int(report["steps"]))
        self.stop_reason_ = "converged" if exits <= {"converged"} else sorted(exits - {"converged"})[0]
        return self


class SequentialClassifier(_Sequential, LargeMarginClassifier):
    """Base class of supervised sequential classifiers."""

    def _train(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__}.fit needs labeled rows of two classes or more; found one class: "
                f"{self.classes_[0]}. Use partial_fit with classes=... for a batch of one class"
            )
        X, codes, sample_weight = _drop_zero_weights(X, np.ascontiguousarray(codes, dtype=np.int64), sample_weight)
        return self._set_results(self._update(X, codes, self.classes_, sample_weight, restart=True))

    @transactional
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the posterior with a labeled batch; the posterior so far is the prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All classes of the stream; required in the first call. Classes without a label so far are never predicted.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor on the cost of each row; rows of weight 0 are ignored.

        Returns
        -------
        self : object
            The estimator.
        """
        first = getattr(self, "_posterior", None) is None
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        known = declared_classes(self, classes)
        codes = codes_among(np.asarray(y), known)
        weights: np.ndarray | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        X, codes, weights = _drop_zero_weights(X, codes, weights)
        return self._set_results(self._update(X, codes, known, weights))


class SequentialSemiSupervisedClassifier(_Sequential, SemiSupervisedClassifier):
    """Base class of sequential classifiers whose batches may have unlabeled rows."""

    def _train(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        super()._train(X, codes, sample_weight)
        self._update(X, np.ascontiguousarray(codes, dtype=np.int64), self.classes_, restart=True)
        return self

    @transactional
    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> Self:
        """Update the posterior with a batch, labeled or not; the posterior so far is the prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,), default=None
            Class labels; ``missing_label`` marks unlabeled rows. With None all rows are unlabeled.
        classes : array-like of shape (n_classes,), default=None
            All classes of the stream; required in the first call. Classes without a label so far are never predicted.

        Returns
        -------
        self : object
            The estimator.
        """
        first = getattr(self, "_posterior", None) is None
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        known = declared_classes(self, classes)
        codes = np.full(_num_samples(X), -1, dtype=np.int64)
        check_minus_one(codes < 0, np.array([]), self.missing_label, known)
        if y is not None:
            has, labels = known_labels(y, self.missing_label, len(codes))
            codes[has] = codes_among(labels, known)
        return self._set_results(self._update(X, codes, known))

    def predict_std(self, X: Any) -> np.ndarray:
        """Compute the posterior standard deviation of decision values, without the intercept.

        It is small near rows seen so far, decreases with the graphs of further batches and does not depend on labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        std : ndarray of shape (n_samples,)
            Standard deviations, which are the same for all decision functions.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return np.sqrt(np.maximum(self._posterior.variance(rows(X)), 0.0))


def _drop_zero_weights(
    X: Any, codes: np.ndarray, sample_weight: np.ndarray | None
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Drop rows of weight 0."""
    if sample_weight is None or np.all(sample_weight > 0):
        return X, codes, sample_weight
    present = sample_weight > 0
    return X[present], codes[present], sample_weight[present]
