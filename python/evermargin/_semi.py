"""Classifiers that learn from few labels and many samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._base import SemiSupervisedClassifier


class LapSVC(SemiSupervisedClassifier):
    """Support vector machine that varies little along a graph of all rows.

    Equations, when it fails and what it costs: ``docs/manifold.md``.

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
    gamma_a : float, default=0.001
        Weight of |f|² against the sum of losses.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph; 0 = labels alone.
    scaling : str, default="raw"
        Raw, or paper = mean loss and variation divided by n².
    neighbors : int, default=0
        Nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this far apart in place of nearest others; 0 = nearest others.
    search : str, default="exact"
        How nearest others are found: exact, or approximate for very many rows.
    metric : str, default="euclidean"
        Euclidean or cosine.
    weights : str, default="heat"
        Weights of edges: binary, heat, or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    class_wise : bool, default=False
        Whether the graph joins labeled rows of one class alone.
    solver : str, default="auto"
        Direct (in the span of basis points), iterate (all rows, until labels stay) or auto.
    basis : int, default=0
        Most points the model may rest on; 0 = all of 2500 rows, 1000 of more.
    bias : bool, default=False
        Whether to learn a constant.
    balance : bool, default=False
        Whether to move the threshold to the share of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    tol : float, default=0.0001
        Largest violation of the optimality conditions, or relative residual.
    max_iter : int, default=500
        Most steps; -1 is as many as it takes.
    early : bool, default=True
        Iterate: whether to end when no row changes its label any more.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        gamma_a: float | Sequence[float] = 0.001,
        gamma_i: float = 0.1,
        scaling: str = "raw",
        neighbors: int = 0,
        radius: float = 0.0,
        search: str = "exact",
        metric: str = "euclidean",
        weights: str = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        class_wise: bool = False,
        solver: str = "auto",
        basis: int = 0,
        bias: bool = False,
        balance: bool = False,
        ratio: float | str | Sequence[float] = "labels",
        tol: float = 0.0001,
        max_iter: int = 500,
        early: bool = True,
        cache_size: int = 1000,
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
        self.scaling = scaling
        self.neighbors = neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.weights = weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.class_wise = class_wise
        self.solver = solver
        self.basis = basis
        self.bias = bias
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
    """Least squares that vary little along a graph of all rows.

    Equations, when it fails and what it costs: ``docs/manifold.md``.

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
    gamma_a : float, default=0.001
        Weight of |f|² against the sum of losses.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph; 0 = labels alone.
    scaling : str, default="raw"
        Raw, or paper = mean loss and variation divided by n².
    neighbors : int, default=0
        Nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this far apart in place of nearest others; 0 = nearest others.
    search : str, default="exact"
        How nearest others are found: exact, or approximate for very many rows.
    metric : str, default="euclidean"
        Euclidean or cosine.
    weights : str, default="heat"
        Weights of edges: binary, heat, or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    class_wise : bool, default=False
        Whether the graph joins labeled rows of one class alone.
    solver : str, default="auto"
        Direct (in the span of basis points), iterate (all rows, until labels stay) or auto.
    basis : int, default=0
        Most points the model may rest on; 0 = all of 2500 rows, 1000 of more.
    bias : bool, default=False
        Whether to learn a constant.
    balance : bool, default=False
        Whether to move the threshold to the share of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    tol : float, default=0.0001
        Largest violation of the optimality conditions, or relative residual.
    max_iter : int, default=500
        Most steps; -1 is as many as it takes.
    early : bool, default=True
        Iterate: whether to end when no row changes its label any more.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        gamma_a: float | Sequence[float] = 0.001,
        gamma_i: float = 0.1,
        scaling: str = "raw",
        neighbors: int = 0,
        radius: float = 0.0,
        search: str = "exact",
        metric: str = "euclidean",
        weights: str = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        class_wise: bool = False,
        solver: str = "auto",
        basis: int = 0,
        bias: bool = False,
        balance: bool = False,
        ratio: float | str | Sequence[float] = "labels",
        tol: float = 0.0001,
        max_iter: int = 500,
        early: bool = True,
        cache_size: int = 1000,
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
        self.scaling = scaling
        self.neighbors = neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.weights = weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.class_wise = class_wise
        self.solver = solver
        self.basis = basis
        self.bias = bias
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
    """Few basis functions that vary little along a graph of all rows.

    Equations, when it fails and what it costs: ``docs/sparse-manifold.md``.

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
    method : str, default="decoupled"
        Decoupled, greedy, greedy-slack, slack, sigmoid, lasso, lars, uniform or random.
    basis : int, default=100
        Most points the model may rest on.
    gamma_a : float, default=0.001
        Weight of |f|² against the sum of losses.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph; 0 = labels alone.
    scaling : str, default="raw"
        Raw, or paper = mean loss and variation divided by n².
    nu : float, default=1.0
        Weight of the slack between f and the graph; decoupled: divides gamma_a.
    candidates : int, default=50
        Points compared before one is taken.
    exchange : float, default=0.2
        Share of them exchanged for others after a step, the worst first.
    backfit : str, default="post"
        Scores of points with the other coefficients kept (post) or fitted (pre).
    ridge : bool, default=False
        Whether |f|² is the sum of squared coefficients.
    neighbors : int, default=0
        Nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this far apart in place of nearest others; 0 = nearest others.
    search : str, default="exact"
        How nearest others are found: exact, or approximate for very many rows.
    metric : str, default="euclidean"
        Euclidean or cosine.
    weights : str, default="heat"
        Weights of edges: binary, heat, or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    balance : bool, default=False
        Whether to move the threshold to the share of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        method: str = "decoupled",
        basis: int = 100,
        gamma_a: float | Sequence[float] = 0.001,
        gamma_i: float = 0.1,
        scaling: str = "raw",
        nu: float = 1.0,
        candidates: int = 50,
        exchange: float = 0.2,
        backfit: str = "post",
        ridge: bool = False,
        neighbors: int = 0,
        radius: float = 0.0,
        search: str = "exact",
        metric: str = "euclidean",
        weights: str = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        balance: bool = False,
        ratio: float | str | Sequence[float] = "labels",
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
        self.basis = basis
        self.gamma_a = gamma_a
        self.gamma_i = gamma_i
        self.scaling = scaling
        self.nu = nu
        self.candidates = candidates
        self.exchange = exchange
        self.backfit = backfit
        self.ridge = ridge
        self.neighbors = neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.weights = weights
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
    """Least squares in several views of the columns that agree on all rows.

    ``views`` are ranges of columns, ``[(0, 3000), (3000, 4840)]`` with ends excluded, or lists of their names or numbers:
    ``[["title", "body"], ["links"]]``.

    Equations, when it fails and what it costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list of ranges or lists, default="all"
        Columns of each view from 1 on, like 1..3000;3001..4840; all = one view.
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    gamma_a : float, default=0.01
        Weight of |f|² against the mean loss; a list has one a view.
    gamma_c : float, default=1.0
        Weight of the disagreement of views on all rows; 0 = views apart.
    mu : float, default=1.0
        Weight of the loss of each view; a list has one a view.
    center : bool, default=True
        Whether the outputs of each view are kept at mean 0.
    view : int, default=0
        The view the model speaks for; 0 = all of them.
    basis : int, default=0
        Most points a view may rest on; 0 = all of 2500 rows, 1000 of more.
    balance : bool, default=False
        Whether to move the threshold to the share of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        gamma_a: float | Sequence[float] = 0.01,
        gamma_c: float = 1.0,
        mu: float | Sequence[float] = 1.0,
        center: bool = True,
        view: int = 0,
        basis: int = 0,
        balance: bool = False,
        ratio: float | str | Sequence[float] = "labels",
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
        self.basis = basis
        self.balance = balance
        self.ratio = ratio
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class CoLapSVC(SemiSupervisedClassifier):
    """Support vector machines of several views along a joint graph, or that agree.

    ``views`` are ranges of columns, ``[(0, 3000), (3000, 4840)]`` with ends excluded, or lists of their names or numbers:
    ``[["title", "body"], ["links"]]``.

    Equations, when it fails and what it costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list of ranges or lists, default="all"
        Columns of each view from 1 on, like 1..3000;3001..4840; all = one view.
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    coupling : str, default="laplacian"
        What views share: laplacian, or kernel = their outputs.
    gamma_a : float, default=0.001
        Weight of |f|² against the sum of losses; a list has one a view.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph.
    gamma_c : float, default=0.1
        Weight of the disagreement of views on all rows; 0 = views apart.
    shares : float, default=1.0
        Weight of each view's graph in the joint one; a list has one a view.
    scaling : str, default="raw"
        Raw, or paper = mean loss, disagreement / n, variation / n².
    neighbors : int, default=0
        Nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this far apart in place of nearest others; 0 = nearest others.
    search : str, default="exact"
        How nearest others are found: exact, or approximate for very many rows.
    metric : str, default="euclidean"
        Euclidean or cosine.
    weights : str, default="heat"
        Weights of edges: binary, heat, or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    view : int, default=0
        The view the model speaks for; 0 = all of them.
    basis : int, default=0
        Most points a view may rest on; 0 = all of 2500 rows, 1000 of more.
    bias : bool, default=False
        Whether to learn a constant.
    balance : bool, default=False
        Whether to move the threshold to the share of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    tol : float, default=0.0001
        Colapsvm: largest violation of the optimality conditions.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        coupling: str = "laplacian",
        gamma_a: float | Sequence[float] = 0.001,
        gamma_i: float = 0.1,
        gamma_c: float = 0.1,
        shares: float | Sequence[float] = 1.0,
        scaling: str = "raw",
        neighbors: int = 0,
        radius: float = 0.0,
        search: str = "exact",
        metric: str = "euclidean",
        weights: str = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        view: int = 0,
        basis: int = 0,
        bias: bool = False,
        balance: bool = False,
        ratio: float | str | Sequence[float] = "labels",
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
        self.scaling = scaling
        self.neighbors = neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.weights = weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.view = view
        self.basis = basis
        self.bias = bias
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
    """Least squares of several views along a joint graph, or that agree.

    ``views`` are ranges of columns, ``[(0, 3000), (3000, 4840)]`` with ends excluded, or lists of their names or numbers:
    ``[["title", "body"], ["links"]]``.

    Equations, when it fails and what it costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list of ranges or lists, default="all"
        Columns of each view from 1 on, like 1..3000;3001..4840; all = one view.
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    coupling : str, default="laplacian"
        What views share: laplacian, or kernel = their outputs.
    gamma_a : float, default=0.001
        Weight of |f|² against the sum of losses; a list has one a view.
    gamma_i : float, default=0.1
        Weight of the variation of f along the graph.
    gamma_c : float, default=0.1
        Weight of the disagreement of views on all rows; 0 = views apart.
    shares : float, default=1.0
        Weight of each view's graph in the joint one; a list has one a view.
    scaling : str, default="raw"
        Raw, or paper = mean loss, disagreement / n, variation / n².
    neighbors : int, default=0
        Nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2).
    radius : float, default=0.0
        Joins rows up to this far apart in place of nearest others; 0 = nearest others.
    search : str, default="exact"
        How nearest others are found: exact, or approximate for very many rows.
    metric : str, default="euclidean"
        Euclidean or cosine.
    weights : str, default="heat"
        Weights of edges: binary, heat, or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    normalized : bool, default=True
        Whether the Laplacian is divided by the degrees.
    power : int, default=1
        Power of the Laplacian.
    view : int, default=0
        The view the model speaks for; 0 = all of them.
    basis : int, default=0
        Most points a view may rest on; 0 = all of 2500 rows, 1000 of more.
    bias : bool, default=False
        Whether to learn a constant.
    balance : bool, default=False
        Whether to move the threshold to the share of positives.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    tol : float, default=0.0001
        Colapsvm: largest violation of the optimality conditions.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        coupling: str = "laplacian",
        gamma_a: float | Sequence[float] = 0.001,
        gamma_i: float = 0.1,
        gamma_c: float = 0.1,
        shares: float | Sequence[float] = 1.0,
        scaling: str = "raw",
        neighbors: int = 0,
        radius: float = 0.0,
        search: str = "exact",
        metric: str = "euclidean",
        weights: str = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        view: int = 0,
        basis: int = 0,
        bias: bool = False,
        balance: bool = False,
        ratio: float | str | Sequence[float] = "labels",
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
        self.scaling = scaling
        self.neighbors = neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.weights = weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.view = view
        self.basis = basis
        self.bias = bias
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
    """Views that label each other's surest rows and never revise: a baseline.

    ``views`` are ranges of columns, ``[(0, 3000), (3000, 4840)]`` with ends excluded, or lists of their names or numbers:
    ``[["title", "body"], ["links"]]``.

    Equations, when it fails and what it costs: ``docs/coregularization.md``.

    Parameters
    ----------
    views : str or list of ranges or lists, default="all"
        Columns of each view from 1 on, like 1..3000;3001..4840; all = one view.
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    kernels : str, default="same"
        Kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear.
    machine : str, default="svc"
        What learns in each view: svc or rls.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    bias : bool, default=True
        Whether to learn a constant.
    grow : int, default=4
        Rows a view labels in a round, two at least.
    rounds : int, default=0
        Most rounds; 0 = until all rows have a label.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    view : int, default=0
        The view the model speaks for; 0 = all of them.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        views: str | Sequence[Any] = "all",
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernels: str = "same",
        machine: str = "svc",
        C: float = 1.0,
        bias: bool = True,
        grow: int = 4,
        rounds: int = 0,
        ratio: float | str | Sequence[float] = "labels",
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
        self.bias = bias
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


