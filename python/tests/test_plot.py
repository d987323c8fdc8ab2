"""The plots contain the data they are given."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.svm import SVC

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 - after the choice of the backend

from evermargin import ExemplarSelector, plot  # noqa: E402 - after the choice of the backend


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def drawn(ax):
    """Points of each scatter plot, by label."""
    return {c.get_label(): np.asarray(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) > 1}


def test_decision_surface_draws_labeled_and_unlabeled_rows(tmp_path):
    X, y = make_moons(100, noise=0.1, random_state=0)
    model = SVC(gamma=2).fit(X, y)
    few = np.where(np.arange(100) < 20, y, -1)
    ax = plot.decision_surface(model, X, few, resolution=40)
    points = drawn(ax)
    assert set(points) == {"no label", "0", "1"} and len(points["no label"]) == 80
    assert np.array_equal(points["1"], X[few == 1])
    sizes = {c.get_label(): c.get_sizes()[0] for c in ax.collections if c.get_label() in points}
    assert sizes["no label"] < sizes["0"] == sizes["1"]
    (image,) = ax.images
    assert image.get_array().shape == (40, 40) and set(np.unique(image.get_array())) == {0, 1}
    ax.figure.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_regions_are_the_predictions_of_the_model():
    X, y = make_blobs(80, centers=3, random_state=0)
    model = SVC().fit(X, y)
    ax = plot.decision_surface(model, X, y, resolution=30)
    codes, (left, right, bottom, top) = ax.images[0].get_array(), ax.images[0].get_extent()
    grid = [(x, z) for z in np.linspace(bottom, top, 30) for x in np.linspace(left, right, 30)]
    assert np.array_equal(codes.ravel(), model.predict(grid))


def test_minus_one_can_be_a_class():
    X, y = make_moons(40, random_state=0)
    signs = 2 * y - 1
    ax = plot.decision_surface(SVC().fit(X, signs), X, signs, resolution=20)
    assert set(drawn(ax)) == {"-1", "1"}
    assert set(drawn(plot.decision_surface(SVC().fit(X, y), X, resolution=20))) == {"no label"}


def test_draws_into_given_axes():
    X, y = make_moons(40, random_state=0)
    _, axes = plt.subplots(1, 2)
    assert plot.decision_surface(SVC().fit(X, y), X, y, ax=axes[1], resolution=20) is axes[1]
    assert not axes[0].collections


def test_learning_curve_draws_means_and_error_bands():
    labels = np.arange(5, 30, 5)
    many = np.random.RandomState(0).random_sample((6, 5))
    ax = plot.learning_curve({"margin": (labels, many), "random": (labels, many[0])})
    np.testing.assert_allclose(ax.lines[0].get_ydata(), many.mean(axis=0))
    np.testing.assert_allclose(ax.lines[1].get_ydata(), many[0])
    assert len(ax.collections) == 1, "a band only for repetitions"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["margin", "random"]
    with pytest.raises(ValueError, match="'x': 2 scores for 3"):
        plot.learning_curve({"x": ([1, 2, 3], [0.1, 0.2])})
    with pytest.raises(ValueError, match="no curve"):
        plot.learning_curve({})


def test_size_of_exemplars_follows_their_weights():
    X = make_blobs(100, centers=3, random_state=0)[0]
    selector = ExemplarSelector(6, gamma=0.5).fit(X)
    ax = plot.exemplars(selector, X=X)
    rows, chosen = ax.collections
    assert len(rows.get_offsets()) == 100 and np.array_equal(chosen.get_offsets(), selector.exemplars_)
    assert np.array_equal(
        np.argsort(chosen.get_sizes(), kind="stable"), np.argsort(selector.weights_, kind="stable")
    )
    by_number = plot.exemplars(X, selector.exemplar_indices_)
    assert np.array_equal(by_number.collections[1].get_offsets(), selector.exemplars_)
    with pytest.raises(ValueError, match="give indices"):
        plot.exemplars(X)


def test_more_than_two_features_are_an_error():
    X, y = make_blobs(20, n_features=3, random_state=0)
    with pytest.raises(ValueError, match="needs 2 features, not 3"):
        plot.decision_surface(SVC().fit(X, y), X, y)
