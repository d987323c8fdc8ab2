"""The loop that never ends as bytes and files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np

from . import _core
from ._base import plain
from ._label_encoder import LabelEncoder
from ._files import write_whole

if TYPE_CHECKING:
    from typing_extensions import Self


class PersistenceMixin:
    """``save`` and ``load`` of an estimator around an engine."""

    def to_bytes(self) -> bytes:
        """Everything that is needed to go on, as bytes with a version and a checksum.

        Returns
        -------
        state : bytes
            For ``from_bytes``.
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
        return self._engine.to_bytes(json.dumps(about, default=plain))

    @classmethod
    def from_bytes(cls, state: bytes) -> Self:
        """The estimator as it was.

        Samples of the last batch are not kept with it: ``ask(return_X=True)`` gives rows of the next one on.

        Parameters
        ----------
        state : bytes
            From ``to_bytes``.

        Returns
        -------
        self : object
            The estimator.
        """
        engine, about = _core.Engine.with_about(state)
        try:
            about = json.loads(about)
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
        self._engine, self._asked, self._seed = engine, {}, params["random_state"]
        self._first = json.loads(engine.metrics())["samples"] - len(self._codes)
        self._batch = None
        self.classes_ = self._label_encoder.classes()
        self.sample_ids_ = np.arange(self._first, self._first + len(self._codes))
        self.confidence_ = np.full(len(self._codes), np.nan)
        self._show()
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Write ``to_bytes`` to a file, which appears whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The file.
        """
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike) -> Self:
        """The estimator in a file that ``save`` wrote.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        self : object
            The estimator.
        """
        with open(path, "rb") as file:
            return cls.from_bytes(file.read())
