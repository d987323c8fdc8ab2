"""Rows that stand for all rows."""

from __future__ import annotations

from typing import Any

import json
import numbers

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._base import from_rows, rows
from ._kernels import kernel_of, similarity, weight

#: Steps after which the relaxation gives what it has.
_MAX_STEPS = 10_000_000


def _goes_on(selector):
    if selector.method == "qp":
        raise AttributeError("method='qp' needs all rows at once: use fit, or method='submod'")
    return True


class ExemplarSelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Chooses rows that stand for all rows, and describes samples by their similarity to them.

    ``fit`` chooses from all rows at once; ``partial_fit`` takes a stream in, holding never more than the
    exemplars and a piece of the batch; ``merge`` joins what was learned from other parts of the data.

    Parameters
    ----------
    n_exemplars : int, default=100
        Most rows to keep; all of fewer rows are kept.
    method : {"submod", "qp", "facility"}, default="submod"
        submod: the means of exemplars and data agree in feature space (kernel herding by lazy greedy; Emara
        2012, chapter IV). qp: the convex relaxation of it, rounded; for small data. facility: every row has
        an exemplar like it (facility location); needs similarities that are never negative, such as rbf.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Similarity of rows.
    gamma : float or "scale" or "auto", default="scale"
        Of rbf and poly; scale is 1/(features * variance) of the first rows seen.
    degree : int, default=3
        Of poly.
    coef0 : float, default=0.0
        Of poly.
    diversity : float or "auto" or "static", default="auto"
        Weight of exemplars being unlike each other. auto falls with each choice, which makes the first
        exemplars the smaller summary; static and numbers do not change.
    density : float or "auto", default="auto"
        Weight of exemplars lying where rows are dense; auto is 1.
    tol : float, default=1e-3
        Of the relaxation.
    random_state : int, RandomState instance or None, default=None
        Not used: nothing here is left to chance. It is there so that pipelines may set it.

    Attributes
    ----------
    exemplars_ : {ndarray, sparse array} of shape (n_chosen, n_features)
        The rows, the most important first.
    exemplar_indices_ : ndarray of shape (n_chosen,)
        Their numbers among the rows of ``fit``; not there after ``partial_fit`` or ``merge``.
    weights_ : ndarray of shape (n_chosen,)
        Samples each stands for; they add up to the samples seen.
    score_ : float
        The objective of the rows chosen, after ``fit``.
    gamma_ : float or None
        gamma as a number.
    n_samples_seen_ : int
        Samples taken in.
    n_features_in_ : int
        Features.

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

    def fit(self, X, y=None) -> ExemplarSelector:
        """Choose exemplars from these rows alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        self : ExemplarSelector
            Fitted.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        cap = self._cap()
        self._kernel = kernel_of(self.kernel, self.gamma, X, self.degree, self.coef0)
        if self.method == "qp":
            chosen = _core.relax_exemplars(rows(X), self._settings(), cap, float(self.tol), _MAX_STEPS)
        else:
            chosen = _core.choose_exemplars(rows(X), self._settings(), cap)
        self.exemplar_indices_, self.weights_, self.score_ = chosen
        self.exemplars_ = X[self.exemplar_indices_]
        self.n_samples_seen_ = X.shape[0]
        return self

    @available_if(_goes_on)
    def partial_fit(self, X, y=None) -> ExemplarSelector:
        """Take more rows of a stream in; those given up leave their weight to the exemplar most like them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        self : ExemplarSelector
            With exemplars of everything seen.
        """
        first = not hasattr(self, "exemplars_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        cap = self._cap()
        if first:
            self._kernel = kernel_of(self.kernel, self.gamma, X, self.degree, self.coef0)
            held = rows(X[:0]), np.empty(0), 0
        else:
            held = self._held()
        self._keep(_core.absorb(held, self._settings(), cap, rows(X)))
        return self

    def merge(self, other: ExemplarSelector) -> ExemplarSelector:
        """Take in what another selector learned from other rows.

        Parameters
        ----------
        other : ExemplarSelector
            Fitted with the same method, kernel and gamma (give gamma as a number). It does not change.

        Returns
        -------
        self : ExemplarSelector
            With exemplars of both.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if (self.method, self._kernel) != (other.method, other._kernel):
            raise ValueError(
                f"the two were made differently ({self.method}, {self._kernel} and "
                f"{other.method}, {other._kernel}): "
                "give both the same method, kernel and gamma (as a number)"
            )
        self._keep(_core.merge_summaries(self._held(), other._held(), self._settings(), self._cap()))
        return self

    def transform(self, X) -> np.ndarray:
        """Similarity of samples to the exemplars: a feature for each, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        similarities : ndarray of shape (n_samples, n_chosen)
            Values of the kernel. A linear model on them is a kernel model with the exemplars for its points.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return similarity(X, self.exemplars_, self._kernel)

    def _cap(self):
        whole = isinstance(self.n_exemplars, numbers.Integral) and not isinstance(self.n_exemplars, bool)
        if not whole or self.n_exemplars < 1:
            raise ValueError(f"n_exemplars={self.n_exemplars!r}: must be a whole number from 1")
        if self.method not in ("submod", "qp", "facility"):
            raise ValueError(f"method={self.method!r}: must be 'submod', 'qp' or 'facility'")
        return int(self.n_exemplars)

    def _settings(self):
        objective = "facility-location" if self.method == "facility" else "exemplars"
        return json.dumps(
            {
                "kernel": self._kernel,
                "objective": objective,
                "diversity": weight("diversity", self.diversity),
                "density": weight("density", self.density),
            }
        )

    def _held(self):
        """What the core needs to go on."""
        return rows(self.exemplars_), self.weights_, int(self.n_samples_seen_)

    def _keep(self, held):
        parts, self.weights_, self.n_samples_seen_ = held
        self.exemplars_ = from_rows(parts)
        for name in ("exemplar_indices_", "score_"):
            vars(self).pop(name, None)

    @property
    def gamma_(self) -> float | None:
        """gamma as a number; None for the linear kernel."""
        check_is_fitted(self)
        return self._kernel.get("gamma")

    @property
    def _n_features_out(self):
        return self.exemplars_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
