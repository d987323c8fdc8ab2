"""Classifier for River, with features and classes that may appear and disappear.

Needs River: ``pip install evermargin[river]``.
"""

from __future__ import annotations

import json
import math
import numbers
import zlib
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

try:
    from river import base
except ImportError as error:  # pragma: no cover
    raise ImportError("evermargin.river needs River: pip install evermargin[river]") from error

from . import _core
from ._base import to_json_value

if TYPE_CHECKING:
    import pandas as pd

    from ._core import Rows

#: Key of a column: a feature, or a feature with a text value.
Column: TypeAlias = Hashable

#: Columns and values of a record, sorted by column.
Record: TypeAlias = list[tuple[int, float]]

#: Largest magnitude of a feature value that the core accepts.
MAX_MAGNITUDE = 1e100


class EverMarginClassifier(base.MiniBatchClassifier):
    """Online support vector machine for streams whose classes and features may change.

    Records are learned in batches of `batch_size`. Batches depend only on the learned records, so predictions do not
    change the model, and `learn_many` is equivalent to a loop of `learn_one`. A prediction uses all complete
    batches. Before the first batch is complete, the prediction is the distribution of the classes so far.

    Each feature gets its own column, in the order of appearance, up to `max_features`; each later feature shares
    the column that the hash of its name selects. (Hashing all names would need no index, but features would
    collide long before all columns are used, and streams often have few features.) A text value is one-hot
    encoded. Absent features and None are 0. A record with NaN, infinity or a magnitude above 1e100 is an error
    and leaves the model unchanged.

    Parameters
    ----------
    C
        Cost of a margin violation.
    gamma
        Width of the rbf kernel; 0 uses 1/(d·Var X) of the first batch.
    kernel
        "rbf" or "linear".
    loss
        "hinge", or "ramp" if labels may be wrong.
    window
        Number of latest labels that the model uses; 0 uses all labels up to `max_labels`.
    batch_size
        Number of records per batch.
    max_features
        Maximum number of columns.
    max_labels
        Maximum number of stored records.
    max_points
        Maximum number of support vectors.
    seed
        Random seed.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics
    >>> from evermargin.river import EverMarginClassifier

    >>> metric = evaluate.progressive_val_score(
    ...     datasets.Phishing(), EverMarginClassifier(), metrics.Accuracy()
    ... )
    >>> metric.get() > 0.88
    True

    """

    def __init__(
        self,
        C: float = 1.0,
        gamma: float = 0.0,
        kernel: str = "rbf",
        loss: str = "hinge",
        window: int = 0,
        batch_size: int = 50,
        max_features: int = 256,
        max_labels: int = 500,
        max_points: int = 500,
        seed: int = 1,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel
        self.loss = loss
        self.window = window
        self.batch_size = batch_size
        self.max_features = max_features
        self.max_labels = max_labels
        self.max_points = max_points
        self.seed = seed
        self._columns: dict[Column, int] = {}
        self._labels: dict[base.typing.ClfTarget, int] = {}
        self._counts: list[int] = []
        self._pending: list[tuple[Record, int]] = []
        self._engine: _core.Engine | None = None
        self._model: _core.Classifier | None = None
        self._predictor: _core.Predictor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_predictor": None}

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"batch_size": 25}

    def learn_one(self, x: dict[base.typing.FeatureName, Any], y: base.typing.ClfTarget) -> None:
        """Update the model with a record.

        Parameters
        ----------
        x
            Features; numbers, booleans or texts.
        y
            Class of the record.

        """
        if self._engine is None:
            self._engine = self._new_engine()
        row, new_columns = self._row(x, grow=True)
        hash(y)
        if y != y:
            raise ValueError(f"y={y!r} is no class; leave out unlabeled records")
        self._columns.update(new_columns)
        self._append(row, y, self._engine)

    def _append(self, row: Record, y: base.typing.ClfTarget, engine: _core.Engine) -> None:
        number = self._labels.setdefault(y, len(self._labels))
        if number == len(self._counts):
            self._counts.append(0)
        self._counts[number] += 1
        self._pending.append((row, number))
        if len(self._pending) >= self.batch_size:
            self._learn(engine)

    def _learn(self, engine: _core.Engine) -> None:
        """Learn the pending batch; if the engine rejects it, it is dropped."""
        batch, self._pending = self._pending, []
        codes = np.array([number for _, number in batch], dtype=np.int64)
        engine.batch(self._rows([row for row, _ in batch]), codes)
        self._model = engine.classifier()
        self._predictor = None

    def _new_engine(self) -> _core.Engine:
        """Create an engine; invalid parameters are an error."""
        for name, minimum in {"batch_size": 1, "max_features": 1, "window": 0}.items():
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < minimum:
                raise ValueError(f"{name}={value!r}: must be a whole number, {minimum} or more")
        if self.kernel not in ("rbf", "linear"):
            raise ValueError(f"kernel={self.kernel!r}: must be 'rbf' or 'linear'")
        if not isinstance(self.C, numbers.Real) or not 0 < self.C < math.inf:
            raise ValueError(f"C={self.C!r}: must be a number above 0")
        if not isinstance(self.gamma, numbers.Real) or not 0 <= self.gamma < math.inf:
            raise ValueError(f"gamma={self.gamma!r}: must be a number above 0, or 0 to take it from the first batch")
        return _core.Engine(json.dumps(self._settings(), default=to_json_value), transduction=False)

    def _settings(self) -> dict[str, Any]:
        return {
            "c": self.C,
            "kernel": self.kernel,
            "gamma": self.gamma if self.gamma > 0 else "scale",
            "loss": self.loss,
            "scale": "none",
            "label_source": "model",
            "strategy": "none",
            "forget": f"window={self.window}" if self.window > 0 else "nothing",
            "max_labels": self.max_labels,
            "max_points": self.max_points,
            "max_classes": 10_000,
            "seed": self.seed,
        }

    def _row(self, x: dict[base.typing.FeatureName, Any], grow: bool) -> tuple[Record, dict[Column, int]]:
        """Columns and values of a record, sorted by column, and the columns of new features for the index."""
        columns, unseen = self._columns, []
        found: dict[int, float] = {}
        new_columns: dict[Column, int] = {}
        for name, value in x.items():
            if value is None:
                continue
            key: Column
            if isinstance(value, str):
                key, value = (name, value), 1.0
            else:
                key, value = (name,) if isinstance(name, tuple) else name, _number(name, value)
            at = columns.get(key)
            if at is None:
                unseen.append((repr(key), key, name, value))
            elif value:
                found[at] = found.get(at, 0.0) + value
        for text, key, name, value in sorted(unseen, key=lambda feature: feature[0]):
            at = len(columns) + len(new_columns)
            if at >= self.max_features:
                at = zlib.crc32(text.encode()) % self.max_features
            elif grow:
                new_columns[key] = at
            else:
                continue
            if value:
                found[at] = _number(name, found.get(at, 0.0) + value)
        return sorted(found.items()), new_columns

    def _rows(self, found: list[Record]) -> Rows:
        """Records as compressed sparse rows for the core."""
        indptr = np.zeros(len(found) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in found], out=indptr[1:])
        indices = np.array([at for row in found for at, _ in row], dtype=np.int64)
        values = np.array([value for row in found for _, value in row], dtype=np.float64)
        return indptr, indices, values, self.max_features

    def _class_scores(self, found: list[Record]) -> np.ndarray:
        """Class scores between 0 and 1, one row per record."""
        counts = np.array(self._counts, dtype=float)
        if self._model is None:
            return np.tile(counts / counts.sum(), (len(found), 1))
        if self._predictor is None:
            self._predictor = _core.Predictor(self._model)
        f = 2.0 * self._predictor.decision(self._rows(found))
        f = np.column_stack([np.zeros(len(f)), f]) if f.shape[1] == 1 else f
        shares = np.exp(f - f.max(axis=1, keepdims=True))
        out = np.zeros((len(found), len(counts)))
        out[:, [int(name) for name in self._model.classes]] = shares / shares.sum(axis=1, keepdims=True)
        return out

    def predict_proba_one(
        self, x: dict[base.typing.FeatureName, Any], **kwargs: Any
    ) -> dict[base.typing.ClfTarget, float]:
        """Compute class scores of a record, which sum to 1 but are not calibrated; {} before any label.

        Parameters
        ----------
        x
            Features.

        Returns
        -------
        A score for each class seen so far.

        """
        if not self._labels:
            return {}
        shares = self._class_scores([self._row(x, grow=False)[0]])[0]
        return dict(zip(self._labels, shares.tolist(), strict=True))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Update the model with the rows of a data frame, in their order.

        Parameters
        ----------
        X
            Data frame of features.
        y
            Classes of the rows.

        """
        names = list(X.columns)
        for values, label in zip(X.itertuples(index=False, name=None), y, strict=False):
            self.learn_one(dict(zip(names, values, strict=True)), label)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Compute class scores of the rows of a data frame.

        Parameters
        ----------
        X
            Data frame of features.

        Returns
        -------
        A data frame with one column per class seen so far.

        """
        import pandas as pd

        if not self._labels:
            return pd.DataFrame(index=X.index)
        names = list(X.columns)
        records = (dict(zip(names, values, strict=True)) for values in X.itertuples(index=False, name=None))
        found = [self._row(x, grow=False)[0] for x in records]
        return pd.DataFrame(self._class_scores(found), columns=list(self._labels), index=X.index)


def _number(name: Hashable, value: Any) -> float:
    """The value of a feature as a number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= MAX_MAGNITUDE:
        raise ValueError(
            f"feature {name!r}: {value!r} is not usable; leave out missing values or set them to None, and limit "
            "magnitudes to 1e100"
        )
    return number
