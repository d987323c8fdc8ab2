"""Oversampling: positions and numbers of synthetic rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import recall_score
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC

from evermargin import SMOTE, VIRTUAL


@pytest.fixture
def three():
    rng = np.random.RandomState(0)
    counts = {"a": 60, "b": 25, "c": 7}
    X = np.concatenate([rng.normal(3 * k, 1, (n, 3)) for k, n in enumerate(counts.values())])
    y = np.repeat(list(counts), list(counts.values()))
    order = rng.permutation(len(y))
    return X[order], y[order]


def on_a_segment(row, start, ends):
    """Whether a row lies between ``start`` and one of ``ends``."""
    for end in ends:
        along = end - start
        t = (row - start) @ along / max(along @ along, 1e-300)
        if -1e-9 <= t <= 1 + 1e-9 and np.allclose(start + t * along, row, atol=1e-9):
            return True
    return False


def sources(row, own, near):
    """Rows of a class from which a synthetic row can originate."""
    return [i for i in range(len(own)) if on_a_segment(row, own[i], own[near[i]])]


def test_smote_makes_classes_equal_on_segments(three):
    X, y = three
    X_new, y_new = SMOTE(random_state=0).fit_resample(X, y)
    assert np.array_equal(X_new[: len(y)], X) and np.array_equal(y_new[: len(y)], y)
    assert {c: (y_new == c).sum() for c in "abc"} == {"a": 60, "b": 60, "c": 60}
    for class_, k in (("b", 5), ("c", 5)):
        own = X[y == class_]
        near = NearestNeighbors(n_neighbors=k + 1).fit(own).kneighbors(own, return_distance=False)[:, 1:]
        made = X_new[len(y) :][y_new[len(y) :] == class_]
        assert all(sources(row, own, near) for row in made)


def test_rows_get_equal_numbers_of_segments():
    """With one neighbor each and distant pairs, the position of a synthetic row shows its pair."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [50.0, 0.0], [51.0, 0.0]])
    X = np.concatenate([corners, np.random.RandomState(0).normal(100, 1, (15, 2))])
    y = np.repeat([1, 0], [4, 15])
    X_new, y_new = SMOTE(k_neighbors=1, random_state=0).fit_resample(X, y)
    made = X_new[19:]
    assert len(made) == 11 and (y_new[19:] == 1).all()
    left = (made[:, 0] < 25).sum()
    assert left in (5, 6), "two or three of each of the four rows"


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("auto", {"b": 35, "c": 53}),
        ("not majority", {"b": 35, "c": 53}),
        ("minority", {"c": 53}),
        ({"c": 10}, {"c": 3}),
        ({"b": 25, "c": 20}, {"b": 0, "c": 13}),
    ],
)
def test_sampling_strategy_sets_the_numbers_of_rows(three, strategy, expected):
    X, y = three
    sampler = SMOTE(sampling_strategy=strategy, random_state=0)
    _, y_new = sampler.fit_resample(X, y)
    assert sampler.sampling_strategy_ == expected
    assert len(y_new) - len(y) == sum(expected.values())
    assert sampler.fit(X, y).sampling_strategy_ == expected


def test_sampling_strategy_can_be_a_ratio():
    X, y = make_blobs([80, 20], random_state=0)
    _, y_new = SMOTE(sampling_strategy=0.5, random_state=0).fit_resample(X, y)
    assert (y_new == 1).sum() == 40


@pytest.mark.parametrize("sampler", [SMOTE(random_state=4), VIRTUAL(random_state=4)])
def test_results_follow_the_seed_and_match_for_sparse_rows(three, sampler):
    X, y = three
    X_new, y_new = sampler.fit_resample(X, y)
    again, _ = clone(sampler).fit_resample(X, y)
    assert np.array_equal(X_new, again)
    other, _ = clone(sampler).set_params(random_state=5).fit_resample(X, y)
    assert other.shape != X_new.shape or not np.array_equal(X_new, other)
    from_sparse, y_from_sparse = clone(sampler).fit_resample(sparse.csr_matrix(X), y)
    assert sparse.issparse(from_sparse) and np.array_equal(y_new, y_from_sparse)
    np.testing.assert_allclose(from_sparse.toarray(), X_new, atol=1e-12)


