"""Pictures: where a classifier decides, what labels bring, which rows stand for all.

Needs ``pip install evermargin[plot]``. Every function draws into ``ax`` (a new figure without it) and returns
it. Colors are those of Okabe and Ito, which color-blind readers can tell apart; classes differ in shape
too.

Examples
--------
>>> import matplotlib
>>> matplotlib.use("Agg")
>>> from sklearn.datasets import make_moons
>>> from sklearn.svm import SVC
>>> from evermargin import plot
>>> X, y = make_moons(100, noise=0.1, random_state=0)
>>> ax = plot.decision_surface(SVC(gamma=2).fit(X, y), X, y)
>>> ax.figure.savefig("surface.png")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from ._labels import is_missing

__all__ = ["decision_surface", "exemplars", "learning_curve"]

#: Blue, orange, green, purple, sky, vermilion, black: no two alike to the color-blind.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GRAY = "#9A9A9A"


def _axes(ax):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("evermargin.plot needs matplotlib: pip install evermargin[plot]") from error
    return plt.subplots(figsize=(5.2, 4.2), layout="constrained")[1]


def _plane(X, what):
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2:
        found = X.shape[1] if X.ndim == 2 else f"an array of {X.ndim} dimensions"
        raise ValueError(
            f"{what} is drawn in a plane and needs 2 features, not {found}; PCA(2) makes two of many"
        )
    return X


def _frame(X, margin=0.08):
    low, high = X.min(axis=0), X.max(axis=0)
    room = np.where(high > low, margin * (high - low), 0.5)
    return low - room, high + room


def _legend_above(ax):
    """Names above the picture, where they hide nothing."""
    style = {
        "loc": "lower left",
        "bbox_to_anchor": (0, 1),
        "ncols": 4,
        "borderpad": 0.2,
        "handletextpad": 0.2,
    }
    ax.legend(fontsize="small", frameon=False, columnspacing=1.0, **style)


def _tidy(ax):
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def decision_surface(
    estimator,
    X,
    y=None,
    ax=None,
    *,
    missing_label=-1,
    resolution: int = 200,
    margin: bool = True,
    legend: bool = True,
):
    """Draw where a classifier of two features decides what.

    Parameters
    ----------
    estimator : object
        A fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, 2)
        Samples to draw.
    y : array-like of shape (n_samples,), default=None
        Their classes; rows whose label is missing are small and gray, all of them without ``y``.
    ax : matplotlib axes, default=None
        Where to draw.
    missing_label : scalar or None, default=-1
        What marks a missing label. It is a class where the classifier knows it as one.
    resolution : int, default=200
        Points of the grid along each axis.
    margin : bool, default=True
        Whether to draw the margin, f = -1 and f = 1, of a classifier of two classes with decision values.
    legend : bool, default=True
        Whether to name the classes.

    Returns
    -------
    ax : matplotlib axes
        With the picture.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.svm import SVC
    >>> from evermargin import plot
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> plot.decision_surface(SVC().fit(X, [0, 0, 1, 1]), X, [0, 0, 1, 1]).get_xlabel()
    'feature 1'
    """
    X = _plane(X, "a decision surface")
    ax = _axes(ax)
    classes = np.asarray(estimator.classes_)
    low, high = _frame(X)
    across, up = (np.linspace(low[i], high[i], int(resolution)) for i in range(2))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    shape = len(up), len(across)
    _regions(ax, across, up, np.searchsorted(classes, estimator.predict(grid)).reshape(shape), len(classes))
    if len(classes) == 2 and hasattr(estimator, "decision_function"):
        _lines(ax, across, up, np.asarray(estimator.decision_function(grid)).reshape(shape), margin)
    _rows(ax, X, y, classes, missing_label)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="feature 1", ylabel="feature 2")
    if legend and y is not None:
        _legend_above(ax)
    return _tidy(ax)


def _regions(ax, across, up, codes, count):
    from matplotlib.colors import ListedColormap

    tints = ListedColormap([COLORS[c % len(COLORS)] for c in range(count)])
    extent = across[0], across[-1], up[0], up[-1]
    style = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
    ax.imshow(codes, extent=extent, cmap=tints, vmin=-0.5, vmax=count - 0.5, alpha=0.16, **style)


def _lines(ax, across, up, decision, margin):
    ax.contour(across, up, decision, levels=[0.0], colors="#222222", linewidths=1.6, zorder=2)
    if margin:
        style = {"colors": "#222222", "linewidths": 0.9, "linestyles": "dashed", "alpha": 0.7}
        ax.contour(across, up, decision, levels=[-1.0, 1.0], zorder=2, **style)


def _rows(ax, X, y, classes, missing_label):
    """Rows without a label small and gray below, labeled rows large above."""
    if y is None:
        missing, y = np.ones(len(X), dtype=bool), np.zeros(len(X))
    else:
        y = np.asarray(y)
        missing = is_missing(y, missing_label)
        missing &= ~np.isin(missing_label, classes)
    if missing.any():
        ax.scatter(*X[missing].T, s=9, c=GRAY, linewidths=0, alpha=0.8, zorder=3, label="no label")
    for code, class_ in enumerate(classes):
        own = ~missing & (y == class_)
        if own.any():
            style = {"s": 38, "edgecolors": "white", "linewidths": 0.7, "zorder": 4}
            color, marker = COLORS[code % len(COLORS)], MARKERS[code % len(MARKERS)]
            ax.scatter(*X[own].T, c=color, marker=marker, label=str(class_), **style)


def learning_curve(curves: Mapping, ax=None, *, xlabel: str = "labels", ylabel: str = "accuracy"):
    """Draw what labels bring: a score against the labels spent, a line for each way of asking.

    Parameters
    ----------
    curves : mapping of name to (labels, scores)
        ``scores`` has a value for each of ``labels``, or a row of values for each repetition: then the mean
        is drawn with a band of one standard error.
    ax : matplotlib axes, default=None
        Where to draw.
    xlabel, ylabel : str
        Names of the axes.

    Returns
    -------
    ax : matplotlib axes
        With the picture.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from evermargin import plot
    >>> ax = plot.learning_curve({"margin": ([10, 20], [0.8, 0.9]), "random": ([10, 20], [0.8, 0.85])})
    >>> len(ax.lines)
    2
    """
    if not curves:
        raise ValueError("no curve to draw: give {name: (labels, scores)}")
    ax = _axes(ax)
    for number, (name, (labels, scores)) in enumerate(curves.items()):
        labels, scores = np.asarray(labels), np.atleast_2d(np.asarray(scores, dtype=np.float64))
        if labels.ndim != 1 or scores.shape[1] != len(labels):
            raise ValueError(f"curve {name!r}: {scores.shape[1]} scores for {labels.size} numbers of labels")
        _curve(ax, number, name, labels, scores)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.legend(fontsize="small", frameon=False)
    return _tidy(ax)


def _curve(ax, number, name, labels, scores):
    color = COLORS[number % len(COLORS)]
    style = ("-", "--", "-.", ":")[number % 4]
    mean = scores.mean(axis=0)
    ax.plot(labels, mean, color=color, linestyle=style, linewidth=2, label=str(name))
    if len(scores) > 1:
        error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
        ax.fill_between(labels, mean - error, mean + error, color=color, alpha=0.18, linewidth=0)


def exemplars(selector_or_X, indices=None, ax=None, *, X=None, weights=None):
    """Draw rows that stand for all rows, larger the more they stand for.

    Parameters
    ----------
    selector_or_X : ExemplarSelector or array-like of shape (n_samples, 2)
        A fitted selector, or all rows.
    indices : array-like of int, default=None
        Rows that are exemplars, where rows are given.
    ax : matplotlib axes, default=None
        Where to draw.
    X : array-like of shape (n_samples, 2), default=None
        With a selector: all rows, drawn small and gray.
    weights : array-like, default=None
        Samples each exemplar stands for, where rows are given.

    Returns
    -------
    ax : matplotlib axes
        With the picture.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from evermargin import ExemplarSelector, plot
    >>> rows = [[0.0, 0.0], [0.1, 0.0], [3.0, 1.0]]
    >>> ax = plot.exemplars(ExemplarSelector(2).fit(rows), X=rows)
    >>> len(ax.collections)
    2
    """
    if hasattr(selector_or_X, "exemplars_"):
        chosen, weights = _plane(selector_or_X.exemplars_, "exemplars"), selector_or_X.weights_
        everything = None if X is None else _plane(X, "exemplars")
    else:
        if indices is None:
            raise ValueError("give indices: which of the rows are exemplars (or a fitted ExemplarSelector)")
        everything = _plane(selector_or_X, "exemplars")
        chosen = everything[np.asarray(indices)]
    ax = _axes(ax)
    if everything is not None:
        ax.scatter(*everything.T, s=9, c=GRAY, linewidths=0, alpha=0.6, zorder=1, label="rows")
    size = 60.0 if weights is None else 30.0 + 270.0 * np.asarray(weights) / np.max(weights)
    style = {"c": COLORS[0], "edgecolors": "white", "linewidths": 1.0, "alpha": 0.85}
    ax.scatter(*chosen.T, s=size, zorder=2, label="exemplars", **style)
    ax.set(xlabel="feature 1", ylabel="feature 2")
    if everything is not None:
        _legend_above(ax)
    return _tidy(ax)
