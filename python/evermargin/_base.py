"""What every estimator shares: arrays in, a learner of the registry, predictions out."""

from __future__ import annotations

import functools
import inspect
import json
import math
import numbers
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _core

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import Rows

REGISTRY = {learner["name"]: learner for learner in json.loads(_core.learners())}

#: Names of scikit-learn for parameters of the registry.
RENAMED = {
    "C": "c",
    "tol": "tolerance",
    "max_iter": "max_steps",
    "cache_size": "cache_bytes",
    "lam": "lambda",
    "random_state": "seed",
}

#: Parameters that are about the training around a learner.
AROUND = {"gamma", "class_weight", "scale", "multi", "probability", "threshold", "folds", "compare"}

#: Rows that are predicted at a time; Ctrl-C is seen between.
PART = 1 << 14

#: Parameters that never reach the core.
OUTSIDE = {"verbose", "missing_label", "decision_function_shape", "loss", "random_state"}


def rows(X: Any) -> Rows:
    """The parts of ``X`` that the core reads in place."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    if X.indptr[0] != 0 or np.any(np.diff(X.indptr) < 0) or X.indptr[-1] > len(X.indices):
        raise ValueError("sparse rows: indptr must rise from 0 to the number of values; the matrix is damaged")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != X.indptr.dtype or X.indices.dtype not in (np.int32, np.int64):
        return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, X.shape[1]
    return X.indptr, X.indices, X.data, X.shape[1]


def from_rows(parts: Rows | None) -> np.ndarray | sparse.csr_array | None:
    """A matrix of the core as numpy or scipy has it."""
    if parts is None or isinstance(parts, np.ndarray):
        return parts
    indptr, indices, data, columns = parts
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))


def whole_or_nothing(learn: Callable) -> Callable:
    """A method that leaves the estimator as it was if it fails or is interrupted."""

    @functools.wraps(learn)
    def safely(self, *args, **kwargs):
        before = dict(vars(self))
        try:
            return learn(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return safely


def seed(random_state: Any) -> int:
    """A seed of the core. None is 1: without a seed the answer is the same every time."""
    if random_state is None:
        return 1
    if isinstance(random_state, numbers.Integral):
        if not 0 <= random_state < 2**63:
            raise ValueError(f"random_state={random_state}: must be from 0 to 2**63 - 1")
        return int(random_state)
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be a parameter")


def class_names(classes: Iterable[Any]) -> list[str]:
    """Names of classes for a model file."""
    return [str(c) for c in classes]


class LargeMarginEstimator(BaseEstimator):
    """Base of everything that is one learner of the registry: settings in, a model kept, what it says of rows."""

    _learner: str = ""
    verbose: bool = False

    def _name(self) -> str:
        return self._learner

    def _settings(self, classes: Iterable[Any] | None = None) -> str:
        """The settings of a training as JSON; keys of ``class_weight`` are found among ``classes``."""
        classes = self.classes_ if classes is None else classes
        learner = REGISTRY[self._name()]
        taken = {p["name"] for p in learner["parameters"]}
        defaults = self._defaults()
        settings: dict[str, Any] = {"seed": seed(getattr(self, "random_state", None))}
        params: dict[str, Any] = {}
        for name, value in self.get_params(deep=False).items():
            if name in OUTSIDE or value is None:
                continue
            if isinstance(value, numbers.Real) and not math.isfinite(value):
                raise ValueError(f"{name}={value}: must be a finite number")
            if name in AROUND:
                settings[name] = self._around(name, value, classes)
                continue
            key = RENAMED.get(name, name)
            if key in taken or value != defaults.get(name):
                params[key] = self._value(name, value)
        settings["params"] = params
        return json.dumps(settings, default=plain)

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {n: p.default for n, p in inspect.signature(cls.__init__).parameters.items() if n != "self"}

    @staticmethod
    def _around(name: str, value: Any, classes: Iterable[Any]) -> Any:
        if name == "class_weight" and isinstance(value, dict):
            return {_class_name(key, classes): float(w) for key, w in value.items()}
        if name == "probability" and isinstance(value, (bool, np.bool_)):
            return "sigmoid" if value else None
        return value

    def _value(self, name: str, value: Any) -> Any:
        if name == "cache_size":
            if not (isinstance(value, numbers.Real) and 0 <= value <= 1e9):
                raise ValueError(f"cache_size={value!r}: must be megabytes, a number from 0 to 1e9")
            return int(value * 1_000_000)
        if name == "max_iter":
            return 0 if value == -1 else value
        if name == "views" and not isinstance(value, str):
            return _views(value, self.n_features_in_, list(getattr(self, "feature_names_in_", [])))
        return value

    def _learn(
        self, X: Any, codes: np.ndarray, names: list[str], settings: str, sample_weight: np.ndarray | None
    ) -> Self:
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        try:
            training = _core.fit(
                self._name(), rows(X), codes, names, settings, sample_weight, bool(self.verbose)
            )
        except ValueError as error:
            raise ValueError(in_our_words(str(error))) from None
        self._keep(training)
        return self

    def _keep(self, training: _core.Training) -> None:
        """Keeps what a training gave."""
        self._model = training.classifier
        self.report_ = json.loads(training.report)
        self.report_["notes"] = training.notes
        self.n_iter_ = max(1, int(self.report_["steps"]))
        self.stop_reason_ = self.report_["exit"]
        if self.stop_reason_ == "limit":
            limit = "epochs" if hasattr(self, "epochs") else "max_iter"
            warnings.warn(
                f"{type(self).__name__} ended at its limit of steps before it converged; raise {limit} or scale the data",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _said(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        parts = [self._model.predict(rows(X[i : i + PART])) for i in range(0, max(1, X.shape[0]), PART)]
        if len(parts) == 1:
            return parts[0]
        codes, decisions, probabilities = zip(*parts)
        together = None if probabilities[0] is None else np.vstack(probabilities)
        return np.concatenate(codes), np.vstack(decisions), together

    @property
    def support_vectors_(self) -> np.ndarray | sparse.csr_array:
        """Points a kernel model rests on, as it sees them (scaled)."""
        return self._part("points")

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the points, a row for each decision function; positive for the second class of it."""
        return self._part("coef", of_points=True)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features of a linear model, a row for each decision function."""
        return self._part("coef", of_points=False)

    @property
    def intercept_(self) -> np.ndarray:
        """Constants of the decision functions."""
        return self._part("bias")

    def _part(self, name: str, of_points: bool | None = None) -> Any:
        if "_model" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        has_points = self._model.points() is not None
        part = from_rows(getattr(self._model, name)())
        if part is None or (of_points is not None and of_points != has_points):
            raise AttributeError(f"a {self._model.learner} model with this kernel has no {name}")
        return part

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
        return tags


class LargeMarginClassifier(ClassifierMixin, LargeMarginEstimator):
    """Base of all classifiers."""

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from labeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; a square kernel matrix with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Their classes, of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies the cost of each row: weight k is k copies, 0 is absence (``docs/python.md`` says how exactly).

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        return self._train(X, codes, weights)

    def _train(self, X: Any, codes: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        if len(self.classes_) < 2:
            found = f"1 class ({self.classes_[0]})" if len(self.classes_) else "0 classes"
            raise ValueError(f"{type(self).__name__} needs labeled rows of two classes or more; found {found}")
        shape = getattr(self, "decision_function_shape", "ovr")
        if shape not in ("ovr", "ovo"):
            raise ValueError(f"decision_function_shape={shape!r}: must be ovr or ovo")
        return self._learn(X, codes, class_names(self.classes_), self._settings(), sample_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one value a row, positive for ``classes_[1]``; of more one a class, the largest wins (of
            classes learned in pairs votes decide, and where they tie the largest may be another).
        """
        decision = self._said(X)[1]
        if len(self.classes_) == 2:
            return decision[:, 0]
        if self._model.scheme == "one-vs-one" and getattr(self, "decision_function_shape", "ovr") == "ovr":
            return _ovr_decision_function(decision >= 0, decision, len(self.classes_))
        return decision

    def predict(self, X: Any) -> np.ndarray:
        """Classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One of ``classes_`` each.
        """
        codes = self._said(X)[0]
        return self.classes_[codes]

    @available_if(lambda self: bool(getattr(self, "probability", None)))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of classes, calibrated on rows held out; needs ``probability``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        probabilities = self._said(X)[2]
        if probabilities is None:
            raise AttributeError("it was fitted without probability; set it and fit again")
        return probabilities