def test_virtual_points_lie_between_rows_of_their_class(three):
    X, y = three
    sampler = VIRTUAL(n_points=2, stop="never", random_state=0)
    X_new, y_new = sampler.fit_resample(X, y)
    made, made_classes = X_new[len(y) :], y_new[len(y) :]
    assert sampler.n_made_ == {c: (made_classes == c).sum() for c in "bc"}
    for class_ in "bc":
        own = X[y == class_]
        assert 0 < (made_classes == class_).sum() <= 2 * len(own) and (made_classes == class_).sum() % 2 == 0
        others = np.array([[j for j in range(len(own)) if j != i] for i in range(len(own))])
        assert all(sources(row, own, others) for row in made[made_classes == class_])


def test_virtual_points_concentrate_near_the_boundary():
    """Rows far from the boundary get fewer points than with SMOTE, because they do not become support vectors."""
    rng = np.random.RandomState(1)
    X = np.concatenate([rng.normal(0, 1, (400, 2)), rng.normal(0, 1, (40, 2)) + [2.5, 0]])
    X = np.concatenate([X, rng.normal(0, 1, (40, 2)) + [9, 0]])
    y = np.repeat([0, 1], [400, 80])
    near = VIRTUAL(kernel="linear", random_state=0).fit_resample(X, y)[0][480:]
    anywhere = SMOTE(random_state=0).fit_resample(X, y)[0][480:]
    assert len(near) > 0
    assert (near[:, 0] > 6).mean() < 0.5 * (anywhere[:, 0] > 6).mean()


@pytest.mark.parametrize("sampler", [SMOTE(random_state=0), VIRTUAL(C=10, n_points=3, random_state=0)])
def test_oversampling_increases_the_recall_of_the_small_class(sampler):
    def sensitivity(seed, resample):
        rng = np.random.RandomState(seed)
        X = np.concatenate([rng.normal(0, 1, (900, 2)), rng.normal(1.5, 1, (430, 2))])
        y = np.repeat([0, 1], [900, 430])
        train = np.concatenate([np.arange(600), np.arange(900, 930)])
        test = np.setdiff1d(np.arange(1330), train)
        rows = sampler.fit_resample(X[train], y[train]) if resample else (X[train], y[train])
        return recall_score(y[test], SVC(C=10).fit(*rows).predict(X[test]))

    before = np.mean([sensitivity(s, False) for s in range(5)])
    assert np.mean([sensitivity(s, True) for s in range(5)]) > before + 0.05


@pytest.mark.parametrize(
    ("sampler", "text"),
    [
        (SMOTE(k_neighbors=0), "k_neighbors=0"),
        (SMOTE(sampling_strategy="much"), "sampling_strategy='much'"),
        (SMOTE(sampling_strategy=0.5), "data of two classes"),
        (SMOTE(sampling_strategy={"z": 9}), "no row of it"),
        (SMOTE(sampling_strategy={"a": 9}), "has 60 rows already"),
        (VIRTUAL(n_points=0), "n_points=0"),
        (VIRTUAL(stop="soon"), "stop='soon'"),
        (VIRTUAL(C=-1.0), "c = -1"),
    ],
)
def test_wrong_parameters_are_errors(three, sampler, text):
    with pytest.raises(ValueError, match=text):
        sampler.fit_resample(*three)


@pytest.mark.parametrize("sampler", [SMOTE(), VIRTUAL()])
def test_a_single_class_is_an_error(sampler):
    with pytest.raises(ValueError, match="two classes or more; found: 1"):
        sampler.fit_resample(np.zeros((5, 2)), np.ones(5, dtype=int))


def test_a_class_of_one_row_is_copied():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    X_new, y_new = SMOTE(random_state=0).fit_resample(X, [0, 0, 0, 1])
    assert (X_new[4:] == 9.0).all() and len(y_new) == 6
