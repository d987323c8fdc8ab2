"""Sequential maximum entropy discrimination: a belief carried from batch to batch in bounded memory."""

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
    SemiSupervisedClassifier,
    class_names,
    rows,
    transactional,
)
from ._labels import known_labels, refuse_minus_one
from ._online import codes_among, declared_classes

if TYPE_CHECKING:
    from typing_extensions import Self


class _Sequential:
    """What both have: the belief as a handle."""

    def _learn_on(self, X, codes, classes, sample_weight=None, anew=False):
        """Learns rows; the belief is replaced only when all went well."""
        state = None if anew else getattr(self, "_belief", None)
        with self._python_names():
            if state is None:
                names = class_names(classes)
                state = _core.Sequential.begin(self._name(), rows(X), names, self._settings(classes))
            report = json.loads(state.learn(rows(X), codes, sample_weight, bool(self.verbose)))
        self._belief = state
        self.classes_ = classes
        return report

    def _publish(self, report):
        exits = {output["exit"] for output in report["outputs"]}
        self._model = self._belief.classifier()
        self.report_ = {**report, "batches": self._belief.batches}
        self.n_iter_ = max(1, int(report["steps"]))
        self.stop_reason_ = "converged" if exits <= {"converged"} else sorted(exits - {"converged"})[0]
        return self


class SequentialClassifier(_Sequential, LargeMarginClassifier):
    """Base of supervised sequential classifiers: each batch updates the posterior."""

    def _train(self, X, codes, sample_weight=None):
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__}.fit needs labeled rows of two classes or more; found one class: "
                f"{self.classes_[0]}. A batch of one class is for partial_fit, with classes=..."
            )
        X, codes, sample_weight = _present(X, np.ascontiguousarray(codes, dtype=np.int64), sample_weight)
        return self._publish(self._learn_on(X, codes, self.classes_, sample_weight, anew=True))

    @transactional
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn a batch; what was learned before is the prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            Every class that will ever come; needed on the first call. Those not met yet are never predicted.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the cost of each row; 0 is absence.

        Returns
        -------
        self : object
            The estimator.
        """
        first = getattr(self, "_belief", None) is None
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        classes = declared_classes(self, classes)
        codes = codes_among(y, classes)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        X, codes, sample_weight = _present(X, codes, sample_weight)
        return self._publish(self._learn_on(X, codes, classes, sample_weight))


class SequentialSemiSupervisedClassifier(_Sequential, SemiSupervisedClassifier):
    """Base of sequential classifiers whose batches may have rows without a label."""

    def _train(self, X, codes, sample_weight=None):
        super()._train(X, codes, sample_weight)
        self._learn_on(X, np.ascontiguousarray(codes, dtype=np.int64), self.classes_, anew=True)
        return self

    @transactional
    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> Self:
        """Learn a batch, with labels or without; what was learned before is the prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), default=None
            Their classes; ``missing_label`` marks rows without a label. None is no label at all.
        classes : array-like of shape (n_classes,), default=None
            Every class that will ever come; needed on the first call. Those not met yet are never predicted.

        Returns
        -------
        self : object
            The estimator.
        """
        first = getattr(self, "_belief", None) is None
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        classes = declared_classes(self, classes)
        codes = np.full(_num_samples(X), -1, dtype=np.int64)
        refuse_minus_one(codes < 0, np.array([]), self.missing_label, classes)
        if y is not None:
            has, labels = known_labels(y, self.missing_label, len(codes))
            codes[has] = codes_among(labels, classes)
        return self._publish(self._learn_on(X, codes, classes))

    def predict_std(self, X: Any) -> np.ndarray:
        """How unsure the belief is: the standard deviation of a decision, its constant left out.

        It is small near what was met, falls as graphs are met, and does not depend on labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        std : ndarray of shape (n_samples,)
            The same for every decision function.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return np.sqrt(np.maximum(self._belief.variance(rows(X)), 0.0))


def _present(X, codes, sample_weight):
    """Rows that weigh something."""
    if sample_weight is None or np.all(sample_weight > 0):
        return X, codes, sample_weight
    there = sample_weight > 0
    return X[there], codes[there], sample_weight[there]
