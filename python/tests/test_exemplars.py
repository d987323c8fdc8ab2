"""ExemplarSelector: checks of scikit-learn, objectives recomputed, streams and merging."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from evermargin import ExemplarSelector


@parametrize_with_checks(
    [
        ExemplarSelector(),
        ExemplarSelector(5, "facility"),
        ExemplarSelector(5, "qp"),
        ExemplarSelector(3, kernel="linear"),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture
def blobs():
    return make_blobs(300, centers=5, random_state=0)[0]


def discrepancy(K, rows):
    """Squared distance between the mean of some rows and the mean of all rows, in feature space."""
    return K.mean() - 2 * K[:, rows].mean() + K[np.ix_(rows, rows)].mean()


def test_mean_of_exemplars_is_nearer_than_the_mean_of_random_rows(blobs):
    selector = ExemplarSelector(20, gamma=0.5).fit(blobs)
    K = rbf_kernel(blobs, gamma=0.5)
    chance = [discrepancy(K, np.random.RandomState(s).permutation(300)[:20]) for s in range(100)]
    assert discrepancy(K, selector.exemplar_indices_) < min(chance)
    relaxed = ExemplarSelector(20, "qp", gamma=0.5).fit(blobs)
    assert discrepancy(K, relaxed.exemplar_indices_) < np.mean(chance)


def test_score_is_the_objective(blobs):
    K = rbf_kernel(blobs, gamma=0.5)
    for method in ("submod", "qp"):
        chosen = ExemplarSelector(15, method, gamma=0.5).fit(blobs)
        rows = chosen.exemplar_indices_
        value = K[rows].sum() - 300 / 30 * K[np.ix_(rows, rows)].sum()
        assert chosen.score_ == pytest.approx(value, rel=1e-5)
    cover = ExemplarSelector(15, "facility", gamma=0.5).fit(blobs)
    assert cover.score_ == pytest.approx(K[:, cover.exemplar_indices_].max(axis=1).sum(), rel=1e-5)


def test_facility_location_is_the_greedy_maximum(blobs):
    K = rbf_kernel(blobs, gamma=0.5)
    covered = np.zeros(300)
    for chosen in ExemplarSelector(10, "facility", gamma=0.5).fit(blobs).exemplar_indices_:
        gain = np.maximum(0, K - covered[:, None]).sum(axis=0)
        assert gain[chosen] >= gain.max() - 1e-3  # sums of 300 kernel values in single precision
        covered = np.maximum(covered, K[:, chosen])


def test_first_k_exemplars_are_the_selection_of_k(blobs):
    large = ExemplarSelector(30, gamma=0.5).fit(blobs).exemplar_indices_
    assert np.array_equal(ExemplarSelector(8, gamma=0.5).fit(blobs).exemplar_indices_, large[:8])


def test_weights_are_the_numbers_of_nearest_rows(blobs):
    selector = ExemplarSelector(12, gamma=0.5).fit(blobs)
    nearest = rbf_kernel(blobs, selector.exemplars_, gamma=0.5).argmax(axis=1)
    assert np.array_equal(selector.weights_, np.bincount(nearest, minlength=12))
    assert selector.weights_.sum() == selector.n_samples_seen_ == 300


def test_transform_returns_kernel_values(blobs):
    selector = ExemplarSelector(7).fit(blobs)
    expected = rbf_kernel(blobs, selector.exemplars_, gamma=1 / (2 * blobs.var()))
    np.testing.assert_allclose(selector.transform(blobs), expected)
    assert selector.gamma_ == pytest.approx(1 / (2 * blobs.var()))
    assert selector.get_feature_names_out().tolist() == [f"exemplarselector{k}" for k in range(7)]


def test_kernel_features_suffice_to_classify_digits():
    X, y = load_digits(return_X_y=True)
    model = make_pipeline(ExemplarSelector(100), LogisticRegression(C=100, max_iter=2000)).fit(
        X[:1000], y[:1000]
    )
    assert model.score(X[1000:], y[1000:]) > 0.9


@pytest.mark.parametrize("method", ["submod", "facility"])
def test_partial_fit_keeps_the_maximum_and_the_sum_of_weights(blobs, method):
    selector = ExemplarSelector(15, method, gamma=0.5)
    for batch in np.array_split(blobs, 10):
        selector.partial_fit(batch)
        assert len(selector.exemplars_) <= 15
        assert selector.weights_.sum() == pytest.approx(selector.n_samples_seen_)
    assert selector.n_samples_seen_ == 300 and not hasattr(selector, "exemplar_indices_")
    rows = [np.flatnonzero((blobs == e).all(axis=1))[0] for e in selector.exemplars_]
    K = rbf_kernel(blobs, gamma=0.5)
    chance = [np.random.RandomState(s).permutation(300)[:15] for s in range(50)]
    if method == "submod":
        assert discrepancy(K, rows) < np.mean([discrepancy(K, c) for c in chance])
    else:
        assert K[:, rows].max(axis=1).sum() > np.mean([K[:, c].max(axis=1).sum() for c in chance])


def test_merge_combines_selectors_of_two_parts(blobs):
    one = ExemplarSelector(15, gamma=0.5).fit(blobs[:150])
    other = ExemplarSelector(15, gamma=0.5).fit(blobs[150:])
    before = other.exemplars_.copy()
    one.merge(other)
    assert one.n_samples_seen_ == 300 and one.weights_.sum() == pytest.approx(300)
    assert len(one.exemplars_) == 15 and np.array_equal(other.exemplars_, before)
    everything = {tuple(row) for row in blobs}
    assert all(tuple(row) in everything for row in one.exemplars_)
    with pytest.raises(ValueError, match="different settings"):
        one.merge(ExemplarSelector(15, gamma=0.7).fit(blobs))
    one.partial_fit(blobs[:20])
    assert one.n_samples_seen_ == 320


def test_fit_after_partial_fit_starts_again(blobs):
    selector = ExemplarSelector(10, gamma=0.5).partial_fit(blobs[:100]).fit(blobs)
    fresh = clone(selector).fit(blobs)
    assert np.array_equal(selector.exemplar_indices_, fresh.exemplar_indices_)
    assert selector.n_samples_seen_ == 300


def test_sparse_and_dense_rows_give_the_same_exemplars(blobs):
    dense, from_sparse = (ExemplarSelector(9, gamma=0.5).fit(X) for X in (blobs, sparse.csr_matrix(blobs)))
    assert np.array_equal(dense.exemplar_indices_, from_sparse.exemplar_indices_)
    np.testing.assert_allclose(dense.transform(blobs), from_sparse.transform(sparse.csr_matrix(blobs)))
    stream = ExemplarSelector(9, gamma=0.5).partial_fit(sparse.csr_matrix(blobs[:50]))
    stream.partial_fit(sparse.csr_array(blobs[50:]))
    assert stream.exemplars_.shape == (9, 2)


def test_partial_fit_continues_after_pickling(blobs):
    selector = ExemplarSelector(9, gamma=0.5).partial_fit(blobs[:100])
    copy = pickle.loads(pickle.dumps(selector))
    assert np.array_equal(
        selector.partial_fit(blobs[100:]).exemplars_, copy.partial_fit(blobs[100:]).exemplars_
    )


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"n_exemplars": 0}, "n_exemplars=0"),
        ({"method": "best"}, "method='best'"),
        ({"kernel": "cosine"}, "kernel='cosine'"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"diversity": "much"}, "diversity='much'"),
        ({"density": -2.0}, "density = -2"),
        ({"method": "facility", "kernel": "linear"}, "facility location needs similarities from 0"),
    ],
)
def test_wrong_parameters_are_errors(blobs, params, text):
    with pytest.raises(ValueError, match=text):
        ExemplarSelector(**params).fit(blobs)


def test_relaxation_has_no_partial_fit(blobs):
    assert not hasattr(ExemplarSelector(method="qp"), "partial_fit")
    with pytest.raises(AttributeError) as raised:
        ExemplarSelector(method="qp").partial_fit(blobs)
    assert "needs all rows at once" in str(raised.value.__cause__)
