"""Classifiers that learn from labeled rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import LargeMarginClassifier
from ._online import OnlineMixin

#: Learners of the registry behind the losses of ``LASVMClassifier``.
VARIANTS = {
    "hinge": "lasvm",
    "gap": "lasvm-g",
    "ramp": "lasvm-nc",
    "filter": "lasvm-i",
    "full": "full-svm",
    "local": "local-svc",
}


class SVC(LargeMarginClassifier):
    """Support vector machine with any kernel.

    Same optimum, signs and defaults as LIBSVM and scikit-learn's ``SVC``; a row of weight k is k copies of it.

    Equations, when it fails and what it costs: ``docs/svc.md``.

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
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    bias : bool, default=True
        Whether to learn a constant.
    max_iter : int, default=-1
        Most steps; -1 is as many as it takes.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    multi : str or None, default=None
        Many classes: one-vs-one or one-vs-rest; None is what suits the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Fit probabilities on decisions of held-out rows.
    threshold : str or None, default=None
        Of two classes, move the boundary to where held-out rows score best: g-means, f1, accuracy, mcc,
        break-even or rate=SHARE.
    decision_function_shape : "ovr" or "ovo", default="ovr"
        Of many classes learned in pairs: one value a class, or one a pair.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of every decision function, and what was chosen.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        The decision functions: points and their coefficients, or weights, and constants.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        tol: float = 0.001,
        bias: bool = True,
        max_iter: int = -1,
        cache_size: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: str | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: str = "ovr",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.tol = tol
        self.bias = bias
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

    The problem of LIBLINEAR with a regularized constant. Of many classes each is learned against the rest.

    Equations, when it fails and what it costs: ``docs/linear.md``.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a squared margin violation, times the weight of the example.
    bias : bool, default=True
        Whether to learn a constant.
    tol : float, default=0.001
        Relative gradient that counts as solved.
    max_iter : int, default=-1
        Most steps; -1 is as many as it takes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    multi : str or None, default=None
        Many classes: one-vs-one or one-vs-rest; None is what suits the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Fit probabilities on decisions of held-out rows.
    threshold : str or None, default=None
        Of two classes, move the boundary to where held-out rows score best: g-means, f1, accuracy, mcc,
        break-even or rate=SHARE.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of every decision function, and what was chosen.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        The decision functions: points and their coefficients, or weights, and constants.

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

    def __init__(
        self,
        *,
        C: float = 1.0,
        bias: bool = True,
        tol: float = 0.001,
        max_iter: int = -1,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: str | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.bias = bias
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

    One factorization, up to 20 000 rows.

    Equations, when it fails and what it costs: ``docs/rls.md``.

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
    C : float, default=1.0
        Cost of a squared residual, times the weight of the example.
    bias : bool, default=True
        Whether to learn a constant.
    tol : float, default=1e-06
        Relative gradient that counts as solved (linear kernel).
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    multi : str or None, default=None
        Many classes: one-vs-one or one-vs-rest; None is what suits the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Fit probabilities on decisions of held-out rows.
    threshold : str or None, default=None
        Of two classes, move the boundary to where held-out rows score best: g-means, f1, accuracy, mcc,
        break-even or rate=SHARE.
    decision_function_shape : "ovr" or "ovo", default="ovr"
        Of many classes learned in pairs: one value a class, or one a pair.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of every decision function, and what was chosen.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        The decision functions: points and their coefficients, or weights, and constants.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        bias: bool = True,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: str | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: str = "ovr",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.bias = bias
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.multi = multi
        self.probability = probability
        self.threshold = threshold
        self.decision_function_shape = decision_function_shape
        self.verbose = verbose


class RampSVC(LargeMarginClassifier):
    """Support vector machine with ramp loss: outliers and wrong labels do not pull.

    Equations, when it fails and what it costs: ``docs/robust.md``.

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
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    s : float, default=-1.0
        End of the ramp: a sample with y·f below it costs no more.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    bias : bool, default=False
        Whether to learn a constant.
    rounds : int, default=100
        Most rounds of the concave-convex procedure.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    multi : str or None, default=None
        Many classes: one-vs-one or one-vs-rest; None is what suits the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Fit probabilities on decisions of held-out rows.
    threshold : str or None, default=None
        Of two classes, move the boundary to where held-out rows score best: g-means, f1, accuracy, mcc,
        break-even or rate=SHARE.
    decision_function_shape : "ovr" or "ovo", default="ovr"
        Of many classes learned in pairs: one value a class, or one a pair.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of every decision function, and what was chosen.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        The decision functions: points and their coefficients, or weights, and constants.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        s: float = -1.0,
        tol: float = 0.001,
        bias: bool = False,
        rounds: int = 100,
        cache_size: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: str | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: str = "ovr",
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.s = s
        self.tol = tol
        self.bias = bias
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
    """Kernel perceptron, also averaged or with a budget of points: a baseline.

    Equations, when it fails and what it costs: ``docs/perceptron.md``.

    Parameters
    ----------
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    epochs : int, default=1
        Passes over the data.
    average : bool, default=False
        Whether the model is the mean of all along the way.
    budget : int, default=0
        Most points; 0 = no limit.
    beta : float, default=0.0
        A sample with y·f at most this is a mistake.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    multi : str or None, default=None
        Many classes: one-vs-one or one-vs-rest; None is what suits the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Fit probabilities on decisions of held-out rows.
    threshold : str or None, default=None
        Of two classes, move the boundary to where held-out rows score best: g-means, f1, accuracy, mcc,
        break-even or rate=SHARE.
    decision_function_shape : "ovr" or "ovo", default="ovr"
        Of many classes learned in pairs: one value a class, or one a pair.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of every decision function, and what was chosen.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        The decision functions: points and their coefficients, or weights, and constants.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        epochs: int = 1,
        average: bool = False,
        budget: int = 0,
        beta: float = 0.0,
        cache_size: int = 1000,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: str | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: str = "ovr",
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


class LASVMClassifier(OnlineMixin, LargeMarginClassifier):
    """Support vector machine that learns one sample at a time.

    ``loss`` names the variant: ``hinge`` (LASVM), ``gap`` (steps follow the duality gap), ``ramp`` (wrong
    labels do not pull), ``filter`` (samples outside the margin are passed over), ``full`` (no point is
    dropped) or ``local`` (each sample among its neighbors). A parameter that the variant does not take must
    keep its default; None is the default of the variant.

    Equations, when it fails and what it costs: ``docs/lasvm.md``.

    Parameters
    ----------
    loss : str, default="hinge"
        Variant: hinge, gap, ramp, filter, full or local.
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
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
        Whether to solve the problem of the points at the end.
    delta_max : float or None, default=None
        Step on while the extremes are further apart; 0 = one step a sample.
    select : str or None, default=None
        How samples are chosen: random, active, auto-active or gradient.
    pool : int or None, default=None
        Samples among which active and gradient choose; 0 = all.
    labels : int or None, default=None
        Most labels to look at; 0 = no limit.
    stop : str or None, default=None
        When to stop choosing: margin, plateau, cross-validated or never.
    retrain : bool or None, default=None
        Whether to solve anew after every sample, to compare with.
    virtual : float or None, default=None
        Virtual points for each positive that becomes a support vector.
    neighbors : int or None, default=None
        Nearest positives among which virtual points are made.
    max_points : int, default=100000
        Most points kept, support vectors or not.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    clean_every : int or None, default=None
        Samples between cleanings; 0 = none.
    clean_keep : int or None, default=None
        Idle points a cleaning leaves; 0 = 100 or a tenth of the support vectors.
    s : float or None, default=None
        End of the ramp: samples with y·f below it are taken for mislabeled.
    warm_up : int or None, default=None
        Support vectors before the ramp is trusted.
    mode : str or None, default=None
        Who moves: adaptive, radius, iterative, radius-iterative, nearest or full (all samples).
    gap : float or None, default=None
        Adaptive: neighbors are added while the violation among all samples is larger.
    nu : float or None, default=None
        Radius: length of the radius in widths of the rbf kernel.
    change : float or None, default=None
        Iterative: neighbors are added while a coefficient moves more, a share of its cost.
    nearest : int or None, default=None
        Nearest: number of neighbors.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    multi : str or None, default=None
        Many classes: one-vs-one or one-vs-rest; None is what suits the learner.
    probability : "sigmoid", "isotonic", bool or None, default=None
        Fit probabilities on decisions of held-out rows.
    threshold : str or None, default=None
        Of two classes, move the boundary to where held-out rows score best: g-means, f1, accuracy, mcc,
        break-even or rate=SHARE.
    decision_function_shape : "ovr" or "ovo", default="ovr"
        Of many classes learned in pairs: one value a class, or one a pair.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        Steps, objective and gap of every decision function, and what was chosen.
    support_vectors_, dual_coef_, coef_, intercept_ : ndarray
        The decision functions: points and their coefficients, or weights, and constants.

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

    def __init__(
        self,
        *,
        loss: str = "hinge",
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        tol: float = 0.001,
        epochs: int = 1,
        finish: bool | None = None,
        delta_max: float | None = None,
        select: str | None = None,
        pool: int | None = None,
        labels: int | None = None,
        stop: str | None = None,
        retrain: bool | None = None,
        virtual: float | None = None,
        neighbors: int | None = None,
        max_points: int = 100000,
        cache_size: int = 1000,
        clean_every: int | None = None,
        clean_keep: int | None = None,
        s: float | None = None,
        warm_up: int | None = None,
        mode: str | None = None,
        gap: float | None = None,
        nu: float | None = None,
        change: float | None = None,
        nearest: int | None = None,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        multi: str | None = None,
        probability: str | bool | None = None,
        threshold: str | None = None,
        decision_function_shape: str = "ovr",
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
        self.neighbors = neighbors
        self.max_points = max_points
        self.cache_size = cache_size
        self.clean_every = clean_every
        self.clean_keep = clean_keep
        self.s = s
        self.warm_up = warm_up
        self.mode = mode
        self.gap = gap
        self.nu = nu
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

    def _name(self) -> str:
        if self.loss not in VARIANTS:
            raise ValueError(f"loss={self.loss!r}: must be one of {', '.join(VARIANTS)}")
        return VARIANTS[self.loss]
