"""Encoding of labels of any type as the class numbers of an engine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ._base import parameter_error, rows

if TYPE_CHECKING:
    from ._session import StreamEngine
    from ._types import Label

#: Decision value of a class without any label so far.
UNSEEN_DECISION = -1e100


class LabelEncoder:
    """Maps labels of the user to class numbers of the engine, which follow the order of first appearance.

    A label that occurs only in ``class_weight`` has a number, but is no class until it appears in the data.
    """

    def __init__(self, class_weight: dict[Any, float] | str | None = None) -> None:
        self._labels: list[Label] = []
        self._numbers: dict[Label, int] = {}
        self._seen: set[int] = set()
        self.weights: dict[str, float] = {}
        self.shares: list[float] = []
        if isinstance(class_weight, dict):
            for label, weight in class_weight.items():
                self.weights[str(self._number(label))] = weight
        elif class_weight is not None and class_weight not in ("balanced", "ratio"):
            allowed = "None, balanced, ratio, or a dict of positive weights by class"
            raise parameter_error("class_weight", class_weight, allowed)

    def copy(self) -> LabelEncoder:
        other = LabelEncoder()
        other._labels, other._numbers, other._seen = self._labels[:], dict(self._numbers), set(self._seen)
        other.weights, other.shares = self.weights, self.shares
        return other

    def _number(self, label: Any) -> int:
        label = label.item() if isinstance(label, np.generic) else label
        if not isinstance(label, (str, int, float)):
            raise ValueError(f"label {label!r}: must be a text or a number, so that it can be stored in a file")
        if label not in self._numbers:
            self._numbers[label] = len(self._labels)
            self._labels.append(label)
        return self._numbers[label]

    def codes(self, labels: np.ndarray) -> np.ndarray:
        """Class numbers of labels; the labels become classes."""
        found, places = np.unique(labels, return_inverse=True)
        numbers_of = np.array([self._number(label) for label in found], dtype=np.int64)
        self._seen.update(numbers_of.tolist())
        self.classes()  # raises an error for labels of different kinds
        return numbers_of[places] if len(found) else np.zeros(0, dtype=np.int64)

    def label(self, code: int) -> Label:
        return self._labels[code]

    def code(self, label: Label) -> int:
        """Class number of a known label."""
        return self._numbers[label]

    def classes(self) -> np.ndarray:
        """Sorted classes seen so far."""
        seen = [self._labels[c] for c in self._seen]
        try:
            return np.array(sorted(seen))
        except TypeError:
            kinds = ", ".join(sorted({type(label).__name__ for label in seen}))
            raise ValueError(f"labels of different kinds ({kinds}) cannot be classes of one stream") from None

    def places(self) -> dict[int, int]:
        """Index of each class number among the sorted classes."""
        order = {label: place for place, label in enumerate(self.classes().tolist())}
        return {c: order[self._labels[c]] for c in self._seen}

    def translate(self, note: str) -> str:
        """Replace the class number in a note of the engine by the label."""
        number = re.fullmatch(r"class (\d+) is new", note)
        return f"class {self._labels[int(number[1])]} is new" if number else note

    def decisions(self, engine: StreamEngine, X: Any) -> np.ndarray:
        """Decision values in the order of the sorted classes."""
        places, classifier = self.places(), engine.classifier()
        if classifier is None:
            f = np.full((X.shape[0], len(places)), UNSEEN_DECISION)
            for code in engine.labels()[1][:1].tolist():
                f[:, places[code]] = 1.0
        else:
            values = classifier.predict(rows(X))[1]
            values = np.column_stack([-values[:, 0], values[:, 0]]) if values.shape[1] == 1 else values
            f = np.full((X.shape[0], len(places)), UNSEEN_DECISION)
            f[:, [places[int(name)] for name in classifier.classes]] = values
        if len(places) == 2:
            return np.where(f[:, 1] == UNSEEN_DECISION, -1.0, f[:, 1])
        return f[:, 0] if len(places) == 1 else f

    def saved(self) -> dict[str, Any]:
        return {"labels": self._labels, "met": sorted(self._seen), "weights": self.weights, "shares": self.shares}

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> LabelEncoder:
        encoder = cls()
        encoder._labels = list(saved["labels"])
        encoder._numbers = {label: number for number, label in enumerate(encoder._labels)}
        encoder._seen, encoder.weights, encoder.shares = set(saved["met"]), saved["weights"], saved["shares"]
        return encoder
