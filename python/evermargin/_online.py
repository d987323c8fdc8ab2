"""Learning that goes on: labels of batches, and ``partial_fit`` for online learners."""

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
    """The sorted classes of a stream: those declared at its beginning, which stay."""
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
    """The number of each label among sorted classes; refuses labels that are not there."""
    try:
        places = np.searchsorted(classes, y)
        strange = classes[np.minimum(places, len(classes) - 1)] != y
    except TypeError:
        strange = np.ones(len(y), dtype=bool)
    if np.any(strange):
        new = ", ".join(sorted({repr(label) for label in y[strange].tolist()}))
        raise ValueError(
            f"y holds classes that were not declared: {new}. Name every class on the first call "
            f"(classes=...), or fit again; declared are {', '.join(map(repr, classes.tolist()))}"
        )
    return places.astype(np.int64)


class OnlineClassifier(LargeMarginClassifier):
    """Base of classifiers over the online learners of the core, one for each value of ``loss``."""

    _variants: ClassVar[dict[str, str]] = {}

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
        """Learn more rows, each met once; what was learned before stays.

        Scaling and kernel width are those of the first rows. After ``fit`` it goes on from there; ``fit``
        forgets. Parameters that are changed in between count from the next ``fit`` on.

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
        self._refuse_held_out()
        first = getattr(self, "_checkpoint", None) is None
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        classes = declared_classes(self, classes)
        codes = codes_among(y, classes)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            there = sample_weight > 0
            X, codes, sample_weight = X[there], codes[there], sample_weight[there]
        with self._python_names():
            state = self._checkpoint if not first else self._begin(X, classes)
            training, after = state.partial_fit(
                rows(X), codes, sample_weight, seed(self.random_state), bool(self.verbose)
            )
        self.classes_ = classes
        super()._keep(training)
        self._checkpoint = after
        return self

    def _begin(self, X: Any, classes: np.ndarray) -> _core.Checkpoint:
        return _core.Checkpoint.begin(self._name(), rows(X), class_names(classes), self._settings(classes))

    def _refuse_held_out(self) -> None:
        for name in ("probability", "threshold"):
            if getattr(self, name, None):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} needs rows held out and is for fit alone; leave it out "
                    "for partial_fit, or calibrate afterward (sklearn.calibration.CalibratedClassifierCV)"
                )

    def _keep(self, training: _core.Training) -> None:
        super()._keep(training)
        self._checkpoint = _core.Checkpoint.of(training)
