"""partial_fit of online learners: continued training, errors, and classes that have not appeared yet."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons

from evermargin import LASVMClassifier

VARIANTS = list(LASVMClassifier._variants)


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]


@pytest.mark.parametrize("loss", VARIANTS)
def test_partial_fit_on_all_rows_equals_fit(iris, loss):
    X, y = iris
    fitted = LASVMClassifier(loss=loss).fit(X, y)
    continued = LASVMClassifier(loss=loss).partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_array_equal(fitted.decision_function(X), continued.decision_function(X))
    np.testing.assert_array_equal(fitted.intercept_, continued.intercept_)


@pytest.mark.parametrize("loss", VARIANTS)
def test_partial_fit_continues_after_fit_and_pickling(iris, loss):
    X, y = iris
    a = LASVMClassifier(loss=loss, random_state=3).fit(X[:80], y[:80]).partial_fit(X[80:], y[80:])
    b = LASVMClassifier(loss=loss, random_state=3).partial_fit(X[:80], y[:80], classes=np.unique(y))
    b = pickle.loads(pickle.dumps(b)).partial_fit(X[80:], y[80:])
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    assert b.score(X, y) > 0.9
    assert b._checkpoint.counts == [50, 50, 50]


def test_fit_after_partial_fit_starts_again(iris):
    X, y = iris
    model = LASVMClassifier().partial_fit(X[:, :2], y, classes=np.unique(y))
    model.fit(X, y == "setosa")
    assert model.classes_.tolist() == [False, True]
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(
        model.decision_function(X), LASVMClassifier().fit(X, y == "setosa").decision_function(X)
    )


@pytest.mark.parametrize("loss", VARIANTS)
def test_classes_without_rows_are_not_predicted(iris, loss):
    X, y = iris
    classes = np.unique(y)
    model = LASVMClassifier(loss=loss)
    seen = []
    for name in ["virginica", "setosa", "versicolor"]:
        seen.append(name)
        model.partial_fit(X[y == name], y[y == name], classes=classes)
        f = model.decision_function(X)
        assert f.shape == (150, 3) and np.isfinite(f).all()
        assert set(model.predict(X)) <= set(seen)
        assert set(model.predict(1e6 * np.ones((3, 4)))) <= set(seen)
    # some points of earlier batches were removed before the third class appeared, so train on all rows again
    assert model.partial_fit(X, y).score(X, y) > 0.9


def test_a_single_observed_class_is_predicted_everywhere():
    X, y = make_moons(60, noise=0.1, random_state=0)
    for label in (0, 1):
        model = LASVMClassifier(loss="gap").partial_fit(X[y == label], y[y == label], classes=[0, 1])
        assert set(model.predict(np.r_[X, 1e3 * X])) == {label}


def test_model_of_a_long_stream_stays_small():
    rng = np.random.RandomState(1)
    model = LASVMClassifier(gamma=5.0)
    sizes = []
    for _ in range(20):
        X, y = make_moons(100, noise=0.15, random_state=rng)
        model.partial_fit(X, y, classes=[0, 1])
        sizes.append(len(pickle.dumps(model)))
    X, y = make_moons(500, noise=0.15, random_state=rng)
    assert model.score(X, y) > 0.97
    assert model._checkpoint.points < 600, "of 2000 rows"


def test_accepts_dense_and_sparse_batches_in_turn(iris):
    X, y = iris
    model = LASVMClassifier().partial_fit(X[:70], y[:70], classes=np.unique(y))
    dense, mixed = pickle.loads(pickle.dumps(model)), model
    dense.partial_fit(X[70:], y[70:])
    mixed.partial_fit(sparse.csr_matrix(X[70:]), y[70:])
    np.testing.assert_array_equal(dense.decision_function(X), mixed.decision_function(X))


def test_rows_of_weight_zero_are_ignored(iris):
    X, y = iris
    classes = np.unique(y)
    weight = np.where(np.arange(150) % 3 == 0, 0.0, 2.0)
    present = weight > 0
    a = LASVMClassifier().partial_fit(X, y, classes=classes, sample_weight=weight)
    b = LASVMClassifier().partial_fit(X[present], y[present], classes=classes, sample_weight=weight[present])
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_failed_partial_fit_leaves_the_model_unchanged(iris):
    X, y = iris
    model = LASVMClassifier()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="two classes or more"):
        model.partial_fit(X, y, classes=["setosa"])
    with pytest.raises(ValueError, match="not declared: 'virginica'"):
        model.partial_fit(X, y, classes=["setosa", "versicolor"])
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.partial_fit(X, y, classes=np.unique(y), sample_weight=np.zeros(150))
    assert not hasattr(model, "classes_")
    model.partial_fit(X, y, classes=np.unique(y))
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="not declared: 'new'"):
        model.partial_fit(X[:1], ["new"])
    with pytest.raises(ValueError, match="not declared: 3"):
        model.partial_fit(X[:1], [3])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match="Negative values"):
        model.partial_fit(X, y, sample_weight=-np.ones(150))
    np.testing.assert_array_equal(model.decision_function(X), before)
    with pytest.raises(ValueError, match="probability='sigmoid' needs held-out rows"):
        LASVMClassifier(probability="sigmoid").partial_fit(X, y, classes=np.unique(y))
    with pytest.raises(ValueError, match=r"C=-1\.0: must be a number above 0"):
        LASVMClassifier(C=-1.0).partial_fit(X, y, classes=np.unique(y))


def test_clone_with_the_same_seed_gives_the_same_model(iris):
    X, y = iris
    model = LASVMClassifier(random_state=5).partial_fit(X, y, classes=np.unique(y))
    again = clone(model).partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    assert not hasattr(clone(model), "classes_")
