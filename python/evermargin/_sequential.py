"""Sequential maximum entropy discrimination: a belief carried from batch to batch in bounded memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from . import _core
from ._base import (
    LargeMarginClassifier,
    SemiSupervisedClassifier,
    class_names,
    known_labels,
    refuse_minus_one,
    rows,
    whole_or_nothing,
)
from ._online import codes_among, declared_classes

if TYPE_CHECKING:
    from typing_extensions import Self


class _Sequential:
    """What both have: the belief as a handle."""

    def _settings(self, classes: Any = None) -> str:
        settings = json.loads(super()._settings(classes))
        settings["params"]["loss"] = self.loss
        return json.dumps(settings)

    def _learn_on(self, X, codes, classes, sample_weight=None, anew=False):
        """Learns rows; the belief is replaced only when all went well."""
        state = None if anew else getattr(self, "_belief", None)
        if state is None:
            state = _core.Sequential.begin(self._name(), rows(X), class_names(classes), self._settings(classes))
        report = json.loads(state.learn(rows(X), codes, sample_weight, bool(self.verbose)))
        self._belief = state
        self.classes_ = classes
        return report

    def _publish(self, report):
        exits = {output["exit"] for output in report["outputs"]}
        self._model = self._belief.classifier()
        self.report_ = {**report, "batches": self._belief.batches}
        self.n_iter_ = max(1, int(report["steps"]))
        self.stop_reason_ = "converged" if exits <= {"converged"} else sorted(exits - {"converged"})[0]
        return self


class SequentialMED(_Sequential, LargeMarginClassifier):
    """Maximum entropy discrimination, batch after batch in bounded memory.

    A Gaussian belief about the decision function is updated by each batch; past batches are not touched
    again: a passive-aggressive learner of batches. ``fit`` learns a table in batches of its rows as they stand,
    and ``partial_fit`` goes on from there.

    Equations, when it fails and what it costs: ``docs/med.md``.

    Parameters
    ----------
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) of the first rows, or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation, times the weight of the example.
    gamma_a : float, default=0.0
        Weight of |f|² as for ``LapSVC``, in place of C; 0 means C is given.
    loss : str, default="box"
        Box (hinge) or barrier (the source's, which learns nothing from C of 1 or less).
    form : str, default="bounded"
        How the belief is held: bounded, exact or spectral; memory grows with the last two.
    bias : str, default="prior"
        The constant: prior (carried on), free (of each batch) or none.
    bias_variance : float, default=0.0
        Variance of its prior; 0 is the mean of K(x, x) in the first batch.
    forget : float, default=1.0
        What the belief is multiplied by before a batch; 1 forgets nothing.
    landmarks : int, default=300
        Most landmarks of a belief over a kernel.
    batch : int, default=100
        Rows of a batch where more are given at once.
    tol : float, default=0.0001
        Largest violation of the optimality conditions of a batch.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted on the first rows: none, minmax, standard, range, unit, tfidf, divide=N; None chooses.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of landmarks; None is 1.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    n_iter_ : int
        Steps of the solver in the last call.
    report_ : dict
        What the last call did, and the batches so far.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        gamma_a: float = 0.0,
        loss: str = "box",
        form: str = "bounded",
        bias: str = "prior",
        bias_variance: float = 0.0,
        forget: float = 1.0,
        landmarks: int = 300,
        batch: int = 100,
        tol: float = 0.0001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        random_state: Any = None,
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
        self.bias = bias
        self.bias_variance = bias_variance
        self.forget = forget
        self.landmarks = landmarks
        self.batch = batch
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.random_state = random_state
        self.verbose = verbose

    def _train(self, X, codes, sample_weight=None):
        if len(self.classes_) < 2:
            raise ValueError(
                "SequentialMED.fit needs labeled rows of two classes or more; found one class: "
                f"{self.classes_[0]}. A batch of one class is for partial_fit, with classes=..."
            )
        X, codes, sample_weight = _present(X, np.ascontiguousarray(codes, dtype=np.int64), sample_weight)
        return self._publish(self._learn_on(X, codes, self.classes_, sample_weight, anew=True))

    @whole_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn a batch; what was learned before is the prior.

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
        first = getattr(self, "_belief", None) is None
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        check_classification_targets(y)
        classes = declared_classes(self, classes)
        codes = codes_among(y, classes)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        X, codes, sample_weight = _present(X, codes, sample_weight)
        return self._publish(self._learn_on(X, codes, classes, sample_weight))


class SequentialLapMED(_Sequential, SemiSupervisedClassifier):
    """Maximum entropy discrimination along graphs of the batches, in bounded memory.

    As ``SequentialMED``, and the decision function is kept from varying along a graph of each batch, whose
    rows may have labels or not. A batch without any label teaches too.

    Equations, when it fails and what it costs: ``docs/med.md``.

    Parameters
    ----------
    kernel : str, default="rbf"
        Linear, rbf, poly or sigmoid.
    gamma : "scale", "auto" or float, default="scale"
        Kernel width: a number, scale = 1/(d·Var X) of the first rows, or auto = 1/d.
    degree : int, default=3
        Power of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly and sigmoid kernels.
    C : float, default=1.0
        Cost of a margin violation.
    beta : float, default=0.5
        Weight of the variation along the graph of a batch; 0 = labels alone.
    gamma_a : float, default=0.0
        Weight of |f|² as for ``LapSVC``, in place of C; 0 means C and beta are given.
    gamma_i : float, default=0.0
        With gamma_a: weight of the variation as for ``LapSVC``.
    schedule : str, default="constant"
        Weight of the graphs: constant, or inverse = beta/t for batch t.
    loss : str, default="box"
        Box (hinge) or barrier (the source's, which learns nothing from C of 1 or less).
    form : str, default="bounded"
        How the belief is held: bounded, exact or spectral; memory grows with the last two.
    bias : str, default="prior"
        The constant: prior (carried on), free (of each batch) or none.
    bias_variance : float, default=0.0
        Variance of its prior; 0 is the mean of K(x, x) in the first batch.
    forget : float, default=1.0
        What the belief is multiplied by before a batch; 1 forgets nothing.
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
    landmarks : int, default=300
        Most landmarks of a belief over a kernel.
    batch : int, default=100
        Rows of a batch where more are given at once.
    tol : float, default=0.0001
        Largest violation of the optimality conditions of a batch.
    class_weight : "balanced", "ratio", dict or None, default=None
        Weights of classes: balanced (all weigh the same in sum), ratio (the largest keeps 1), or one a class.
    scale : str, default="none"
        Scaling fitted on the first rows: none, minmax, standard, range, unit, tfidf, divide=N; None chooses.
    missing_label : scalar, float('nan') or None, default=-1
        What marks a row without a label in ``y``.
    compare : bool, default=True
        In ``fit``, hold the answer against the labels alone (``supervised_score_``).
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of landmarks; None is 1.
    verbose : bool, default=False
        Print progress every second.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted; a positive decision of two means the second.
    transduction_ : ndarray of shape (n_samples,)
        After ``fit``: a label for every row.
    n_iter_ : int
        Steps of the solver in the last call.
    report_ : dict
        What the last call did.

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

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        beta: float = 0.5,
        gamma_a: float = 0.0,
        gamma_i: float = 0.0,
        schedule: str = "constant",
        loss: str = "box",
        form: str = "bounded",
        bias: str = "prior",
        bias_variance: float = 0.0,
        forget: float = 1.0,
        neighbors: int = 0,
        radius: float = 0.0,
        search: str = "exact",
        metric: str = "euclidean",
        weights: str = "heat",
        width: float = 0.0,
        normalized: bool = True,
        power: int = 1,
        landmarks: int = 300,
        batch: int = 100,
        tol: float = 0.0001,
        class_weight: dict[Any, float] | str | None = None,
        scale: str | None = "none",
        missing_label: Any = -1,
        compare: bool = True,
        random_state: Any = None,
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
        self.bias = bias
        self.bias_variance = bias_variance
        self.forget = forget
        self.neighbors = neighbors
        self.radius = radius
        self.search = search
        self.metric = metric
        self.weights = weights
        self.width = width
        self.normalized = normalized
        self.power = power
        self.landmarks = landmarks
        self.batch = batch
        self.tol = tol
        self.class_weight = class_weight
        self.scale = scale
        self.missing_label = missing_label
        self.compare = compare
        self.random_state = random_state
        self.verbose = verbose

    def _train(self, X, codes, sample_weight=None):
        super()._train(X, codes, sample_weight)
        self._learn_on(X, np.ascontiguousarray(codes, dtype=np.int64), self.classes_, anew=True)
        return self

    @whole_or_nothing
    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> Self:
        """Learn a batch, with labels or without; what was learned before is the prior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), default=None
            Their classes; ``missing_label`` marks rows without a label. None is no label at all.
        classes : array-like of shape (n_classes,), default=None
            Every class that will ever come; needed on the first call. Those not met yet are never predicted.

        Returns
        -------
        self : object
            The estimator.
        """
        first = getattr(self, "_belief", None) is None
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=first)
        classes = declared_classes(self, classes)
        codes = np.full(_num_samples(X), -1, dtype=np.int64)
        refuse_minus_one(codes < 0, np.array([]), self.missing_label, classes)
        if y is not None:
            has, labels = known_labels(y, self.missing_label, len(codes))
            codes[has] = codes_among(labels, classes)
        return self._publish(self._learn_on(X, codes, classes))

    def predict_std(self, X: Any) -> np.ndarray:
        """How unsure the belief is: the standard deviation of a decision, its constant left out.

        It is small near what was met, falls as graphs are met, and does not depend on labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        std : ndarray of shape (n_samples,)
            The same for every decision function.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return np.sqrt(np.maximum(self._belief.variance(rows(X)), 0.0))


def _present(X, codes, sample_weight):
    """Rows that weigh something."""
    if sample_weight is None or np.all(sample_weight > 0):
        return X, codes, sample_weight
    there = sample_weight > 0
    return X[there], codes[there], sample_weight[there]