class SemiSupervisedClassifier(LargeMarginClassifier):
    """Base of the classifiers that also learn from rows without a label."""

    @whole_or_nothing
    def fit(self, X: Any, y: ArrayLike) -> Self:  # type: ignore[override]
        """Learn from few labels and many samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, with a label or without.
        y : array-like of shape (n_samples,)
            Their classes; ``missing_label`` marks rows without a label.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        self.classes_, codes = labels_and_gaps(y, self.missing_label, _num_samples(X))
        return self._train(X, codes)

    def _keep(self, training: _core.Training) -> None:
        super()._keep(training)
        found = training.transduction()
        assert found is not None, "a semi-supervised learner labels every row"
        codes, _, confidence, _ = found
        self.transduction_ = self.classes_[codes]
        self.transduction_confidence_ = confidence
        held_out = self.report_.get("cross_validated") or [math.nan, math.nan]
        self.supervised_score_, self.semi_supervised_score_ = held_out


def _is_gap(value: Any) -> bool:
    """None, NaN, NaT or pandas' NA: never a class."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def is_missing(y: np.ndarray, missing_label: Any) -> np.ndarray:
    """Which labels are missing: equal to ``missing_label``; any gap if that is NaN or NA, None if that is None."""
    if missing_label is None:
        return np.fromiter((v is None for v in y), dtype=bool, count=len(y))
    if _is_gap(missing_label):
        return np.isnan(y) if y.dtype.kind == "f" else np.fromiter(map(_is_gap, y), dtype=bool, count=len(y))
    if y.dtype == object:
        same = (not _is_gap(v) and bool(v == missing_label) for v in y)
        return np.fromiter(same, dtype=bool, count=len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # comparing words with numbers: not equal
        return np.asarray(y == missing_label, dtype=bool) & np.ones(len(y), dtype=bool)


def known_labels(y: Any, missing_label: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Which rows have a label, and these labels; refuses what cannot be meant."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if len(y) != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_samples}, {len(y)}]")
    has = ~is_missing(y, missing_label)
    labels = y[has]
    mark = f"missing_label={missing_label!r}"
    if labels.dtype == object:
        if any(map(_is_gap, labels)):
            raise ValueError(f"Input y contains NaN or None, and {mark}; say missing_label=float('nan') or None")
        texts = sum(isinstance(v, str) for v in labels)
        if 0 < texts < len(labels):
            raise ValueError("y holds labels of different kinds, texts and numbers; use one kind for all classes")
        labels = np.array(list(labels))
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"Input y contains NaN or infinity, and {mark}; if NaN means unlabeled, say missing_label=float('nan')"
        )
    if _is_minus_one(missing_label):
        if labels.dtype.kind == "U" and np.any(labels == "-1"):
            raise ValueError("y holds the text '-1', and missing_label is the number -1; say missing_label='-1'")
        if labels.dtype.kind == "u" and labels.size and labels.max() == np.iinfo(labels.dtype).max:
            raise ValueError(f"y is of type {labels.dtype}, which cannot hold -1: it became {labels.max()}; use int64")
    if labels.size:
        check_classification_targets(labels)
    return has, labels


