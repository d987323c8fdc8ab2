"""The core: handles, arrays and bytes. What they mean is said by the estimators."""

from typing import Union

import numpy as np
from numpy.typing import NDArray

#: Samples: a C-ordered float64 array, or (indptr, indices, data, columns) of compressed rows.
Rows = Union[NDArray[np.float64], tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64], int]]

__version__: str

def set_threads(count: int) -> None:
    """Set the number of threads; 0 is every core. The answer does not depend on it."""

def learners() -> str: ...
def fit(
    learner: str,
    x: Rows,
    codes: NDArray[np.int64],
    classes: list[str],
    settings: str,
    weights: NDArray[np.float64] | None = None,
    verbose: bool = False,
) -> Training: ...

class Training:
    classifier: Classifier
    notes: list[str]
    report: str
    def transduction(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]] | None: ...

class Classifier:
    classes: list[str]
    learner: str
    scheme: str
    params: str
    features: int
    support_count: int
    def predict(
        self, x: Rows
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64] | None]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Classifier: ...
    def to_libsvm(self) -> str: ...
    @staticmethod
    def from_libsvm(text: str) -> Classifier: ...
    def to_onnx(self) -> bytes: ...
    def to_json(self) -> str: ...
    @staticmethod
    def from_parts(
        classes: list[str],
        scheme: str,
        kernel: str,
        points: Rows | None,
        coef: NDArray[np.float64],
        bias: NDArray[np.float64],
    ) -> Classifier: ...
    def points(self) -> Rows | None: ...
    def coef(self) -> NDArray[np.float64] | None: ...
    def bias(self) -> NDArray[np.float64]: ...
