"""The estimator classes of the package: name, learner of the core, base class, description and example.

`generate.py` adds the parameters with their types, defaults and help from the specifications of the core.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """A parameter that is not in the specification of a learner, with its annotation, documented type, default and help."""

    annotation: str
    documented: str
    default: object
    help: str


#: Training options that are not parameters of a learner, and parameters that only Python uses.
OPTIONS = {
    "loss": Option(
        'Literal["hinge", "gap", "ramp", "filter", "full", "local"]',
        '{"hinge", "gap", "ramp", "filter", "full", "local"}',
        "hinge",
        "Variant of the algorithm, described above.",
    ),
    "class_weight": Option(
        "dict[Any, float] | str | None",
        '"balanced", "ratio", dict or None',
        None,
        "Class weights: balanced (all classes have the same total weight), ratio (n_largest / n_class), or one weight per "
        "class.",
    ),
    "scale": Option(
        "str | None",
        "str or None",
        "none",
        "Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; auto or None chooses "
        "one from the data.",
    ),
    "multi": Option(
        'Literal["one-vs-one", "one-vs-rest"] | None',
        '{"one-vs-one", "one-vs-rest"} or None',
        None,
        "Multiclass scheme; None uses the default of the learner.",
    ),
    "probability": Option(
        "str | bool | None",
        '"sigmoid", "isotonic", bool or None',
        None,
        "Calibrate probabilities on decision values of held-out rows; True is sigmoid.",
    ),
    "threshold": Option(
        "str | None",
        "str or None",
        None,
        "With two classes, move the decision threshold to the value that maximizes this score on held-out rows: g-means, "
        "f1, accuracy, mcc, break-even or rate=SHARE.",
    ),
    "decision_function_shape": Option(
        'Literal["ovr", "ovo"]',
        '{"ovr", "ovo"}',
        "ovr",
        "With one-vs-one and more than two classes: one decision value per class or one per pair.",
    ),
    "missing_label": Option(
        "Any",
        "scalar, float('nan') or None",
        -1,
        "Value in ``y`` that marks unlabeled rows.",
    ),
    "compare": Option(
        "bool",
        "bool",
        True,
        "Compare with a model trained on the labeled rows only (``supervised_score_``); this takes several more fits.",
    ),
    "random_state": Option(
        "int | np.random.RandomState | None",
        "int, RandomState instance or None",
        None,
        "Random seed; None is 1, so that results are reproducible.",
    ),
    "verbose": Option("bool", "bool", False, "Print progress every second."),
}

CLASSES = """
classes_ : ndarray of shape (n_classes,)
    Sorted classes. With two classes, positive decision values belong to the second."""
SOLVER = """
n_iter_ : int
    Number of solver steps.
stop_reason_ : str
    Reason why training stopped: converged, limit, stalled or interrupted.
report_ : dict
    Steps, objective and gap of each decision function, and parameters that were chosen automatically."""
FUNCTIONS = """
support_vectors_, dual_coef_, coef_, intercept_ : ndarray
    Decision functions: support vectors and their coefficients, or feature weights, and intercepts."""
TRANSDUCTION = """
transduction_ : ndarray of shape (n_samples,)
    Labels of all training rows; given labels stay as they are.
transduction_confidence_ : ndarray of shape (n_samples,)
    Confidence of each label, between 0 and 1; not calibrated.
supervised_score_, semi_supervised_score_ : float
    Accuracy on held-out labels without and with the unlabeled rows; NaN if a class has too few labels."""
CANDIDATES = """
candidates_ : list of dict
    One entry per candidate: ``candidate`` (name), ``weight`` (share in the combination) and, if labels could be held
    out, ``accuracy`` on them with the 90 % interval from ``accuracy_low`` to ``accuracy_high``.
estimated_accuracy_ : float
    Accuracy of the combination on held-out labels; NaN if no label could be held out."""
LAST_CALL = """
n_iter_ : int
    Number of solver steps of the last call.
stop_reason_ : str
    Reason why training stopped: converged, limit, stalled or interrupted.
