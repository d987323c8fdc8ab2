"""Models of other programs, and ours for them."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_iris, make_classification

import evermargin
from evermargin import SVC, LinearSVC, from_libsvm, from_sklearn, load, save, to_libsvm, to_onnx

KERNELS = ["linear", "rbf", "poly", "sigmoid"]


def data(classes, seed=0):
    X, y = make_classification(120, 6, n_informative=4, n_classes=classes, random_state=seed)
    return X.astype(np.float32).astype(np.float64), y


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_from_sklearn(kernel, classes):
    X, y = data(classes)
    theirs = svm.SVC(kernel=kernel, decision_function_shape="ovo", C=2.0, coef0=0.5).fit(X, y)
    ours = from_sklearn(theirs)
    assert (ours.predict(X) == theirs.predict(X)).all()
    f = ours.set_params(decision_function_shape="ovo").decision_function(X)
    sign = 1 if classes == 2 else -1  # theirs are positive for the first class of a pair
    assert np.allclose(f, sign * theirs.decision_function(X), atol=1e-5 * max(1, np.abs(f).max()))


@pytest.mark.parametrize("classes", [2, 3])
def test_from_linear_sklearn(classes):
    X, y = data(classes)
    theirs = svm.LinearSVC().fit(X, np.array(["a", "b", "c"])[y])
    ours = from_sklearn(theirs)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_what_cannot_be_taken_over():
    X, y = data(2)
    with pytest.raises(TypeError, match="only SVC and LinearSVC"):
        from_sklearn(svm.NuSVC().fit(X, y))
    with pytest.raises(ValueError, match="cannot be taken over"):
        from_sklearn(svm.SVC(kernel=lambda a, b: a @ b.T).fit(X, y))


@pytest.mark.parametrize("classes", [2, 3])
def test_libsvm_both_ways(classes, tmp_path):
    X, y = data(classes)
    ours = SVC().fit(X, y)
    text = to_libsvm(ours)
    again = from_libsvm(text)
    assert (again.predict(X) == ours.predict(X)).all()
    assert np.allclose(again.decision_function(X), ours.decision_function(X), atol=1e-9)
    if (predict := shutil.which("svm-predict")) is None:
        pytest.skip("svm-predict is not installed")
    (tmp_path / "m").write_text(text)
    lines = [" ".join([str(c), *(f"{k + 1}:{v!r}" for k, v in enumerate(row.tolist()))]) for c, row in zip(y, X)]
    (tmp_path / "d").write_text("\n".join(lines) + "\n")
    subprocess.run([predict, "d", "m", "out"], cwd=tmp_path, check=True, capture_output=True)
    assert (np.loadtxt(tmp_path / "out") == ours.predict(X)).all()


def test_files_are_those_of_the_command_line(command_line, tmp_path):
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


def test_damaged_files_are_refused(tmp_path):
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
def test_onnx_gives_our_labels_and_scores(model, scale, classes, names):
    runtime = pytest.importorskip("onnxruntime")
    X, y = data(classes)
    y = y if names is None else names[y]
    model.set_params(scale=scale).fit(X, y)
    session = runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], {"X": X.astype(np.float32)})
    f = model._said(X)[1]
    expected = np.hstack([-f, f]) if classes == 2 else f
    assert scores.shape == expected.shape
    assert np.abs(scores - expected).max() < 1e-4 * max(1, np.abs(f).max())
    sure = np.abs(f).min(axis=1) > 1e-3 * max(1, np.abs(f).max())
    assert (np.array(label)[sure] == model.predict(X)[sure]).all()


def test_report_of_a_loaded_model_names_its_parameters(tmp_path):
    X, y = data(2)
    save(SVC(C=7.0).fit(X, y), tmp_path / "m.evm")
    assert load(tmp_path / "m.evm").report_["params"]["c"] == 7.0
    assert json.dumps(load(tmp_path / "m.evm").report_)
