"""Plots of decision surfaces, learning curves and exemplars.

Needs ``pip install evermargin[plot]``. Each function draws into ``ax`` (by default a new figure) and returns it.
Colors are those of Okabe and Ito, which color-blind readers can distinguish; classes also have different
markers.

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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ._labels import is_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["decision_surface", "exemplars", "learning_curve"]

#: The palette of Okabe and Ito: blue, orange, green, purple, sky blue, vermilion, black.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GRAY = "#9A9A9A"


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("evermargin.plot needs matplotlib: pip install evermargin[plot]") from error
    return plt.subplots(figsize=(5.2, 4.2), layout="constrained")[1]


def _two_features(X: Any, plot_name: str) -> np.ndarray:
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2:
        found = X.shape[1] if X.ndim == 2 else f"an array of {X.ndim} dimensions"
        raise ValueError(
            f"{plot_name} needs 2 features, not {found}; reduce them with PCA(2)"
        )
    return X


def _limits(X: np.ndarray, margin: float = 0.08) -> tuple[np.ndarray, np.ndarray]:
    low, high = X.min(axis=0), X.max(axis=0)
    room = np.where(high > low, margin * (high - low), 0.5)
    return low - room, high + room


def _legend_above(ax: Axes) -> None:
    """Legend above the axes, where it hides no points."""
    style: dict[str, Any] = {
        "loc": "lower left",
        "bbox_to_anchor": (0, 1),
        "ncols": 4,
        "borderpad": 0.2,
        "handletextpad": 0.2,
    }
    ax.legend(fontsize="small", frameon=False, columnspacing=1.0, **style)


def _hide_top_and_right_spines(ax: Axes) -> Axes:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def decision_surface(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    missing_label: Any = -1,
    resolution: int = 200,
    margin: bool = True,
    legend: bool = True,
) -> Axes:
    """Plot the decision regions of a classifier with two features.

    Parameters
    ----------
    estimator : object
        A fitted classifier.
    X : {array-like, sparse matrix} of shape (n_samples, 2)
        Samples to plot.
    y : array-like of shape (n_samples,), default=None
        Class labels; unlabeled rows are small and gray. Without ``y`` all rows are unlabeled.
    ax : matplotlib axes, default=None
        Axes to draw into; None creates a figure.
    missing_label : scalar or None, default=-1
        Value in ``y`` that marks unlabeled rows, unless it is a class of the classifier.
    resolution : int, default=200
        Number of grid points along each axis.
    margin : bool, default=True
        Whether to draw the margin, f = -1 and f = 1, if the classifier has two classes and decision values.
    legend : bool, default=True
        Whether to draw a legend of the classes.

    Returns
    -------
    ax : matplotlib axes
        Axes with the plot.

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
    X = _two_features(X, "decision_surface")
    ax = _axes(ax)
    classes = np.asarray(estimator.classes_)
    low, high = _limits(X)
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
    return _hide_top_and_right_spines(ax)


def _regions(ax: Axes, across: np.ndarray, up: np.ndarray, codes: np.ndarray, count: int) -> None:
    from matplotlib.colors import ListedColormap

    tints = ListedColormap([COLORS[c % len(COLORS)] for c in range(count)])
    extent = across[0], across[-1], up[0], up[-1]
    style: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest", "zorder": 0}
    ax.imshow(codes, extent=extent, cmap=tints, vmin=-0.5, vmax=count - 0.5, alpha=0.16, **style)


def _lines(ax: Axes, across: np.ndarray, up: np.ndarray, decision: np.ndarray, margin: bool) -> None:
    ax.contour(across, up, decision, levels=[0.0], colors="#222222", linewidths=1.6, zorder=2)
    if margin:
        style: dict[str, Any] = {"colors": "#222222", "linewidths": 0.9, "linestyles": "dashed", "alpha": 0.7}
        ax.contour(across, up, decision, levels=[-1.0, 1.0], zorder=2, **style)