report_ : dict
    Report of the last call, with the number of batches so far."""
OFFSET = """
offset_ : float
    Threshold of ``score_samples``: rows above it are inside."""

SUPERVISED_OPTIONS = (
    "class_weight",
    "scale",
    "multi",
    "probability",
    "threshold",
    "decision_function_shape",
    "random_state",
    "verbose",
)
SEMI_SUPERVISED_OPTIONS = ("class_weight", "scale", "missing_label", "compare", "random_state", "verbose")


@dataclass(frozen=True)
class Estimator:
    """An estimator class. ``random_state`` is omitted from ``options`` if the learner is deterministic."""

    name: str
    learner: str
    page: str
    intro: str
    example: str
    base: str = "LargeMarginClassifier"
    options: tuple[str, ...] = SUPERVISED_OPTIONS
    attributes: str = CLASSES + SOLVER + FUNCTIONS
    #: Pairs of a value of ``loss`` and its learner, if the class has several learners.
    variants: tuple[tuple[str, str], ...] = ()
    #: Parameters of the learner that are not available in Python.
    omit: tuple[str, ...] = ()
    #: Defaults of options that differ from those of the other classes.
    defaults: tuple[tuple[str, object], ...] = ()


def scored(call: str, score: str) -> str:
    """Example of cross-validation on the iris data."""
    return f"""
>>> from sklearn.datasets import load_iris
>>> from sklearn.model_selection import cross_val_score
>>> from evermargin import {call.partition("(")[0]}
>>> X, y = load_iris(return_X_y=True)
>>> print(f"{{cross_val_score({call}, X, y).mean():.2f}}")
{score}"""


DATA = {
    "moons": ("make_moons", "make_moons({n}, noise=0.05, random_state=0)", 200),
    "classification": ("make_classification", "make_classification({n}, class_sep=2.0, random_state=0)", 300),
    "few rows": ("make_classification", "make_classification({n}, class_sep=2.0, random_state=0)", 30),
    "blobs": (
        "make_blobs",
        "make_blobs({n}, centers=2, n_features=10, cluster_std=4.0, random_state=0)",
        300,
    ),
}


def few_labels(call: str, data: str, accuracy: int, each: int = 5) -> str:
    """Example of transduction with few labels per class."""
    name, text, n = DATA[data]
    return f"""
>>> import numpy as np
>>> from sklearn.datasets import {name}
>>> from evermargin import {call.partition("(")[0]}
>>> X, y = {text.format(n=n)}
>>> known = np.r_[np.flatnonzero(y == 0)[:{each}], np.flatnonzero(y == 1)[:{each}]]
>>> few = np.full({n}, -1)
>>> few[known] = y[known]
>>> model = {call}.fit(X, few)
>>> print(f"{{np.mean(model.transduction_ == y):.0%}} right with {{np.sum(few != -1)}} labels")
{accuracy}% right with {2 * each} labels"""


def semi(
    name: str,
    learner: str,
    page: str,
    intro: str,
    example: str,
    without: tuple[str, ...] = (),
    more_attributes: str = "",
    defaults: tuple[tuple[str, object], ...] = (),
) -> Estimator:
    """Entry of a semi-supervised estimator."""
    options = tuple(o for o in SEMI_SUPERVISED_OPTIONS if o not in without)
    attributes = CLASSES + TRANSDUCTION + more_attributes + SOLVER
    return Estimator(
        name, learner, page, intro, example, "SemiSupervisedClassifier", options, attributes, defaults=defaults
    )


VIEWS = """

``views`` are column ranges with the end excluded, such as ``[(0, 3000), (3000, 4840)]``, or lists of column names or
numbers, such as ``[["title", "body"], ["links"]]``."""

SUPERVISED = (
    Estimator(
        "SVC",
        "svc",
        "svc",
        """Support vector machine with any kernel.

It has the optimum, signs and defaults of LIBSVM and of ``SVC`` of scikit-learn. A row of weight k acts like k copies.""",
        scored("SVC(C=10)", "0.98"),
    ),
    Estimator(
        "LinearSVC",
        "linear",
        "linear",
        """Linear support vector machine with squared hinge loss, for many rows or columns.

It solves the problem of LIBLINEAR with a regularized intercept. Several classes are learned one-vs-rest.""",
        scored("LinearSVC()", "0.97"),
        options=tuple(o for o in SUPERVISED_OPTIONS if o != "decision_function_shape"),
    ),
    Estimator(
        "RLSClassifier",
        "rls",
        "rls",
        """Regularized least squares with any kernel.

