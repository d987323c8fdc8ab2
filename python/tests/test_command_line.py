"""The same data, parameters and seed give the same numbers as the command line, to the last bit."""

import subprocess

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons

import evermargin


def write(path, X, y):
    lines = ["x" + ",x".join(str(c) for c in range(X.shape[1])) + ",label"]
    lines += [",".join([*(repr(float(v)) for v in row), str(label)]) for row, label in zip(X, y)]
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
]


@pytest.mark.parametrize("model, words", SUPERVISED, ids=lambda v: str(v))
def test_fit_and_predict(model, words, command_line, tmp_path):
    X, y = make_classification(150, 8, n_informative=4, flip_y=0.1, random_state=0)
    write(tmp_path / "d.csv", X, y)
    learner, *more = words
    if "--scale" not in more:
        more += ["--scale", "none"]
    elif more[more.index("--scale") + 1] == "auto":
        del more[more.index("--scale") : more.index("--scale") + 2]
    data = [tmp_path / "d.csv", "--label", "label"]
    command(command_line, "fit", *data, "-o", tmp_path / "m.evm", "--learner", learner, *more)
    command(command_line, "predict", tmp_path / "m.evm", *data, "-o", tmp_path / "said.tsv")
    header, *rows = (tmp_path / "said.tsv").read_text().splitlines()
    column = header.split("\t").index("1") if "1" in header.split("\t") else 1
    said = np.array([float(row.split("\t")[column]) for row in rows])
    assert (model.fit(X, y).decision_function(X) == said).all()


@pytest.mark.parametrize(
    "model, learner",
    [
        (evermargin.LapSVC(), "lapsvm"),
        (evermargin.LinearDA(), "linear-da"),
        (evermargin.SubmodularS3VM(), "submod-s3vm"),
        (evermargin.LabelPropagation(), "label-propagation"),
    ],
    ids=lambda v: str(v),
)
def test_label(model, learner, command_line, tmp_path):
    X, y = make_moons(120, noise=0.1, random_state=0)
    few = np.where(np.arange(120) < 12, y, -1)
    write(tmp_path / "d.csv", X, np.where(few < 0, "?", few.astype(str)))
    out = tmp_path / "labels.tsv"
    command(command_line, "label", tmp_path / "d.csv", "--label", "label", "--learner", learner, "--scale", "none", "-o", out)
    table = [line.split("\t") for line in out.read_text().splitlines()[1:]]
    model.fit(X, few)
    assert [int(row[0]) for row in table] == list(model.transduction_)
    assert [float(row[2]) for row in table] == list(model.transduction_confidence_)
