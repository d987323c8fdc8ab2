"""Base class of one-class estimators, which learn the region of their training rows without labels."""

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
    """Base class of estimators that learn a region from rows of one class; they predict 1 inside, -1 outside."""

    @transactional
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; a square kernel matrix with ``kernel="precomputed"``.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight k acts like k copies, a row of weight 0 as if it were absent.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        unlabeled = np.full(_num_samples(X), -1)
        return self._learn(X, unlabeled, [], self._settings(()), weights)

    @property
    def offset_(self) -> float:
        """Threshold of ``score_samples``: rows above it are inside."""
        return -float(self.intercept_[0])

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute decision values: positive inside the region, negative outside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,)
            Decision values.
        """
        return self._raw_predictions(X)[1][:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the decision values plus ``offset_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,)
            Values of ``decision_function(X) + offset_``.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Predict whether samples are inside the region.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            1 inside, -1 outside.
        """
        return np.where(self._raw_predictions(X)[0] == 1, 1, -1)
