"""Query strategies against their definitions, and the examples of modAL with changed imports."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import evermargin
from evermargin import active
from evermargin.active import ActiveLearner

STRATEGIES = [
    active.margin_sampling,
    active.uncertainty_sampling,
    active.entropy_sampling,
    active.random_sampling,
    active.small_pool_sampling,
    active.diverse_sampling,
    active.submod_sampling,
    active.relaxed_sampling,
    active.density_sampling,
]


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    return X[order], y[order]


def start(strategy, estimator=None, n=120, **kwargs):
    X, y = make_moons(n, noise=0.15, random_state=3)
    return (
        ActiveLearner(estimator or LogisticRegression(), strategy, X[:20], y[:20], **kwargs),
        X[20:],
        y[20:],
    )


# --- modAL's README


def test_modal_readme_first_example(iris):
    X, y = iris
    X_training, y_training, X_pool, y_pool = X[:10], y[:10], X[10:], y[10:]
    learner = ActiveLearner(estimator=RandomForestClassifier(), X_training=X_training, y_training=y_training)
    query_idx, query_inst = learner.query(X_pool)
    assert query_idx.shape == (1,) and np.array_equal(query_inst, X_pool[query_idx])
    learner.teach(X_pool[query_idx], y_pool[query_idx])
    assert len(learner.X_training) == len(learner.y_training) == 11
    assert np.array_equal(learner.X_training[-1], X_pool[query_idx][0])


def test_modal_readme_entropy_sampling(iris):
    X, y = iris
    learner = ActiveLearner(
        estimator=RandomForestClassifier(random_state=0),
        query_strategy=active.entropy_sampling,
        X_training=X[:10],
        y_training=y[:10],
    )
    query_idx, _ = learner.query(X[10:], n_instances=3)
    p = learner.predict_proba(X[10:])
    entropy = -np.sum(p * np.log(np.clip(p, 1e-300, 1)), axis=1)
    np.testing.assert_allclose(np.sort(entropy[query_idx]), np.sort(entropy)[-3:])


def test_modal_readme_custom_strategy(iris):
    def random_sampling(classifier, X_pool):
        n_samples = len(X_pool)
        query_idx = np.random.choice(range(n_samples))  # noqa: NPY002 - the example of modAL as it is
        return query_idx, X_pool[query_idx]

    X, y = iris
    learner = ActiveLearner(
        estimator=RandomForestClassifier(),
        query_strategy=random_sampling,
        X_training=X[:10],
        y_training=y[:10],
    )
    query_idx, query_inst = learner.query(X[10:])
    assert np.array_equal(query_inst, X[10:][query_idx])
    learner.teach(query_inst.reshape(1, -1), y[10:][query_idx].reshape(1))
    learner.teach(query_inst, y[10:][query_idx])  # a single row as `query` returned it
    assert len(learner.y_training) == 12


def test_modal_readme_active_regression():
    rng = np.random.RandomState(0)
    X = rng.choice(np.linspace(0, 20, 10000), size=200, replace=False).reshape(-1, 1)
    y = np.sin(X) + rng.normal(scale=0.3, size=X.shape)

    def GP_regression_std(regressor, X):
        _, std = regressor.predict(X, return_std=True)
        return np.argmax(std)

    initial_idx = rng.choice(range(len(X)), size=5, replace=False)
    kernel = RBF(length_scale=1.0, length_scale_bounds=(1e-2, 1e3)) + WhiteKernel(
        noise_level=1, noise_level_bounds=(1e-10, 1e1)
    )
    regressor = ActiveLearner(
        estimator=GaussianProcessRegressor(kernel=kernel),
        query_strategy=GP_regression_std,
        X_training=X[initial_idx].reshape(-1, 1),
        y_training=y[initial_idx].reshape(-1, 1),
    )

    def error():
        return np.mean((regressor.predict(X).ravel() - np.sin(X).ravel()) ** 2)

    before = error()
    for _ in range(10):
        query_idx, _ = regressor.query(X)
        regressor.teach(X[query_idx].reshape(1, -1), y[query_idx].reshape(1, -1))
    assert len(regressor.y_training) == 15 and error() < before


def test_margin_sampling_learns_iris_with_few_queries(iris):
    X, y = iris
    pool, truth = X[6:100], y[6:100]
    learner = ActiveLearner(evermargin.SVC(), active.margin_sampling, X[:6], y[:6])
    before = learner.score(X[100:], y[100:])
    for _ in range(20):
        index, row = learner.query(pool, random_state=0)
        learner.teach(row, truth[index])
        pool, truth = np.delete(pool, index, axis=0), np.delete(truth, index)
    assert learner.score(X[100:], y[100:]) >= max(before, 0.9)


# --- the learner


def test_only_new_uses_partial_fit_if_the_estimator_has_it():
    X, y = make_moons(100, random_state=0)
    learner = ActiveLearner(SGDClassifier(random_state=0), active.margin_sampling, X[:50], y[:50])
    expected = SGDClassifier(random_state=0).fit(X[:50], y[:50]).partial_fit(X[50:60], y[50:60])
    learner.teach(X[50:60], y[50:60], only_new=True)
    assert np.array_equal(learner.estimator.coef_, expected.coef_)
    assert len(learner.y_training) == 60
    learner = ActiveLearner(LinearSVC(), X_training=X[:50], y_training=y[:50])
    learner.teach(X[50:60], y[50:60], only_new=True)
    assert np.array_equal(learner.estimator.coef_, LinearSVC().fit(X[50:60], y[50:60]).coef_)


def test_first_labels_are_learned_with_partial_fit():
    X, y = make_moons(40, random_state=0)
    learner = ActiveLearner(SGDClassifier(random_state=0), active.margin_sampling)
    learner.teach(X, y, only_new=True)
    assert learner.score(X, y) > 0.6


def test_bootstrap_draws_rows_with_replacement():
    class Recorder(LogisticRegression):
        def fit(self, X, y):
            self.seen = len(np.unique(X, axis=0))
            return super().fit(X, y)

    X, y = make_moons(60, noise=0.1, random_state=0)
    learner = ActiveLearner(Recorder(), X_training=X, y_training=y, bootstrap_init=True, random_state=0)
    assert learner.estimator.seen < 60 and len(learner.X_training) == 60
    learner.fit(X, y)
    assert learner.estimator.seen == 60


@pytest.mark.parametrize(
    "strategy", [active.random_sampling, active.margin_sampling, active.diverse_sampling]
)
def test_queries_are_random_without_labels(strategy):
    learner = ActiveLearner(LogisticRegression(), strategy)
    X = np.arange(40.0).reshape(20, 2)
    seen = {int(learner.query(X, random_state=s)[0][0]) for s in range(30)}
    assert len(seen) > 5
    learner.teach(X[[0, 19]], [0, 1])
    assert learner.classes_.tolist() == [0, 1]


def test_metrics_are_the_utilities_of_the_queried_rows():
    learner, X, _ = start(active.margin_sampling)
    index, rows, metrics = learner.query(X, n_instances=4, return_metrics=True)
    near = np.abs(learner.decision_function(X))
    assert np.array_equal(metrics, -near[index]) and np.array_equal(rows, X[index])
    own = ActiveLearner(LogisticRegression(), lambda learner, X: np.array([3]))
    assert own.query(X, return_metrics=True)[2] is None


def test_error_messages_name_the_mistake():
    X, y = make_moons(20, random_state=0)
    with pytest.raises(ValueError, match="both X_training and y_training"):
        ActiveLearner(LogisticRegression(), X_training=X)
    with pytest.raises(TypeError, match="query_strategy must be a function"):
        ActiveLearner(LogisticRegression(), "margin")
    learner = ActiveLearner(LogisticRegression(), X_training=X, y_training=y)
    with pytest.raises(ValueError, match="20 rows and 19 labels"):
        learner.teach(X, y[:19])
    with pytest.raises(ValueError, match="n_instances=0"):
        learner.query(X, n_instances=0)
    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        active.margin_sampling(GaussianProcessRegressor().fit(X, y), X)
    for machine in (SVC(), evermargin.SVC(), SVC().fit(X, y), evermargin.SVC().fit(X, y)):
        with pytest.raises(TypeError, match=r'has no predict_proba.*probability="sigmoid".*CalibratedClassifierCV'):
            active.entropy_sampling(machine, X)
    assert "20 labels" in repr(learner)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # from the scaler
def test_failed_updates_leave_the_learner_unchanged():
    X, y = make_moons(60, noise=0.1, random_state=0)
    bad = np.array([[np.nan, 0.0]])
    for estimator in (SVC(), evermargin.SVC(), make_pipeline(StandardScaler(), SVC()), SGDClassifier(random_state=0)):
        learner = ActiveLearner(estimator, X_training=X[:20], y_training=y[:20])
        before = learner.decision_function(X)
        for only_new in (False, True):
            with pytest.raises(ValueError, match="NaN"):
                learner.teach(bad, [0], only_new=only_new)
        with pytest.raises(ValueError, match="NaN"):
            learner.fit(np.concatenate([X, bad]), [*y, 0])
        with pytest.raises(ValueError, match="class"):
            learner.fit(X[y == 0], y[y == 0])
        assert np.array_equal(learner.X_training, X[:20])
        assert np.array_equal(learner.y_training, y[:20])
        assert np.array_equal(learner.decision_function(X), before)
        assert learner.estimator.classes_.tolist() == [0, 1]
        learner.teach(X[20:22], y[20:22])
        assert len(learner.y_training) == 22
    with pytest.raises(ValueError, match="NaN"):
        ActiveLearner(SVC(), X_training=np.concatenate([X, bad]), y_training=[*y, 0])


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s is not active.entropy_sampling])
@pytest.mark.parametrize("make", [SVC, evermargin.SVC, lambda: make_pipeline(StandardScaler(), SVC())])
def test_learner_can_start_without_labels(strategy, make):
    X, y = make_moons(80, noise=0.1, random_state=0)
    pool, truth = X[np.argsort(y)], np.sort(y)
    learner = ActiveLearner(make(), strategy)
    learner.teach(pool[:1], truth[:1])  # class 0, like the following rows
    learner.teach(pool[1:3], truth[1:3])
    assert not hasattr(learner.estimator, "classes_") and len(learner.y_training) == 3
    seen = {int(learner.query(pool, random_state=s)[0][0]) for s in range(30)}
    if strategy not in (active.submod_sampling, active.relaxed_sampling, active.density_sampling):
        assert len(seen) > 5  # random choices
    for step in range(20):
        index, row = learner.query(pool, random_state=step)
        learner.teach(row, truth[index])
        pool, truth = np.delete(pool, index, axis=0), np.delete(truth, index)
    learner.teach(pool[-1:], truth[-1:])
    assert learner.classes_.tolist() == [0, 1] and len(learner.y_training) == 24


def test_stored_rows_are_learned_when_a_second_class_appears():
    X, y = make_moons(40, random_state=0)
    zero, one = X[y == 0], X[y == 1]
    learner = ActiveLearner(GaussianNB())
    learner.teach(zero, np.zeros(20, int), only_new=True)
    assert not hasattr(learner.estimator, "classes_")
    learner.teach(one, np.ones(20, int), only_new=True)
    assert learner.estimator.class_count_.tolist() == [20, 20]
    learner.teach(zero, np.zeros(20, int), only_new=True)
    assert learner.estimator.class_count_.tolist() == [40, 20]
    declared = ActiveLearner(GaussianNB())
    declared.teach(zero, np.zeros(20, int), only_new=True, classes=[0, 1])
    assert declared.estimator.class_count_.tolist() == [20, 0]
    fitted = ActiveLearner(GaussianNB().fit(X, y))
    fitted.teach(zero, np.zeros(20, int), only_new=True)
    assert fitted.estimator.class_count_.tolist() == [40, 20]
    few = ActiveLearner(evermargin.LinearTSVM())
    few.teach(X[:4], [-1, 0, -1, 0])
    assert len(few.y_training) == 4 and not hasattr(few.estimator, "classes_")
    regression = ActiveLearner(GaussianProcessRegressor(), lambda learner, X: [0])
    regression.teach(X[:1], [0.5])
    assert regression.predict(X[:1]) == pytest.approx([0.5])


def test_accepts_sparse_matrices_and_data_frames():
    X, y = make_moons(60, noise=0.1, random_state=0)
    S = sparse.csr_matrix(X)
    learner = ActiveLearner(LogisticRegression(), active.diverse_sampling, S[:20], y[:20])
    index, row = learner.query(S[20:], n_instances=2)
    learner.teach(row, y[20:][index])
    assert learner.X_training.shape == (22, 2)
    dense = ActiveLearner(LogisticRegression(), active.diverse_sampling, X[:20], y[:20])
    assert np.array_equal(dense.query(X[20:], n_instances=2)[0], index)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    learner = ActiveLearner(LogisticRegression(), active.margin_sampling, frame[:20], y[:20])
    index, row = learner.query(frame[20:], n_instances=2)
    learner.teach(row, y[20:][index])
    assert learner.X_training.shape == (22, 2) and list(learner.X_training.columns) == ["a", "b"]


# --- the strategies


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_returns_distinct_rows_reproducibly(strategy):
    learner, X, _ = start(strategy)
    first, _ = learner.query(X, n_instances=7, random_state=5)
    again, _ = learner.query(X, n_instances=7, random_state=5)
    assert first.dtype.kind == "i" and len(set(first.tolist())) == 7
    assert np.array_equal(first, again)
    everything, _ = learner.query(X[:5], n_instances=50, random_state=5)
    assert sorted(everything.tolist()) == list(range(5))


def test_margin_sampling_returns_the_nearest_rows():
    learner, X, _ = start(active.margin_sampling, SVC(gamma=2))
    index, _ = learner.query(X, n_instances=5)
    near = np.abs(learner.decision_function(X))
    assert np.array_equal(index, np.argsort(near, kind="stable")[:5])


def test_one_vs_one_closeness_is_the_same_for_scikit_learn_models():
    X, y = make_blobs(150, centers=4, cluster_std=2.5, random_state=0)
    theirs = SVC(C=1, gamma=0.1, tol=1e-8).fit(X, y)
    ours = evermargin.SVC(C=1, gamma=0.1, multi="one-vs-one").fit(X, y)
    a, b = active.closeness(theirs, X), active.closeness(ours, X)
    np.testing.assert_allclose(a, b, atol=5e-3)  # solved to 1e-3
    pairs = theirs.set_params(decision_function_shape="ovo").decision_function(X)
    smallest = np.empty(len(X))
    for i, c in enumerate(theirs.predict(X)):
        own = [f if c == p else -f for (p, q), f in zip(PAIRS, pairs[i], strict=True) if c in (p, q)]
        smallest[i] = max(0.0, min(own))
    np.testing.assert_allclose(a, smallest, atol=1e-12)
    assert smallest.min() < 0.1 < smallest.max()


PAIRS = [(p, q) for p in range(4) for q in range(p + 1, 4)]


def test_closeness_is_half_the_difference_of_the_two_largest_scores():
    X, y = make_blobs(90, centers=3, cluster_std=2, random_state=0)
    model = LinearSVC().fit(X, y)
    top = np.sort(model.decision_function(X), axis=1)
    np.testing.assert_allclose(active.closeness(model, X), 0.5 * (top[:, -1] - top[:, -2]))
    forest = RandomForestClassifier(random_state=0).fit(X, y)
    top = np.sort(forest.predict_proba(X), axis=1)
    np.testing.assert_allclose(active.closeness(forest, X), top[:, -1] - top[:, -2])


@pytest.mark.parametrize("machine", [SVC(gamma=0.3), evermargin.SVC(gamma=0.3), LinearSVC(), GaussianNB()], ids=str)
def test_closeness_is_the_same_through_pipelines_and_searches(machine):
    X, y = make_blobs(90, centers=3, cluster_std=2, random_state=0)
    Z = StandardScaler().fit_transform(X)
    expected = active.closeness(machine.fit(Z, y), Z)
    search = GridSearchCV(make_pipeline(StandardScaler(), "passthrough", machine), {}, cv=3)
    wrapped = [
        make_pipeline(StandardScaler(), machine),
        search,
        make_pipeline(StandardScaler(), GridSearchCV(machine, {}, cv=3)),
        make_pipeline(make_pipeline(StandardScaler()), make_pipeline(machine)),
    ]
    for one in wrapped:
        np.testing.assert_allclose(active.closeness(one.fit(X, y), X), expected, rtol=1e-12)
        np.testing.assert_allclose(active.closeness(ActiveLearner(one), X), expected, rtol=1e-12)


def test_small_pool_finds_one_of_the_nearest_5_percent():
    near = np.random.RandomState(0).permutation(1000) / 1000.0

    class Known:
        def decision_function(self, X):
            return near

    X = np.zeros((1000, 1))
    hits = [near[active.small_pool_sampling(Known(), X, random_state=s)[0]] < 0.05 for s in range(400)]
    assert np.mean(hits) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 400)
    nearest = active.small_pool_sampling(Known(), X, n_instances=3, pool_size=0, random_state=0)
    assert np.array_equal(nearest, np.argsort(near)[:3])


def test_diverse_sampling_is_the_greedy_maximum():
    learner, X, _ = start(active.diverse_sampling, SVC(gamma=2))
    index, _ = learner.query(X, n_instances=6, gamma=1.5)
    uncertainty = np.maximum(0, 1 - active.closeness(learner, X))
    similarities = rbf_kernel(X, gamma=1.5)
    covered = np.zeros(len(X))
    for chosen in index:
        gain = uncertainty @ np.maximum(0, similarities - covered[:, None])
        assert gain[chosen] >= gain[uncertainty > 0].max() - 1e-5  # kernels in single precision
        covered = np.maximum(covered, similarities[:, chosen])


def test_submod_sampling_is_the_greedy_maximum_and_its_relaxation_beats_chance():
    learner, X, _ = start(active.submod_sampling)
    known, sign = learner.X_training, 2.0 * learner.y_training - 1
    index, _ = learner.query(X, n_instances=5, gamma=1.0)
    K, n = rbf_kernel(X, gamma=1.0), len(X)
    merit = -np.abs(rbf_kernel(X, known, gamma=1.0) @ sign) / len(known) - K.sum(axis=1) / n
    gain = merit - 0.1
    for chosen in index:
        assert gain[chosen] >= gain.max() - 1e-5
        gain = gain - 2 * 0.1 * K[chosen]
        gain[chosen] = -np.inf
    learner.query_strategy = active.relaxed_sampling
    relaxed, _, share = learner.query(X, n_instances=5, gamma=1.0, return_metrics=True)
    assert (np.diff(share) <= 0).all() and 0 < share.min() and share.max() <= 1

    def value(rows):
        return merit[rows].sum() - 0.1 * K[np.ix_(rows, rows)].sum()

    assert value(relaxed) > np.mean([value(np.random.RandomState(s).permutation(n)[:5]) for s in range(50)])


def test_submod_sampling_needs_two_classes(iris):
    X, y = iris
    with pytest.raises(ValueError, match="two classes, and there are 3"):
        active.submod_sampling(None, X, X_labeled=X[:30], y_labeled=y[:30])
    with pytest.raises(ValueError, match="kernel='cosine'"):
        active.submod_sampling(None, X, kernel="cosine")
    assert len(active.submod_sampling(None, X, n_instances=4)) == 4


def test_committee_sampling_returns_rows_of_largest_vote_entropy(iris):
    X, y = iris
    forest = RandomForestClassifier(25, max_depth=3, random_state=0).fit(X[:50], y[:50])
    _, utility = active.committee_sampling(forest, X[50:], n_instances=5, return_metrics=True)
    votes = np.stack([tree.predict(X[50:]) for tree in forest.estimators_])
    share = np.stack([(votes == c).mean(axis=0) for c in range(3)])
    entropy = -np.sum(share * np.log(np.where(share > 0, share, 1)), axis=0)
    np.testing.assert_allclose(utility, np.sort(entropy)[::-1][:5])
    members = [LogisticRegression(C=c).fit(X[:50], y[:50]) for c in (0.01, 1.0)]
    assert ActiveLearner(members[0], active.margin_sampling).query(X)[0].shape == (1,)
    assert active.committee_sampling(members, X).shape == (1,)
    with pytest.raises(ValueError, match="two members"):
        active.committee_sampling(members[:1], X)


def test_density_sampling_avoids_isolated_rows():
    rng = np.random.RandomState(0)
    dense_cluster = rng.normal(0, 0.3, (50, 2))
    X = np.concatenate([dense_cluster, [[0.0, 30.0]]])
    model = LinearSVC(C=10).fit([[-2.0, 0.0], [2.0, 0.0]], [0, 1])
    assert active.margin_sampling(model, np.array([[0.5, 0.0], [0.0, 30.0]])) == [1]
    assert active.density_sampling(model, X)[0] != 50
    assert active.density_sampling(model, X, beta=0.0)[0] == active.margin_sampling(model, X)[0]


@pytest.mark.parametrize("strategy", [active.margin_sampling, active.small_pool_sampling])
def test_strategy_beats_random_sampling_on_moons(strategy):
    def area(strategy, seed):
        X, y = make_moons(500, noise=0.2, random_state=seed)
        first = np.concatenate([np.flatnonzero(y[:250] == c)[:2] for c in (0, 1)])
        learner, left, scores = ActiveLearner(SVC(C=10), strategy, X[first], y[first]), np.arange(250), []
        for step in range(25):
            index, row = learner.query(X[left], random_state=1000 * seed + step)
            learner.teach(row, y[left[index]])
            left = np.delete(left, index)
            scores.append(learner.score(X[250:], y[250:]))
        return np.mean(scores)

    chance = np.mean([area(active.random_sampling, s) for s in range(6)])
    assert np.mean([area(strategy, s) for s in range(6)]) > chance
