"""Text with twenty labels: which library does a docstring come from?

The documents are the docstrings of two modules that everybody who runs this has. Twenty of them have a label. Rows
without a label help most learners here, and mislead one in some draws: hundreds of docstrings of ``scipy.stats`` are
nearly the same, and a cut of the data takes them for a class. ``supervised_score_`` beside ``semi_supervised_score_``,
both of labels held out, warns without the truth. The end of the output says how often it did where that learner was
misled, and how often in vain: twenty labels say little.

    python docs/examples/text_with_20_labels.py picture.svg
"""

import inspect
import re
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer

import evermargin


def docstrings(module):
    """First paragraphs of what a module exports, without the module's own name."""
    texts = (inspect.getdoc(getattr(module, name)) or "" for name in sorted(dir(module)) if name[0] != "_")
    texts = (re.sub(r"scipy|stats|signal", " ", text[:600]) for text in texts if len(text) > 80)
    return list(dict.fromkeys(texts))


topics = [docstrings(scipy.stats), docstrings(scipy.signal)]
texts = [text for topic in topics for text in topic]
y = np.repeat([0, 1], [len(topic) for topic in topics])
X = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True).fit_transform(texts)
print(f"{X.shape[0]} documents, {X.shape[1]} words, topics of {len(topics[0])} and {len(topics[1])}")

rng = np.random.RandomState(0)
share = float(np.mean(y))  # how many of the rows without a label are signal processing: here known, else ratio="auto"
models = {
    "labels alone (LinearSVC)": None,
    "LinearTSVM": evermargin.LinearTSVM(ratio=share, compare=False),
    "LinearDA": evermargin.LinearDA(ratio=share, compare=False),
    "SubmodularS3VM": evermargin.SubmodularS3VM(ratio=share, compare=True),
    "LapRLS (cosine graph)": evermargin.LapRLS(kernel="linear", metric="cosine", edge_weights="cosine", compare=False),
}
right = {name: [] for name in models}
held_out = []  # of SubmodularS3VM: shares of held-out labels that are right, by the labels alone and with all rows
for draw in range(10):
    few = np.full(len(y), -1)
    for c in (0, 1):
        known = rng.choice(np.flatnonzero(y == c), 10, replace=False)
        few[known] = c
    hidden = few == -1
    for name, model in models.items():
        if model is None:
            said = evermargin.LinearSVC().fit(X[~hidden], few[~hidden]).predict(X)
        else:
            said = model.fit(X, few).transduction_
        if name == "SubmodularS3VM":
            held_out.append((model.supervised_score_, model.semi_supervised_score_))
        right[name].append(np.mean(said[hidden] == y[hidden]))

for name, shares in right.items():
    print(f"{name:28} {np.mean(shares):.1%} ± {np.std(shares):.1%}")

print("\nSubmodularS3VM, draw by draw: can the twenty labels tell whether it is misled?")
print("supervised_score_  semi_supervised_score_  warns | truth: labels alone  SubmodularS3VM")
truth = np.column_stack([right["labels alone (LinearSVC)"], right["SubmodularS3VM"]])
warned = np.array([alone > semi for alone, semi in held_out])
misled = truth[:, 0] > truth[:, 1]
for (alone, semi), warns, (labels, s3vm) in zip(held_out, warned, truth):
    print(f"{alone:17.0%}  {semi:22.0%}  {'yes' if warns else 'no':>5} | {labels:19.0%}  {s3vm:14.0%}")
print(f"It was misled in {misled.sum()} draws; the held-out score warned in {(warned & misled).sum()} of them,")
print(f"and in {(warned & ~misled).sum()} of the {(~misled).sum()} others.")

figure, axis = plt.subplots(figsize=(7, 3.2), constrained_layout=True)
for place, (name, shares) in enumerate(right.items()):
    axis.plot(100 * np.array(shares), np.full(len(shares), place), "o", color="#4477aa", alpha=0.5)
    axis.plot(100 * np.mean(shares), place, "|", color="black", markersize=18)
axis.set_yticks(range(len(right)), right)
axis.set_xlim(0, 101)
axis.invert_yaxis()
axis.set_xlabel("% of the documents without a label that are right: ten draws of 20 labels, mean")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "text_with_20_labels.svg")
