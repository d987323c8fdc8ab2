"""Exemplars: scikit-learn's checks, the objective by hand, streams and merging."""

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
def test_conforms(estimator, check):
    check(estimator)


@pytest.fixture
def blobs():
    return make_blobs(300, centers=5, random_state=0)[0]


def discrepancy(K, rows):
    """Squared distance of the mean of some rows from the mean of all, in feature space."""
    return K.mean() - 2 * K[:, rows].mean() + K[np.ix_(rows, rows)].mean()


def test_means_agree_better_than_by_chance(blobs):
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


def test_facility_location_is_the_greedy_choice(blobs):
    K = rbf_kernel(blobs, gamma=0.5)
    covered = np.zeros(300)
    for chosen in ExemplarSelector(10, "facility", gamma=0.5).fit(blobs).exemplar_indices_:
        gain = np.maximum(0, K - covered[:, None]).sum(axis=0)
        assert gain[chosen] >= gain.max() - 1e-3  # kernels in single precision, 300 of them summed
        covered = np.maximum(covered, K[:, chosen])


def test_first_exemplars_are_the_smaller_summary(blobs):
    large = ExemplarSelector(30, gamma=0.5).fit(blobs).exemplar_indices_
    assert np.array_equal(ExemplarSelector(8, gamma=0.5).fit(blobs).exemplar_indices_, large[:8])


def test_weights_are_the_rows_nearest(blobs):
    selector = ExemplarSelector(12, gamma=0.5).fit(blobs)
    nearest = rbf_kernel(blobs, selector.exemplars_, gamma=0.5).argmax(axis=1)
    assert np.array_equal(selector.weights_, np.bincount(nearest, minlength=12))
    assert selector.weights_.sum() == selector.n_samples_seen_ == 300


def test_transform_is_the_kernel(blobs):
    selector = ExemplarSelector(7).fit(blobs)
    expected = rbf_kernel(blobs, selector.exemplars_, gamma=1 / (2 * blobs.var()))
    np.testing.assert_allclose(selector.transform(blobs), expected)
    assert selector.gamma_ == pytest.approx(1 / (2 * blobs.var()))
    assert selector.get_feature_names_out().tolist() == [f"exemplarselector{k}" for k in range(7)]


def test_features_of_exemplars_carry_what_is_needed():
    X, y = load_digits(return_X_y=True)
    model = make_pipeline(ExemplarSelector(100), LogisticRegression(C=100, max_iter=2000)).fit(
        X[:1000], y[:1000]
    )
    assert model.score(X[1000:], y[1000:]) > 0.9


@pytest.mark.parametrize("method", ["submod", "facility"])
def test_a_stream_keeps_its_cap_and_its_weights(blobs, method):
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


def test_parts_merge(blobs):
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


def test_fit_forgets(blobs):
    selector = ExemplarSelector(10, gamma=0.5).partial_fit(blobs[:100]).fit(blobs)
    fresh = clone(selector).fit(blobs)
    assert np.array_equal(selector.exemplar_indices_, fresh.exemplar_indices_)
    assert selector.n_samples_seen_ == 300


def test_sparse_is_dense(blobs):
    dense, thin = (ExemplarSelector(9, gamma=0.5).fit(X) for X in (blobs, sparse.csr_matrix(blobs)))
    assert np.array_equal(dense.exemplar_indices_, thin.exemplar_indices_)
    np.testing.assert_allclose(dense.transform(blobs), thin.transform(sparse.csr_matrix(blobs)))
    stream = ExemplarSelector(9, gamma=0.5).partial_fit(sparse.csr_matrix(blobs[:50]))
    stream.partial_fit(sparse.csr_array(blobs[50:]))
    assert stream.exemplars_.shape == (9, 2)


def test_pickles_and_goes_on(blobs):
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
def test_mistakes_are_explained(blobs, params, text):
    with pytest.raises(ValueError, match=text):
        ExemplarSelector(**params).fit(blobs)


def test_the_relaxation_needs_all_rows(blobs):
    assert not hasattr(ExemplarSelector(method="qp"), "partial_fit")
    with pytest.raises(AttributeError) as raised:
        ExemplarSelector(method="qp").partial_fit(blobs)
    assert "needs all rows at once" in str(raised.value.__cause__)
