"""The estimator checks of scikit-learn for all estimators, with the reason of each expected failure."""

import pytest
from sklearn.utils.estimator_checks import check_classifiers_classes, parametrize_with_checks

import evermargin
from evermargin._base import LargeMarginEstimator, SemiSupervisedClassifier

ESTIMATORS = [
    cls
    for name in evermargin.__all__
    if isinstance(cls := getattr(evermargin, name), type) and issubclass(cls, LargeMarginEstimator)
]

#: The search tree of branch and bound can double with each row.
SETTINGS = {evermargin.BranchBoundS3VM: {"max_nodes": 20}}

ONE_STEP_PER_SAMPLE = {
    f"check_sample_weight_equivalence_on_{kind}_data": "one step per sample: k copies take k steps, a row of weight k takes one"
    for kind in ("dense", "sparse")
}
MINUS_ONE = {"check_classifiers_classes": "-1 marks unlabeled rows; passes with missing_label=None"}
LARGE_LAMBDA = {
    "check_class_weight_classifiers": "lambda depends on the norm of the rows and also regularizes the intercept, so that "
    "class weights cannot make the model predict one class for noise"
}


def expected(estimator):
    """Checks that are expected to fail, and the reasons."""
    reasons = {}
    if isinstance(estimator, (evermargin.LASVMClassifier, evermargin.Perceptron, evermargin.SequentialMED)):
        reasons |= ONE_STEP_PER_SAMPLE
    if isinstance(estimator, (evermargin.LinearTSVM, evermargin.LinearDA)):
        reasons |= LARGE_LAMBDA
    # scikit-learn exempts its own LabelPropagation from this check by the class name
    exempt_by_name = isinstance(estimator, evermargin.LabelPropagation)
    if isinstance(estimator, SemiSupervisedClassifier) and estimator.missing_label == -1 and not exempt_by_name:
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
def test_scikit_learn_check(estimator, check):
    if "missing_label=None" in repr(estimator) and check.func is not check_classifiers_classes:
        pytest.skip("runs with missing_label=-1")
    check(estimator)
