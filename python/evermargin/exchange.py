"""Models of other programs, and ours for them: model files, LIBSVM, ONNX, scikit-learn."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import svm
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import LargeMarginClassifier, class_names, rows
from ._estimators import SVC, LinearSVC
from ._files import write_whole
from ._stream import NeverEndingClassifier

__all__ = ["from_libsvm", "from_sklearn", "load", "save", "to_libsvm", "to_onnx"]


class LoadedClassifier(LargeMarginClassifier):
    """A classifier that was read from a file: it predicts, and cannot be fitted again.

    Parameters
    ----------
    probability : bool, default=False
        Whether the model is calibrated, so that there is ``predict_proba``.
    """

    def __init__(self, probability: bool = False) -> None:
        self.probability = probability

    def fit(self, X, y, sample_weight=None):
        """Refused: the file holds a model, not how to train it."""
        raise TypeError("a model that was read from a file cannot be fitted; use the estimator it came from")


def _classes(names: list[str]) -> np.ndarray:
    """Classes as numbers, if all names are what numbers are called and the order is theirs."""
    kinds: list[tuple[Any, Any]] = [(int, str), (float, repr)]
    for kind, called in kinds:
        try:
            found = [kind(name) for name in names]
        except ValueError:
            continue
        exact = all(called(number) == name and math.isfinite(number) for number, name in zip(found, names))
        if exact and all(a < b for a, b in zip(found, found[1:])) and np.array(found).dtype.kind in "iuf":
            return np.array(found)
    return np.array(names)


def _loaded(model: _core.Classifier, estimator: LargeMarginClassifier | None = None) -> LargeMarginClassifier:
    if estimator is None:
        nothing = sparse.csr_array((1, model.features))
        estimator = LoadedClassifier(probability=model.predict(rows(nothing))[2] is not None)
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
            advice = "it has a save and a load of its own, which keep all it goes on with"
        elif isinstance(estimator, (svm.SVC, svm.LinearSVC)):
            advice = "take it over with from_sklearn first"
        else:
            advice = "of a pipeline, a search or a learner that asks give the classifier inside"
        raise TypeError(f"{name}: only a fitted classifier of evermargin, like SVC, has such a model; {advice}")
    check_is_fitted(estimator)
    return estimator._model


def save(estimator: LargeMarginClassifier, path: str | os.PathLike) -> None:
    """Write the model file that the command line reads.

    It holds what predicts, with the names of the classes as texts and the names of the features: the command line then
    finds the columns of a table by name. Settings that only Python has are not kept; pickle or joblib keep the whole
    estimator.

    Parameters
    ----------
    estimator : fitted classifier of this package
        What to write.
    path : str or path
        Where to; conventionally ends with ``.evm``.

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
    # A table with two columns of one name cannot be matched by name.
    if names and len(set(names)) == len(names):
        model = model.with_feature_names(names)
    write_whole(path, model.to_bytes())


