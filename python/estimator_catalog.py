"""The estimator classes of the package: name, learner of the core, base class, text and example.

Parameters, their types, defaults and help come from the core's specifications; `generate.py` joins the two.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """A parameter that is not in the specification of a learner: annotation, documented type, default, help."""

    annotation: str
    documented: str
    default: object
    help: str


#: Options of the training around a learner, and parameters that only Python uses.
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
        "Scaling that is fitted with the model: none, minmax, standard, range, unit, tfidf or divide=N; None chooses one "
        "from the data.",
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
        "The value in ``y`` that marks a row without a label.",
    ),
    "compare": Option(
        "bool",
        "bool",
        True,
        "Compare with a model of the labels alone (``supervised_score_``), which costs several more trainings.",
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
    Sorted classes; with two classes, a positive decision value means the second."""
SOLVER = """
n_iter_ : int
    Number of solver steps.
stop_reason_ : str
    converged, limit, stalled or interrupted.
report_ : dict
    Steps, objective and gap of every decision function, and automatic choices."""
FUNCTIONS = """
support_vectors_, dual_coef_, coef_, intercept_ : ndarray
    The decision functions: support vectors with their coefficients, or feature weights, and intercepts."""
TRANSDUCTION = """
transduction_ : ndarray of shape (n_samples,)
    A label for every training row; given labels are kept.
transduction_confidence_ : ndarray of shape (n_samples,)
    Confidence of each label, between 0 and 1; not calibrated.
supervised_score_, semi_supervised_score_ : float
    Accuracy on held-out labels without and with the unlabeled rows; NaN where a class has too few labels."""
CANDIDATES = """
candidates_ : list of dict
    One entry per candidate: ``candidate`` (name), ``weight`` (share in the combination) and, where labels could be held
    out, ``accuracy`` on them with the 90 % interval ``accuracy_low``, ``accuracy_high``.
estimated_accuracy_ : float
    Accuracy of the combination on held-out labels; NaN where no label could be held out."""
LAST_CALL = """
n_iter_ : int
    Number of solver steps of the last call.
stop_reason_ : str
    converged, limit, stalled or interrupted.
report_ : dict
    Report of the last call, and the number of batches."""
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
    """One class. ``random_state`` among ``options`` is left out where the learner is not random."""

    name: str
    learner: str
    page: str
    intro: str
    example: str
    base: str = "LargeMarginClassifier"
    options: tuple[str, ...] = SUPERVISED_OPTIONS
    attributes: str = CLASSES + SOLVER + FUNCTIONS
    #: Learners behind the values of ``loss``, where there are several.
    variants: tuple[tuple[str, str], ...] = ()
    #: Parameters of the learner that Python does not have.
    omit: tuple[str, ...] = ()


def scored(call: str, score: str) -> str:
    """Cross-validation on iris."""
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
    """Transduction with few labels per class."""
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
) -> Estimator:
    """A semi-supervised estimator."""
    options = tuple(o for o in SEMI_SUPERVISED_OPTIONS if o not in without)
    attributes = CLASSES + TRANSDUCTION + more_attributes + SOLVER
    return Estimator(name, learner, page, intro, example, "SemiSupervisedClassifier", options, attributes)


VIEWS = """

``views`` are column ranges, ``[(0, 3000), (3000, 4840)]`` with the end excluded, or lists of column names or numbers,
``[["title", "body"], ["links"]]``."""

