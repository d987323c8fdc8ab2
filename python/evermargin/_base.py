"""Base classes of the estimators: they pass parameters to a learner of the core and predict with its model."""

from __future__ import annotations

import functools
import inspect
import json
import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from . import _core
from ._labels import classes_and_codes
from ._views import views_text

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import Rows

#: Type of a method, which a decorator does not change.
Method = TypeVar("Method", bound=Callable[..., Any])

#: Training options that are not parameters of a learner.
TRAIN_OPTIONS = frozenset({"class_weight", "scale", "multi", "probability", "threshold", "compare"})

#: Parameters that never reach the core.
PYTHON_ONLY = frozenset({"verbose", "missing_label", "decision_function_shape"})

#: Bytes in a megabyte of ``cache_size``, as LIBSVM and scikit-learn count them.
MEGABYTE = 1 << 20

#: Rows per block of a prediction; Ctrl-C takes effect between blocks.
BLOCK_ROWS = 1 << 14


def rows(X: Any) -> Rows:
    """Arrays of ``X`` in the form that the core reads without a copy where possible."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    if X.indptr[0] != 0 or np.any(np.diff(X.indptr) < 0) or X.indptr[-1] > len(X.indices):
        raise ValueError("damaged sparse matrix: indptr must not decrease, and must go from 0 to the number of values")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != X.indptr.dtype or X.indices.dtype not in (np.int32, np.int64):
        return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, X.shape[1]
    return X.indptr, X.indices, X.data, X.shape[1]


@overload
def from_rows(parts: Rows) -> np.ndarray | sparse.csr_array: ...
@overload
def from_rows(parts: None) -> None: ...
def from_rows(parts: Rows | None) -> np.ndarray | sparse.csr_array | None:
    """Convert a matrix of the core to a numpy or scipy array."""
    if parts is None or isinstance(parts, np.ndarray):
        return parts
    indptr, indices, data, columns = parts
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))


def transactional(learn: Method) -> Method:
    """Decorate a method so that the estimator stays unchanged if the method fails or is interrupted."""

    @functools.wraps(learn)
    def safely(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return learn(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Method, safely)


def available_when(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Decorate a method that objects have if ``check`` holds: ``available_if`` of scikit-learn, with types."""
    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


def parameter_error(name: str, value: Any, allowed: str) -> _core.ParameterError:
    """Build the error for a value that is not allowed; ``allowed`` completes "must be ..."."""
    error = _core.ParameterError(f"{name}={value!r}: must be {allowed}")
    error.name, error.value, error.allowed = name, value, allowed
    return error


def is_whole(value: Any) -> bool:
    """Whether a value is an integer; booleans do not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


def seed(random_state: Any) -> int:
    """Seed for the core. None becomes 1, so that results are reproducible."""
    if random_state is None:
        return 1
    if is_whole(random_state):
        if not 0 <= random_state < 2**63:
            raise parameter_error("random_state", random_state, "from 0 to 2**63 - 1")
        return int(random_state)
    if not (isinstance(random_state, np.random.RandomState) or random_state is np.random):
        raise parameter_error("random_state", random_state, "a whole number, a RandomState instance or None")
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def _max_steps(max_iter: Any) -> int | str:
    if not is_whole(max_iter) or (max_iter != -1 and max_iter < 1):
        raise parameter_error("max_iter", max_iter, "a whole number from 1 on, or -1 for no limit")
    return "none" if max_iter == -1 else int(max_iter)


def _cache_bytes(cache_size: Any) -> int:
    is_number = isinstance(cache_size, numbers.Real) and not isinstance(cache_size, (bool, np.bool_))
    if not is_number or not 0 <= cache_size <= 1e9:
        raise parameter_error("cache_size", cache_size, "megabytes, a number from 0 to 1e9")
    return int(cache_size * MEGABYTE)


#: Parameters whose values have another unit or meaning in the core.
CONVERTED: dict[str, Callable[[Any], int | str]] = {"random_state": seed, "max_iter": _max_steps, "cache_size": _cache_bytes}


@functools.cache
def parameters_of(learner: str) -> frozenset[str]:
    """Names of the parameters that a learner of the core takes."""
    specs = json.loads(_core.specs())
    return frozenset(p["name"] for spec in specs if spec["name"] == learner for p in spec["params"])


def to_json_value(value: Any) -> Any:
    """Convert a numpy value for JSON; the ``default`` of ``json.dumps``."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be a parameter")


