"""Import and export of models: files, LIBSVM, ONNX and scikit-learn."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification

import evermargin
from evermargin import SVC, LinearSVC, from_libsvm, from_sklearn, load, save, to_libsvm, to_onnx

KERNELS = ["linear", "rbf", "poly", "sigmoid"]


def data(classes, seed=0):
    X, y = make_classification(120, 6, n_informative=4, n_classes=classes, random_state=seed)
    return X.astype(np.float32).astype(np.float64), y


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_from_sklearn_keeps_predictions(kernel, classes):
    X, y = data(classes)
    theirs = svm.SVC(kernel=kernel, decision_function_shape="ovo", C=2.0, coef0=0.5).fit(X, y)
    ours = from_sklearn(theirs)
    assert (ours.predict(X) == theirs.predict(X)).all()
    f = ours.decision_function(X)
    sign = 1 if classes == 2 else -1  # scikit-learn: positive for the first class of a pair
    assert np.allclose(f, sign * theirs.decision_function(X), atol=1e-5 * max(1, np.abs(f).max()))


def test_from_sklearn_keeps_parameters():
    X, y = data(3)
    given = {
        "C": 3.0,
        "kernel": "poly",
        "gamma": 0.2,
        "degree": 2,
        "coef0": 0.5,
        "tol": 1e-4,
        "class_weight": {0: 2.0, 1: 1.0, 2: 0.5},
        "max_iter": 100_000,
        "cache_size": 50,
    }
    theirs = svm.SVC(**given).fit(X, y)
    ours = from_sklearn(theirs)
    assert {name: ours.get_params()[name] for name in given} == given
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    again = clone(ours).fit(X, y)
    assert np.allclose(again.decision_function(X), theirs.decision_function(X), atol=1e-2)
    X, y = X[y < 2], y[y < 2]
    theirs = svm.LinearSVC(C=0.3, tol=1e-6, class_weight="balanced", fit_intercept=False).fit(X, y)
    ours = from_sklearn(theirs)
    assert (ours.C, ours.tol, ours.class_weight, ours.fit_intercept) == (0.3, 1e-6, "balanced", False)
    again = clone(ours).fit(X, y)
    assert np.allclose(again.decision_function(X), theirs.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("classes", [2, 3])
def test_from_sklearn_keeps_predictions_of_linear_svc(classes):
    X, y = data(classes)
    theirs = svm.LinearSVC().fit(X, np.array(["a", "b", "c"])[y])
    ours = from_sklearn(theirs)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_from_sklearn_rejects_unsupported_models():
    X, y = data(2)
    with pytest.raises(TypeError, match="only SVC and LinearSVC"):
        from_sklearn(svm.NuSVC().fit(X, y))
    with pytest.raises(ValueError, match="cannot be converted"):
        from_sklearn(svm.SVC(kernel=lambda a, b: a @ b.T).fit(X, y))
    with pytest.raises(ValueError, match="break_ties=True is not supported"):
        from_sklearn(svm.SVC(break_ties=True).fit(X, y))


@pytest.mark.parametrize("classes", [2, 3])
def test_libsvm_round_trip(classes, tmp_path):
    X, y = data(classes)
    ours = SVC().fit(X, y)
    text = to_libsvm(ours)
    again = from_libsvm(text)
    assert (again.predict(X) == ours.predict(X)).all()
    assert np.allclose(again.decision_function(X), ours.decision_function(X), atol=1e-9)
    if (predict := shutil.which("svm-predict")) is None:
        pytest.skip("svm-predict is not installed")
    (tmp_path / "m").write_text(text)
    lines = [" ".join([str(c), *(f"{k + 1}:{v!r}" for k, v in enumerate(row.tolist()))]) for c, row in zip(y, X, strict=True)]
    (tmp_path / "d").write_text("\n".join(lines) + "\n")
    subprocess.run([predict, "d", "m", "out"], cwd=tmp_path, check=True, capture_output=True)
    assert (np.loadtxt(tmp_path / "out") == ours.predict(X)).all()


def test_command_line_matches_columns_by_name_with_a_saved_model(command_line, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    ours = LinearSVC().fit(frame, y)
    save(ours, tmp_path / "m.evm")
    loaded = load(tmp_path / "m.evm")
    assert list(loaded.feature_names_in_) == ["a", "b", "c", "d"]
    assert (loaded.decision_function(frame) == ours.decision_function(frame)).all()
    frame[["d", "b", "a", "c"]].assign(other=1.0).to_csv(tmp_path / "d.csv", index=False)
    command = [command_line, "predict", "m.evm", "d.csv", "--label", "none", "--as", "labels", "-o", "out"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert [int(line) for line in (tmp_path / "out").read_text().split()] == list(ours.predict(frame))


def test_command_line_reads_saved_models(command_line, tmp_path):
    X, y = load_iris(return_X_y=True)
    ours = LinearSVC().fit(X, y)
    save(ours, tmp_path / "m.evm")
    assert (load(tmp_path / "m.evm").decision_function(X) == ours.decision_function(X)).all()
    rows = "\n".join(",".join(repr(v) for v in row) for row in X.tolist())
    (tmp_path / "d.csv").write_text("a,b,c,d\n" + rows + "\n")
    command = [command_line, "predict", "m.evm", "d.csv", "--as", "labels", "-o", "out"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert [int(line) for line in (tmp_path / "out").read_text().split()] == list(ours.predict(X))
    with pytest.raises(TypeError, match="cannot be fitted"):
        load(tmp_path / "m.evm").fit(X, y)


def test_damaged_files_are_an_error(tmp_path):
    X, y = data(2)
    save(SVC().fit(X, y), tmp_path / "m.evm")
    whole = (tmp_path / "m.evm").read_bytes()
    (tmp_path / "m.evm").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError):
        load(tmp_path / "m.evm")
    with pytest.raises(ValueError):
        from_libsvm("svm_type c_svc\nkernel_type rbf\n")


SCALINGS = ["none", "standard", "minmax", "unit"]


@pytest.mark.parametrize("scale", SCALINGS)
@pytest.mark.parametrize(
    "model",
    [
        *(SVC(kernel=kernel, coef0=0.5, gamma=0.2) for kernel in KERNELS),
        SVC(multi="one-vs-rest"),
        LinearSVC(),
        evermargin.RLSClassifier(),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("names", [None, np.array(["a", "b", "c"])])
def test_onnx_has_the_same_labels_and_scores(model, scale, classes, names):
    runtime = pytest.importorskip("onnxruntime")
    X, y = data(classes)
    y = y if names is None else names[y]
    model.set_params(scale=scale).fit(X, y)
    session = runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], {"X": X.astype(np.float32)})
    f = model._raw_predictions(X)[1]
    expected = np.hstack([-f, f]) if classes == 2 else f
    assert scores.shape == expected.shape
    assert np.abs(scores - expected).max() < 1e-4 * max(1, np.abs(f).max())
    clear = np.abs(f).min(axis=1) > 1e-3 * max(1, np.abs(f).max())
    assert (np.array(label)[clear] == model.predict(X)[clear]).all()


def test_report_of_a_loaded_model_names_its_parameters(tmp_path):
    X, y = data(2)
    save(SVC(C=7.0).fit(X, y), tmp_path / "m.evm")
    assert load(tmp_path / "m.evm").report_["params"]["c"] == 7.0
    assert json.dumps(load(tmp_path / "m.evm").report_)


@pytest.mark.parametrize(
    "classes, kind",
    [
        ([-1, 7, 10], "i"),
        ([0.0, 2.0, 10.0], "f"),
        (["01", "1"], "U"),
        (["10", "9"], "U"),
        (["1", "1.0"], "U"),
        (["-inf", "inf"], "U"),
        (["1", "nan"], "U"),
        (["1_0", "2_0"], "U"),
        (["+1", "2"], "U"),
        (["0.50", "1.00"], "U"),
        (["1", "1" + 30 * "0"], "U"),
        (["False", "True"], "U"),
    ],
    ids=str,
)
def test_classes_keep_their_type_in_a_model_file(classes, kind, tmp_path):
    y = np.repeat(classes, 2)
    X = np.arange(len(y), dtype=float).reshape(-1, 1)
    ours = SVC(C=100.0).fit(X, y)
    save(ours, tmp_path / "m.evm")
    again = load(tmp_path / "m.evm")
    assert again.classes_.dtype.kind == kind
    assert again.classes_.tolist() == ours.classes_.tolist()
    assert again.predict(X).tolist() == ours.predict(X).tolist()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("probability", ["sigmoid", "isotonic", None])
@pytest.mark.parametrize("make", [SVC, LinearSVC])
def test_loaded_model_has_the_same_probabilities(classes, probability, make, tmp_path):
    X, y = data(classes)
    ours = make(probability=probability).fit(X, y)
    save(ours, tmp_path / "m.evm")
    again = load(tmp_path / "m.evm")
    assert hasattr(again, "predict_proba") == (probability is not None)
    if probability is not None:
        assert (again.predict_proba(X) == ours.predict_proba(X)).all()


def test_loaded_model_with_a_precomputed_kernel_predicts(tmp_path):
    X, y = data(2)
    save(SVC(kernel="precomputed").fit(X @ X.T, y), tmp_path / "m.evm")
    again = load(tmp_path / "m.evm")
    assert (again.predict(X @ X.T) == y).mean() > 0.7 and not hasattr(again, "predict_proba")


def test_only_classifiers_of_this_package_can_be_exported(tmp_path):
    X, y = data(2)
    stream = evermargin.NeverEndingClassifier().partial_fit(X, y)
    cases = [
        (stream, "NeverEndingClassifier: .*its own methods save and load"),
        (svm.SVC().fit(X, y), "SVC: .*from_sklearn"),
        (evermargin.ActiveLearner(SVC(), X_training=X, y_training=y), "ActiveLearner: .*the classifier inside"),
        (None, "NoneType: only a fitted classifier of evermargin"),
    ]
    for estimator, message in cases:
        for write in (to_libsvm, to_onnx, lambda e: save(e, tmp_path / "m.evm")):
            with pytest.raises(TypeError, match=message):
                write(estimator)
    assert not (tmp_path / "m.evm").exists()


@pytest.mark.parametrize("calibrated", [True, False])
def test_onnx_has_probabilities_if_calibrated_by_sigmoid(calibrated):
    runtime = pytest.importorskip("onnxruntime")
    X, y = data(2)
    model = SVC(probability="sigmoid" if calibrated else "isotonic").fit(X, y + 1.0)
    session = runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert names == ["label", "scores"] + ["probabilities"] * calibrated
    label, *rest = session.run(["label"] + names[2:], {"X": X.astype(np.float32)})
    assert set(label) == {"1.0", "2.0"}
    assert not rest or np.allclose(rest[0], model.predict_proba(X), atol=1e-4)