class TSVM(SemiSupervisedClassifier):
    """Transductive support vector machine with any kernel, by switching labels.

    Equations, when it fails and what it costs: ``docs/s3vm.md``.

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
    lam : float, default=0.0
        Weight of |f|²/2 against the mean loss; 0: 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Weight of the rows without a label together, those with one having 1.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    switch : int, default=0
        Most pairs of labels switched at a time; 0 = all.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    bias : bool, default=True
        Whether to learn a constant.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | str | Sequence[float] = "labels",
        switch: int = 0,
        tol: float = 0.001,
        bias: bool = True,
        cache_size: int = 1000,
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
        self.bias = bias
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class GradTSVM(SemiSupervisedClassifier):
    """Low-density separation by descent on a smooth objective.

    Equations, when it fails and what it costs: ``docs/s3vm.md``.

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
    lam : float, default=0.0
        Weight of |f|²/2 against the mean loss; 0: 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Weight of the rows without a label together, those with one having 1.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    tol : float, default=0.001
        Relative gradient that counts as stationary.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | str | Sequence[float] = "labels",
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

    Equations, when it fails and what it costs: ``docs/s3vm.md``.

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
    loss : str, default="l2"
        L2 (squared hinge), l1 (hinge) or square.
    lam : float, default=0.0
        Weight of |f|²/2 against the mean loss; 0: 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Weight of the rows without a label together, those with one having 1.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    rate : float, default=1.5
        Factor by which the temperature falls.
    tol : float, default=0.001
        How exactly each function is solved for.
    bias : bool, default=True
        Whether to learn a constant.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        loss: str = "l2",
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | str | Sequence[float] = "labels",
        rate: float = 1.5,
        tol: float = 0.001,
        bias: bool = True,
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
        self.bias = bias
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class CCCPS3VM(SemiSupervisedClassifier):
    """Semi-supervised support vector machine by the concave-convex procedure.

    Equations, when it fails and what it costs: ``docs/s3vm.md``.

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
    lam : float, default=0.0
        Weight of |f|²/2 against the mean loss; 0: 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Weight of the rows without a label together, those with one having 1.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    s : float, default=-0.3
        End of the ramp: the loss of an unlabeled row is at most 1 + s.
    tol : float, default=0.001
        Largest violation of the optimality conditions.
    rounds : int, default=100
        Most rounds of the concave-convex procedure.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | str | Sequence[float] = "labels",
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
    """The global optimum of a semi-supervised support vector machine, for few rows.

    Equations, when it fails and what it costs: ``docs/bnb-s3vm.md``.

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
    lam : float, default=0.0
        Weight of |f|²/2 against the mean loss; 0: 0.01 times the mean of K(x,x).
    lambda_u : float, default=1.0
        Weight of the rows without a label together, those with one having 1.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    epsilon : float, default=0.001
        Share of the objective by which the optimum may be missed.
    max_nodes : int, default=100000
        Most nodes of the search; 0 = no limit.
    tol : float, default=0.0001
        Largest violation of the optimality conditions at a node.
    bias : bool, default=True
        Whether to learn a constant.
    cache_size : int, default=1000
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | str | Sequence[float] = "labels",
        epsilon: float = 0.001,
        max_nodes: int = 100000,
        tol: float = 0.0001,
        bias: bool = True,
        cache_size: int = 1000,
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
        self.bias = bias
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class LinearTSVM(SemiSupervisedClassifier):
    """Linear S3VM for many rows: labels of unlabeled rows are switched in pairs.

    Equations, when it fails and what it costs: ``docs/linear-s3vm.md``.

    Parameters
    ----------
    lam : float, default=0.0
        Weight of |w|²/2 against the mean loss; 0: 0.01 times the mean squared length of rows.
    lambda_u : float, default=1.0
        Weight of the rows without a label together, those with one having 1.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    switch : int, default=0
        Most pairs switched at a time; 0 = all.
    start : float, default=1e-05
        First weight of the rows without a label.
    rate : float, default=1.5
        Factor by which that weight grows.
    bias : bool, default=True
        Whether to learn a constant.
    center : bool, default=False
        Whether to take its mean from every column.
    tol : float, default=0.001
        Relative gradient that counts as solved.
    max_iter : int, default=-1
        Most steps; -1 is as many as it takes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | str | Sequence[float] = "labels",
        switch: int = 0,
        start: float = 1e-05,
        rate: float = 1.5,
        bias: bool = True,
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
        self.bias = bias
        self.center = center
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class LinearDA(SemiSupervisedClassifier):
    """Linear S3VM for many rows: labels as probabilities that cool down.

    Equations, when it fails and what it costs: ``docs/linear-s3vm.md``.

    Parameters
    ----------
    lam : float, default=0.0
        Weight of |w|²/2 against the mean loss; 0: 0.01 times the mean squared length of rows.
    lambda_u : float, default=1.0
        Weight of the rows without a label together, those with one having 1.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    temperature : float, default=10.0
        First temperature, in units of lambda_u.
    rate : float, default=1.5
        Factor by which the temperature falls.
    settle : float, default=0.0001
        Mean change of p that ends a temperature, mean entropy that ends all.
    by : str, default="rank"
        Which rows are positive: as many as the share says (rank), those above 0 (sign).
    bias : bool, default=True
        Whether to learn a constant.
    center : bool, default=False
        Whether to take its mean from every column.
    tol : float, default=0.001
        Relative gradient that counts as solved.
    max_iter : int, default=-1
        Most steps; -1 is as many as it takes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        lam: float = 0.0,
        lambda_u: float = 1.0,
        ratio: float | str | Sequence[float] = "labels",
        temperature: float = 10.0,
        rate: float = 1.5,
        settle: float = 0.0001,
        by: str = "rank",
        bias: bool = True,
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
        self.bias = bias
        self.center = center
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class SubmodularS3VM(SemiSupervisedClassifier):
    """Labels unlabeled rows by a seeded cut of the data, very fast.

    Equations, when it fails and what it costs: ``docs/submod-s3vm.md``.

    Parameters
    ----------
    kernel : str, default="linear"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    rho : float, default=10.0
        Weight of the cut over that of the labels; 0 = the labels alone.
    kappa : float, default=0.0
        C*/C itself; 0 = 2·rho·labeled/unlabeled.
    c_unlabeled : float, default=0.0
        C*, cost of an inferred label; 0 = kappa·c.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    variant : str, default="polished"
        Polished, swift = from the labels alone, thesis = lazy greedy as printed, or plain
        greedy.
    center : bool, default=True
        Whether the linear kernel is that of centered rows.
    weights : str, default="none"
        Weights of labels: none, or balanced = both classes pull alike.
    tol : float, default=0.01
        Accuracy of the model fitted to all labels.
    cache_size : int, default=250
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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
    100% right with 10 labels
    """

    _learner = "submod-s3vm"

    def __init__(
        self,
        *,
        kernel: str = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        ratio: float | str | Sequence[float] = "labels",
        rho: float = 10.0,
        kappa: float = 0.0,
        c_unlabeled: float = 0.0,
        C: float = 1.0,
        variant: str = "polished",
        center: bool = True,
        weights: str = "none",
        tol: float = 0.01,
        cache_size: int = 250,
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
        self.weights = weights
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class QPS3VM(SemiSupervisedClassifier):
    """The cut of ``SubmodularS3VM`` from many starts, each to a local optimum.

    Equations, when it fails and what it costs: ``docs/qp-s3vm.md``.

    Parameters
    ----------
    kernel : str, default="linear"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    rho : float, default=10.0
        Weight of the cut over that of the labels; 0 = the labels alone.
    kappa : float, default=0.0
        C*/C itself; 0 = 2·rho·labeled/unlabeled.
    c_unlabeled : float, default=0.0
        C*, cost of an inferred label; 0 = kappa·c.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    starts : int, default=10
        Random starts beside greedy, reverse greedy and Parzen.
    exchanges : int, default=100
        Most exchanges of two rows after each start.
    center : bool, default=True
        Whether the linear kernel is that of centered rows.
    weights : str, default="none"
        Weights of labels: none, or balanced = both classes pull alike.
    tol : float, default=0.01
        Accuracy of the model fitted to all labels.
    cache_size : int, default=250
        Memory for kernel rows, in megabytes.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random; None is 1, so that the answer is the same every time.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        ratio: float | str | Sequence[float] = "labels",
        rho: float = 10.0,
        kappa: float = 0.0,
        c_unlabeled: float = 0.0,
        C: float = 1.0,
        starts: int = 10,
        exchanges: int = 100,
        center: bool = True,
        weights: str = "none",
        tol: float = 0.01,
        cache_size: int = 250,
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
        self.weights = weights
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose


class ParzenClassifier(SemiSupervisedClassifier):
    """Rows most similar to the labels, by the ratio of the classes: a baseline.

    Equations, when it fails and what it costs: ``docs/submod-s3vm.md``.

    Parameters
    ----------
    kernel : str, default="linear"
        Linear, rbf, poly, sigmoid or precomputed.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
    center : bool, default=True
        Whether the linear kernel is that of centered rows.
    weights : str, default="none"
        Weights of labels: none, or balanced = both classes pull alike.
    cache_size : int, default=250
        Memory for kernel rows, in megabytes.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        kernel: str = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        ratio: float | str | Sequence[float] = "labels",
        center: bool = True,
        weights: str = "none",
        cache_size: int = 250,
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
        self.weights = weights
        self.cache_size = cache_size
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.verbose = verbose


class LabelPropagation(SemiSupervisedClassifier):
    """Labels spread along a neighborhood graph; a support vector machine learns from them.

    Equations, when it fails and what it costs: ``docs/label-propagation.md``.

    Parameters
    ----------
    method : str, default="harmonic"
        Harmonic or spreading (local and global consistency).
    neighbors : int, default=10
        Nearest others each row is joined with.
    radius : float, default=0.0
        Joins rows up to this far apart in place of nearest others; 0 = nearest others.
    search : str, default="exact"
        How nearest others are found: exact, or approximate for very many rows.
    metric : str, default="euclidean"
        Euclidean or cosine.
    weights : str, default="heat"
        Weights of edges: binary, heat, or cosine with that metric.
    width : float, default=0.0
        Width of heat weights; 0 = mean length of an edge.
    alpha : float, default=0.99
        Spreading: how much a row listens to its neighbors.
    mass : bool, default=True
        Whether the mass of each class is made its ratio.
    ratio : "labels", "auto", float or list of float, default="labels"
        Share of positives among rows without a label: a number, labels or auto.
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
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted with the model: none, minmax, standard, range, unit, tfidf, divide=N; None chooses from
        the data.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        Hold the answer against the labels alone (``supervised_score_``), which costs several more trainings.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        A label for every row it was fitted on; labels that were given are kept.
    transduction_confidence_ : ndarray of shape (n_samples,)
        How sure each is, between 0 and 1; not calibrated.
    supervised_score_, semi_supervised_score_ : float
        Share of held-out labels that are right without and with the unlabeled rows; NaN where a class has too few.
    n_iter_ : int
        Steps of the solver.
    stop_reason_ : str
        converged, limit, stalled or interrupted.
    report_ : dict
        What the solver did, the share of positives it aimed at, and facts of the learner.

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

    def __init__(
        self,
        *,
        method: str = "harmonic",
        neighbors: int = 10,
        radius: float = 0.0,
        search: str = "exact",
        metric: str = "euclidean",
        weights: str = "heat",
        width: float = 0.0,
        alpha: float = 0.99,
        mass: bool = True,
        ratio: float | str | Sequence[float] = "labels",
        kernel: str = "rbf",
        gamma: float | str = "scale",
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
        self.neighbors = neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.weights = weights
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