def _rows(ax: Axes, X: np.ndarray, y: ArrayLike | None, classes: np.ndarray, missing_label: Any) -> None:
    """Draw unlabeled rows small and gray, then labeled rows large on top."""
    if y is None:
        missing, labels = np.ones(len(X), dtype=bool), np.zeros(len(X))
    else:
        labels = np.asarray(y)
        missing = is_missing(labels, missing_label)
        missing &= ~np.isin(missing_label, classes)
    if missing.any():
        ax.scatter(X[missing, 0], X[missing, 1], s=9, c=GRAY, linewidths=0, alpha=0.8, zorder=3, label="no label")
    for code, class_ in enumerate(classes):
        own = ~missing & (labels == class_)
        if own.any():
            style: dict[str, Any] = {"s": 38, "edgecolors": "white", "linewidths": 0.7, "zorder": 4}
            color, marker = COLORS[code % len(COLORS)], MARKERS[code % len(MARKERS)]
            ax.scatter(X[own, 0], X[own, 1], c=color, marker=marker, label=str(class_), **style)


def learning_curve(
    curves: Mapping[Any, tuple[ArrayLike, ArrayLike]],
    ax: Axes | None = None,
    *,
    xlabel: str = "labels",
    ylabel: str = "accuracy",
) -> Axes:
    """Plot scores against numbers of labels, with one line per query strategy.

    Parameters
    ----------
    curves : mapping of name to (labels, scores)
        ``scores`` has one value per entry of ``labels``, or one row of values per repetition: then the mean is
        drawn with a band of one standard error.
    ax : matplotlib axes, default=None
        Axes to draw into; None creates a figure.
    xlabel, ylabel : str
        Labels of the axes.

    Returns
    -------
    ax : matplotlib axes
        Axes with the plot.

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
        raise ValueError("no curve to draw: pass {name: (labels, scores)}")
    ax = _axes(ax)
    for number, (name, curve) in enumerate(curves.items()):
        labels, scores = np.asarray(curve[0]), np.atleast_2d(np.asarray(curve[1], dtype=np.float64))
        if labels.ndim != 1 or scores.shape[1] != len(labels):
            raise ValueError(f"curve {name!r}: {scores.shape[1]} scores for {labels.size} numbers of labels")
        _curve(ax, number, name, labels, scores)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.legend(fontsize="small", frameon=False)
    return _hide_top_and_right_spines(ax)


def _curve(ax: Axes, number: int, name: Any, labels: np.ndarray, scores: np.ndarray) -> None:
    color = COLORS[number % len(COLORS)]
    style = ("-", "--", "-.", ":")[number % 4]
    mean = scores.mean(axis=0)
    ax.plot(labels, mean, color=color, linestyle=style, linewidth=2, label=str(name))
    if len(scores) > 1:
        error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
        ax.fill_between(labels, mean - error, mean + error, color=color, alpha=0.18, linewidth=0)


def exemplars(
    selector_or_X: Any,
    indices: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    X: Any = None,
    weights: ArrayLike | None = None,
) -> Axes:
    """Plot exemplars with sizes that show how many samples they represent.

    Parameters
    ----------
    selector_or_X : ExemplarSelector or array-like of shape (n_samples, 2)
        A fitted selector, or all samples.
    indices : array-like of int, default=None
        Indices of the exemplars; required if the first argument has samples.
    ax : matplotlib axes, default=None
        Axes to draw into; None creates a figure.
    X : array-like of shape (n_samples, 2), default=None
        All samples, drawn small and gray; only if the first argument is a selector.
    weights : array-like, default=None
        Number of samples that each exemplar represents; only if the first argument has samples.

    Returns
    -------
    ax : matplotlib axes
        Axes with the plot.

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
        chosen, weights = _two_features(selector_or_X.exemplars_, "exemplars"), selector_or_X.weights_
        all_rows = None if X is None else _two_features(X, "exemplars")
    else:
        if indices is None:
            raise ValueError("give indices of the exemplars, or pass a fitted ExemplarSelector")
        all_rows = _two_features(selector_or_X, "exemplars")
        chosen = all_rows[np.asarray(indices)]
    ax = _axes(ax)
    if all_rows is not None:
        ax.scatter(all_rows[:, 0], all_rows[:, 1], s=9, c=GRAY, linewidths=0, alpha=0.6, zorder=1, label="rows")
    represented = None if weights is None else np.asarray(weights)
    size = 60.0 if represented is None else 30.0 + 270.0 * represented / represented.max()
    style: dict[str, Any] = {"c": COLORS[0], "edgecolors": "white", "linewidths": 1.0, "alpha": 0.85}
    ax.scatter(chosen[:, 0], chosen[:, 1], s=size, zorder=2, label="exemplars", **style)
    ax.set(xlabel="feature 1", ylabel="feature 2")
    if all_rows is not None:
        _legend_above(ax)
    return _hide_top_and_right_spines(ax)
