"""Semi-supervised, online and active large-margin learning with the interface of scikit-learn.

This module has the estimators. Further modules:

- `evermargin.active`: query strategies and an active learner
- `evermargin.model_selection`: cross-validation and scores with unlabeled rows
- `evermargin.plot`: decision surfaces, learning curves and exemplars
- `evermargin.river`, `evermargin.skactiveml`: classes with the interfaces of River and scikit-activeml
"""

from ._core import (
    Corrupt,
    OtherCpu,
    ParameterError,
    Rejected,
    SessionError,
    StorageError,
    StorageFull,
    __version__,
    set_threads,
)
from ._estimators import (
    CCCPS3VM,
    DASVM,
    QPS3VM,
    SVC,
    TSVM,
    AutoSemiSupervised,
    BranchBoundS3VM,
    CoLapRLS,
    CoLapSVC,
    CoRLS,
    CoTraining,
    GradTSVM,
    LabelPropagation,
    LapRLS,
    LapSVC,
    LASVMClassifier,
    LinearDA,
    LinearSVC,
    LinearTSVM,
    OneClassSVM,
    ParzenClassifier,
    Perceptron,
    RampSVC,
    RLSClassifier,
    SequentialLapMED,
    SequentialMED,
    SparseLapRLS,
    SubmodularS3VM,
)
from ._exemplars import ExemplarSelector
from ._noise import find_label_issues, label_quality
from ._resample import SMOTE, VIRTUAL
from ._session import Session
from ._stream import NeverEndingClassifier
from .active import ActiveLearner
from .exchange import from_libsvm, from_sklearn, load, save, to_libsvm, to_onnx

__all__ = [
    "ActiveLearner",
    "AutoSemiSupervised",
    "BranchBoundS3VM",
    "CCCPS3VM",
    "CoLapRLS",
    "CoLapSVC",
    "CoRLS",
    "Corrupt",
    "CoTraining",
    "DASVM",
    "ExemplarSelector",
    "find_label_issues",
    "from_libsvm",
    "from_sklearn",
    "GradTSVM",
    "label_quality",
    "LabelPropagation",
    "LapRLS",
    "LapSVC",
    "LASVMClassifier",
    "LinearDA",
    "LinearSVC",
    "LinearTSVM",
    "load",
    "NeverEndingClassifier",
    "OneClassSVM",
    "OtherCpu",
    "ParameterError",
    "ParzenClassifier",
    "Perceptron",
    "QPS3VM",
    "RampSVC",
    "Rejected",
    "RLSClassifier",
    "save",
    "SequentialLapMED",
    "SequentialMED",
    "Session",
    "SessionError",
    "set_threads",
    "SMOTE",
    "SparseLapRLS",
    "StorageError",
    "StorageFull",
    "SubmodularS3VM",
    "SVC",
    "to_libsvm",
    "to_onnx",
    "TSVM",
    "VIRTUAL",
    "__version__",
]
