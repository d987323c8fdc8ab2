"""The estimators. Written by ``python/generate.py`` from the specifications of the core; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ._base import LargeMarginClassifier, SemiSupervisedClassifier
from ._one_class import OneClassEstimator
from ._online import OnlineClassifier
from ._sequential import SequentialClassifier, SequentialSemiSupervisedClassifier

__all__ = [
    "AutoSemiSupervised",
    "BranchBoundS3VM",
    "CCCPS3VM",
    "CoLapRLS",
    "CoLapSVC",
    "CoRLS",
    "CoTraining",
    "DASVM",
    "GradTSVM",
    "LASVMClassifier",
    "LabelPropagation",
    "LapRLS",
    "LapSVC",
    "LinearDA",
    "LinearSVC",
    "LinearTSVM",
    "OneClassSVM",
    "ParzenClassifier",
    "Perceptron",
    "QPS3VM",
    "RLSClassifier",
    "RampSVC",
    "SVC",
    "SequentialLapMED",
    "SequentialMED",
    "SparseLapRLS",
    "SubmodularS3VM",
    "TSVM",
]


class SVC(LargeMarginClassifier):
    """Support vector machine with any kernel.

    It has the optimum, signs and defaults of LIBSVM and of ``SVC`` of scikit-learn. A row of weight k acts like k copies.

    Equations, failure modes and costs: ``docs/svc.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    max_iter : int, default=-1
        Maximum number of steps; -1 = no limit.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    multi : {"one-vs-one", "one-vs-rest"} or None, default=None
        Multiclass scheme; None uses the default of the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Calibrate probabilities on decision values of held-out rows; True is sigmoid.
    threshold : str or None, default=None
        With two classes, move the decision threshold to the value that maximizes this score on held-out rows:
        g-means, f1, accuracy, mcc, break-even or rate=SHARE.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With one-vs-one and more than two classes: one decision value per class or one per pair.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        Decision functions: support vectors and their coefficients, or feature weights, and intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from evermargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{cross_val_score(SVC(C=10), X, y).mean():.2f}")
    0.98
    """

    _learner = "svc"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "C": "c",
        "tol": "tolerance",
        "fit_intercept": "fit_intercept",
        "max_iter": "max_steps",
        "cache_size": "cache_bytes",
    }
    _options = ("class_weight", "scale", "multi", "probability", "threshold")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        tol: float = 0.001,
        fit_intercept: bool = True,
        max_iter: int = -1,
        cache_size: int = 1024,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: Literal["one-vs-one", "one-vs-rest"] | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.multi = multi
        self.probability = probability
        self.threshold = threshold
        self.decision_function_shape = decision_function_shape
        self.verbose = verbose


class LinearSVC(LargeMarginClassifier):
    """Linear support vector machine with squared hinge loss, for many rows or columns.

    It solves the problem of LIBLINEAR with a regularized intercept. Several classes are learned one-vs-rest.

    Equations, failure modes and costs: ``docs/linear.md``.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a squared margin violation, times the weight of the example.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    tol : float, default=0.001
        Relative gradient norm at which the solver stops.
    max_iter : int, default=-1
        Maximum number of coordinate descent passes and Newton rounds; -1 = no limit.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    multi : {"one-vs-one", "one-vs-rest"} or None, default=None
        Multiclass scheme; None uses the default of the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Calibrate probabilities on decision values of held-out rows; True is sigmoid.
    threshold : str or None, default=None
        With two classes, move the decision threshold to the value that maximizes this score on held-out rows:
        g-means, f1, accuracy, mcc, break-even or rate=SHARE.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        Decision functions: support vectors and their coefficients, or feature weights, and intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from evermargin import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{cross_val_score(LinearSVC(), X, y).mean():.2f}")
    0.97
    """

    _learner = "linear"
    _params = {
        "C": "c",
        "fit_intercept": "fit_intercept",
        "tol": "tolerance",
        "max_iter": "max_steps",
    }
    _options = ("class_weight", "scale", "multi", "probability", "threshold")

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 0.001,
        max_iter: int = -1,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: Literal["one-vs-one", "one-vs-rest"] | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.scale = scale
        self.multi = multi
        self.probability = probability
        self.threshold = threshold
        self.verbose = verbose


class RLSClassifier(LargeMarginClassifier):
    """Regularized least squares with any kernel.

    It is solved by one factorization, for up to 20 000 rows.

    Equations, failure modes and costs: ``docs/rls.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a squared residual, times the weight of the example.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    tol : float, default=1e-06
        Relative gradient at which the iterative solver of a linear kernel stops.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    multi : {"one-vs-one", "one-vs-rest"} or None, default=None
        Multiclass scheme; None uses the default of the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Calibrate probabilities on decision values of held-out rows; True is sigmoid.
    threshold : str or None, default=None
        With two classes, move the decision threshold to the value that maximizes this score on held-out rows:
        g-means, f1, accuracy, mcc, break-even or rate=SHARE.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With one-vs-one and more than two classes: one decision value per class or one per pair.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        Decision functions: support vectors and their coefficients, or feature weights, and intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from evermargin import RLSClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{cross_val_score(RLSClassifier(C=10), X, y).mean():.2f}")
    0.98
    """

    _learner = "rls"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "C": "c",
        "fit_intercept": "fit_intercept",
        "tol": "tolerance",
    }
    _options = ("class_weight", "scale", "multi", "probability", "threshold")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: Literal["one-vs-one", "one-vs-rest"] | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.multi = multi
        self.probability = probability
        self.threshold = threshold
        self.decision_function_shape = decision_function_shape
        self.verbose = verbose


class RampSVC(LargeMarginClassifier):
    """Support vector machine with ramp loss, robust to outliers and wrong labels.

    Equations, failure modes and costs: ``docs/robust.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    s : float, default=-1.0
        End of the ramp: the loss is constant for samples with y·f below it.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    fit_intercept : bool, default=False
        Whether to fit a constant term.
    rounds : int, default=100
        Maximum number of rounds of the concave-convex procedure.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    multi : {"one-vs-one", "one-vs-rest"} or None, default=None
        Multiclass scheme; None uses the default of the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Calibrate probabilities on decision values of held-out rows; True is sigmoid.
    threshold : str or None, default=None
        With two classes, move the decision threshold to the value that maximizes this score on held-out rows:
        g-means, f1, accuracy, mcc, break-even or rate=SHARE.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With one-vs-one and more than two classes: one decision value per class or one per pair.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        Decision functions: support vectors and their coefficients, or feature weights, and intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from evermargin import RampSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{cross_val_score(RampSVC(C=10), X, y).mean():.2f}")
    0.99
    """

    _learner = "ramp-svc"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "C": "c",
        "s": "s",
        "tol": "tolerance",
        "fit_intercept": "fit_intercept",
        "rounds": "rounds",
        "cache_size": "cache_bytes",
    }
    _options = ("class_weight", "scale", "multi", "probability", "threshold")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        s: float = -1.0,
        tol: float = 0.001,
        fit_intercept: bool = False,
        rounds: int = 100,
        cache_size: int = 1024,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: Literal["one-vs-one", "one-vs-rest"] | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.s = s
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.rounds = rounds
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.multi = multi
        self.probability = probability
        self.threshold = threshold
        self.decision_function_shape = decision_function_shape
        self.verbose = verbose


class Perceptron(LargeMarginClassifier):
    """Kernel perceptron, optionally averaged or with a budget of points, as a baseline.

    Equations, failure modes and costs: ``docs/perceptron.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    epochs : int, default=1
        Passes over the data.
    average : bool, default=False
        Whether the model is the mean of the models after each sample.
    budget : int, default=0
        Maximum number of points; 0 = no limit.
    beta : float, default=0.0
        A sample with y·f at most this is a mistake.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    multi : {"one-vs-one", "one-vs-rest"} or None, default=None
        Multiclass scheme; None uses the default of the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Calibrate probabilities on decision values of held-out rows; True is sigmoid.
    threshold : str or None, default=None
        With two classes, move the decision threshold to the value that maximizes this score on held-out rows:
        g-means, f1, accuracy, mcc, break-even or rate=SHARE.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With one-vs-one and more than two classes: one decision value per class or one per pair.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        Decision functions: support vectors and their coefficients, or feature weights, and intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from evermargin import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{cross_val_score(Perceptron(epochs=20), X, y).mean():.2f}")
    0.96
    """

    _learner = "perceptron"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "epochs": "epochs",
        "average": "average",
        "budget": "budget",
        "beta": "beta",
        "cache_size": "cache_bytes",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "multi", "probability", "threshold")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        epochs: int = 1,
        average: bool = False,
        budget: int = 0,
        beta: float = 0.0,
        cache_size: int = 1024,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: Literal["one-vs-one", "one-vs-rest"] | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs
        self.average = average
        self.budget = budget
        self.beta = beta
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.multi = multi
        self.probability = probability
        self.threshold = threshold
        self.decision_function_shape = decision_function_shape
        self.random_state = random_state
        self.verbose = verbose


class LASVMClassifier(OnlineClassifier):
    """Support vector machine that learns one sample at a time.

    ``loss`` selects the variant: ``hinge`` (LASVM), ``gap`` (steps follow the duality gap), ``ramp`` (robust to wrong
    labels), ``filter`` (skips samples outside the margin), ``full`` (keeps all points) or ``local`` (updates the neighbors
    of each sample). Parameters that the variant does not have must keep their default; None uses the default of the
    variant.

    Equations, failure modes and costs: ``docs/lasvm.md``.

    Parameters
    ----------
    loss : {"hinge", "gap", "ramp", "filter", "full", "local"}, default="hinge"
        Variant of the algorithm, described above.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    epochs : int, default=1
        Passes over the data.
    finish : bool or None, default=None
        Whether to solve the dual problem of the kept points at the end.
    delta_max : float or None, default=None
        Repeat steps while the largest violation of the optimality conditions is above this; 0 = one step per
        sample.
    select : {"random", "active", "auto-active", "gradient"} or None, default=None
        How samples are chosen: random, active, auto-active or gradient.
    pool : int or None, default=None
        Number of random samples among which active and gradient choose; 0 = all.
    labels : int or None, default=None
        Maximum number of labels to read; 0 = no limit.
    stop : {"margin", "plateau", "cross-validated", "never"} or None, default=None
        When to stop choosing samples: margin, plateau, cross-validated or never.
    retrain : bool or None, default=None
        Whether to keep all points and solve their problem after every sample, for comparison.
    virtual : int or None, default=None
        Number of virtual points for each positive that becomes a support vector.
    n_neighbors : int or None, default=None
        Number of nearest positives from which virtual points are interpolated.
    max_points : int, default=100000
        Maximum number of points kept, support vectors or not.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    clean_every : int or None, default=None
        Number of samples between cleanings, which evict points that are not support vectors; 0 = never.
    clean_keep : int or None, default=None
        Maximum number of points that are not support vectors after a cleaning; 0 = max(100, support vectors /
        10).
    s : float or None, default=None
        End of the ramp: samples with y·f below it are treated as mislabeled.
    warm_up : int or None, default=None
        Minimum number of support vectors before the ramp is applied.
    mode : {"adaptive", "radius", "iterative", "radius-iterative", "nearest", "full"} or None, default=None
        Which samples are updated: adaptive, radius, iterative, radius-iterative, nearest or full (all samples).
    gap : float or None, default=None
        Adaptive: add neighbors while the violation among all samples is larger than this.
    radius_factor : float or None, default=None
        Radius: radius of the neighborhood in widths of the rbf kernel.
    change : float or None, default=None
        Iterative: add neighbors while a coefficient moves by more than this fraction of its cost.
    nearest : int or None, default=None
        Nearest: number of neighbors.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    multi : {"one-vs-one", "one-vs-rest"} or None, default=None
        Multiclass scheme; None uses the default of the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Calibrate probabilities on decision values of held-out rows; True is sigmoid.
    threshold : str or None, default=None
        With two classes, move the decision threshold to the value that maximizes this score on held-out rows:
        g-means, f1, accuracy, mcc, break-even or rate=SHARE.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With one-vs-one and more than two classes: one decision value per class or one per pair.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        Decision functions: support vectors and their coefficients, or feature weights, and intercepts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from evermargin import LASVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> print(f"{cross_val_score(LASVMClassifier(C=10), X, y).mean():.2f}")
    0.98
    """

    _learner = "lasvm"
    _variants = {"hinge": "lasvm", "gap": "lasvm-g", "ramp": "lasvm-nc", "filter": "lasvm-i", "full": "full-svm", "local": "local-svc"}
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "C": "c",
        "tol": "tolerance",
        "epochs": "epochs",
        "finish": "finish",
        "delta_max": "delta_max",
        "select": "select",
        "pool": "pool",
        "labels": "labels",
        "stop": "stop",
        "retrain": "retrain",
        "virtual": "virtual",
        "n_neighbors": "n_neighbors",
        "max_points": "max_points",
        "cache_size": "cache_bytes",
        "clean_every": "clean_every",
        "clean_keep": "clean_keep",
        "s": "s",
        "warm_up": "warm_up",
        "mode": "mode",
        "gap": "gap",
        "radius_factor": "radius_factor",
        "change": "change",
        "nearest": "nearest",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "multi", "probability", "threshold")

    def __init__(
        self,
        *,
        loss: Literal["hinge", "gap", "ramp", "filter", "full", "local"] = "hinge",
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        tol: float = 0.001,
        epochs: int = 1,
        finish: bool | None = None,
        delta_max: float | None = None,
        select: Literal["random", "active", "auto-active", "gradient"] | None = None,
        pool: int | None = None,
        labels: int | None = None,
        stop: Literal["margin", "plateau", "cross-validated", "never"] | None = None,
        retrain: bool | None = None,
        virtual: int | None = None,
        n_neighbors: int | None = None,
        max_points: int = 100000,
        cache_size: int = 1024,
        clean_every: int | None = None,
        clean_keep: int | None = None,
        s: float | None = None,
        warm_up: int | None = None,
        mode: Literal["adaptive", "radius", "iterative", "radius-iterative", "nearest", "full"] | None = None,
        gap: float | None = None,
        radius_factor: float | None = None,
        change: float | None = None,
        nearest: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: Literal["one-vs-one", "one-vs-rest"] | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.tol = tol
        self.epochs = epochs
        self.finish = finish
        self.delta_max = delta_max
        self.select = select
        self.pool = pool
        self.labels = labels
        self.stop = stop
        self.retrain = retrain
        self.virtual = virtual
        self.n_neighbors = n_neighbors
        self.max_points = max_points
        self.cache_size = cache_size
        self.clean_every = clean_every
        self.clean_keep = clean_keep
        self.s = s
        self.warm_up = warm_up
        self.mode = mode
        self.gap = gap
        self.radius_factor = radius_factor
        self.change = change
        self.nearest = nearest
        self.class_weight = class_weight
        self.scale = scale
        self.multi = multi
        self.probability = probability
        self.threshold = threshold
        self.decision_function_shape = decision_function_shape
        self.random_state = random_state
        self.verbose = verbose


class OneClassSVM(OneClassEstimator):
    """One-class support vector machine: 1 inside the region of the training rows, -1 outside.

    It has the optimum, scaling and signs of LIBSVM and of ``OneClassSVM`` of scikit-learn. A row of weight k acts like k
    copies.

    Equations, failure modes and costs: ``docs/one-class.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    nu : float, default=0.5
        Upper bound on the fraction of outliers and lower bound on the fraction of support vectors.
    tol : float, default=0.001
        Largest violation of the optimality conditions, relative to nu times the mean of K(x,x).
    max_iter : int, default=-1
        Maximum number of steps; -1 = no limit.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    offset_ : float
        Threshold of ``score_samples``: rows above it are inside.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        Decision functions: support vectors and their coefficients, or feature weights, and intercepts.

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
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "nu": "nu",
        "tol": "tolerance",
        "max_iter": "max_steps",
        "cache_size": "cache_bytes",
    }
    _options = ("scale",)

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        nu: float = 0.5,
        tol: float = 0.001,
        max_iter: int = -1,
        cache_size: int = 1024,
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


