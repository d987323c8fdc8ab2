"""Oversampling of small classes with the interface of imbalanced-learn (``fit_resample``)."""

from __future__ import annotations

import json
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from . import _core
from ._base import from_rows, rows
from ._kernels import is_number, kernel_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import RandomStateLike


class _Sampler(BaseEstimator):
    """Base class of the samplers, which append synthetic rows to the data."""

    _sampler_type = "over-sampling"
    random_state: RandomStateLike

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Check the data and compute the number of synthetic rows per class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            The sampler.
        """
        self._check_data(X, y)
        return self

    def _check_data(self, X: Any, y: ArrayLike) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        X, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__} needs rows of two classes or more; found: {classes[0]}")
        self._set_row_counts(classes, np.bincount(codes))
        return X, labels, classes, codes

    def fit_resample(self, X: Any, y: ArrayLike) -> tuple[Any, np.ndarray]:
        """Append synthetic rows of the small classes to the data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        X_resampled : {ndarray, sparse matrix} of shape (n_samples_new, n_features)
            The given samples, followed by the synthetic ones.
        y_resampled : ndarray of shape (n_samples_new,)
            Class labels.
        """
        X, given, classes, codes = self._check_data(X, y)
        rng = check_random_state(self.random_state)
        parts, labels = [X], [given]
        for number, class_ in enumerate(classes):
            made = self._synthetic_rows(X, codes == number, class_, rng)
            if made is not None and made.shape[0]:
                parts.append(made)
                labels.append(np.full(made.shape[0], class_, dtype=given.dtype))
        joined = sparse.vstack(parts).tocsr() if sparse.issparse(X) else np.concatenate(parts)
        return joined, np.concatenate(labels)

    def _set_row_counts(self, classes: np.ndarray, counts: np.ndarray) -> None:
        """Check the parameters and set the number of synthetic rows per class, where it is known."""
        raise NotImplementedError

    def _synthetic_rows(self, X: Any, inside: np.ndarray, class_: Any, rng: np.random.RandomState) -> Any:
        """Synthetic rows of a class, whose rows the mask ``inside`` marks; None if there are none."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class SMOTE(_Sampler):
    """Oversampling with synthetic rows between neighbors of a small class (Chawla et al. 2002).

    Each synthetic row lies on the segment between a row of the class and one of its nearest neighbors in the
    class. All rows of the class get the same number of segments, up to a difference of one.

    Parameters
    ----------
    sampling_strategy : {"auto", "not majority", "all", "minority"}, float, or dict, default="auto"
        Classes that grow to the size of the largest: all but the largest (auto, not majority, all) or only the
        smallest (minority). With two classes, a float is the ratio of the sizes of the smaller and the larger
        class after resampling. A dict maps each class to its number of rows after resampling.
    k_neighbors : int, default=5
        Number of nearest neighbors among which one is drawn.
    random_state : int, RandomState instance or None, default=None
        Controls the choice of neighbors and the positions on the segments.

    Attributes
    ----------
    sampling_strategy_ : dict
        Number of synthetic rows per class.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    SMOTE does not suit categorical features, because values between two categories have no meaning. Scale
    features first, because neighbors depend on the scale. Oversampling before cross-validation leaks held-out
    rows into the training part: resample the training part only.

    Examples
    --------
    >>> import numpy as np
    >>> from evermargin import SMOTE
    >>> X = np.random.RandomState(0).normal(size=(40, 2))
    >>> y = np.array(["rare"] * 8 + ["common"] * 32)
    >>> X_new, y_new = SMOTE(random_state=0).fit_resample(X, y)
    >>> X_new.shape, int((y_new == "rare").sum())
    ((64, 2), 32)
    """

    sampling_strategy_: dict[Any, int]

    def __init__(
        self,
        *,
        sampling_strategy: str | float | dict[Any, int] = "auto",
        k_neighbors: int = 5,
        random_state: RandomStateLike = None,
    ) -> None:
        self.sampling_strategy = sampling_strategy
        self.k_neighbors = k_neighbors
        self.random_state = random_state

    def _set_row_counts(self, classes: np.ndarray, counts: np.ndarray) -> None:
        k = self.k_neighbors
        if not isinstance(k, numbers.Integral) or k < 1:
            raise ValueError(f"k_neighbors={k!r}: must be a whole number from 1 on")
        self.sampling_strategy_ = rows_to_add_by_class(self.sampling_strategy, classes, counts)

    def _synthetic_rows(self, X: Any, inside: np.ndarray, class_: Any, rng: np.random.RandomState) -> Any:
        count, own = self.sampling_strategy_.get(class_, 0), np.flatnonzero(inside)
        if count == 0:
            return None
        even, rest = divmod(count, len(own))
        rounds = even + (rest > 0)
        seed = int(rng.randint(0, 2**31 - 1))
        kernel = json.dumps({"type": "linear"})
        made = from_rows(_core.smote(rows(X), own.astype(np.int64), kernel, int(self.k_neighbors), rounds, seed))
        once_more = np.zeros(len(own), dtype=bool)
        once_more[rng.permutation(len(own))[:rest]] = True
        kept = (np.arange(rounds) < even) | once_more[:, None]
        return made if rest == 0 else made[np.flatnonzero(kept.ravel())]