def class_names(classes: Iterable[Any]) -> list[str]:
    """Class names as a model file stores them."""
    return [str(c) for c in classes]


class LargeMarginEstimator(BaseEstimator):
    """Base class of the estimators that wrap one learner of the core."""

    #: Name of the learner, its parameters (Python name to name in the core) and its training options.
    _learner: ClassVar[str] = ""
    _params: ClassVar[dict[str, str]] = {}
    _options: ClassVar[tuple[str, ...]] = ()
    verbose: bool = False

    def _name(self) -> str:
        return self._learner

    def _settings(self, classes: Iterable[Any] | None = None) -> dict[str, Any]:
        """Settings for the core; keys of ``class_weight`` are matched with ``classes``."""
        self._check_python_only()
        params = self._core_params()
        settings = {name: self._option(name, classes) for name in self._options}
        settings = {name: value for name, value in settings.items() if value is not None}
        if "seed" in params:
            settings["seed"] = params["seed"]
        return {"params": params, **settings}

    def _check_python_only(self) -> None:
        if not isinstance(self.verbose, (numbers.Integral, np.bool_)):
            raise parameter_error("verbose", self.verbose, "True or False")
        shape = getattr(self, "decision_function_shape", "ovr")
        if shape not in ("ovr", "ovo"):
            raise parameter_error("decision_function_shape", shape, "ovr or ovo")

    def _core_params(self) -> dict[str, Any]:
        """Values of the learner's parameters, by their names in the core."""
        taken, defaults, params = parameters_of(self._name()), self._defaults(), {}
        for name, core_name in self._params.items():
            value = getattr(self, name)
            if core_name in taken:
                if value is not None or defaults.get(name) is not None or name in CONVERTED:
                    params[core_name] = self._value(name, value)
            elif value is not None:
                raise parameter_error(name, value, f"None: learner {self._name()} does not take it")
        return params

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {n: p.default for n, p in inspect.signature(cls.__init__).parameters.items() if n != "self"}

    def _value(self, name: str, value: Any) -> Any:
        if name == "views" and not isinstance(value, str):
            try:
                return views_text(value, self.n_features_in_, list(getattr(self, "feature_names_in_", [])))
            except TypeError:
                raise parameter_error(name, value, "all, or a list of views") from None
        return CONVERTED[name](value) if name in CONVERTED else value

    def _option(self, name: str, classes: Iterable[Any] | None) -> Any:
        value = getattr(self, name)
        if name == "class_weight" and isinstance(value, dict):
            classes = self.classes_ if classes is None else classes
            return {_class_name(key, classes): weight for key, weight in value.items()}
        if name == "probability" and isinstance(value, (bool, np.bool_)):
            return "sigmoid" if value else None
        if name == "compare" and not isinstance(value, (bool, np.bool_)):
            raise parameter_error(name, value, "True or False")
        return value

    @contextmanager
    def _python_names(self) -> Iterator[None]:
        """Give errors of the core about a parameter the name and value that it has in Python."""
        try:
            yield
        except _core.ParameterError as error:
            names = {core: name for name, core in self._params.items()} | {name: name for name in self._options}
            name = names.get(error.name)
            if name is None:
                raise
            value = getattr(self, name)
            shown = error.value if isinstance(value, dict) else value
            raise parameter_error(name, shown, error.allowed) from None

    def _learn(
        self,
        X: Any,
        codes: np.ndarray,
        names: list[str],
        settings: dict[str, Any],
        sample_weight: np.ndarray | None,
    ) -> Self:
        codes = np.ascontiguousarray(codes, dtype=np.int64)
        with self._python_names():
            training = _core.fit(
                self._name(), rows(X), codes, names, settings, sample_weight, bool(self.verbose)
            )
        self._set_training(training)
        return self

    def _set_training(self, training: _core.Training) -> None:
        """Set the fitted attributes from the result of a training."""
        self._model = training.classifier
        self.report_ = json.loads(training.report)
        self.report_["notes"] = training.notes
        self.n_iter_ = max(1, int(self.report_["steps"]))
        self.stop_reason_ = self.report_["exit"]
        if self.stop_reason_ == "limit":
            limit = "epochs" if hasattr(self, "epochs") else "max_iter"
            warnings.warn(
                f"{type(self).__name__} reached its limit of steps before it converged; increase {limit} or scale the data",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _raw_predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        parts = [self._model.predict(rows(X[i : i + BLOCK_ROWS])) for i in range(0, max(1, X.shape[0]), BLOCK_ROWS)]
        if len(parts) == 1:
            return parts[0]
        codes, decisions, probabilities = zip(*parts, strict=True)
        stacked = None if probabilities[0] is None else np.vstack(probabilities)
        return np.concatenate(codes), np.vstack(decisions), stacked

    @property
    def support_vectors_(self) -> np.ndarray | sparse.csr_array:
        """Support vectors of a kernel model, after scaling."""
        return self._part("points")

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support vectors, one row per decision function; positive toward its second class."""
        return self._part("coef", of_points=True)

    @property
    def coef_(self) -> np.ndarray:
        """Feature weights of a linear model, one row per decision function."""
        return self._part("coef", of_points=False)

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the decision functions."""
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
    """Base class of the classifiers."""

    @transactional
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to labeled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; a square kernel matrix with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor on the cost of each row. A row of weight k acts like k copies, a row of weight 0 as if it were absent;
            ``docs/python.md`` lists the exceptions.

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
        return self._learn(X, codes, class_names(self.classes_), self._settings(), sample_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Compute decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        f : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one value per row, positive for ``classes_[1]``. With more classes one value per class;
            the largest decides. A one-vs-one model predicts by votes, which can differ from the largest value when
            votes tie.
        """
        decision = self._raw_predictions(X)[1]
        if len(self.classes_) == 2:
            return decision[:, 0]
        if self._model.scheme == "one-vs-one" and getattr(self, "decision_function_shape", "ovr") == "ovr":
            return _ovr_decision_function(decision >= 0, decision, len(self.classes_))
        return decision

    def predict(self, X: Any) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Predicted classes.
        """
        codes = self._raw_predictions(X)[0]
        return self.classes_[codes]

    @available_when(lambda self: bool(getattr(self, "probability", None)))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities, calibrated on held-out rows. Requires ``probability``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities, with columns in the order of ``classes_``.
        """
        probabilities = self._raw_predictions(X)[2]
        if probabilities is None:
            raise AttributeError("the model was fitted without probability; set probability and fit again")
        return probabilities


class SemiSupervisedClassifier(LargeMarginClassifier):
    """Base class of the classifiers that also learn from unlabeled rows."""

    @transactional
    def fit(self, X: Any, y: ArrayLike) -> Self:  # type: ignore[override] # unlabeled rows have no weights
        """Fit the model to labeled and unlabeled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples, labeled and unlabeled.
        y : array-like of shape (n_samples,)
            Class labels; ``missing_label`` marks unlabeled rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        self.classes_, codes = classes_and_codes(y, self.missing_label, _num_samples(X))
        return self._train(X, codes)

    def _set_training(self, training: _core.Training) -> None:
        super()._set_training(training)
        found = training.transduction()
        assert found is not None, "a semi-supervised learner labels every row"
        codes, _, confidence, _ = found
        self.transduction_ = self.classes_[codes]
        self.transduction_confidence_ = confidence
        held_out = self.report_.get("cross_validated") or [math.nan, math.nan]
        self.supervised_score_, self.semi_supervised_score_ = held_out
        facts = self.report_["facts"]
        if "candidates" in facts:
            self.candidates_ = facts["candidates"]
            self.estimated_accuracy_ = facts.get("estimated_accuracy", math.nan)


def _class_name(key: Any, classes: Iterable[Any]) -> str:
    """Name of the class that a key of ``class_weight`` refers to."""
    return next((str(c) for c in classes if isinstance(key, str) == isinstance(c, str) and c == key), str(key))
