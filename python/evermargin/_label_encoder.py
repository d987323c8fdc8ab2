"""Labels of any type as the numbers of an engine."""

from __future__ import annotations

import re

import numpy as np

from ._base import parameter_error, rows

#: The decision for a class of which there is no label yet.
NEVER = -1e100


class LabelEncoder:
    """Labels as the user knows them, and their numbers in the engine: in the order of their first appearance.

    Labels that only have a weight are numbered, but are no classes until they are met.
    """

    def __init__(self, class_weight=None):
        self._labels, self._numbers, self._met = [], {}, set()
        self.weights, self.shares = {}, []
        if isinstance(class_weight, dict):
            for label, weight in class_weight.items():
                self.weights[str(self._number(label))] = weight
        elif class_weight is not None and class_weight not in ("balanced", "ratio"):
            allowed = "None, balanced, ratio, or a dict of positive weights by class"
            raise parameter_error("class_weight", class_weight, allowed)

    def copy(self):
        other = LabelEncoder()
        other._labels, other._numbers, other._met = self._labels[:], dict(self._numbers), set(self._met)
        other.weights, other.shares = self.weights, self.shares
        return other

    def _number(self, label):
        label = label.item() if isinstance(label, np.generic) else label
        if not isinstance(label, (str, int, float)):
            raise ValueError(f"label {label!r}: must be a text or a number, so that it can be kept in a file")
        if label not in self._numbers:
            self._numbers[label] = len(self._labels)
            self._labels.append(label)
        return self._numbers[label]

    def codes(self, labels):
        """Numbers of labels, which are met by this."""
        found, places = np.unique(labels, return_inverse=True)
        numbers_of = np.array([self._number(label) for label in found], dtype=np.int64)
        self._met.update(numbers_of.tolist())
        self.classes()  # refuses labels that cannot be sorted together
        return numbers_of[places] if len(found) else np.zeros(0, dtype=np.int64)

    def label(self, code):
        return self._labels[code]

    def code(self, label):
        """The number of a label that was met before."""
        return self._numbers[label]

    def classes(self):
        """Classes met, sorted."""
        met = [self._labels[c] for c in self._met]
        try:
            return np.array(sorted(met))
        except TypeError:
            kinds = ", ".join(sorted({type(label).__name__ for label in met}))
            raise ValueError(f"labels of different kinds ({kinds}) cannot be classes of one stream") from None

    def places(self):
        """Where each number stands in the sorted classes."""
        order = {label: place for place, label in enumerate(self.classes().tolist())}
        return {c: order[self._labels[c]] for c in self._met}

    def translate(self, note):
        """A note of the engine with the label in the place of its number."""
        number = re.fullmatch(r"class (\d+) is new", note)
        return f"class {self._labels[int(number[1])]} is new" if number else note

    def decisions(self, engine, X):
        """Decision values in the order of the sorted classes."""
        places, known = self.places(), engine.classifier()
        if known is None:
            f = np.full((X.shape[0], len(places)), NEVER)
            for code in engine.labels()[1][:1].tolist():
                f[:, places[code]] = 1.0
        else:
            said = known.predict(rows(X))[1]
            said = np.column_stack([-said[:, 0], said[:, 0]]) if said.shape[1] == 1 else said
            f = np.full((X.shape[0], len(places)), NEVER)
            f[:, [places[int(name)] for name in known.classes]] = said
        if len(places) == 2:
            return np.where(f[:, 1] == NEVER, -1.0, f[:, 1])
        return f[:, 0] if len(places) == 1 else f

    def saved(self):
        return {"labels": self._labels, "met": sorted(self._met), "weights": self.weights, "shares": self.shares}

    @classmethod
    def restored(cls, saved):
        encoder = cls()
        encoder._labels = list(saved["labels"])
        encoder._numbers = {label: number for number, label in enumerate(encoder._labels)}
        encoder._met, encoder.weights, encoder.shares = set(saved["met"]), saved["weights"], saved["shares"]
        return encoder
