"""evermargin in River: one record at a time, features that come and go.

Needs River: ``pip install evermargin[river]``.
"""

from __future__ import annotations

import json
import math
import numbers
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from river import base
except ImportError as error:  # pragma: no cover
    raise ImportError("evermargin.river needs River: pip install evermargin[river]") from error

from . import _core
from ._base import plain

if TYPE_CHECKING:
    import pandas as pd

#: Largest magnitude the core takes.
LARGEST = 1e100


class EverMarginClassifier(base.MiniBatchClassifier):
    """A support vector machine that never stops learning, with classes and features that come and go.

    Records are learned in batches of `batch_size`, whose borders depend on the records alone: so prediction
    changes nothing, and `learn_many` is a loop of `learn_one`. A prediction knows all full batches; the records
    of the batch that is not full wait. Before the first batch is full, classes are predicted by how often they
    came.

    Every feature gets a column of its own, in the order of appearance, up to `max_features`; a feature that
    comes later shares the column its name hashes to. (Hashing from the start would need no index, but features
    would collide long before the columns are used up, and small rows are what streams have.) A text is a
    feature of its own, 1 where it occurs. What is absent is 0, and so is None. A record with NaN, infinity or a
    magnitude above 1e100 is refused, and the model is as it was.

    Parameters
    ----------
    C
        Cost of a margin violation.
    gamma
        Width of the rbf kernel; 0 is 1/(d·Var X) of the first batch.
    kernel
        "rbf" or "linear".
    loss
        "hinge", or "ramp" where labels may be wrong.
    window
        Labels before the last so many are forgotten; 0 forgets nothing but what exceeds the caps.
    batch_size
        Records that are learned together.
    max_features
        Columns.
    max_labels
        Most records remembered.
    max_points
        Most support vectors.
    seed
        Seed of everything random.

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
    ):
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
        self._columns = {}
        self._labels = {}
        self._counts = []
        self._waiting = []
        self._engine = None
        self._model = None
        self._ready = None

    def __getstate__(self):
        return {**self.__dict__, "_ready": None}

    @property
    def _multiclass(self):
        return True

    @classmethod
    def _unit_test_params(cls):
        yield {}
        yield {"batch_size": 25}

    def learn_one(self, x: dict, y: base.typing.ClfTarget) -> None:
        """Learn a record.

        Parameters
        ----------
        x
            Features; numbers, booleans or texts.
        y
            Its class.

        """
        if self._engine is None:
            self._engine = self._begun()
        row, fresh = self._row(x, grow=True)
        hash(y)
        if y != y:
            raise ValueError(f"y={y!r} is no class; leave records without a label out")
        self._columns.update(fresh)
        self._take(row, y)

    def _take(self, row, y):
        number = self._labels.setdefault(y, len(self._labels))
        if number == len(self._counts):
            self._counts.append(0)
        self._counts[number] += 1
        self._waiting.append((row, number))
        if len(self._waiting) >= self.batch_size:
            self._learn()

    def _learn(self):
        """Learns the batch that waits; one that is refused does not come again."""
        batch, self._waiting = self._waiting, []
        codes = np.array([number for _, number in batch], dtype=np.int64)
        self._engine.batch(self._rows([row for row, _ in batch]), codes)
        self._model = self._engine.classifier()
        self._ready = None

    def _begun(self):
        """An engine, if the settings are good."""
        for name, least in {"batch_size": 1, "max_features": 1, "window": 0}.items():
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < least:
                raise ValueError(f"{name}={value!r}: must be a whole number, {least} or more")
        if self.kernel not in ("rbf", "linear"):
            raise ValueError(f"kernel={self.kernel!r}: must be 'rbf' or 'linear'")
        if not isinstance(self.C, numbers.Real) or not 0 < self.C < math.inf:
            raise ValueError(f"C={self.C!r}: must be a number above 0")
        if not isinstance(self.gamma, numbers.Real) or not 0 <= self.gamma < math.inf:
            raise ValueError(f"gamma={self.gamma!r}: must be a number above 0, or 0 to take it from the first batch")
        return _core.Engine(json.dumps(self._settings(), default=plain), transduction=False)

    def _settings(self):
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

    def _row(self, x, grow):
        """Columns and values of a record, by column; and the columns of features to be taken into the index."""
        columns, found, strange, fresh = self._columns, {}, [], {}
        for name, value in x.items():
            if value is None:
                continue
            if isinstance(value, str):
                key, value = (name, value), 1.0
            else:
                key, value = (name,) if isinstance(name, tuple) else name, _number(name, value)
            at = columns.get(key)
            if at is None:
                strange.append((repr(key), key, name, value))
            elif value:
                found[at] = found.get(at, 0.0) + value
        for text, key, name, value in sorted(strange, key=lambda feature: feature[0]):
            at = len(columns) + len(fresh)
            if at >= self.max_features:
                at = zlib.crc32(text.encode()) % self.max_features
            elif grow:
                fresh[key] = at
            else:
                continue
            if value:
                found[at] = _number(name, found.get(at, 0.0) + value)
        return sorted(found.items()), fresh

    def _rows(self, found):
        """Records as the core reads them."""
        indptr = np.zeros(len(found) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in found], out=indptr[1:])
        indices = np.array([at for row in found for at, _ in row], dtype=np.int64)
        values = np.array([value for row in found for _, value in row], dtype=np.float64)
        return indptr, indices, values, self.max_features

    def _shares(self, found):
        """Shares of the classes, one row a record."""
        counts = np.array(self._counts, dtype=float)
        if self._model is None:
            return np.tile(counts / counts.sum(), (len(found), 1))
        if self._ready is None:
            self._ready = _core.Predictor(self._model)
        f = 2.0 * self._ready.decision(self._rows(found))
        f = np.column_stack([np.zeros(len(f)), f]) if f.shape[1] == 1 else f
        shares = np.exp(f - f.max(axis=1, keepdims=True))
        out = np.zeros((len(found), len(counts)))
        out[:, [int(name) for name in self._model.classes]] = shares / shares.sum(axis=1, keepdims=True)
        return out

    def predict_proba_one(self, x: dict, **kwargs: Any) -> dict:
        """Shares of the classes; not calibrated, and {} before any label.

        Parameters
        ----------
        x
            Features.

        Returns
        -------
        A share for each class that came.

        """
        if not self._labels:
            return {}
        shares = self._shares([self._row(x, grow=False)[0]])[0]
        return dict(zip(self._labels, shares.tolist()))

    def learn_many(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Learn the rows of a frame, one after the other.

        Parameters
        ----------
        X
            A frame of features.
        y
            Their classes.

        """
        names = list(X.columns)
        for values, label in zip(X.itertuples(index=False, name=None), y):
            self.learn_one(dict(zip(names, values)), label)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Shares of the classes for the rows of a frame.

        Parameters
        ----------
        X
            A frame of features.

        Returns
        -------
        A frame with a column for each class that came.

        """
        import pandas as pd

        if not self._labels:
            return pd.DataFrame(index=X.index)
        names = list(X.columns)
        records = (dict(zip(names, values)) for values in X.itertuples(index=False, name=None))
        found = [self._row(x, grow=False)[0] for x in records]
        return pd.DataFrame(self._shares(found), columns=list(self._labels), index=X.index)


def _number(name, value):
    """The value of a feature."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= LARGEST:
        raise ValueError(
            f"feature {name!r}: {value!r} is not usable; leave a missing value out or give None, and keep magnitudes "
            "to 1e100"
        )
    return number
