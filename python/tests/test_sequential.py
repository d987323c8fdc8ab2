"""Sequential MED: fit equals the learner of the core, partial_fit continues in bounded memory."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

from evermargin import SequentialLapMED, SequentialMED, _core
from evermargin._base import class_names, rows


def expected_failures(estimator):
    reason = "rows are learned in batches in their order, so two copies of a row can be in two batches"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks(
    [SequentialMED(), SequentialLapMED(missing_label=None, compare=False)], expected_failed_checks=expected_failures
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    return X[order], y[order]


def core_fit(model, X, codes, classes):
    return _core.fit(model._learner, rows(X), codes.astype(np.int64), class_names(classes), model._settings())


@pytest.mark.parametrize(
    "params", [{}, {"kernel": "linear"}, {"class_weight": "balanced"}, {"loss": "barrier", "C": 4.0}]
)
def test_fit_equals_the_learner_of_the_core(params):
    X, y = iris()
    model = SequentialMED(batch=40, **params).fit(X, y)
    other = core_fit(model, X, y, [0, 1, 2]).classifier
    np.testing.assert_array_equal(model.decision_function(X), other.predict(rows(X))[1])
    streamed = SequentialMED(batch=40, **params).partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.decision_function(X), streamed.decision_function(X))


def test_partial_fit_equals_fit_with_few_labels():
    X, y = iris()
    few = np.where(np.arange(150) % 4 == 0, y, -1)
    model = SequentialLapMED(batch=50).fit(X, few)
    streamed = SequentialLapMED(batch=50).partial_fit(X, few, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.decision_function(X), streamed.decision_function(X))
    assert model.transduction_.shape == (150,)
    assert np.mean(model.transduction_ == y) > 0.85


@pytest.mark.parametrize("kind", [SequentialMED, SequentialLapMED])
def test_partial_fit_continues_after_fit_and_pickling(kind):
    X, y = iris()
    few = y if kind is SequentialMED else np.where(np.arange(150) % 3 == 0, y, -1)
    a = kind(batch=50).fit(X[:100], few[:100]).partial_fit(X[100:], few[100:])
    b = kind(batch=50).partial_fit(X[:100], few[:100], classes=[0, 1, 2])
    b = pickle.loads(pickle.dumps(b)).partial_fit(X[100:], few[100:])
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    if kind is SequentialLapMED:
        np.testing.assert_array_equal(a.predict_std(X), b.predict_std(X))
    assert a.report_["batches"] == 3
    a.fit(X[:, :2], few)
    assert a.n_features_in_ == 2 and a._posterior.batches == 3, "fit starts again"


def test_unlabeled_batches_improve_accuracy():
    X, y = make_moons(800, noise=0.06, random_state=0)
    few = np.full(800, -1)
    few[:100:10] = y[:100:10]
    supervised = SequentialMED(C=10, gamma=3).fit(X[few >= 0], few[few >= 0])
    model = SequentialLapMED(C=10, gamma=3, beta=0.1).partial_fit(X[:100], few[:100], classes=[0, 1])
    first = model.score(X, y)
    initial_std = model.predict_std(X[:100])
    for part in np.split(np.arange(100, 800), 7):
        model.partial_fit(X[part])
    assert model.score(X, y) > first + 0.03 > supervised.score(X, y) + 0.03
    assert np.mean(model.predict_std(X[:100])) < np.mean(initial_std), "further graphs reduce the variance"


def test_memory_is_bounded():
    rng = np.random.RandomState(0)
    model, sizes = SequentialLapMED(n_landmarks=40), []
    for _ in range(25):
        X, y = make_moons(100, noise=0.1, random_state=rng)
        model.partial_fit(X, np.where(rng.rand(100) < 0.2, y, -1), classes=[0, 1])
        sizes.append(len(pickle.dumps(model)))
    assert sizes[0] < sizes[6], "memory grows until there are 40 landmarks"
    assert max(sizes) <= sizes[6] + 50, sizes


def test_classes_are_not_predicted_before_they_appear():
    X, y = iris()
    model = SequentialMED()
    for seen in range(1, 4):
        model.partial_fit(X[y == seen - 1], y[y == seen - 1], classes=[0, 1, 2])
        assert set(model.predict(np.r_[X, 1e5 * X])) <= set(range(seen))
    # batches of one class shift the intercepts toward that class; mixed batches correct them
    for part in np.split(np.arange(150), 3):
        model.partial_fit(X[part], y[part])
    assert model.score(X, y) > 0.9


def test_sparse_and_dense_rows_give_the_same_result():
    X, y = iris()
    a = SequentialMED(tol=1e-7).fit(X, y).decision_function(X)
    b = SequentialMED(tol=1e-7).fit(sparse.csr_matrix(X), y).decision_function(sparse.csr_matrix(X))
    np.testing.assert_allclose(a, b, atol=1e-4)  # solved to 1e-7 with kernels in single precision


def test_wrong_input_is_an_error():
    X, y = iris()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        SequentialMED().partial_fit(X, y)
    with pytest.raises(ValueError, match="not declared: 2"):
        SequentialLapMED().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="retention"):
        SequentialMED(retention=2.0).fit(X, y)
    with pytest.raises(ValueError, match="one class: 0"):
        SequentialMED().fit(X[y == 0], y[y == 0])
    model = SequentialMED().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], y)
    damaged = bytearray(model._posterior.to_bytes())
    damaged[200] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        _core.Sequential.from_bytes(bytes(damaged))