def load(path: str | os.PathLike) -> LargeMarginClassifier:
    """Read a model file.

    Parameters
    ----------
    path : str or path
        A file of :func:`save` or of ``evermargin fit``.

    Returns
    -------
    classifier : fitted classifier
        It predicts, and has ``predict_proba`` if the model is calibrated. Classes are numbers if all names are
        written as numbers are and rise; else texts. It has ``feature_names_in_`` if the model was trained on named
        columns of numbers.

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
    """The text of a LIBSVM model, as ``svm-predict`` reads it.

    Parameters
    ----------
    estimator : fitted classifier of this package
        With one decision function a pair of classes, as ``SVC`` has.

    Returns
    -------
    text : str
        The content of a model file.

    Examples
    --------
    >>> from evermargin import SVC, to_libsvm
    >>> print(to_libsvm(SVC(kernel="linear").fit([[0.0], [1.0]], [1, 2])).splitlines()[:2])
    ['svm_type c_svc', 'kernel_type linear']
    """
    return _model(estimator).to_libsvm()


def from_libsvm(text: str) -> LargeMarginClassifier:
    """A classifier from the text of a LIBSVM model.

    Parameters
    ----------
    text : str
        The content of a file that ``svm-train`` wrote (C-SVC).

    Returns
    -------
    classifier : fitted classifier
        It predicts what ``svm-predict`` would.

    Examples
    --------
    >>> from evermargin import SVC, from_libsvm, to_libsvm
    >>> text = to_libsvm(SVC(kernel="linear").fit([[0.0], [1.0]], [1, 2]))
    >>> from_libsvm(text).predict([[0.2], [0.8]])
    array([1, 2])
    """
    return _loaded(_core.Classifier.from_libsvm(text))


def to_onnx(estimator: LargeMarginClassifier) -> bytes:
    """An ONNX model (``ai.onnx.ml``).

    Parameters
    ----------
    estimator : fitted classifier of this package
        What to write.

    Returns
    -------
    model : bytes
        Input ``X`` (float, n_samples by n_features). Outputs:

        - ``label``: whole numbers if all classes are, else texts;
        - ``scores``: of two classes the columns are minus and plus the decision value;
        - ``probabilities``, one a class: where ``probability="sigmoid"`` was fitted for two classes or one class
          against the rest. Other calibrations (isotonic, pairs of classes) are left out.

    Examples
    --------
    >>> from evermargin import SVC, to_onnx
    >>> model = to_onnx(SVC().fit([[0.0], [1.0]], ["low", "high"]))
    >>> len(model) > 0
    True
    """
    return _model(estimator).to_onnx()


def from_sklearn(model: svm.SVC | svm.LinearSVC) -> SVC | LinearSVC:
    """A fitted ``SVC`` or ``LinearSVC`` of scikit-learn as one of ours, which predicts the same.

    Fitted again it is nearly the same, not exactly: a ``LinearSVC`` of ours always has the squared hinge loss and the
    l2 penalty, a constant that is regularized as any weight (``intercept_scaling=1``), its own measure of ``tol`` and
    no limit of steps; and of three classes or more ``class_weight`` weighs all rows, where LIBLINEAR weighs those of
    the class that is told from the rest. Probabilities of theirs are not taken over. Decision values of pairs
    (``decision_function_shape="ovo"``) of three classes or more are positive for the second class of the pair here,
    for the first there.

    Parameters
    ----------
    model : sklearn.svm.SVC or sklearn.svm.LinearSVC
        Fitted; kernels linear, rbf, poly or sigmoid, and not ``break_ties``.

    Returns
    -------
    classifier : SVC or LinearSVC
        Fitted, with the same ``C``, ``tol`` and ``class_weight``; SVC also with the same kernel, ``max_iter``,
        ``cache_size`` and ``decision_function_shape``.

    Raises
    ------
    ValueError
        If the kernel is another, or ``break_ties=True``, which ours does not know.
    TypeError
        If it is another class.

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
                "break_ties=True cannot be taken over: here the class that wins most pairs is predicted, and of equals "
                "the first; fit with break_ties=False"
            )
        same = "C kernel gamma degree coef0 tol class_weight max_iter cache_size decision_function_shape"
        ours = SVC(**{name: getattr(model, name) for name in same.split()})
        parts = ("one-vs-one", _kernel(model), rows(model.support_vectors_), *_pairs(model))
    else:
        raise TypeError(f"{type(model).__name__}: only SVC and LinearSVC of scikit-learn can be taken over")
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
        raise ValueError(f"kernel={model.kernel!r} cannot be taken over; linear, rbf, poly and sigmoid can")
    kernel = {"type": model.kernel, "gamma": float(model._gamma)}
    if model.kernel != "rbf":
        kernel["coef0"] = float(model.coef0)
    if model.kernel == "poly":
        kernel["degree"] = int(model.degree)
    return kernel


def _pairs(model: svm.SVC) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and constants of each pair a < b, positive for b. LIBSVM has them positive for a, except that
    scikit-learn turns the signs of two classes; and packs those of a point against each other class."""
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
