"""Types that several modules share."""

from __future__ import annotations

import os
from typing import Any, TypeAlias, TypedDict

import numpy as np

#: Values of ``random_state``, as in scikit-learn.
RandomStateLike: TypeAlias = int | np.random.RandomState | None

#: Path of a file or a folder.
StrPath: TypeAlias = str | os.PathLike[str]

#: Indices of rows or, with ``return_metrics`` or another such parameter, a tuple of the indices and of values of all rows.
#: Any stands for the tuple, because otherwise each caller would have to exclude the case that does not occur.
Sampled: TypeAlias = np.ndarray | Any

#: Label of a class of a stream.
Label: TypeAlias = str | int | float


class Kernel(TypedDict, total=False):
    """A kernel and its parameters in the form of the core; ``type`` is always present."""

    type: str
    gamma: float
    degree: int
    coef0: float
