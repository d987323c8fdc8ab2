"""scikit-learn's own checks, over every estimator, dense and sparse: what fails is named here, with its reason."""

import pytest
from sklearn.utils.estimator_checks import check_classifiers_classes, parametrize_with_checks

import evermargin
from evermargin._base import LargeMarginEstimator, SemiSupervisedClassifier

ESTIMATORS = [
    cls
    for name in evermargin.__all__
    if isinstance(cls := getattr(evermargin, name), type) and issubclass(cls, LargeMarginEstimator)
]

#: The exact search goes through a tree that doubles with every row.
SETTINGS = {evermargin.BranchBoundS3VM: {"max_nodes": 20}}

ONE_STEP_A_SAMPLE = {
    f"check_sample_weight_equivalence_on_{kind}_data": "one step a sample: k copies are k steps, weight k is one"
    for kind in ("dense", "sparse")
}
MINUS_ONE = {"check_classifiers_classes": "-1 marks rows without a label; passes with missing_label=None"}
LARGE_LAMBDA = {
    "check_class_weight_classifiers": "lambda follows the length of the rows and also holds the constant, so that "
    "weights of classes cannot turn noise into one class"
}


def expected(estimator):
    """Checks that fail, and why."""
    reasons = {}
    if isinstance(estimator, (evermargin.LASVMClassifier, evermargin.Perceptron, evermargin.SequentialMED)):
        reasons |= ONE_STEP_A_SAMPLE
    if isinstance(estimator, (evermargin.LinearTSVM, evermargin.LinearDA)):
        reasons |= LARGE_LAMBDA
    named_like_theirs = isinstance(estimator, evermargin.LabelPropagation)  # and spared by name
    if isinstance(estimator, SemiSupervisedClassifier) and estimator.missing_label == -1 and not named_like_theirs:
        reasons |= MINUS_ONE
    return reasons


def instances():
    for cls in ESTIMATORS:
        settings = SETTINGS.get(cls, {})
        yield cls(**settings)
        if issubclass(cls, SemiSupervisedClassifier):
            yield cls(missing_label=None, **settings)
    for loss in evermargin.LASVMClassifier._variants:
        if loss != "hinge":
            yield evermargin.LASVMClassifier(loss=loss)
    yield evermargin.SVC(kernel="precomputed")


@parametrize_with_checks(list(instances()), expected_failed_checks=expected)
def test_scikit_learn(estimator, check):
    if "missing_label=None" in repr(estimator) and check.func is not check_classifiers_classes:
        pytest.skip("runs with -1 as the mark")
    check(estimator)