It is solved by one factorization, for up to 20 000 rows.""",
        scored("RLSClassifier(C=10)", "0.98"),
    ),
    Estimator(
        "RampSVC",
        "ramp-svc",
        "robust",
        "Support vector machine with ramp loss, robust to outliers and wrong labels.",
        scored("RampSVC(C=10)", "0.99"),
    ),
    Estimator(
        "Perceptron",
        "perceptron",
        "perceptron",
        "Kernel perceptron, optionally averaged or with a budget of points, as a baseline.",
        scored("Perceptron(epochs=20)", "0.96"),
    ),
    Estimator(
        "LASVMClassifier",
        "lasvm",
        "lasvm",
        """Support vector machine that learns one sample at a time.

``loss`` selects the variant: ``hinge`` (LASVM), ``gap`` (steps follow the duality gap), ``ramp`` (robust to wrong
labels), ``filter`` (skips samples outside the margin), ``full`` (keeps all points) or ``local`` (updates the neighbors
of each sample). Parameters that the variant does not have must keep their default; None uses the default of the
variant.""",
        scored("LASVMClassifier(C=10)", "0.98"),
        base="OnlineClassifier",
        options=("loss", *SUPERVISED_OPTIONS),
        variants=(
            ("hinge", "lasvm"),
            ("gap", "lasvm-g"),
            ("ramp", "lasvm-nc"),
            ("filter", "lasvm-i"),
            ("full", "full-svm"),
            ("local", "local-svc"),
        ),
        omit=("curve",),
    ),
    Estimator(
        "OneClassSVM",
        "one-class",
        "one-class",
        """One-class support vector machine: 1 inside the region of the training rows, -1 outside.

It has the optimum, scaling and signs of LIBSVM and of ``OneClassSVM`` of scikit-learn. A row of weight k acts like k
copies.""",
        """
>>> from sklearn.datasets import load_iris
>>> from evermargin import OneClassSVM
>>> X, y = load_iris(return_X_y=True)
>>> setosa = OneClassSVM(nu=0.1).fit(X[y == 0])
>>> print((setosa.predict(X[y == 0]) == 1).mean() >= 0.9, (setosa.predict(X[y == 2]) == -1).all())
True True""",
        base="OneClassEstimator",
        options=("scale", "verbose"),
        attributes=OFFSET + SOLVER + FUNCTIONS,
    ),
)

SEMI_SUPERVISED = (
    semi(
        "LapSVC",
        "lapsvm",
        "manifold",
        "Support vector machine that is smooth along a neighborhood graph of all rows.",
        few_labels("LapSVC(gamma=10)", "moons", 100),
    ),
    semi(
        "LapRLS",
        "laprls",
        "manifold",
        "Regularized least squares that is smooth along a neighborhood graph of all rows.",
        few_labels("LapRLS(gamma=10)", "moons", 100),
    ),
    semi(
        "SparseLapRLS",
        "sparse-lap",
        "sparse-manifold",
        "Regularized least squares on few landmarks that is smooth along a neighborhood graph of all rows.",
        few_labels("SparseLapRLS(gamma=10)", "moons", 100),
    ),
    semi(
        "CoRLS",
        "corls",
        "coregularization",
        "Regularized least squares with one function per view of the columns, which agree on all rows." + VIEWS,
        few_labels('CoRLS(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
        without=("class_weight",),
    ),
    semi(
        "CoLapSVC",
        "colapsvm",
        "coregularization",
        "Support vector machine with several views, coupled by a joint graph or by agreement." + VIEWS,
        few_labels('CoLapSVC(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
    ),
    semi(
        "CoLapRLS",
        "colaprls",
        "coregularization",
        "Regularized least squares with several views, coupled by a joint graph or by agreement." + VIEWS,
        few_labels('CoLapRLS(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
    ),
    semi(
        "CoTraining",
        "cotraining",
        "coregularization",
        "Co-training: classifiers of several views label the most confident rows for each other, as a baseline.\n\n"
        "Inferred labels are never revised." + VIEWS,
        few_labels('CoTraining(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
    ),
    semi(
        "AutoSemiSupervised",
        "auto",
        "auto",
        "Combination of semi-supervised learners that are compared on held-out labels.\n\n"
        "The recommended estimator to start with.",
        few_labels("AutoSemiSupervised()", "classification", 99),
        more_attributes=CANDIDATES,
        defaults=(("scale", "auto"),),
    ),
    semi(
        "TSVM",
        "tsvm",
        "s3vm",
        "Transductive support vector machine with any kernel, by switching labels.",
        few_labels('TSVM(kernel="linear")', "classification", 99),
    ),
    semi(
        "GradTSVM",
        "grad-tsvm",
        "s3vm",
        "Low-density separation by gradient descent on a smooth objective.",
        few_labels('GradTSVM(kernel="linear")', "classification", 99),
    ),
    semi(
        "DASVM",
        "da",
        "s3vm",
        "Semi-supervised support vector machine by deterministic annealing.",
        few_labels('DASVM(kernel="linear")', "classification", 99),
    ),
    semi(
        "CCCPS3VM",
        "cccp-s3vm",
        "s3vm",
        "Semi-supervised support vector machine by the concave-convex procedure.",
        few_labels('CCCPS3VM(kernel="linear")', "classification", 99),
    ),
    semi(
        "BranchBoundS3VM",
        "bnb-s3vm",
        "bnb-s3vm",
        "Semi-supervised support vector machine solved to the global optimum by branch and bound, for few rows.",
        few_labels('BranchBoundS3VM(kernel="linear")', "few rows", 100, each=3),
    ),
    semi(
        "LinearTSVM",
        "linear-tsvm",
        "linear-s3vm",
        "Linear transductive support vector machine for many rows, by switching pairs of labels.",
        few_labels("LinearTSVM()", "classification", 99),
    ),
    semi(
        "LinearDA",
        "linear-da",
        "linear-s3vm",
        "Linear semi-supervised support vector machine for many rows, by deterministic annealing.",
        few_labels("LinearDA()", "classification", 99),
    ),
    semi(
        "SubmodularS3VM",
        "submod-s3vm",
        "submod-s3vm",
        "Semi-supervised classifier that labels rows by a seeded cut of the data; very fast.",
        few_labels("SubmodularS3VM()", "blobs", 97),
    ),
    semi(
        "QPS3VM",
        "qp-s3vm",
        "qp-s3vm",
        "Semi-supervised classifier that optimizes the cut of ``SubmodularS3VM`` locally from many starts.",
        few_labels("QPS3VM()", "blobs", 100),
    ),
    semi(
        "ParzenClassifier",
        "parzen",
        "submod-s3vm",
        "Parzen window classifier that labels rows by similarity and by the ratio of the classes, as a baseline.",
        few_labels("ParzenClassifier()", "blobs", 99),
        without=("class_weight",),
    ),
    semi(
        "LabelPropagation",
        "label-propagation",
        "label-propagation",
        "Label propagation along a neighborhood graph, followed by a support vector machine.",
        few_labels("LabelPropagation()", "moons", 100),
    ),
)

SEQUENTIAL = (
    Estimator(
        "SequentialMED",
        "seq-med",
        "med",
        """Sequential maximum entropy discrimination in bounded memory.