class LapSVC(SemiSupervisedClassifier):
    """Support vector machine that is smooth along a neighborhood graph of all rows.

    Equations, failure modes and costs: ``docs/manifold.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    gamma_a : float, default=0.001
        Weight of |f|² relative to the sum of losses.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph; 0 = use labels only.
    objective_scaling : {"raw", "paper"}, default="raw"
        Scaling of the objective: raw, or paper = mean loss and variation divided by n².
    n_neighbors : int, default=0
        Number of nearest neighbors per row in the graph; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors.
    search : {"exact", "approximate"}, default="exact"
        Nearest-neighbor search: exact, or approximate for very many rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Euclidean or cosine.
    edge_weights : {"binary", "heat", "cosine", "local"}, default="heat"
        Weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    class_wise : bool, default=False
        Whether the graph connects only labeled rows of the same class.
    solver : {"auto", "direct", "iterate"}, default="auto"
        Direct = in the span of landmarks, iterate = conjugate gradients on all rows, auto = by kernel and size.
    n_landmarks : int, default=0
        Maximum number of landmarks in the model; 0 = all rows up to 2500 rows, else 1000.
    fit_intercept : bool, default=False
        Whether to fit a constant term.
    balance : bool, default=False
        Whether to set the threshold so that predictions match the fraction of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    tol : float, default=0.0001
        Largest violation of the optimality conditions, or relative residual.
    max_iter : int, default=500
        Iterate: maximum number of steps; -1 = no limit.
    early : bool, default=True
        Iterate: whether to stop when no row changes its label.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import LapSVC
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(200, -1)
    >>> few[known] = y[known]
    >>> model = LapSVC(gamma=10).fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    100% right with 10 labels
    """

    _learner = "lapsvm"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "gamma_a": "gamma_a",
        "gamma_i": "gamma_i",
        "objective_scaling": "objective_scaling",
        "n_neighbors": "n_neighbors",
        "radius": "radius",
        "search": "search",
        "metric": "metric",
        "edge_weights": "edge_weights",
        "width": "width",
        "normalized": "normalized",
        "power": "power",
        "class_wise": "class_wise",
        "solver": "solver",
        "n_landmarks": "n_landmarks",
        "fit_intercept": "fit_intercept",
        "balance": "balance",
        "ratio": "ratio",
        "tol": "tolerance",
        "max_iter": "max_steps",
        "early": "early",
        "cache_size": "cache_bytes",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        gamma_a: float = 0.001,
        gamma_i: float = 0.1,
        objective_scaling: Literal["raw", "paper"] = "raw",
        n_neighbors: int = 0,
        radius: float = 0.0,
        search: Literal["exact", "approximate"] = "exact",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        edge_weights: Literal["binary", "heat", "cosine", "local"] = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        class_wise: bool = False,
        solver: Literal["auto", "direct", "iterate"] = "auto",
        n_landmarks: int = 0,
        fit_intercept: bool = False,
        balance: bool = False,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        tol: float = 0.0001,
        max_iter: int = 500,
        early: bool = True,
        cache_size: int = 1024,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.objective_scaling = objective_scaling
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.edge_weights = edge_weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.class_wise = class_wise
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.ratio = ratio
        self.tol = tol
        self.max_iter = max_iter
        self.early = early
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class LapRLS(SemiSupervisedClassifier):
    """Regularized least squares that is smooth along a neighborhood graph of all rows.

    Equations, failure modes and costs: ``docs/manifold.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    gamma_a : float, default=0.001
        Weight of |f|² relative to the sum of losses.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph; 0 = use labels only.
    objective_scaling : {"raw", "paper"}, default="raw"
        Scaling of the objective: raw, or paper = mean loss and variation divided by n².
    n_neighbors : int, default=0
        Number of nearest neighbors per row in the graph; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors.
    search : {"exact", "approximate"}, default="exact"
        Nearest-neighbor search: exact, or approximate for very many rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Euclidean or cosine.
    edge_weights : {"binary", "heat", "cosine", "local"}, default="heat"
        Weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    class_wise : bool, default=False
        Whether the graph connects only labeled rows of the same class.
    solver : {"auto", "direct", "iterate"}, default="auto"
        Direct = in the span of landmarks, iterate = conjugate gradients on all rows, auto = by kernel and size.
    n_landmarks : int, default=0
        Maximum number of landmarks in the model; 0 = all rows up to 2500 rows, else 1000.
    fit_intercept : bool, default=False
        Whether to fit a constant term.
    balance : bool, default=False
        Whether to set the threshold so that predictions match the fraction of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    tol : float, default=0.0001
        Largest violation of the optimality conditions, or relative residual.
    max_iter : int, default=500
        Iterate: maximum number of steps; -1 = no limit.
    early : bool, default=True
        Iterate: whether to stop when no row changes its label.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import LapRLS
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(200, -1)
    >>> few[known] = y[known]
    >>> model = LapRLS(gamma=10).fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    100% right with 10 labels
    """

    _learner = "laprls"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "gamma_a": "gamma_a",
        "gamma_i": "gamma_i",
        "objective_scaling": "objective_scaling",
        "n_neighbors": "n_neighbors",
        "radius": "radius",
        "search": "search",
        "metric": "metric",
        "edge_weights": "edge_weights",
        "width": "width",
        "normalized": "normalized",
        "power": "power",
        "class_wise": "class_wise",
        "solver": "solver",
        "n_landmarks": "n_landmarks",
        "fit_intercept": "fit_intercept",
        "balance": "balance",
        "ratio": "ratio",
        "tol": "tolerance",
        "max_iter": "max_steps",
        "early": "early",
        "cache_size": "cache_bytes",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        gamma_a: float = 0.001,
        gamma_i: float = 0.1,
        objective_scaling: Literal["raw", "paper"] = "raw",
        n_neighbors: int = 0,
        radius: float = 0.0,
        search: Literal["exact", "approximate"] = "exact",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        edge_weights: Literal["binary", "heat", "cosine", "local"] = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        class_wise: bool = False,
        solver: Literal["auto", "direct", "iterate"] = "auto",
        n_landmarks: int = 0,
        fit_intercept: bool = False,
        balance: bool = False,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        tol: float = 0.0001,
        max_iter: int = 500,
        early: bool = True,
        cache_size: int = 1024,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.objective_scaling = objective_scaling
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.edge_weights = edge_weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.class_wise = class_wise
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.ratio = ratio
        self.tol = tol
        self.max_iter = max_iter
        self.early = early
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class SparseLapRLS(SemiSupervisedClassifier):
    """Regularized least squares on few landmarks that is smooth along a neighborhood graph of all rows.

    Equations, failure modes and costs: ``docs/sparse-manifold.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    method : {"decoupled", "greedy", "greedy-slack", "slack", "sigmoid", "lasso", "lars", "uniform", "random"}, default="decoupled"
        Decoupled, greedy, greedy-slack, slack, sigmoid, lasso, lars, uniform or random.
    n_landmarks : int, default=100
        Maximum number of landmarks the model is expanded on.
    gamma_a : float, default=0.001
        Weight of |f|² relative to the sum of losses.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph; 0 = use labels only.
    objective_scaling : {"raw", "paper"}, default="raw"
        Scaling of the objective: raw, or paper = mean loss and variation divided by n².
    slack_weight : float, default=1.0
        Weight of the slack between f and the graph; decoupled: divides gamma_a.
    candidates : int, default=50
        Number of candidate points compared before one is added.
    exchange : float, default=0.2
        Fraction of the candidates replaced after each step, lowest scores first.
    backfit : {"post", "pre"}, default="post"
        Scores of candidates with the other coefficients fixed (post) or refitted (pre).
    ridge : bool, default=False
        Whether |f|² is the sum of squared coefficients.
    n_neighbors : int, default=0
        Number of nearest neighbors per row in the graph; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors.
    search : {"exact", "approximate"}, default="exact"
        Nearest-neighbor search: exact, or approximate for very many rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Euclidean or cosine.
    edge_weights : {"binary", "heat", "cosine", "local"}, default="heat"
        Weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    balance : bool, default=False
        Whether to set the threshold so that predictions match the fraction of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import SparseLapRLS
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(200, -1)
    >>> few[known] = y[known]
    >>> model = SparseLapRLS(gamma=10).fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    100% right with 10 labels
    """

    _learner = "sparse-lap"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "method": "method",
        "n_landmarks": "n_landmarks",
        "gamma_a": "gamma_a",
        "gamma_i": "gamma_i",
        "objective_scaling": "objective_scaling",
        "slack_weight": "slack_weight",
        "candidates": "candidates",
        "exchange": "exchange",
        "backfit": "backfit",
        "ridge": "ridge",
        "n_neighbors": "n_neighbors",
        "radius": "radius",
        "search": "search",
        "metric": "metric",
        "edge_weights": "edge_weights",
        "width": "width",
        "normalized": "normalized",
        "power": "power",
        "balance": "balance",
        "ratio": "ratio",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        method: Literal["decoupled", "greedy", "greedy-slack", "slack", "sigmoid", "lasso", "lars", "uniform", "random"] = "decoupled",
        n_landmarks: int = 100,
        gamma_a: float = 0.001,
        gamma_i: float = 0.1,
        objective_scaling: Literal["raw", "paper"] = "raw",
        slack_weight: float = 1.0,
        candidates: int = 50,
        exchange: float = 0.2,
        backfit: Literal["post", "pre"] = "post",
        ridge: bool = False,
        n_neighbors: int = 0,
        radius: float = 0.0,
        search: Literal["exact", "approximate"] = "exact",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        edge_weights: Literal["binary", "heat", "cosine", "local"] = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        balance: bool = False,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.method = method
        self.n_landmarks = n_landmarks
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.objective_scaling = objective_scaling
        self.slack_weight = slack_weight
        self.candidates = candidates
        self.exchange = exchange
        self.backfit = backfit
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.edge_weights = edge_weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.balance = balance
        self.ratio = ratio
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class CoRLS(SemiSupervisedClassifier):
    """Regularized least squares with one function per view of the columns, which agree on all rows.

    ``views`` are column ranges with the end excluded, such as ``[(0, 3000), (3000, 4840)]``, or lists of column names or
    numbers, such as ``[["title", "body"], ["links"]]``.

    Equations, failure modes and costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list, default="all"
        Columns of each view: a list of (start, end), slices, ranges or lists of columns; all = one view.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    gamma_a : float or list of float, default=0.01
        Weight of |f|² against the mean loss; a list has one per view.
    gamma_c : float, default=1.0
        Weight of the disagreement of views on all rows; 0 = independent views.
    mu : float or list of float, default=1.0
        Weight of the loss of each view; a list has one per view.
    center : bool, default=True
        Whether the outputs of each view are kept at mean 0.
    view : int, default=0
        View used by the model; 0 = all views.
    n_landmarks : int, default=0
        Maximum number of landmarks per view; 0 = all rows if there are at most 2500, else 1000.
    balance : bool, default=False
        Whether to set the threshold so that predictions match the fraction of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import CoRLS
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = CoRLS(views=[(0, 10), (10, 20)], kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "corls"
    _params = {
        "views": "views",
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "kernels": "kernels",
        "gamma_a": "gamma_a",
        "gamma_c": "gamma_c",
        "mu": "mu",
        "center": "center",
        "view": "view",
        "n_landmarks": "n_landmarks",
        "balance": "balance",
        "ratio": "ratio",
        "random_state": "seed",
    }
    _options = ("scale", "compare")

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        gamma_a: float | Sequence[float] = 0.01,
        gamma_c: float = 1.0,
        mu: float | Sequence[float] = 1.0,
        center: bool = True,
        view: int = 0,
        n_landmarks: int = 0,
        balance: bool = False,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.views = views
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernels = kernels
        self.gamma_a = gamma_a
        self.gamma_c = gamma_c
        self.mu = mu
        self.center = center
        self.view = view
        self.n_landmarks = n_landmarks
        self.balance = balance
        self.ratio = ratio
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class CoLapSVC(SemiSupervisedClassifier):
    """Support vector machine with several views, coupled by a joint graph or by agreement.

    ``views`` are column ranges with the end excluded, such as ``[(0, 3000), (3000, 4840)]``, or lists of column names or
    numbers, such as ``[["title", "body"], ["links"]]``.

    Equations, failure modes and costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list, default="all"
        Columns of each view: a list of (start, end), slices, ranges or lists of columns; all = one view.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    coupling : {"laplacian", "kernel"}, default="laplacian"
        Coupling of the views: laplacian = one joint graph, or kernel = outputs that agree.
    gamma_a : float or list of float, default=0.001
        Weight of |f|² against the sum of losses; a list has one per view.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph.
    gamma_c : float, default=0.1
        Weight of the disagreement of views on all rows; 0 = independent views.
    shares : float or list of float, default=1.0
        Weight of each view's graph in the joint one; a list has one per view.
    objective_scaling : {"raw", "paper"}, default="raw"
        Scale of the terms: raw, or paper = mean loss, disagreement / n, variation / n².
    n_neighbors : int, default=0
        Number of nearest neighbors per row in the graph; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors.
    search : {"exact", "approximate"}, default="exact"
        Nearest-neighbor search: exact, or approximate for very many rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Euclidean or cosine.
    edge_weights : {"binary", "heat", "cosine", "local"}, default="heat"
        Weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    view : int, default=0
        View used by the model; 0 = all views.
    n_landmarks : int, default=0
        Maximum number of landmarks per view; 0 = all rows if there are at most 2500, else 1000.
    fit_intercept : bool, default=False
        Whether to fit a constant term.
    balance : bool, default=False
        Whether to set the threshold so that predictions match the fraction of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    tol : float, default=0.0001
        Colapsvm: largest violation of the optimality conditions.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import CoLapSVC
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = CoLapSVC(views=[(0, 10), (10, 20)], kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "colapsvm"
    _params = {
        "views": "views",
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "kernels": "kernels",
        "coupling": "coupling",
        "gamma_a": "gamma_a",
        "gamma_i": "gamma_i",
        "gamma_c": "gamma_c",
        "shares": "shares",
        "objective_scaling": "objective_scaling",
        "n_neighbors": "n_neighbors",
        "radius": "radius",
        "search": "search",
        "metric": "metric",
        "edge_weights": "edge_weights",
        "width": "width",
        "normalized": "normalized",
        "power": "power",
        "view": "view",
        "n_landmarks": "n_landmarks",
        "fit_intercept": "fit_intercept",
        "balance": "balance",
        "ratio": "ratio",
        "tol": "tolerance",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        coupling: Literal["laplacian", "kernel"] = "laplacian",
        gamma_a: float | Sequence[float] = 0.001,
        gamma_i: float = 0.1,
        gamma_c: float = 0.1,
        shares: float | Sequence[float] = 1.0,
        objective_scaling: Literal["raw", "paper"] = "raw",
        n_neighbors: int = 0,
        radius: float = 0.0,
        search: Literal["exact", "approximate"] = "exact",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        edge_weights: Literal["binary", "heat", "cosine", "local"] = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        view: int = 0,
        n_landmarks: int = 0,
        fit_intercept: bool = False,
        balance: bool = False,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        tol: float = 0.0001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.views = views
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernels = kernels
        self.coupling = coupling
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.gamma_c = gamma_c
        self.shares = shares
        self.objective_scaling = objective_scaling
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.edge_weights = edge_weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.view = view
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.ratio = ratio
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class CoLapRLS(SemiSupervisedClassifier):
    """Regularized least squares with several views, coupled by a joint graph or by agreement.

    ``views`` are column ranges with the end excluded, such as ``[(0, 3000), (3000, 4840)]``, or lists of column names or
    numbers, such as ``[["title", "body"], ["links"]]``.

    Equations, failure modes and costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list, default="all"
        Columns of each view: a list of (start, end), slices, ranges or lists of columns; all = one view.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    coupling : {"laplacian", "kernel"}, default="laplacian"
        Coupling of the views: laplacian = one joint graph, or kernel = outputs that agree.
    gamma_a : float or list of float, default=0.001
        Weight of |f|² against the sum of losses; a list has one per view.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph.
    gamma_c : float, default=0.1
        Weight of the disagreement of views on all rows; 0 = independent views.
    shares : float or list of float, default=1.0
        Weight of each view's graph in the joint one; a list has one per view.
    objective_scaling : {"raw", "paper"}, default="raw"
        Scale of the terms: raw, or paper = mean loss, disagreement / n, variation / n².
    n_neighbors : int, default=0
        Number of nearest neighbors per row in the graph; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors.
    search : {"exact", "approximate"}, default="exact"
        Nearest-neighbor search: exact, or approximate for very many rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Euclidean or cosine.
    edge_weights : {"binary", "heat", "cosine", "local"}, default="heat"
        Weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    view : int, default=0
        View used by the model; 0 = all views.
    n_landmarks : int, default=0
        Maximum number of landmarks per view; 0 = all rows if there are at most 2500, else 1000.
    fit_intercept : bool, default=False
        Whether to fit a constant term.
    balance : bool, default=False
        Whether to set the threshold so that predictions match the fraction of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    tol : float, default=0.0001
        Colapsvm: largest violation of the optimality conditions.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import CoLapRLS
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = CoLapRLS(views=[(0, 10), (10, 20)], kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "colaprls"
    _params = {
        "views": "views",
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "kernels": "kernels",
        "coupling": "coupling",
        "gamma_a": "gamma_a",
        "gamma_i": "gamma_i",
        "gamma_c": "gamma_c",
        "shares": "shares",
        "objective_scaling": "objective_scaling",
        "n_neighbors": "n_neighbors",
        "radius": "radius",
        "search": "search",
        "metric": "metric",
        "edge_weights": "edge_weights",
        "width": "width",
        "normalized": "normalized",
        "power": "power",
        "view": "view",
        "n_landmarks": "n_landmarks",
        "fit_intercept": "fit_intercept",
        "balance": "balance",
        "ratio": "ratio",
        "tol": "tolerance",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        coupling: Literal["laplacian", "kernel"] = "laplacian",
        gamma_a: float | Sequence[float] = 0.001,
        gamma_i: float = 0.1,
        gamma_c: float = 0.1,
        shares: float | Sequence[float] = 1.0,
        objective_scaling: Literal["raw", "paper"] = "raw",
        n_neighbors: int = 0,
        radius: float = 0.0,
        search: Literal["exact", "approximate"] = "exact",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        edge_weights: Literal["binary", "heat", "cosine", "local"] = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        view: int = 0,
        n_landmarks: int = 0,
        fit_intercept: bool = False,
        balance: bool = False,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        tol: float = 0.0001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.views = views
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernels = kernels
        self.coupling = coupling
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.gamma_c = gamma_c
        self.shares = shares
        self.objective_scaling = objective_scaling
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.edge_weights = edge_weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.view = view
        self.n_landmarks = n_landmarks
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.ratio = ratio
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class CoTraining(SemiSupervisedClassifier):
    """Co-training: classifiers of several views label the most confident rows for each other, as a baseline.

    Inferred labels are never revised.

    ``views`` are column ranges with the end excluded, such as ``[(0, 3000), (3000, 4840)]``, or lists of column names or
    numbers, such as ``[["title", "body"], ["links"]]``.

    Equations, failure modes and costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list, default="all"
        Columns of each view: a list of (start, end), slices, ranges or lists of columns; all = one view.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    machine : {"svc", "rls"}, default="svc"
        Base learner of each view: svc or rls.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    grow : int, default=4
        Number of rows that each view labels per round, at least 2.
    rounds : int, default=0
        Maximum number of rounds; 0 = until all rows have a label.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    view : int, default=0
        View used by the model; 0 = all views.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import CoTraining
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = CoTraining(views=[(0, 10), (10, 20)], kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "cotraining"
    _params = {
        "views": "views",
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "kernels": "kernels",
        "machine": "machine",
        "C": "c",
        "fit_intercept": "fit_intercept",
        "grow": "grow",
        "rounds": "rounds",
        "ratio": "ratio",
        "view": "view",
        "tol": "tolerance",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        machine: Literal["svc", "rls"] = "svc",
        C: float = 1.0,
        fit_intercept: bool = True,
        grow: int = 4,
        rounds: int = 0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        view: int = 0,
        tol: float = 0.001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.views = views
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernels = kernels
        self.machine = machine
        self.C = C
        self.fit_intercept = fit_intercept
        self.grow = grow
        self.rounds = rounds
        self.ratio = ratio
        self.view = view
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class AutoSemiSupervised(SemiSupervisedClassifier):
    """Combination of semi-supervised learners that are compared on held-out labels.

    The recommended estimator to start with.

    Equations, failure modes and costs: ``docs/auto.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="rbf"
        Kernel of the candidates that have one: linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    ratio : "labels", "auto", float or list of float, default="auto"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    n_neighbors : int, default=10
        Number of nearest neighbors of each row in the graph.
    folds : int, default=5
        Number of folds of the labels; each fold is held out once.
    inferred_weight : float, default=1.0
        Weight of an inferred label of full confidence relative to a given one, in the classifier for new rows.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="auto"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    candidates_ : list of dict
        One entry per candidate: ``candidate`` (name), ``weight`` (share in the combination) and, if labels could be held
        out, ``accuracy`` on them with the 90 % interval from ``accuracy_low`` to ``accuracy_high``.
    estimated_accuracy_ : float
        Accuracy of the combination on held-out labels; NaN if no label could be held out.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import AutoSemiSupervised
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = AutoSemiSupervised().fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "auto"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "ratio": "ratio",
        "n_neighbors": "n_neighbors",
        "folds": "folds",
        "inferred_weight": "inferred_weight",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "auto",
        n_neighbors: int = 10,
        folds: int = 5,
        inferred_weight: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "auto",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ratio = ratio
        self.n_neighbors = n_neighbors
        self.folds = folds
        self.inferred_weight = inferred_weight
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class TSVM(SemiSupervisedClassifier):
    """Transductive support vector machine with any kernel, by switching labels.

    Equations, failure modes and costs: ``docs/s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    lam : float, default=0.0
        Weight of |f|²/2 relative to the mean loss; 0 = 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Total weight of the unlabeled rows relative to that of the labeled rows.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    switch : int, default=0
        Maximum number of pairs of labels switched at a time; 0 = all.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import TSVM
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = TSVM(kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "tsvm"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "lam": "lambda",
        "lambda_u": "lambda_u",
        "ratio": "ratio",
        "switch": "switch",
        "tol": "tolerance",
        "fit_intercept": "fit_intercept",
        "cache_size": "cache_bytes",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        switch: int = 0,
        tol: float = 0.001,
        fit_intercept: bool = True,
        cache_size: int = 1024,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.lambda_u = lambda_u
        self.ratio = ratio
        self.switch = switch
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class GradTSVM(SemiSupervisedClassifier):
    """Low-density separation by gradient descent on a smooth objective.

    Equations, failure modes and costs: ``docs/s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    lam : float, default=0.0
        Weight of |f|²/2 relative to the mean loss; 0 = 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Total weight of the unlabeled rows relative to that of the labeled rows.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    tol : float, default=0.001
        Relative gradient that counts as stationary.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import GradTSVM
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = GradTSVM(kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "grad-tsvm"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "lam": "lambda",
        "lambda_u": "lambda_u",
        "ratio": "ratio",
        "tol": "tolerance",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        tol: float = 0.001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.lambda_u = lambda_u
        self.ratio = ratio
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class DASVM(SemiSupervisedClassifier):
    """Semi-supervised support vector machine by deterministic annealing.

    Equations, failure modes and costs: ``docs/s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    loss : {"l2", "l1", "square"}, default="l2"
        L2 (squared hinge), l1 (hinge) or square.
    lam : float, default=0.0
        Weight of |f|²/2 relative to the mean loss; 0 = 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Total weight of the unlabeled rows relative to that of the labeled rows.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    rate : float, default=1.5
        Factor by which the temperature falls.
    tol : float, default=0.001
        Tolerance of each minimization over the function.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import DASVM
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = DASVM(kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "da"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "loss": "loss",
        "lam": "lambda",
        "lambda_u": "lambda_u",
        "ratio": "ratio",
        "rate": "rate",
        "tol": "tolerance",
        "fit_intercept": "fit_intercept",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        loss: Literal["l2", "l1", "square"] = "l2",
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        rate: float = 1.5,
        tol: float = 0.001,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.lam = lam
        self.lambda_u = lambda_u
        self.ratio = ratio
        self.rate = rate
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class CCCPS3VM(SemiSupervisedClassifier):
    """Semi-supervised support vector machine by the concave-convex procedure.

    Equations, failure modes and costs: ``docs/s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    lam : float, default=0.0
        Weight of |f|²/2 relative to the mean loss; 0 = 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Total weight of the unlabeled rows relative to that of the labeled rows.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    s : float, default=-0.3
        End of the ramp; the loss of an unlabeled row is at most 1 + s.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    rounds : int, default=100
        Maximum number of rounds of the concave-convex procedure.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import CCCPS3VM
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = CCCPS3VM(kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "cccp-s3vm"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "lam": "lambda",
        "lambda_u": "lambda_u",
        "ratio": "ratio",
        "s": "s",
        "tol": "tolerance",
        "rounds": "rounds",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        s: float = -0.3,
        tol: float = 0.001,
        rounds: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.lambda_u = lambda_u
        self.ratio = ratio
        self.s = s
        self.tol = tol
        self.rounds = rounds
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class BranchBoundS3VM(SemiSupervisedClassifier):
    """Semi-supervised support vector machine solved to the global optimum by branch and bound, for few rows.

    Equations, failure modes and costs: ``docs/bnb-s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    lam : float, default=0.0
        Weight of |f|²/2 relative to the mean loss; 0 = 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Total weight of the unlabeled rows relative to that of the labeled rows.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    epsilon : float, default=0.001
        Maximum relative difference between the objective and the global optimum.
    max_nodes : int, default=100000
        Maximum number of nodes of the search; 0 = no limit.
    tol : float, default=0.0001
        Largest violation of the optimality conditions at a node.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    cache_size : int, default=1024
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import BranchBoundS3VM
    >>> X, y = make_classification(30, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)[:3]]
    >>> few = np.full(30, -1)
    >>> few[known] = y[known]
    >>> model = BranchBoundS3VM(kernel="linear").fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    100% right with 6 labels
    """

    _learner = "bnb-s3vm"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "lam": "lambda",
        "lambda_u": "lambda_u",
        "ratio": "ratio",
        "epsilon": "epsilon",
        "max_nodes": "max_nodes",
        "tol": "tolerance",
        "fit_intercept": "fit_intercept",
        "cache_size": "cache_bytes",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        epsilon: float = 0.001,
        max_nodes: int = 100000,
        tol: float = 0.0001,
        fit_intercept: bool = True,
        cache_size: int = 1024,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.lambda_u = lambda_u
        self.ratio = ratio
        self.epsilon = epsilon
        self.max_nodes = max_nodes
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class LinearTSVM(SemiSupervisedClassifier):
    """Linear transductive support vector machine for many rows, by switching pairs of labels.

    Equations, failure modes and costs: ``docs/linear-s3vm.md``.

    Parameters
    ----------
    lam : float, default=0.0
        Weight of |w|²/2 relative to the mean loss; 0 = 0.01 times the mean squared length of rows.
    lambda_u : float, default=1.0
        Total weight of the unlabeled rows relative to that of the labeled rows.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    switch : int, default=0
        Maximum number of pairs switched at a time; 0 = all.
    start : float, default=1e-05
        Initial weight of the unlabeled rows.
    rate : float, default=1.5
        Factor by which the weight of the unlabeled rows grows per step.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    center : bool, default=False
        Whether to subtract the mean of every column.
    tol : float, default=0.001
        Relative gradient norm at which the solver stops.
    max_iter : int, default=-1
        Maximum number of Newton rounds in total; -1 = no limit.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import LinearTSVM
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = LinearTSVM().fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "linear-tsvm"
    _params = {
        "lam": "lambda",
        "lambda_u": "lambda_u",
        "ratio": "ratio",
        "switch": "switch",
        "start": "start",
        "rate": "rate",
        "fit_intercept": "fit_intercept",
        "center": "center",
        "tol": "tolerance",
        "max_iter": "max_steps",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        switch: int = 0,
        start: float = 1e-05,
        rate: float = 1.5,
        fit_intercept: bool = True,
        center: bool = False,
        tol: float = 0.001,
        max_iter: int = -1,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.lam = lam
        self.lambda_u = lambda_u
        self.ratio = ratio
        self.switch = switch
        self.start = start
        self.rate = rate
        self.fit_intercept = fit_intercept
        self.center = center
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class LinearDA(SemiSupervisedClassifier):
    """Linear semi-supervised support vector machine for many rows, by deterministic annealing.

    Equations, failure modes and costs: ``docs/linear-s3vm.md``.

    Parameters
    ----------
    lam : float, default=0.0
        Weight of |w|²/2 relative to the mean loss; 0 = 0.01 times the mean squared length of rows.
    lambda_u : float, default=1.0
        Total weight of the unlabeled rows relative to that of the labeled rows.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    temperature : float, default=10.0
        Initial temperature, in units of lambda_u.
    rate : float, default=1.5
        Factor by which the temperature falls.
    settle : float, default=0.0001
        Mean change of label probabilities that ends a temperature, and mean entropy that ends annealing.
    by : {"rank", "sign"}, default="rank"
        Labels from outputs: rank = the highest are positive, as many as ratio requires; sign = those above 0.
    fit_intercept : bool, default=True
        Whether to fit a constant term.
    center : bool, default=False
        Whether to subtract the mean of every column.
    tol : float, default=0.001
        Relative gradient norm at which the solver stops.
    max_iter : int, default=-1
        Maximum number of Newton rounds in total; -1 = no limit.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from evermargin import LinearDA
    >>> X, y = make_classification(300, class_sep=2.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = LinearDA().fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "linear-da"
    _params = {
        "lam": "lambda",
        "lambda_u": "lambda_u",
        "ratio": "ratio",
        "temperature": "temperature",
        "rate": "rate",
        "settle": "settle",
        "by": "by",
        "fit_intercept": "fit_intercept",
        "center": "center",
        "tol": "tolerance",
        "max_iter": "max_steps",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        temperature: float = 10.0,
        rate: float = 1.5,
        settle: float = 0.0001,
        by: Literal["rank", "sign"] = "rank",
        fit_intercept: bool = True,
        center: bool = False,
        tol: float = 0.001,
        max_iter: int = -1,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.lam = lam
        self.lambda_u = lambda_u
        self.ratio = ratio
        self.temperature = temperature
        self.rate = rate
        self.settle = settle
        self.by = by
        self.fit_intercept = fit_intercept
        self.center = center
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class SubmodularS3VM(SemiSupervisedClassifier):
    """Semi-supervised classifier that labels rows by a seeded cut of the data; very fast.

    Equations, failure modes and costs: ``docs/submod-s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="linear"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    ratio : "labels", "auto", float or list of float, default="auto"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    rho : float, default=10.0
        Weight of the cut relative to that of the labels; 0 = labels alone.
    kappa : float, default=0.0
        C*/C, cost of an inferred label relative to a given one; 0 = 2·rho·labeled/unlabeled.
    c_unlabeled : float, default=0.0
        C*, cost of an inferred label; 0 = kappa·C.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    variant : {"polished", "swift", "thesis", "plain"}, default="polished"
        Polished = best of several starts, swift = one start from the labels, thesis = lazy greedy as published,
        plain = plain greedy.
    center : bool, default=True
        Whether to center the rows for the linear kernel.
    label_weights : {"none", "balanced"}, default="none"
        Weights of labels: none = all 1, balanced = the same total weight for both classes.
    tol : float, default=0.01
        Accuracy of the model fitted to all labels.
    cache_size : int, default=256
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from evermargin import SubmodularS3VM
    >>> X, y = make_blobs(300, centers=2, n_features=10, cluster_std=4.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = SubmodularS3VM().fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    97% right with 10 labels
    """

    _learner = "submod-s3vm"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "ratio": "ratio",
        "rho": "rho",
        "kappa": "kappa",
        "c_unlabeled": "c_unlabeled",
        "C": "c",
        "variant": "variant",
        "center": "center",
        "label_weights": "label_weights",
        "tol": "tolerance",
        "cache_size": "cache_bytes",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "auto",
        rho: float = 10.0,
        kappa: float = 0.0,
        c_unlabeled: float = 0.0,
        C: float = 1.0,
        variant: Literal["polished", "swift", "thesis", "plain"] = "polished",
        center: bool = True,
        label_weights: Literal["none", "balanced"] = "none",
        tol: float = 0.01,
        cache_size: int = 256,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ratio = ratio
        self.rho = rho
        self.kappa = kappa
        self.c_unlabeled = c_unlabeled
        self.C = C
        self.variant = variant
        self.center = center
        self.label_weights = label_weights
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class QPS3VM(SemiSupervisedClassifier):
    """Semi-supervised classifier that optimizes the cut of ``SubmodularS3VM`` locally from many starts.

    Equations, failure modes and costs: ``docs/qp-s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="linear"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    rho : float, default=10.0
        Weight of the cut relative to that of the labels; 0 = labels alone.
    kappa : float, default=0.0
        C*/C, cost of an inferred label relative to a given one; 0 = 2·rho·labeled/unlabeled.
    c_unlabeled : float, default=0.0
        C*, cost of an inferred label; 0 = kappa·C.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    starts : int, default=10
        Random starts in addition to greedy, reverse greedy and Parzen.
    exchanges : int, default=100
        Maximum number of exchanges of two rows after each start.
    center : bool, default=True
        Whether to center the rows for the linear kernel.
    label_weights : {"none", "balanced"}, default="none"
        Weights of labels: none = all 1, balanced = the same total weight for both classes.
    tol : float, default=0.01
        Accuracy of the model fitted to all labels.
    cache_size : int, default=256
        Memory for cached kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from evermargin import QPS3VM
    >>> X, y = make_blobs(300, centers=2, n_features=10, cluster_std=4.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = QPS3VM().fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    100% right with 10 labels
    """

    _learner = "qp-s3vm"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "ratio": "ratio",
        "rho": "rho",
        "kappa": "kappa",
        "c_unlabeled": "c_unlabeled",
        "C": "c",
        "starts": "starts",
        "exchanges": "exchanges",
        "center": "center",
        "label_weights": "label_weights",
        "tol": "tolerance",
        "cache_size": "cache_bytes",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        rho: float = 10.0,
        kappa: float = 0.0,
        c_unlabeled: float = 0.0,
        C: float = 1.0,
        starts: int = 10,
        exchanges: int = 100,
        center: bool = True,
        label_weights: Literal["none", "balanced"] = "none",
        tol: float = 0.01,
        cache_size: int = 256,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ratio = ratio
        self.rho = rho
        self.kappa = kappa
        self.c_unlabeled = c_unlabeled
        self.C = C
        self.starts = starts
        self.exchanges = exchanges
        self.center = center
        self.label_weights = label_weights
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class ParzenClassifier(SemiSupervisedClassifier):
    """Parzen window classifier that labels rows by similarity and by the ratio of the classes, as a baseline.

    Equations, failure modes and costs: ``docs/submod-s3vm.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="linear"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    center : bool, default=True
        Whether to center the rows for the linear kernel.
    label_weights : {"none", "balanced"}, default="none"
        Weights of labels: none = all 1, balanced = the same total weight for both classes.
    cache_size : int, default=256
        Memory for cached kernel rows, in megabytes.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from evermargin import ParzenClassifier
    >>> X, y = make_blobs(300, centers=2, n_features=10, cluster_std=4.0, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(300, -1)
    >>> few[known] = y[known]
    >>> model = ParzenClassifier().fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    99% right with 10 labels
    """

    _learner = "parzen"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "ratio": "ratio",
        "center": "center",
        "label_weights": "label_weights",
        "cache_size": "cache_bytes",
    }
    _options = ("scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        center: bool = True,
        label_weights: Literal["none", "balanced"] = "none",
        cache_size: int = 256,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.ratio = ratio
        self.center = center
        self.label_weights = label_weights
        self.cache_size = cache_size
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class LabelPropagation(SemiSupervisedClassifier):
    """Label propagation along a neighborhood graph, followed by a support vector machine.

    Equations, failure modes and costs: ``docs/label-propagation.md``.

    Parameters
    ----------
    method : {"harmonic", "spreading", "poisson"}, default="harmonic"
        Harmonic, spreading (local and global consistency) or poisson (for very few labels).
    n_neighbors : int, default=10
        Number of nearest neighbors that each row is connected to.
    radius : float, default=0.0
        Joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors.
    search : {"exact", "approximate"}, default="exact"
        Nearest-neighbor search: exact, or approximate for very many rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Euclidean or cosine.
    edge_weights : {"binary", "heat", "cosine", "local"}, default="local"
        Weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    alpha : float, default=0.99
        Spreading: weight of the neighbors of a row relative to its own label.
    mass : bool, default=True
        Whether to scale the mass of each class to its ratio; poisson: only if ratio is not labels.
    ratio : "labels", "auto", float or list of float, default="labels"
        Fraction of positives among unlabeled rows: a number, labels or auto.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of each decision function, and parameters that were chosen automatically.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import LabelPropagation
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> known = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]]
    >>> few = np.full(200, -1)
    >>> few[known] = y[known]
    >>> model = LabelPropagation().fit(X, few)
    >>> print(f"{np.mean(model.transduction_ == y):.0%} right with {np.sum(few != -1)} labels")
    100% right with 10 labels
    """

    _learner = "label-propagation"
    _params = {
        "method": "method",
        "n_neighbors": "n_neighbors",
        "radius": "radius",
        "search": "search",
        "metric": "metric",
        "edge_weights": "edge_weights",
        "width": "width",
        "alpha": "alpha",
        "mass": "mass",
        "ratio": "ratio",
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "C": "c",
        "tol": "tolerance",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        method: Literal["harmonic", "spreading", "poisson"] = "harmonic",
        n_neighbors: int = 10,
        radius: float = 0.0,
        search: Literal["exact", "approximate"] = "exact",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        edge_weights: Literal["binary", "heat", "cosine", "local"] = "local",
        width: float = 0.0,
        alpha: float = 0.99,
        mass: bool = True,
        ratio: float | Sequence[float] | Literal["labels", "auto"] = "labels",
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        tol: float = 0.001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.edge_weights = edge_weights
        self.width = width
        self.alpha = alpha
        self.mass = mass
        self.ratio = ratio
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class SequentialMED(SequentialClassifier):
    """Sequential maximum entropy discrimination in bounded memory.

    Each batch updates a Gaussian posterior over decision functions; earlier batches are not visited again. ``fit`` learns
    its rows in batches, in their order, and ``partial_fit`` continues from there.

    Equations, failure modes and costs: ``docs/med.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    gamma_a : float, default=0.0
        Weight of |f|² as for lapsvm, C = 1/(2·labels·gamma_a); 0 = C and beta.
    loss : {"box", "barrier"}, default="box"
        Loss of labeled rows: box = hinge, or barrier = log barrier of the source, which needs C above 1.
    form : {"bounded", "exact", "spectral"}, default="bounded"
        Representation of the model: bounded = columns or landmarks; exact and spectral keep all rows, for
        comparison.
    intercept : {"prior", "free", "none"}, default="prior"
        Intercept: prior = updated by each batch, free = determined from scratch in each batch, or none.
    intercept_variance : float, default=0.0
        Prior variance of the intercept in each batch; 0 = mean of K(x,x).
    retention : float, default=1.0
        Factor that multiplies the weight of all earlier batches before each batch; 1 disables forgetting.
    n_landmarks : int, default=300
        Maximum number of landmarks on which the model is expanded.
    batch : int, default=100
        Number of rows per batch, in the order of the table.
    tol : float, default=0.0001
        Largest violation of the optimality conditions of a batch.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    n_iter_ : int
        Number of solver steps of the last call.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Report of the last call, with the number of batches so far.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import SequentialMED
    >>> X, y = make_moons(600, noise=0.1, random_state=0)
    >>> model = SequentialMED(C=10, gamma=5)
    >>> for part in np.split(np.arange(500), 10):
    ...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
    >>> print(f"{model.score(X[500:], y[500:]):.2f}")
    1.00
    """

    _learner = "seq-med"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "C": "c",
        "gamma_a": "gamma_a",
        "loss": "loss",
        "form": "form",
        "intercept": "intercept",
        "intercept_variance": "intercept_variance",
        "retention": "retention",
        "n_landmarks": "n_landmarks",
        "batch": "batch",
        "tol": "tolerance",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        gamma_a: float = 0.0,
        loss: Literal["box", "barrier"] = "box",
        form: Literal["bounded", "exact", "spectral"] = "bounded",
        intercept: Literal["prior", "free", "none"] = "prior",
        intercept_variance: float = 0.0,
        retention: float = 1.0,
        n_landmarks: int = 300,
        batch: int = 100,
        tol: float = 0.0001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.gamma_a = gamma_a
        self.loss = loss
        self.form = form
        self.intercept = intercept
        self.intercept_variance = intercept_variance
        self.retention = retention
        self.n_landmarks = n_landmarks
        self.batch = batch
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.random_state = random_state
        self.verbose = verbose


class SequentialLapMED(SequentialSemiSupervisedClassifier):
    """Sequential maximum entropy discrimination with Laplacian regularization in bounded memory.

    It extends ``SequentialMED`` by decision functions that are smooth along a neighborhood graph of each batch. Batches may
    have labeled and unlabeled rows, or only unlabeled rows.

    Equations, failure modes and costs: ``docs/med.md``.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"}, default="rbf"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    beta : float, default=0.5
        Weight of the variation along the graph of a batch; 0 = labels alone.
    gamma_a : float, default=0.0
        Weight of |f|² as for lapsvm, C = 1/(2·labels·gamma_a); 0 = C and beta.
    gamma_i : float, default=0.0
        With gamma_a: weight of the variation as for lapsvm.
    schedule : {"constant", "inverse"}, default="constant"
        Weight of the graphs: constant, or inverse = beta/t for batch t.
    loss : {"box", "barrier"}, default="box"
        Loss of labeled rows: box = hinge, or barrier = log barrier of the source, which needs C above 1.
    form : {"bounded", "exact", "spectral"}, default="bounded"
        Representation of the model: bounded = columns or landmarks; exact and spectral keep all rows, for
        comparison.
    intercept : {"prior", "free", "none"}, default="prior"
        Intercept: prior = updated by each batch, free = determined from scratch in each batch, or none.
    intercept_variance : float, default=0.0
        Prior variance of the intercept in each batch; 0 = mean of K(x,x).
    retention : float, default=1.0
        Factor that multiplies the weight of all earlier batches before each batch; 1 disables forgetting.
    n_neighbors : int, default=0
        Number of nearest neighbors per row in the graph; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors.
    search : {"exact", "approximate"}, default="exact"
        Nearest-neighbor search: exact, or approximate for very many rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Euclidean or cosine.
    edge_weights : {"binary", "heat", "cosine", "local"}, default="heat"
        Weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    n_landmarks : int, default=300
        Maximum number of landmarks on which the model is expanded.
    batch : int, default=100
        Number of rows per batch, in the order of the table.
    tol : float, default=0.0001
        Largest violation of the optimality conditions of a batch.
    class_weight : "balanced", "ratio", dict or None, default=None
        Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one
        weight per class.
    scale : str or None, default="none"
        Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or
        None chooses one from the data.
    missing_label : scalar, float('nan') or None, default=-1
        Value in ``y`` that marks unlabeled rows.
    compare : bool, default=True
        Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more
        fits.
    random_state : int, RandomState instance or None, default=None
        Random seed; None is 1, so that results are reproducible.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes. With two classes, positive decision values belong to the second.
    transduction_ : ndarray of shape (n_samples,)
        Labels of all training rows; given labels stay as they are.
    transduction_confidence_ : ndarray of shape (n_samples,)
        Confidence of each label, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels.
    n_iter_ : int
        Number of solver steps of the last call.
    stop_reason_ : str
        Reason why training stopped: converged, limit, stalled or interrupted.
    report_ : dict
        Report of the last call, with the number of batches so far.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from evermargin import SequentialLapMED
    >>> X, y = make_moons(600, noise=0.05, random_state=0)
    >>> few = np.where(np.arange(600) % 20 == 0, y, -1)
    >>> model = SequentialLapMED(C=10, gamma=10)
    >>> for part in np.split(np.arange(500), 5):
    ...     model = model.partial_fit(X[part], few[part], classes=[0, 1])
    >>> print(f"{model.score(X[500:], y[500:]):.2f}")
    1.00
    """

    _learner = "seq-lapmed"
    _params = {
        "kernel": "kernel",
        "gamma": "gamma",
        "degree": "degree",
        "coef0": "coef0",
        "C": "c",
        "beta": "beta",
        "gamma_a": "gamma_a",
        "gamma_i": "gamma_i",
        "schedule": "schedule",
        "loss": "loss",
        "form": "form",
        "intercept": "intercept",
        "intercept_variance": "intercept_variance",
        "retention": "retention",
        "n_neighbors": "n_neighbors",
        "radius": "radius",
        "search": "search",
        "metric": "metric",
        "edge_weights": "edge_weights",
        "width": "width",
        "normalized": "normalized",
        "power": "power",
        "n_landmarks": "n_landmarks",
        "batch": "batch",
        "tol": "tolerance",
        "random_state": "seed",
    }
    _options = ("class_weight", "scale", "compare")

    def __init__(
        self,
        *,
        kernel: Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        beta: float = 0.5,
        gamma_a: float = 0.0,
        gamma_i: float = 0.0,
        schedule: Literal["constant", "inverse"] = "constant",
        loss: Literal["box", "barrier"] = "box",
        form: Literal["bounded", "exact", "spectral"] = "bounded",
        intercept: Literal["prior", "free", "none"] = "prior",
        intercept_variance: float = 0.0,
        retention: float = 1.0,
        n_neighbors: int = 0,
        radius: float = 0.0,
        search: Literal["exact", "approximate"] = "exact",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        edge_weights: Literal["binary", "heat", "cosine", "local"] = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        n_landmarks: int = 300,
        batch: int = 100,
        tol: float = 0.0001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.beta = beta
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.schedule = schedule
        self.loss = loss
        self.form = form
        self.intercept = intercept
        self.intercept_variance = intercept_variance
        self.retention = retention
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.edge_weights = edge_weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.n_landmarks = n_landmarks
        self.batch = batch
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose
