//! Specifications that several estimators share: kernels, solvers, graphs, views, unlabeled rows.

use super::{FloatRange, ParamKind, ParamSpec};

/// Names of kernels.
pub const KERNELS: [&str; 5] = ["linear", "rbf", "poly", "sigmoid", "precomputed"];

/// The kernel of an estimator that has one.
pub const KERNEL: ParamSpec =
    ParamSpec::choice("kernel", &KERNELS, "rbf", "linear, rbf, poly, sigmoid or precomputed");
/// The kernel of an estimator whose default kernel is linear.
pub const LINEAR_KERNEL: ParamSpec = KERNEL.default_of("linear");
/// The width of the kernel.
pub const GAMMA: ParamSpec = ParamSpec::new(
    "gamma",
    ParamKind::Gamma,
    "scale",
    "kernel width: a number, scale = 1/(d·Var X) or auto = 1/d",
);
/// The degree of the polynomial kernel.
pub const DEGREE: ParamSpec =
    ParamSpec::new("degree", ParamKind::Integer { min: 1, max: 32 }, "3", "power of the poly kernel");
/// The constant of the polynomial and sigmoid kernels.
pub const COEF0: ParamSpec =
    ParamSpec::float("coef0", FloatRange::ANY, "0", "constant of the poly and sigmoid kernels");

/// Cost of a margin violation.
pub const C: ParamSpec = ParamSpec::float(
    "c",
    FloatRange::above(0.0, 1e15),
    "1",
    "cost of a margin violation, times the weight of the example",
);
/// Tolerance of a dual solver.
pub const TOLERANCE: ParamSpec = ParamSpec::float(
    "tolerance",
    FloatRange::POSITIVE,
    "0.001",
    "largest violation of the optimality conditions",
);
/// Tolerance of a primal solver.
pub const RELATIVE_TOLERANCE: ParamSpec = ParamSpec::float(
    "tolerance",
    FloatRange::UNIT_OPEN,
    "0.001",
    "relative gradient norm at which the solver stops",
);
/// Memory for kernel rows.
pub const CACHE_BYTES: ParamSpec =
    ParamSpec::count("cache_bytes", 0, "1073741824", "memory for cached kernel rows");
/// Number of passes over the data.
pub const EPOCHS: ParamSpec = ParamSpec::count("epochs", 1, "1", "passes over the data");
/// Random seed for the order of samples.
pub const SEED: ParamSpec = ParamSpec::count("seed", 0, "1", "random seed for the order of samples");
/// Random seed for choosing landmarks.
pub const LANDMARK_SEED: ParamSpec = SEED.help_of("random seed for choosing landmarks");
/// Whether to fit a constant term.
pub const FIT_INTERCEPT: ParamSpec =
    ParamSpec::flag("fit_intercept", "true", "whether to fit a constant term");
/// A limit on the steps of the dual solver.
pub const MAX_STEPS: ParamSpec = ParamSpec::limit(
    "max_steps",
    "none",
    "maximum number of steps; none = 10 million, or 100 per row if that is more",
);

/// Weight of the norm of an estimator with a kernel.
pub const KERNEL_LAMBDA: ParamSpec = ParamSpec::float(
    "lambda",
    FloatRange::closed(1e-15, 1e15).or_zero(),
    "0",
    "weight of |f|²/2 relative to the mean loss; 0 = 0.01 times the mean of K(x,x)",
);
/// Weight of the norm of a linear estimator.
pub const LAMBDA: ParamSpec = ParamSpec::float(
    "lambda",
    FloatRange::closed(1e-12, 1e12).or_zero(),
    "0",
    "weight of |w|²/2 relative to the mean loss; 0 = 0.01 times the mean squared length of rows",
);
/// Weight of unlabeled rows.
pub const LAMBDA_U: ParamSpec = ParamSpec::float(
    "lambda_u",
    FloatRange::closed(0.0, 1e15),
    "1",
    "total weight of the unlabeled rows relative to that of the labeled rows",
);
/// Factor of an annealing schedule.
pub const RATE: ParamSpec =
    ParamSpec::float("rate", FloatRange::above(1.0, 1e6), "1.5", "factor by which the temperature falls");
/// Fraction of positives among unlabeled rows.
pub const RATIO: ParamSpec = ParamSpec::new(
    "ratio",
    ParamKind::Ratio,
    "labels",
    "fraction of positives among unlabeled rows: a number, labels or auto",
);
/// Whether the threshold is set from that fraction.
pub const BALANCE: ParamSpec = ParamSpec::flag(
    "balance",
    "false",
    "whether to set the threshold so that predictions match the fraction of positives",
);

/// Number of nearest neighbors in the graph.
pub const N_NEIGHBORS: ParamSpec = ParamSpec::count(
    "n_neighbors",
    0,
    "0",
    "number of nearest neighbors per row in the graph; 0 = max(6, n^(2/(d+2))/2)",
);
/// Radius of the graph.
pub const RADIUS: ParamSpec = ParamSpec::float(
    "radius",
    FloatRange::NOT_NEGATIVE,
    "0",
    "joins rows up to this distance instead of nearest neighbors; 0 = nearest neighbors",
);
/// Method of the neighbor search.
pub const SEARCH: ParamSpec = ParamSpec::choice(
    "search",
    &["exact", "approximate"],
    "exact",
    "nearest-neighbor search: exact, or approximate for very many rows",
);
/// Distance of the graph.
pub const METRIC: ParamSpec =
    ParamSpec::choice("metric", &["euclidean", "cosine"], "euclidean", "euclidean or cosine");
/// Weights of the edges.
pub const EDGE_WEIGHTS: ParamSpec = ParamSpec::choice(
    "edge_weights",
    &["binary", "heat", "cosine", "local"],
    "heat",
    "weights of edges: binary, heat, local (relative to the farthest neighbor), or cosine with that metric",
);
/// Width of heat weights.
pub const WIDTH: ParamSpec = ParamSpec::float(
    "width",
    FloatRange::NOT_NEGATIVE,
    "0",
    "width of heat weights; 0 = mean length of an edge",
);
/// Choice of the Laplacian.
pub const NORMALIZED: ParamSpec =
    ParamSpec::flag("normalized", "true", "whether the Laplacian is divided by the degrees");
/// Power of the Laplacian.
pub const POWER: ParamSpec =
    ParamSpec::new("power", ParamKind::Integer { min: 1, max: 16 }, "1", "power of the Laplacian");

/// Weight of the norm of an estimator on a graph.
pub const GAMMA_A: ParamSpec = ParamSpec::float(
    "gamma_a",
    FloatRange::closed(1e-14, 1e15),
    "0.001",
    "weight of |f|² relative to the sum of losses",
);
/// Weight of the variation along the graph.
pub const GAMMA_I: ParamSpec = ParamSpec::float(
    "gamma_i",
    FloatRange::closed(0.0, 1e15),
    "0.1",
    "weight of the variation of f along the graph; 0 = use labels only",
);
/// Scaling of the two weights.
pub const OBJECTIVE_SCALING: ParamSpec = ParamSpec::choice(
    "objective_scaling",
    &["raw", "paper"],
    "raw",
    "scaling of the objective: raw, or paper = mean loss and variation divided by n²",
);
/// Number of landmarks of an expansion.
pub const N_LANDMARKS: ParamSpec = ParamSpec::count(
    "n_landmarks",
    0,
    "0",
    "maximum number of landmarks in the model; 0 = all rows up to 2500 rows, else 1000",
);

/// Columns of each view.
pub const VIEWS: ParamSpec = ParamSpec::new(
    "views",
    ParamKind::Views,
    "all",
    "columns of each view from 1 on, like 1..3000;3001..4840; all = one view",
);
/// Kernel of each view.
pub const VIEW_KERNELS: ParamSpec = ParamSpec::new(
    "kernels",
    ParamKind::Kernels,
    "same",
    "kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear",
);
/// View used by the model.
pub const VIEW: ParamSpec = ParamSpec::count("view", 0, "0", "view used by the model; 0 = all views");
/// Weight of the disagreement of views.
pub const GAMMA_C: ParamSpec = ParamSpec::float(
    "gamma_c",
    FloatRange::closed(0.0, 1e15),
    "1",
    "weight of the disagreement of views on all rows; 0 = independent views",
);