Each batch updates a Gaussian posterior over decision functions; earlier batches are not visited again. ``fit`` learns
its rows in batches, in their order, and ``partial_fit`` continues from there.""",
        """
>>> import numpy as np
>>> from sklearn.datasets import make_moons
>>> from evermargin import SequentialMED
>>> X, y = make_moons(600, noise=0.1, random_state=0)
>>> model = SequentialMED(C=10, gamma=5)
>>> for part in np.split(np.arange(500), 10):
...     model = model.partial_fit(X[part], y[part], classes=[0, 1])
>>> print(f"{model.score(X[500:], y[500:]):.2f}")
1.00""",
        base="SequentialClassifier",
        options=("class_weight", "scale", "random_state", "verbose"),
        attributes=CLASSES + LAST_CALL,
    ),
    Estimator(
        "SequentialLapMED",
        "seq-lapmed",
        "med",
        """Sequential maximum entropy discrimination with Laplacian regularization in bounded memory.

It extends ``SequentialMED`` by decision functions that are smooth along a neighborhood graph of each batch. Batches may
have labeled and unlabeled rows, or only unlabeled rows.""",
        """
>>> import numpy as np
>>> from sklearn.datasets import make_moons
>>> from evermargin import SequentialLapMED
>>> X, y = make_moons(600, noise=0.05, random_state=0)
>>> few = np.where(np.arange(600) % 20 == 0, y, -1)
>>> model = SequentialLapMED(C=10, gamma=10)
>>> for part in np.split(np.arange(500), 5):
...     model = model.partial_fit(X[part], few[part], classes=[0, 1])
>>> print(f"{model.score(X[500:], y[500:]):.2f}")
1.00""",
        base="SequentialSemiSupervisedClassifier",
        options=SEMI_SUPERVISED_OPTIONS,
        attributes=CLASSES + TRANSDUCTION + LAST_CALL,
    ),
)

CATALOG = (*SUPERVISED, *SEMI_SUPERVISED, *SEQUENTIAL)
