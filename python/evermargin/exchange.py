"""Import and export of models: model files, LIBSVM, ONNX and scikit-learn."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn import svm
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import LargeMarginClassifier, class_names, rows
from ._estimators import SVC, LinearSVC
from ._files import write_whole
from ._stream import NeverEndingClassifier

if TYPE_CHECKING:
    from typing_extensions import Never

    from ._types import StrPath

__all__ = ["from_libsvm", "from_sklearn", "load", "save", "to_libsvm", "to_onnx"]


class LoadedClassifier(LargeMarginClassifier):
    """Classifier read from a file; it predicts, but cannot be fitted again.

    Parameters
    ----------
    probability : bool, default=False
        Whether the model is calibrated and has ``predict_proba``.
    """

    def __init__(self, probability: bool = False) -> None:
        self.probability = probability

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Never:
        """Raise TypeError, because a model file does not contain an estimator."""
        raise TypeError("a model that was read from a file cannot be fitted; use the original estimator")


def _classes(names: list[str]) -> np.ndarray:
    """Classes as numbers if all names are the usual notation of numbers, in ascending order; otherwise as texts."""
    kinds: list[tuple[Any, Any]] = [(int, str), (float, repr)]
    for kind, notation in kinds:
        try:
            found = [kind(name) for name in names]
        except ValueError:
            continue
        exact = all(notation(number) == name and math.isfinite(number) for number, name in zip(found, names, strict=True))
        if exact and all(a < b for a, b in itertools.pairwise(found)) and np.array(found).dtype.kind in "iuf":
            return np.array(found)
    return np.array(names)


def _loaded(model: _core.Classifier, estimator: LargeMarginClassifier | None = None) -> LargeMarginClassifier:
    if estimator is None:
        zero_row = sparse.csr_array((1, model.features))
        estimator = LoadedClassifier(probability=model.predict(rows(zero_row))[2] is not None)
    estimator._model = model
    if not hasattr(estimator, "classes_"):
        estimator.classes_ = _classes(model.classes)
    estimator.n_features_in_ = model.features
    estimator.n_iter_ = 1
    estimator.stop_reason_ = "converged"
    estimator.report_ = {"params": json.loads(model.params)}
    return estimator


def _model(estimator: Any) -> _core.Classifier:
    """The model of a fitted classifier of this package."""
    if not isinstance(estimator, LargeMarginClassifier):
        name = type(estimator).__name__
        if isinstance(estimator, NeverEndingClassifier):
            advice = "use its own methods save and load, which keep the whole state"
        elif isinstance(estimator, (svm.SVC, svm.LinearSVC)):
            advice = "convert it with from_sklearn first"
        else:
            advice = "pass the classifier inside a pipeline, a search or an active learner"
        raise TypeError(f"{name}: only a fitted classifier of evermargin, such as SVC, can be exported; {advice}")
    check_is_fitted(estimator)
    return estimator._model


def save(estimator: LargeMarginClassifier, path: StrPath) -> None:
    """Write a classifier to a model file, which the command line can read.

    The file contains the model, the class names as texts and the feature names, by which the command line finds the
    columns of a table. It does not contain parameters that only Python has; use pickle or joblib to store the whole
    estimator.

    Parameters
    ----------
    estimator : fitted classifier of this package
        Classifier to write.
    path : str or path
        Path of the file; by convention it ends with ``.evm``.

    Examples
    --------
    >>> import os, tempfile
    >>> from evermargin import SVC, load, save
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> path = os.path.join(tempfile.mkdtemp(), "model.evm")
    >>> save(SVC().fit(X, y), path)
    >>> load(path).predict([[2.5]])
    array(['high'], dtype='<U4')
    """
    model = _model(estimator)
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
    # Columns cannot be matched by name if two of them have the same name.
    if names and len(set(names)) == len(names):
        model = model.with_feature_names(names)
    write_whole(path, model.to_bytes())


def load(path: StrPath) -> LargeMarginClassifier:
    """Read a classifier from a model file.

    Parameters
    ----------
    path : str or path
        Path of a file that :func:`save` or ``evermargin fit`` wrote.

    Returns
    -------
    classifier : fitted classifier
        A classifier with ``predict`` and, if the model is calibrated, ``predict_proba``. Classes are numbers if all
        class names are numbers in ascending order, otherwise texts. It has ``feature_names_in_`` if the model was
        trained on named numeric columns.

    Examples
    --------
    >>> import os, tempfile
    >>> from evermargin import SVC, load, save
    >>> path = os.path.join(tempfile.mkdtemp(), "model.evm")
    >>> save(SVC().fit([[0.0], [1.0], [2.0], [3.0]], [5, 5, 7, 7]), path)
    >>> classifier = load(path)
    >>> classifier.predict([[0.5], [2.5]])
    array([5, 7])
    """
    classifier = _loaded(_core.Classifier.from_bytes(Path(path).read_bytes()))
    if (names := classifier._model.feature_names) is not None:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    return classifier


def to_libsvm(estimator: LargeMarginClassifier) -> str:
    """Convert a classifier to the text of a LIBSVM model file, which ``svm-predict`` reads.

    Parameters
    ----------
    estimator : fitted classifier of this package
        A one-vs-one classifier, such as ``SVC``.

    Returns
    -------
    text : str
        Content of a model file.

    Examples
    --------
    >>> from evermargin import SVC, to_libsvm
    >>> print(to_libsvm(SVC(kernel="linear").fit([[0.0], [1.0]], [1, 2])).splitlines()[:2])
    ['svm_type c_svc', 'kernel_type linear']
    """
    return _model(estimator).to_libsvm()


def from_libsvm(text: str) -> LargeMarginClassifier:
    """Create a classifier from the text of a LIBSVM model file.

    Parameters
    ----------
    text : str
        Content of a file that ``svm-train`` wrote (C-SVC).

    Returns
    -------
    classifier : fitted classifier
        A classifier with the same predictions as ``svm-predict``.

    Examples
    --------
    >>> from evermargin import SVC, from_libsvm, to_libsvm
    >>> text = to_libsvm(SVC(kernel="linear").fit([[0.0], [1.0]], [1, 2]))
    >>> from_libsvm(text).predict([[0.2], [0.8]])
    array([1, 2])
    """
    return _loaded(_core.Classifier.from_libsvm(text))


def to_onnx(estimator: LargeMarginClassifier) -> bytes:
    """Convert a classifier to an ONNX model (``ai.onnx.ml``).

    Parameters
    ----------
    estimator : fitted classifier of this package
        Classifier to write.

    Returns
    -------
    model : bytes
        Input ``X`` (float, n_samples by n_features). Outputs:

        - ``label``: integers if all classes are integers, otherwise texts;
        - ``scores``: decision values; with two classes the columns are the negative and the positive decision value;
        - ``probabilities``, one column per class: only with ``probability="sigmoid"`` and two classes or one-vs-rest.
          Other calibrations (isotonic, pairs of classes) are not exported.

    Examples
    --------
    >>> from evermargin import SVC, to_onnx
    >>> model = to_onnx(SVC().fit([[0.0], [1.0]], ["low", "high"]))
    >>> len(model) > 0
    True
    """
    return _model(estimator).to_onnx()


def from_sklearn(model: svm.SVC | svm.LinearSVC) -> SVC | LinearSVC:
    """Convert a fitted ``SVC`` or ``LinearSVC`` of scikit-learn to the class of this package.

    The result has the same predictions. If it is fitted again, the model can differ slightly. ``LinearSVC`` of this
    package always has the squared hinge loss and the l2 penalty, regularizes the intercept like a weight
    (``intercept_scaling=1``), measures ``tol`` differently and has no limit of steps. With three or more classes its
    ``class_weight`` applies to all rows; in LIBLINEAR it applies only to the rows of the class that is learned against
    the rest. Probabilities are not converted. With three or more classes and ``decision_function_shape="ovo"``,
    decision values of a pair are positive for its second class here and for its first class in scikit-learn.

    Parameters
    ----------
    model : sklearn.svm.SVC or sklearn.svm.LinearSVC
        Fitted model with the kernel linear, rbf, poly or sigmoid, without ``break_ties``.

    Returns
    -------
    classifier : SVC or LinearSVC
        Fitted classifier with the same ``C``, ``tol`` and ``class_weight``; SVC also with the same kernel, ``max_iter``,
        ``cache_size`` and ``decision_function_shape``.

    Raises
    ------
    ValueError
        If the kernel is not supported, or with ``break_ties=True``.
    TypeError
        If ``model`` is of another class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn import svm
    >>> from evermargin import from_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = svm.SVC().fit(X, y)
    >>> bool((from_sklearn(theirs).predict(X) == theirs.predict(X)).all())
    True
    """
    check_is_fitted(model)
    ours: SVC | LinearSVC
    parts: tuple[str, dict[str, Any], Any, np.ndarray, np.ndarray]
    if isinstance(model, svm.LinearSVC):
        ours = LinearSVC(C=model.C, tol=model.tol, class_weight=model.class_weight, fit_intercept=bool(model.fit_intercept))
        parts = ("one-vs-rest", {"type": "linear"}, None, model.coef_, model.intercept_)
    elif isinstance(model, svm.SVC):
        if model.break_ties:
            raise ValueError(
                "break_ties=True is not supported: this package predicts the class that wins most pairs, and the first of "
                "equals; fit with break_ties=False"
            )
        shared = "C kernel gamma degree coef0 tol class_weight max_iter cache_size decision_function_shape"
        ours = SVC(**{name: getattr(model, name) for name in shared.split()})
        parts = ("one-vs-one", _kernel(model), rows(model.support_vectors_), *_pairs(model))
    else:
        raise TypeError(f"{type(model).__name__}: only SVC and LinearSVC of scikit-learn can be converted")
    scheme, kernel, points, coef, bias = parts
    if len(model.classes_) == 2:
        scheme = "binary"
    ours.classes_ = model.classes_
    names = class_names(model.classes_)
    bias = np.full(len(coef), bias, dtype=np.float64) if np.ndim(bias) == 0 else np.asarray(bias, dtype=np.float64)
    made = _core.Classifier.from_parts(names, scheme, json.dumps(kernel), points, np.ascontiguousarray(coef), bias)
    _loaded(made, ours)
    if hasattr(model, "feature_names_in_"):
        ours.feature_names_in_ = model.feature_names_in_
    return ours


def _kernel(model: svm.SVC) -> dict[str, Any]:
    if model.kernel == "linear":
        return {"type": "linear"}
    if model.kernel not in ("rbf", "poly", "sigmoid"):
        raise ValueError(f"kernel={model.kernel!r} cannot be converted; linear, rbf, poly and sigmoid can")
    kernel = {"type": model.kernel, "gamma": float(model._gamma)}
    if model.kernel != "rbf":
        kernel["coef0"] = float(model.coef0)
    if model.kernel == "poly":
        kernel["degree"] = int(model.degree)
    return kernel


def _pairs(model: svm.SVC) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts of each pair a < b of classes, positive for b.

    In LIBSVM they are positive for a, but scikit-learn reverses the signs if there are two classes. ``dual_coef_`` has one
    row per other class for the support vectors of each class.
    """
    dual = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    count = len(model.classes_)
    if count == 2:
        return dual, model.intercept_
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    coef = np.zeros((count * (count - 1) // 2, dual.shape[1]))
    pair = 0
    for a in range(count):
        for b in range(a + 1, count):
            of_a, of_b = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
            coef[pair, of_a] = -dual[b - 1, of_a]
            coef[pair, of_b] = -dual[a, of_b]
            pair += 1
    return coef, -model.intercept_
