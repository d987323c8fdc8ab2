"""Behavior of estimators beyond the checks of scikit-learn: layouts, weights, parameters, errors, pipelines."""

import pickle
import re
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_classification, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as SklearnSVC

import evermargin
from evermargin import SVC, LapSVC, LASVMClassifier, LinearSVC, LinearTSVM, SubmodularS3VM
from evermargin._base import LargeMarginEstimator, SemiSupervisedClassifier

ESTIMATORS = [
    cls
    for name in evermargin.__all__
    if isinstance(cls := getattr(evermargin, name), type) and issubclass(cls, LargeMarginEstimator)
]


def quick(cls, **kwargs):
    if cls is evermargin.BranchBoundS3VM:
        kwargs["max_nodes"] = 20
    return cls(**kwargs)


def few_labels(cls, y):
    """All labels, or one in four if ``cls`` is semi-supervised."""
    if not issubclass(cls, SemiSupervisedClassifier):
        return y
    few = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    few[:6] = y[:6]
    return few


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_dense_and_sparse_agree(cls):
    X, y = make_classification(80, 12, n_informative=6, random_state=3)
    X[np.abs(X) < 0.7] = 0.0
    y = few_labels(cls, y)
    dense = quick(cls).fit(X, y)
    for index in (np.int32, np.int64):
        S = sparse.csr_matrix(X)
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        f = quick(cls).fit(S, y).decision_function(S)
        assert np.allclose(dense.decision_function(X), f, atol=2e-3 * max(1, np.abs(f).max())), index
    assert np.allclose(dense.decision_function(X), dense.decision_function(sparse.csr_array(X)), atol=1e-5)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_pickled_estimators_are_bit_identical(cls, tmp_path):
    X, y = make_moons(60, noise=0.1, random_state=0)
    model = quick(cls).fit(X, few_labels(cls, y))
    joblib.dump(model, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert (again.decision_function(X) == model.decision_function(X)).all()
        assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_results_do_not_depend_on_the_number_of_threads(cls):
    X, y = load_digits(return_X_y=True)
    X, y = X[:150] / 16, y[:150] % 2
    y = few_labels(cls, y)
    models = []
    for threads in (1, 3, 0):
        evermargin.set_threads(threads)
        models.append(quick(cls, **({"random_state": 7} if hasattr(cls(), "random_state") else {})).fit(X, y))
    f = [model.decision_function(X) for model in models]
    assert (f[0] == f[1]).all() and (f[0] == f[2]).all()


def test_same_optimum_as_scikit_learn():
    X, y = load_iris(return_X_y=True)
    ours = SVC(C=10, tol=1e-8).fit(X, y)
    theirs = SklearnSVC(C=10, tol=1e-8).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert (ours.predict(X) == theirs.predict(X)).all()
    two = y != 0
    ours, theirs = ours.fit(X[two], y[two]), theirs.fit(X[two], y[two])
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert len(ours.support_vectors_) == len(theirs.support_vectors_)
    pairs = SVC(decision_function_shape="ovo").fit(X, y).decision_function(X)
    assert pairs.shape == (150, 3)


def test_class_weights_equal_sample_weights():
    X, y = make_classification(120, weights=[0.9], flip_y=0.1, random_state=1)
    names = np.array(["no", "yes"])[y]
    plain = SVC(class_weight={"no": 1.0, "yes": 9.0}).fit(X, names)
    rows = SVC().fit(X, names, sample_weight=np.where(y == 1, 9.0, 1.0))
    # Sample weights affect gamma="scale", class weights do not.
    gamma = 1 / (X.shape[1] * X.var())
    plain, rows = plain.set_params(gamma=gamma).fit(X, names), rows.set_params(gamma=gamma)
    rows.fit(X, names, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert np.allclose(plain.decision_function(X), rows.decision_function(X), atol=1e-7)
    assert (SVC(class_weight="balanced").fit(X, names).predict(X) == "yes").sum() > (y == 1).sum() / 2


def test_works_with_pipelines_searches_and_calibration():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(pipe, {"svc__C": [0.1, 1, 10], "svc__gamma": ["scale", 0.1]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.93
    calibrated = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y)
    assert np.allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    own = SVC(probability="sigmoid").fit(X, y)
    assert np.allclose(own.predict_proba(X).sum(axis=1), 1) and own.predict_proba(X).shape == (150, 3)
    assert not hasattr(SVC(), "predict_proba")
    words = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(["good film", "bad film", "so good", "so bad"], [1, 0, 1, 0])
    assert list(words.predict(["good good", "bad bad"])) == [1, 0]


def test_data_frames_and_text_classes():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = LinearSVC().fit(frame, np.array(["x", "y", "z"])[y])
    assert list(model.feature_names_in_) == list("abcd") and set(model.predict(frame)) == {"x", "y", "z"}


def test_minus_one_as_a_class_is_an_error_with_a_remedy():
    X, y = make_moons(40, random_state=0)
    with pytest.raises(ValueError, match=r"-1 means unlabeled here.*missing_label=None"):
        LapSVC().fit(X, 2 * y - 1)
    model = LapSVC(missing_label=None).fit(X, 2 * y - 1)
    assert list(model.classes_) == [-1, 1]


@pytest.mark.parametrize("missing, mark", [(-1, -1), (float("nan"), np.nan), (None, None), ("?", "?")])
def test_missing_label_can_be_any_value(missing, mark):
    X, y = make_moons(100, noise=0.05, random_state=0)
    values = np.array(["a", "b"], dtype=object)[y] if missing in (None, "?") else y.astype(float)
    few = np.array(values, dtype=object)
    few[10:] = mark
    few = few.astype(float) if missing not in (None, "?") else few
    model = LapSVC(gamma=10, missing_label=missing).fit(X, few)
    assert len(model.classes_) == 2 and (model.transduction_[:10] == values[:10]).all()
    assert (model.transduction_ == values).mean() > 0.95


def test_attributes_of_a_semi_supervised_estimator():
    X, y = make_moons(200, noise=0.1, random_state=2)
    model = LapSVC(gamma=10).fit(X, few_labels(LapSVC, y))
    assert model.transduction_.shape == (200,) and set(model.transduction_) == {0, 1}
    assert ((model.transduction_confidence_ >= 0) & (model.transduction_confidence_ <= 1)).all()
    assert 0.5 < model.supervised_score_ <= 1 and 0.5 < model.semi_supervised_score_ <= 1
    assert model.n_iter_ >= 1 and model.stop_reason_ == "converged" and "ratio" in model.report_
    assert np.isnan(LapSVC(compare=False).fit(X, few_labels(LapSVC, y)).supervised_score_)


@pytest.mark.parametrize(
    "cls", [SVC, evermargin.LabelPropagation, LASVMClassifier, evermargin.NeverEndingClassifier, evermargin.SequentialMED]
)
def test_failed_fit_leaves_the_model_unchanged(cls):
    X, y = load_iris(return_X_y=True)
    model = cls()
    with pytest.raises(ValueError):
        model.set_params(C=-1).fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.set_params(C=1.0).fit(X, y)
    predicted = model.predict(X)
    with pytest.raises(ValueError):
        model.set_params(C=-1).fit(X[:, :2], np.where(y == 0, "a", "b"))
    assert (model.predict(X) == predicted).all() and list(model.classes_) == [0, 1, 2]


@pytest.mark.parametrize("kind", [int, float, bool])
def test_keys_of_class_weight_match_classes_by_value(kind):
    X, y = make_moons(40, random_state=0)
    f = [SVC(class_weight={key(0): 1.0, key(1): 5.0}).fit(X, y.astype(kind)).decision_function(X) for key in (int, float, bool)]
    assert (f[0] == f[1]).all() and (f[0] == f[2]).all()


@pytest.mark.parametrize("cls", [LapSVC, evermargin.NeverEndingClassifier])
def test_ambiguous_labels_are_an_error(cls):
    X, _ = make_moons(6, random_state=0)
    for y, words in [
        (np.array(["a", "b", np.nan, "a", "b", "a"], dtype=object), "NaN or None"),
        (np.array([0, 1, None, 0, 1, 0], dtype=object), "NaN or None"),
        (np.array(["a", "b", "-1", "a", "b", "a"]), "the text '-1'"),
        (np.array([0, 1, 255, 0, 1, 0], dtype=np.uint8), "cannot hold -1"),
        (np.array([0, "b", -1, 0, "b", 0], dtype=object), "different kinds"),
        (np.array([0, 1, np.inf, 0, 1, 0]), "infinity"),
    ]:
        with pytest.raises(ValueError, match=re.escape(words)):
            cls().fit(X, y)
    gaps = np.array(["a", "b", np.float32("nan"), None, "b", "a"], dtype=object)
    assert list(cls(missing_label=float("nan")).fit(X, gaps).classes_) == ["a", "b"]


def test_minus_one_cannot_be_declared_as_a_class_of_a_stream():
    X, y = make_moons(40, random_state=0)
    for model in (evermargin.NeverEndingClassifier(), evermargin.SequentialLapMED()):
        with pytest.raises(ValueError, match="missing_label=None"):
            model.partial_fit(X, 2 * y - 1, classes=[-1, 1])


def test_damaged_sparse_matrix_is_an_error():
    X, y = make_moons(40, random_state=0)
    model, S = SVC().fit(X, y), sparse.csr_matrix(X)
    S.indptr[3] = 10**6
    with pytest.raises(ValueError, match="damaged"):
        model.decision_function(S)


@pytest.mark.parametrize(
    "model", [LASVMClassifier(), LASVMClassifier(loss="local"), evermargin.NeverEndingClassifier(scale="none")]
)
@pytest.mark.parametrize("share", [1.0, 0.6, 0.1])
def test_online_learners_give_the_same_result_for_dense_and_sparse_rows(model, share):
    """Each step depends on the one before, so that a difference in the last digit would change the result."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 8)) * (rng.rand(400, 8) < share)
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=400) > 0).astype(int)
    f = [clone(model).fit(rows, y).decision_function(X) for rows in (X, sparse.csr_matrix(X))]
    assert np.abs(f[0] - f[1]).max() < 1e-4 * np.abs(f[0]).max()


def test_views_can_be_ranges():
    X, y = make_classification(120, 10, n_informative=8, n_redundant=0, class_sep=2, random_state=0)
    y = few_labels(LapSVC, y)
    models = [
        evermargin.CoRLS(views=views).fit(X, y)
        for views in ("1..4;5..10", [(0, 4), (4, 10)], [range(4), slice(4, None)])
    ]
    f = [m.decision_function(X) for m in models]
    assert (f[0] == f[1]).all() and (f[0] == f[2]).all()
    with pytest.raises(ValueError, match=r"views: .* must follow each other"):
        evermargin.CoRLS(views=[slice(0, 10, 2)]).fit(X, y)
    with pytest.raises(ValueError, match="a slice, a range or a list"):
        evermargin.CoRLS(views=["0", "1"]).fit(X, y)


def test_views_can_be_lists_of_names_and_numbers():
    pandas = pytest.importorskip("pandas")
    X, y = make_classification(120, 5, n_informative=4, n_redundant=0, class_sep=2, random_state=0)
    y, frame = few_labels(LapSVC, y), pandas.DataFrame(X, columns=["title", "body", "a", "b", "c"])
    f = evermargin.CoRLS(views="1,3;2,4..5").fit(X, y).decision_function(X)
    for views in ([["title", "a"], ["body", "b", "c"]], [["title", 2], [1, 3, np.int64(4)]]):
        assert (evermargin.CoRLS(views=views).fit(frame, y).decision_function(frame) == f).all()
    for views, words in [
        ([["titel"]], "no column is named 'titel'; near it: title"),
        ([["zzz"]], "no column is named 'zzz'$"),
        ([[0, 5]], "column 5 must be a name, or a number from 0 to 4"),
        ([[True]], "column True must be"),
        ([[]], "must be"),
    ]:
        with pytest.raises(ValueError, match=words):
            evermargin.CoRLS(views=views).fit(frame, y)
    with pytest.raises(ValueError, match="X has no column names"):
        evermargin.CoRLS(views=[["title"]]).fit(X, y)


def test_error_messages_list_allowed_values():
    X, y = make_moons(40, random_state=0)
    for model, words in [
        (SVC(kernel="rbg"), "did you mean rbf"),
        (SVC(C=-1), "C=-1: must be a number above 0"),
        (SVC(C=float("inf")), "C=inf: must be a number above 0"),
        (SVC(cache_size=-1), "megabytes"),
        (SVC(decision_function_shape="each"), "ovr or ovo"),
        (SVC(gamma="wide"), "a positive number, scale or auto"),
        (SVC(class_weight="even"), "balanced"),
        (SVC(class_weight={"ham": 2.0}), "class_weight='ham': must be one of 0, 1"),
        (SVC(scale="big"), "one of none, minmax"),
        (LASVMClassifier(loss="hing"), "must be one of hinge"),
        (LASVMClassifier(loss="ramp", select="active"), "learner lasvm-nc does not take it"),
        (LinearTSVM(ratio=2.0), "ratio"),
        (SVC(kernel="precomputed"), "precomputed"),
    ]:
        with pytest.raises(ValueError, match=re.escape(words)):
            model.fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        SubmodularS3VM().fit(X, np.full(40, -1))
    with pytest.raises(ValueError, match="weight"):
        SVC().fit(X, y, sample_weight=np.full(40, -1.0))
    with pytest.warns(ConvergenceWarning, match="limit of steps"):
        SVC(max_iter=1).fit(X, y)


def test_precomputed_linear_kernel_equals_linear_kernel():
    X, y = load_iris(return_X_y=True)
    K = X @ X.T
    f = SVC(kernel="precomputed").fit(K, y).decision_function(K)
    assert np.allclose(f, SVC(kernel="linear").fit(X, y).decision_function(X), atol=1e-3)


def test_clones_are_not_fitted():
    X, y = make_moons(40, random_state=0)
    model = SVC(C=3).fit(X, y)
    assert clone(model).C == 3 and not hasattr(clone(model), "classes_")
    with pytest.raises(AttributeError):
        clone(model).support_vectors_  # noqa: B018


def test_prediction_in_blocks_equals_prediction_at_once(monkeypatch):
    X, y = load_digits(return_X_y=True)
    for model in (SVC(probability=True), LinearSVC()):
        model.fit(X[:200], y[:200] % 3)
        whole = model._raw_predictions(X)
        monkeypatch.setattr("evermargin._base.BLOCK_ROWS", 128)
        for one, parts in zip(whole, model._raw_predictions(X), strict=True):
            assert (one is None and parts is None) or (one == parts).all()
        monkeypatch.undo()


def test_predict_does_not_copy_the_rows():
    """Prediction needs far less memory than the rows."""
    code = """
        import resource, numpy as np
        from evermargin import SVC
        rng = np.random.RandomState(0)
        X = rng.rand(40_000, 784)
        y = (X[:, 0] > 0.5).astype(int)
        model = SVC().fit(X[:60], y[:60])
        model.predict(X[:1000])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model.predict(X)
        growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        assert growth < X.nbytes / 4, growth
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
