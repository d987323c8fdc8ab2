"""Attributes of the stream classifier that its mixins use, with their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ._label_encoder import LabelEncoder
    from ._session import StreamEngine


class StreamState:
    """Base class of the mixins. The stream classifier sets the attributes and defines the methods."""

    class_weight: dict[Any, float] | str | None
    missing_label: Any

    classes_: np.ndarray
    labels_: np.ndarray
    confidence_: np.ndarray
    sources_: np.ndarray
    sample_ids_: np.ndarray
    events_: list[dict[str, Any]]
    n_features_in_: int
    feature_names_in_: np.ndarray

    _engine: StreamEngine
    _label_encoder: LabelEncoder
    _seed: int
    #: Class numbers of the last batch, -1 where unknown; id of its first row; its rows, None after loading.
    _codes: np.ndarray
    _first: int
    _batch: Any
    #: Rows of pending queries, by their ids.
    _queried_rows: dict[int, Any]

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def _engine_or_error(self) -> StreamEngine: ...
        def _record_events(self, effects_json: str) -> list[int]: ...
        def _set_ratio(self, engine: StreamEngine, encoder: LabelEncoder) -> None: ...
        def _update_labels(self) -> None: ...