SUPERVISED = (
    Estimator(
        "SVC",
        "svc",
        "svc",
        """Support vector machine with any kernel.

Same optimum, signs and defaults as LIBSVM and scikit-learn's ``SVC``; a row of weight k equals k copies of it.""",
        scored("SVC(C=10)", "0.98"),
    ),
    Estimator(
        "LinearSVC",
        "linear",
        "linear",
        """Linear support vector machine with squared hinge loss, for many rows or columns.

The problem of LIBLINEAR with a regularized intercept. Several classes are learned one-vs-rest.""",
        scored("LinearSVC()", "0.97"),
        options=tuple(o for o in SUPERVISED_OPTIONS if o != "decision_function_shape"),
    ),
    Estimator(
        "RLSClassifier",
        "rls",
        "rls",
        """Regularized least squares with any kernel.

One factorization, for up to 20 000 rows.""",
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
        "Kernel perceptron, optionally averaged or with a budget of points: a baseline.",
        scored("Perceptron(epochs=20)", "0.96"),
    ),
    Estimator(
        "LASVMClassifier",
        "lasvm",
        "lasvm",
        """Support vector machine that learns one sample at a time.

``loss`` selects the variant: ``hinge`` (LASVM), ``gap`` (steps follow the duality gap), ``ramp`` (robust to wrong
labels), ``filter`` (skips samples outside the margin), ``full`` (drops no point) or ``local`` (updates the neighbors of
each sample). A parameter that the variant does not take must keep its default; None is the default of the variant.""",
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

Same optimum, scaling and signs as LIBSVM and scikit-learn's ``OneClassSVM``; a row of weight k equals k copies of it.""",
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
        "Regularized least squares on few landmarks, smooth along a neighborhood graph of all rows.",
        few_labels("SparseLapRLS(gamma=10)", "moons", 100),
    ),
    semi(
        "CoRLS",
        "corls",
        "coregularization",
        "Regularized least squares in several views of the columns that agree on all rows." + VIEWS,
        few_labels('CoRLS(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
        without=("class_weight",),
    ),
    semi(
        "CoLapSVC",
        "colapsvm",
        "coregularization",
        "Support vector machines of several views, coupled by a joint graph or by agreement." + VIEWS,
        few_labels('CoLapSVC(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
    ),
    semi(
        "CoLapRLS",
        "colaprls",
        "coregularization",
        "Regularized least squares of several views, coupled by a joint graph or by agreement." + VIEWS,
        few_labels('CoLapRLS(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
    ),
    semi(
        "CoTraining",
        "cotraining",
        "coregularization",
        "Views that label each other's most confident rows and never revise a label: a baseline." + VIEWS,
        few_labels('CoTraining(views=[(0, 10), (10, 20)], kernel="linear")', "classification", 99),
    ),
    semi(
        "AutoSemiSupervised",
        "auto",
        "auto",
        "Compares learners on held-out labels and combines them: the learner to start with.",
        few_labels("AutoSemiSupervised()", "classification", 99),
        more_attributes=CANDIDATES,
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
        "The global optimum of a semi-supervised support vector machine, for few rows.",
        few_labels('BranchBoundS3VM(kernel="linear")', "few rows", 100, each=3),
    ),
    semi(
        "LinearTSVM",
        "linear-tsvm",
        "linear-s3vm",
        "Linear S3VM for many rows that switches the labels of unlabeled rows in pairs.",
        few_labels("LinearTSVM()", "classification", 99),
    ),
    semi(
        "LinearDA",
        "linear-da",
        "linear-s3vm",
        "Linear S3VM for many rows by deterministic annealing of label probabilities.",
        few_labels("LinearDA()", "classification", 99),
    ),
    semi(
        "SubmodularS3VM",
        "submod-s3vm",
        "submod-s3vm",
        "Labels unlabeled rows by a seeded cut of the data, very fast.",
        few_labels("SubmodularS3VM()", "blobs", 97),
    ),
    semi(
        "QPS3VM",
        "qp-s3vm",
        "qp-s3vm",
        "The cut of ``SubmodularS3VM`` from many starts, each optimized to a local optimum.",
        few_labels("QPS3VM()", "blobs", 100),
    ),
    semi(
        "ParzenClassifier",
        "parzen",
        "submod-s3vm",
        "Labels the rows most similar to the labeled ones, by the ratio of the classes: a baseline.",
        few_labels("ParzenClassifier()", "blobs", 99),
        without=("class_weight",),
    ),
    semi(
        "LabelPropagation",
        "label-propagation",
        "label-propagation",
        "Labels spread along a neighborhood graph; a support vector machine learns from them.",
        few_labels("LabelPropagation()", "moons", 100),
    ),
)

SEQUENTIAL = (
    Estimator(
        "SequentialMED",
        "seq-med",
        "med",
        """Maximum entropy discrimination, batch after batch in bounded memory.

Each batch updates a Gaussian posterior over decision functions; earlier batches are not visited again. ``fit`` learns a
table in batches, in the order of its rows, and ``partial_fit`` continues from there.""",
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
        """Maximum entropy discrimination along graphs of the batches, in bounded memory.

Like ``SequentialMED``, and the decision function is smooth along a neighborhood graph of each batch, whose rows may be
labeled or not. Batches without any label are used too.""",
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
