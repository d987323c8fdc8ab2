"""Selection of exemplars: a few rows that represent all rows."""

from __future__ import annotations

import json
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._base import available_when, from_rows, rows
from ._kernels import kernel_of, similarity, weight

if TYPE_CHECKING:
    from scipy import sparse
    from typing_extensions import Self

    from ._core import Summary
    from ._types import Kernel

#: Maximum number of steps of the convex relaxation.
_MAX_STEPS = 10_000_000


def _supports_streams(selector: ExemplarSelector) -> bool:
    if selector.method == "qp":
        raise AttributeError("method='qp' needs all rows at once: use fit, or method='submod'")
    return True


class ExemplarSelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Select exemplars that represent all rows, and transform samples to similarities with them.

    ``fit`` selects from all rows at once. ``partial_fit`` processes a stream; it stores only the exemplars and a
    part of the current batch. ``merge`` combines selectors that were fitted on different parts of the data.

    Parameters
    ----------
    n_exemplars : int, default=100
        Maximum number of exemplars; with fewer rows all are kept.
    method : {"submod", "qp", "facility"}, default="submod"
        submod: match the mean of the data in feature space (kernel herding by lazy greedy; Emara 2012, chapter
        IV). qp: the rounded convex relaxation of submod, for small data. facility: maximize the similarity of
        each row to its most similar exemplar (facility location), for nonnegative similarities such as rbf.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel that measures the similarity of rows.
    gamma : float or "scale" or "auto", default="scale"
        Width of the rbf and poly kernels; scale is 1/(n_features * X.var()) of the first rows seen.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly kernel.
    diversity : float or "auto" or "static", default="auto"
        Weight of the dissimilarity of exemplars. auto decreases with each choice, so that the first k exemplars
        are the selection for ``n_exemplars=k``; static and numbers stay constant.
    density : float or "auto", default="auto"
        Weight of the density of rows around exemplars; auto is 1.
    tol : float, default=1e-3
        Tolerance of the convex relaxation.
    random_state : int, RandomState instance or None, default=None
        Not used, because the selection is deterministic; present so that pipelines can set it.

    Attributes
    ----------
    exemplars_ : {ndarray, sparse array} of shape (n_chosen, n_features)
        The exemplars, the most important first.
    exemplar_indices_ : ndarray of shape (n_chosen,)
        Indices of the exemplars among the rows of ``fit``; not available after ``partial_fit`` or ``merge``.
    weights_ : ndarray of shape (n_chosen,)
        Number of samples that each exemplar represents; the sum is ``n_samples_seen_``.
    score_ : float
        Objective value of the exemplars; not available after ``partial_fit`` or ``merge``.
    gamma_ : float or None
        ``gamma`` as a number; None with the linear kernel.
    n_samples_seen_ : int
        Number of samples seen.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from evermargin import ExemplarSelector
    >>> rng = np.random.RandomState(0)
    >>> X = np.concatenate([rng.normal(0, 0.1, (30, 2)), rng.normal(3, 0.1, (10, 2))])
    >>> selector = ExemplarSelector(n_exemplars=2, method="facility", gamma=0.5).fit(X)
    >>> selector.weights_
    array([30., 10.])
    >>> selector.transform(X).shape
    (40, 2)
    """

    exemplars_: np.ndarray | sparse.csr_array
    exemplar_indices_: np.ndarray
    weights_: np.ndarray
    score_: float
    n_samples_seen_: int
    _kernel: Kernel

    def __init__(
        self,
        n_exemplars: int = 100,
        method: str = "submod",
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        diversity: float | str = "auto",
        density: float | str = "auto",
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_exemplars = n_exemplars
        self.method = method
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.diversity = diversity
        self.density = density
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select exemplars from the rows of ``X``; earlier rows are forgotten.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : None
            Not used.

        Returns
        -------
        self : ExemplarSelector
            The fitted selector.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        max_exemplars = self._max_exemplars()
        self._kernel = kernel_of(self.kernel, self.gamma, X, self.degree, self.coef0)
        if self.method == "qp":
            chosen = _core.relax_exemplars(rows(X), self._settings(), max_exemplars, float(self.tol), _MAX_STEPS)
        else:
            chosen = _core.choose_exemplars(rows(X), self._settings(), max_exemplars)
        self.exemplar_indices_, self.weights_, self.score_ = chosen
        self.exemplars_ = X[self.exemplar_indices_]
        self.n_samples_seen_ = X.shape[0]
        return self

    @available_when(_supports_streams)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Update the exemplars with more rows of a stream.

        A row that is dropped adds its weight to the exemplar most similar to it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : None
            Not used.

        Returns
        -------
        self : ExemplarSelector
            The selector, with exemplars of all rows seen.
        """
        first = not hasattr(self, "exemplars_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        max_exemplars = self._max_exemplars()
        if first:
            self._kernel = kernel_of(self.kernel, self.gamma, X, self.degree, self.coef0)
            summary = rows(X[:0]), np.empty(0), 0
        else:
            summary = self._summary()
        self._set_summary(_core.absorb(summary, self._settings(), max_exemplars, rows(X)))
        return self

    def merge(self, other: ExemplarSelector) -> Self:
        """Add the exemplars of another selector, which was fitted on other rows.

        Parameters
        ----------
        other : ExemplarSelector
            A selector with the same method, kernel and gamma (given as a number). It stays unchanged.

        Returns
        -------
        self : ExemplarSelector
            The selector, with exemplars of both.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if (self.method, self._kernel) != (other.method, other._kernel):
            raise ValueError(
                f"the two selectors have different settings ({self.method}, {self._kernel} and "
                f"{other.method}, {other._kernel}): "
                "use the same method, kernel and gamma (as a number) for both"
            )
        self._set_summary(_core.merge_summaries(self._summary(), other._summary(), self._settings(), self._max_exemplars()))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Compute the similarity of samples to the exemplars: one feature per exemplar.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        similarities : ndarray of shape (n_samples, n_chosen)
            Kernel values. A linear model of them is a kernel model whose support vectors are the exemplars.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return similarity(X, self.exemplars_, self._kernel)

    def _max_exemplars(self) -> int:
        whole = isinstance(self.n_exemplars, numbers.Integral) and not isinstance(self.n_exemplars, bool)
        if not whole or self.n_exemplars < 1:
            raise ValueError(f"n_exemplars={self.n_exemplars!r}: must be a whole number from 1 on")
        if self.method not in ("submod", "qp", "facility"):
            raise ValueError(f"method={self.method!r}: must be 'submod', 'qp' or 'facility'")
        return int(self.n_exemplars)

    def _settings(self) -> str:
        objective = "facility-location" if self.method == "facility" else "exemplars"
        return json.dumps(
            {
                "kernel": self._kernel,
                "objective": objective,
                "diversity": weight("diversity", self.diversity),
                "density": weight("density", self.density),
            }
        )

    def _summary(self) -> Summary:
        """The summary that the core continues from: exemplars, weights and number of samples."""
        return rows(self.exemplars_), self.weights_, int(self.n_samples_seen_)

    def _set_summary(self, summary: Summary) -> None:
        parts, self.weights_, self.n_samples_seen_ = summary
        self.exemplars_ = from_rows(parts)
        for name in ("exemplar_indices_", "score_"):
            self.__dict__.pop(name, None)

    @property
    def gamma_(self) -> float | None:
        """``gamma`` as a number; None with the linear kernel."""
        check_is_fitted(self)
        return self._kernel.get("gamma")

    @property
    def _n_features_out(self) -> int:
        return self.exemplars_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