def refuse_minus_one(has: np.ndarray, labels: np.ndarray, missing_label: Any, classes: Any = None) -> None:
    """Refuses -1 as a class where it marks rows without a label."""
    declared = classes is not None and bool(np.any(is_missing(np.unique(classes), missing_label)))
    alone = classes is None and _is_minus_one(missing_label) and not has.all() and set(labels.tolist()) == {1}
    if declared or alone:
        found = f"classes hold {missing_label}" if declared else "y holds -1 and 1 alone"
        raise ValueError(
            f"{found}, and {missing_label} means unlabeled here. If it is a class, mark unlabeled rows otherwise and "
            "say how: missing_label=None (None in y), float('nan') or any other value; or number the classes 0 and 1 and "
            "keep -1 for unlabeled"
        )


def labels_and_gaps(y: Any, missing_label: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes, and the number of the class of each row, -1 where the label is missing."""
    has, labels = known_labels(y, missing_label, n_samples)
    refuse_minus_one(has, labels, missing_label)
    classes, numbers_of = np.unique(labels, return_inverse=True)
    codes = np.full(n_samples, -1, dtype=np.int64)
    codes[has] = numbers_of
    return classes, codes


def in_our_words(text: str) -> str:
    """A message of the core with the names that parameters have here."""
    back = {core: ours for ours, core in RENAMED.items()} | {"class-weight": "class_weight"}
    return re.sub(r"(?<=parameter )[a-z_-]+", lambda found: back.get(found[0], found[0]), text)


def _class_name(key: Any, classes: Iterable[Any]) -> str:
    """The name of the class that a key of ``class_weight`` stands for."""
    return next((str(c) for c in classes if isinstance(key, str) == isinstance(c, str) and c == key), str(key))


def _is_minus_one(value: Any) -> bool:
    return isinstance(value, numbers.Number) and value == -1


def _views(views: Sequence[Any], columns: int, names: list[str]) -> str:
    """Ranges of columns, counted from 0 with the end excluded, or lists of columns, as the registry writes them."""

    def place(column: Any) -> int:
        if isinstance(column, str):
            if column not in names:
                near = get_close_matches(column, names)
                known = f"; near it: {', '.join(near)}" if near else "" if names else "; X has no column names"
                raise ValueError(f"views: no column is named {column!r}{known}")
            return names.index(column) + 1
        if isinstance(column, numbers.Integral) and not isinstance(column, bool) and 0 <= column < columns:
            return int(column) + 1
        raise ValueError(f"views: column {column!r} must be a name, or a number from 0 to {columns - 1}")

    def one(view: Any) -> str:
        if isinstance(view, list) and view:
            return ",".join(str(place(column)) for column in view)
        if isinstance(view, slice):
            view = range(*view.indices(columns))
        if isinstance(view, tuple) and len(view) == 2:
            view = range(*view)
        if not isinstance(view, range):
            raise ValueError(f"view {view!r}: must be (start, end), a slice, a range or a list of columns")
        if view.step != 1:
            raise ValueError(f"view {view}: columns must follow each other")
        return f"{view.start + 1}..{view.stop}"

    return ";".join(one(view) for view in views)
