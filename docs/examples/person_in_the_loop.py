"""A person in the loop: which hundred digits should she label?

The person is played by the true labels. ``query`` names a row, ``teach`` hands the answer over.

    python docs/examples/person_in_the_loop.py picture.svg
"""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import evermargin
from evermargin import plot
from evermargin.active import ActiveLearner, margin_sampling, random_sampling

X, y = load_digits(return_X_y=True)
X = X / 16
X_pool, X_test, y_pool, y_test = train_test_split(X, y, test_size=0.4, random_state=0)


def ask(strategy, questions=120, batch=5, seed=0):
    """Accuracy on the test rows after each batch of answers."""
    rng = np.random.RandomState(seed)
    start = [rng.choice(np.flatnonzero(y_pool == c)) for c in range(10)]
    left = np.setdiff1d(np.arange(len(X_pool)), start)
    learner = ActiveLearner(evermargin.SVC(C=10), strategy, X_pool[start], y_pool[start])
    labels, scores = [len(start)], [learner.score(X_test, y_test)]
    for _ in range(questions // batch):
        chosen, rows = learner.query(X_pool[left], n_instances=batch)
        answers = y_pool[left[chosen]]  # what the person says
        learner.teach(rows, answers)
        left = np.delete(left, chosen)
        labels.append(labels[-1] + batch)
        scores.append(learner.score(X_test, y_test))
    return np.array(labels), np.array(scores)


curves = {}
for name, strategy in [("asking near the boundary", margin_sampling), ("asking at random", random_sampling)]:
    runs = [ask(strategy, seed=seed) for seed in range(3)]
    curves[name] = (runs[0][0], np.mean([scores for _, scores in runs], axis=0))
    labels, scores = curves[name]
    print(f"{name}: {scores[-1]:.1%} right with {labels[-1]} labels")

figure, axis = plt.subplots(figsize=(6.5, 4), constrained_layout=True)
plot.learning_curve(curves, ax=axis)
axis.set_title("Ten digits, SVC, means of three starts")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "person_in_the_loop.svg")
assert curves["asking near the boundary"][1][-1] > curves["asking at random"][1][-1]
