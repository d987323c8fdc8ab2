"""The learner of one class: what rows have in common, without labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin
from sklearn.utils.validation import _check_sample_weight, _num_samples, validate_data

from ._base import LargeMarginEstimator, whole_or_nothing

if TYPE_CHECKING:
    from typing_extensions import Self


class OneClassSVM(OutlierMixin, LargeMarginEstimator):
    """Where rows lie: 1 inside, -1 outside.

    Same optimum, scaling and signs as LIBSVM and scikit-learn's ``OneClassSVM``; a row of weight k is k copies of it.

    Equations, when it fails and what it costs: ``docs/one-class.md``.

    Parameters
    ----------
    kernel : str, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    nu : float, default=0.5
        At most this share of the rows is outside, at least this share are support vectors; above 0, at most 1.
    tol : float, default=0.001
        Largest violation of the optimality conditions, a share of nu times the mean of K(x, x).
    max_iter : int, default=-1
        Most steps; -1 is as many as it takes.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    offset_ : float
        What ``score_samples`` must be above for a row to be inside.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap, and what was chosen.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        The decision function: points and their coefficients, or weights, and the constant.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from evermargin import OneClassSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> setosa = OneClassSVM(nu=0.1).fit(X[y == 0])
    >>> print((setosa.predict(X[y == 0]) == 1).mean() >= 0.9, (setosa.predict(X[y == 2]) == -1).all())
    True True
    """

    _learner = "one-class"

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        nu: float = 0.5,
        tol: float = 0.001,
        max_iter: int = -1,
        cache_size: int = 1000,
        scale: str | None = "none",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.scale = scale
        self.verbose = verbose

    @whole_or_nothing
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
