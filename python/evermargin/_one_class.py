"""The learner of one class: what rows have in common, without labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin
from sklearn.utils.validation import _check_sample_weight, _num_samples, validate_data

from ._base import LargeMarginEstimator, transactional

if TYPE_CHECKING:
    from typing_extensions import Self


class OneClassEstimator(OutlierMixin, LargeMarginEstimator):
    """Base of estimators that learn from rows of one class: 1 inside, -1 outside."""

    @transactional
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; a square kernel matrix with ``kernel="precomputed"``.
        y : object, default=None
            Not looked at.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight k is k copies, 0 is absence.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        nobody_has_a_label = np.full(_num_samples(X), -1)
        return self._learn(X, nobody_has_a_label, [], self._settings(()), weights)

    @property
    def offset_(self) -> float:
        """What ``score_samples`` must be above for a row to be inside."""
        return -float(self.intercept_[0])

    def decision_function(self, X: Any) -> np.ndarray:
        """How far inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,)
            Positive inside, negative outside.
        """
        return self._said(X)[1][:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """The same without the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,)
            ``decision_function(X) + offset_``.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Which samples are inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            1 inside, -1 outside.
        """
        return np.where(self._said(X)[0] == 1, 1, -1)