def rows_to_add_by_class(
    strategy: str | float | dict[Any, int], classes: np.ndarray, counts: np.ndarray
) -> dict[Any, int]:
    """Number of synthetic rows per class."""
    present: dict[Any, int] = dict(zip(classes.tolist(), counts.tolist(), strict=True))
    largest, smallest = max(present, key=present.__getitem__), min(present, key=present.__getitem__)
    if isinstance(strategy, dict):
        return {c: _rows_to_add(c, n, present) for c, n in strategy.items()}
    if is_number(strategy):
        if len(present) != 2:
            raise ValueError(
                f"sampling_strategy={strategy}: a ratio needs data of two classes; use a dict of rows per class"
            )
        if not 0 < strategy <= 1:
            raise ValueError(f"sampling_strategy={strategy}: must be above 0 and at most 1")
        return {smallest: _rows_to_add(smallest, int(present[largest] * strategy), present)}
    if strategy == "minority":
        return {smallest: present[largest] - present[smallest]}
    if strategy in ("auto", "not majority", "all"):
        return {c: present[largest] - n for c, n in present.items() if c != largest}
    raise ValueError(
        f"sampling_strategy={strategy!r}: must be 'auto', 'not majority', 'all', 'minority', a ratio or "
        "a dict"
    )


def _rows_to_add(class_: Any, wanted: int, counts: dict[Any, int]) -> int:
    if class_ not in counts:
        raise ValueError(f"sampling_strategy contains class {class_!r}, and y has no row of it")
    if wanted < counts[class_]:
        raise ValueError(
            f"class {class_!r} has {counts[class_]} rows already, more than the requested {wanted}"
        )
    return int(wanted) - counts[class_]


class VIRTUAL(_Sampler):
    """Oversampling with synthetic rows around support vectors of a small class (Ertekin 2009, chapter 5).

    An online support vector machine learns the rows in order of their distance from its boundary, the nearest
    first. Whenever a row of the small class becomes a support vector, synthetic points between it and its
    nearest neighbors in the class are added to the rows that are still to be learned. The result has the given
    rows and all synthetic points. With several classes, each class except the largest is learned against the
    rest.

    Parameters
    ----------
    n_points : int, default=1
        Number of synthetic points per row that becomes a support vector.
    k_neighbors : int, default=5
        Number of nearest neighbors among which one is drawn.
    C : float, default=1.0
        Cost of a margin violation.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel of the support vector machine; neighbors are nearest in its feature space.
    gamma : float or "scale" or "auto", default="scale"
        Width of the rbf and poly kernels; scale is 1/(n_features * X.var()), auto is 1/n_features.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly kernel.
    stop : {"margin", "never"}, default="margin"
        Whether to stop when no remaining row is inside the margin, or to learn all rows.
    random_state : int, RandomState instance or None, default=None
        Controls the pools, the choice of neighbors and the positions on the segments.

    Attributes
    ----------
    n_made_ : dict
        Number of synthetic points per class.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    A row has at most ``n_points`` synthetic points, so the classes do not become equal in size. The support
    vectors depend on the kernel and C: use the same values for the classifier that is trained on the result.

    Examples
    --------
    >>> import numpy as np
    >>> from evermargin import VIRTUAL
    >>> rng = np.random.RandomState(0)
    >>> X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(1.5, 1, (10, 2))])
    >>> y = np.repeat([0, 1], [100, 10])
    >>> X_new, y_new = VIRTUAL(random_state=0).fit_resample(X, y)
    >>> 0 < int((y_new == 1).sum()) - 10 <= 10
    True
    """

    def __init__(
        self,
        *,
        n_points: int = 1,
        k_neighbors: int = 5,
        C: float = 1.0,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        stop: str = "margin",
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_points = n_points
        self.k_neighbors = k_neighbors
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.stop = stop
        self.random_state = random_state

    def _set_row_counts(self, classes: np.ndarray, counts: np.ndarray) -> None:
        for name in ("n_points", "k_neighbors"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(f"{name}={value!r}: must be a whole number from 1 on")
        if self.stop not in ("margin", "never"):
            raise ValueError(f"stop={self.stop!r}: must be 'margin' or 'never'")
        self._largest = classes[np.argmax(counts)]
        self.n_made_: dict[Any, int] = {}

    def _synthetic_rows(self, X: Any, inside: np.ndarray, class_: Any, rng: np.random.RandomState) -> Any:
        if class_ == self._largest:
            return None
        settings = {
            "kernel": kernel_of(self.kernel, self.gamma, X, self.degree, self.coef0),
            "c": float(self.C),
            "select": "active",
            "stop": self.stop,
            "virtual": int(self.n_points),
            "n_neighbors": int(self.k_neighbors),
            "seed": int(rng.randint(0, 2**31 - 1)),
        }
        made = from_rows(_core.virtual_points(rows(X), inside, json.dumps(settings)))
        name = class_.item() if isinstance(class_, np.generic) else class_
        self.n_made_[name] = 0 if made is None else made.shape[0]
        return made
