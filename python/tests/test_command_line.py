"""Results are bit-identical to the command line with the same data, parameters and seed."""

import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification, make_moons

import evermargin
from evermargin._base import SemiSupervisedClassifier


def write(path, X, y):
    lines = ["x" + ",x".join(str(c) for c in range(X.shape[1])) + ",label"]
    lines += [",".join([*(repr(float(v)) for v in row), str(label)]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def command(*words):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout


SUPERVISED = [
    (evermargin.SVC(C=3.0), ["svc", "--c", "3"]),
    (evermargin.SVC(kernel="poly", gamma=0.1, coef0=1.0), ["svc", "--kernel", "poly", "--gamma", "0.1", "--coef0", "1"]),
    (evermargin.SVC(class_weight="balanced", scale="standard"), ["svc", "--class-weight", "balanced", "--scale", "standard"]),
    (evermargin.SVC(scale=None, threshold="g-means"), ["svc", "--scale", "auto", "--threshold", "g-means"]),
    (evermargin.LinearSVC(), ["linear"]),
    (evermargin.RLSClassifier(), ["rls"]),
    (evermargin.LASVMClassifier(random_state=5), ["lasvm", "--seed", "5"]),
    (evermargin.LASVMClassifier(loss="ramp"), ["lasvm-nc"]),
    (evermargin.LASVMClassifier(loss="local"), ["local-svc"]),
    (evermargin.Perceptron(epochs=3), ["perceptron", "--set", "epochs=3"]),
    (evermargin.RampSVC(), ["ramp-svc"]),
    (evermargin.SequentialMED(), ["seq-med"]),
]


@pytest.mark.parametrize("model, learner", [(evermargin.SVC(), "svc"), (evermargin.LinearSVC(), "linear")], ids=str)
def test_decision_values_of_several_classes_and_sparse_rows_match(model, learner, command_line, tmp_path):
    X, y = make_classification(150, 8, n_informative=5, n_classes=3, random_state=0)
    X[np.abs(X) < 0.8] = 0.0
    lines = [
        " ".join([str(c), *(f"{k + 1}:{v!r}" for k, v in enumerate(row) if v)]) for c, row in zip(y, X.tolist(), strict=True)
    ]
    (tmp_path / "d.svm").write_text("\n".join(lines) + "\n")
    fit = [command_line, "fit", tmp_path / "d.svm", "-o", tmp_path / "m.evm", "--learner", learner, "--scale", "none"]
    command(*fit)
    command(command_line, "predict", tmp_path / "m.evm", tmp_path / "d.svm", "-o", tmp_path / "expected.tsv")
    header, *rows = [line.split("\t") for line in (tmp_path / "expected.tsv").read_text().splitlines()]
    expected = np.array([[float(v) for v in row[1:4]] for row in rows])
    model.fit(sparse.csr_matrix(X), y)
    assert header[0] == "label" and [int(row[0]) for row in rows] == list(model.predict(X))
    assert (model._raw_predictions(sparse.csr_matrix(X))[1] == expected).all()


@pytest.mark.parametrize("model, words", SUPERVISED, ids=lambda v: str(v))
def test_decision_values_match(model, words, command_line, tmp_path):
    X, y = make_classification(150, 8, n_informative=4, flip_y=0.1, random_state=0)
    write(tmp_path / "d.csv", X, y)
    learner, *more = words
    if "--scale" not in more:
        more += ["--scale", "none"]
    elif more[more.index("--scale") + 1] == "auto":
        del more[more.index("--scale") : more.index("--scale") + 2]
    data = [tmp_path / "d.csv", "--label", "label"]
    command(command_line, "fit", *data, "-o", tmp_path / "m.evm", "--learner", learner, *more)
    command(command_line, "predict", tmp_path / "m.evm", *data, "-o", tmp_path / "expected.tsv")
    header, *rows = (tmp_path / "expected.tsv").read_text().splitlines()
    column = header.split("\t").index("1") if "1" in header.split("\t") else 1
    expected = np.array([float(row.split("\t")[column]) for row in rows])
    assert (model.fit(X, y).decision_function(X) == expected).all()


@pytest.mark.parametrize(
    "model, learner",
    [
        (getattr(evermargin, name)(), getattr(evermargin, name)._learner)
        for name in evermargin.__all__
        if name != "BranchBoundS3VM"  # takes too long
        and isinstance(getattr(evermargin, name), type)
        and issubclass(getattr(evermargin, name), SemiSupervisedClassifier)
    ],
    ids=str,
)
def test_transductive_labels_match(model, learner, command_line, tmp_path):
    X, y = make_moons(120, noise=0.1, random_state=0)
    few = np.where(np.arange(120) < 12, y, -1)
    write(tmp_path / "d.csv", X, np.where(few < 0, "?", few.astype(str)))
    out = tmp_path / "labels.tsv"
    scale = [] if model.scale == "auto" else ["--scale", "none"]
    command(command_line, "label", tmp_path / "d.csv", "--label", "label", "--learner", learner, "-o", out, *scale)
    table = [line.split("\t") for line in out.read_text().splitlines()[1:]]
    model.fit(X, few)
    assert [int(row[0]) for row in table] == list(model.transduction_)
    assert [float(row[2]) for row in table] == list(model.transduction_confidence_)
