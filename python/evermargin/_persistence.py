"""Saving and loading of stream classifiers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from . import _core
from ._base import to_json_value
from ._files import write_whole
from ._label_encoder import LabelEncoder
from ._stream_state import StreamState

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import StrPath


class PersistenceMixin(StreamState):
    """Methods that save and load an estimator that wraps an engine."""

    def to_bytes(self) -> bytes:
        """Serialize the estimator, with a version and a checksum, so that the stream can be resumed.

        Returns
        -------
        state : bytes
            The state, for ``from_bytes``.
        """
        self._engine_or_error()
        params = self.get_params(deep=False)
        params["random_state"] = self._seed
        if isinstance(self.class_weight, dict):
            params["class_weight"] = {"pairs": [[k, w] for k, w in self.class_weight.items()]}
        names = getattr(self, "feature_names_in_", None)
        about = {
            "params": params,
            "labels": self._label_encoder.saved(),
            "features": self.n_features_in_,
            "names": None if names is None else list(names),
            "codes": self._codes,
            "sources": self.sources_,
            "events": self.events_,
        }
        return self._engine.to_bytes(json.dumps(about, default=to_json_value))

    @classmethod
    def from_bytes(cls, state: bytes) -> Self:
        """Restore an estimator from the bytes of ``to_bytes``.

        The state does not contain the samples of the last batch, so ``ask(return_X=True)`` works from the next batch on.

        Parameters
        ----------
        state : bytes
            Result of ``to_bytes``.

        Returns
        -------
        self : object
            The restored estimator.
        """
        engine, text = _core.Engine.with_about(state)
        try:
            about = json.loads(text)
            params = about["params"]
            if isinstance(params["class_weight"], dict):
                params["class_weight"] = dict(map(tuple, params["class_weight"]["pairs"]))
            self = cls(**params)
            self._label_encoder = LabelEncoder.restored(about["labels"])
            self.n_features_in_ = about["features"]
            if about["names"] is not None:
                self.feature_names_in_ = np.array(about["names"], dtype=object)
            self._codes = np.array(about["codes"], dtype=np.int64)
            self.events_, self.sources_ = about["events"], np.array(about["sources"], dtype=object)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not the state of a {cls.__name__}: {error}") from None
        self._engine, self._queried_rows, self._seed = engine, {}, params["random_state"]
        self._first = json.loads(engine.metrics())["samples"] - len(self._codes)
        self._batch = None
        self.classes_ = self._label_encoder.classes()
        self.sample_ids_ = np.arange(self._first, self._first + len(self._codes))
        self.confidence_ = np.full(len(self._codes), np.nan)
        self._update_labels()
        return self

    def save(self, path: StrPath) -> None:
        """Write the state to a file atomically.

        Parameters
        ----------
        path : str or path-like
            Path of the file.
        """
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Restore an estimator from a file that ``save`` wrote.

        Parameters
        ----------
        path : str or path-like
            Path of the file.

        Returns
        -------
        self : object
            The restored estimator.
        """
        with open(path, "rb") as file:
            return cls.from_bytes(file.read())
