"""Base class of online classifiers with ``partial_fit``, and the validation of class labels in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from . import _core
from ._base import LargeMarginClassifier, class_names, parameter_error, rows, seed, transactional

if TYPE_CHECKING:
    from typing_extensions import Self


def declared_classes(estimator: Any, classes: ArrayLike | None) -> np.ndarray:
    """The sorted classes of a stream, which the first call of ``partial_fit`` declares."""
    known = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known
    classes = np.unique(column_or_1d(classes))
    if known is not None:
        if not np.array_equal(known, classes):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}"
            )
        return known
    if len(classes) < 2:
        found = ", ".join(map(str, classes)) or "none"
        raise ValueError(f"classes must name two classes or more; found: {found}")
    return classes


def codes_among(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Index of each label among the sorted classes; other labels are an error."""
    try:
        places = np.searchsorted(classes, y)
        unknown = classes[np.minimum(places, len(classes) - 1)] != y
    except TypeError:
        unknown = np.ones(len(y), dtype=bool)
    if np.any(unknown):
        new = ", ".join(sorted({repr(label) for label in y[unknown].tolist()}))
        raise ValueError(
            f"y contains classes that were not declared: {new}. List every class in the first call "
            f"(classes=...), or fit again; declared are {', '.join(map(repr, classes.tolist()))}"
        )
    return places.astype(np.int64)


class OnlineClassifier(LargeMarginClassifier):
    """Base class of classifiers with one online learner of the core per value of ``loss``."""

    _variants: ClassVar[dict[str, str]] = {}
    _checkpoint: _core.Checkpoint | None

    def _name(self) -> str:
        if not isinstance(self.loss, str) or self.loss not in self._variants:
            raise parameter_error("loss", self.loss, f"one of {', '.join(self._variants)}")
        return self._variants[self.loss]

    @transactional
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model with more rows, each visited once.

        Scaling and kernel width are fitted on the first rows. After ``fit``, training continues from the fitted
        model; ``fit`` itself starts again. Changed parameters take effect with the next ``fit``.

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
        self._check_no_held_out_options()
        before: _core.Checkpoint | None = getattr(self, "_checkpoint", None)
        first = before is None
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        known = declared_classes(self, classes)
        codes = codes_among(np.asarray(y), known)
        weights: np.ndarray | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            present = weights > 0
            X, codes, weights = X[present], codes[present], weights[present]
        with self._python_names():
            state = self._begin(X, known) if before is None else before
            training, after = state.partial_fit(rows(X), codes, weights, seed(self.random_state), bool(self.verbose))
        self.classes_ = known
        super()._set_training(training)
        self._checkpoint = after
        return self

    def _begin(self, X: Any, classes: np.ndarray) -> _core.Checkpoint:
        return _core.Checkpoint.begin(self._name(), rows(X), class_names(classes), self._settings(classes))

    def _check_no_held_out_options(self) -> None:
        for name in ("probability", "threshold"):
            if getattr(self, name, None):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs held-out rows, which only fit has; do not set it "
                    "for partial_fit, or calibrate afterward (sklearn.calibration.CalibratedClassifierCV)"
                )

    def _set_training(self, training: _core.Training) -> None:
        super()._set_training(training)
        self._checkpoint = _core.Checkpoint.of(training)
