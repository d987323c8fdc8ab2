//! The table of the registry: every learner with its parameters and how it is made.

use super::Fit;
use super::baselines::cotraining::CoTrainingParams;
use super::baselines::parzen::ParzenParams;
use super::baselines::perceptron::PerceptronParams;
use super::manifold::lap::{self, LapParams};
use super::manifold::sparse::SparseLapParams;
use super::med::{LabelsOnly, MedParams};
use super::multiview::colap::CoLapParams;
use super::multiview::coreg::CoRlsParams;
use super::online::lasvm::{LasvmParams, Loss};
use super::registry::{Learner, Parameter, read, with_kernel};
use super::supervised::linear::LinearParams;
use super::supervised::one_class::OneClassParams;
use super::supervised::ramp::RampParams;
use super::supervised::rls::RlsParams;
use super::supervised::svc::SvcParams;
use super::transductive::bnb::BnbParams;
use super::transductive::cccp::CccpParams;
use super::transductive::da::DaParams;
use super::transductive::grad_tsvm::GradTsvmParams;
use super::transductive::label_propagation::LabelPropagationParams;
use super::transductive::linear_da::LinearDaParams;
use super::transductive::linear_tsvm::LinearTsvmParams;
use super::transductive::qp::QpParams;
use super::transductive::submod::SubmodParams;
use super::transductive::tsvm::TsvmParams;
use crate::error::Result;
use crate::pipeline::cross_validation::{linear_path, svc_path};
use crate::pipeline::train::Multi;
use serde_json::{Map, Value};

const fn parameter(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, default, help }
}

const KERNEL: Parameter = parameter("kernel", "rbf", "linear, rbf, poly, sigmoid or precomputed");
const GAMMA: Parameter =
    parameter("gamma", "scale", "kernel width: a number, scale = 1/(d·Var X) or auto = 1/d");
const DEGREE: Parameter = parameter("degree", "3", "power of the poly kernel");
const COEF0: Parameter = parameter("coef0", "0", "constant of the poly and sigmoid kernels");

const COST: Parameter = parameter("c", "1", "cost of a margin violation, times the weight of the example");
const TOLERANCE: Parameter =
    parameter("tolerance", "0.001", "largest violation of the optimality conditions");
const CACHE: Parameter = parameter("cache_bytes", "1073741824", "memory for cached kernel rows");
const EPOCHS: Parameter = parameter("epochs", "1", "passes over the data");
const MAX_POINTS: Parameter = parameter("max_points", "100000", "most points kept, support vectors or not");
const SEED: Parameter = parameter("seed", "1", "seed of the order in which samples come");
const FINISH: Parameter =
    parameter("finish", "false", "whether to solve the problem of the points at the end");
const FINISHED: Parameter =
    parameter("finish", "true", "whether to solve the problem of the points at the end");
const CLEAN_EVERY: Parameter = parameter("clean_every", "300", "samples between cleanings; 0 = none");
const CLEAN_KEEP: Parameter =
    parameter("clean_keep", "0", "idle points a cleaning leaves; 0 = 100 or a tenth of the support vectors");

const KERNEL_LAMBDA: Parameter =
    parameter("lambda", "0", "weight of |f|²/2 against the mean loss; 0: 0.01 times the mean of K(x,x)");
const BIAS: Parameter = parameter("bias", "true", "whether to learn a constant");

const RADIUS: Parameter = parameter(
    "radius",
    "0",
    "joins rows up to this far apart in place of nearest others; 0 = nearest others",
);
const SEARCH: Parameter =
    parameter("search", "exact", "how nearest others are found: exact, or approximate for very many rows");

/// Of the learners along a graph.
const LAPLACIAN: [Parameter; 26] = [
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    parameter("gamma_a", "0.001", "weight of |f|² against the sum of losses"),
    parameter("gamma_i", "0.1", "weight of the variation of f along the graph; 0 = labels alone"),
    parameter("scaling", "raw", "raw, or paper = mean loss and variation divided by n²"),
    parameter("neighbors", "0", "nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2)"),
    RADIUS,
    SEARCH,
    parameter("metric", "euclidean", "euclidean or cosine"),
    parameter("weights", "heat", "weights of edges: binary, heat, or cosine with that metric"),
    parameter("width", "0", "width of heat weights; 0 = mean length of an edge"),
    parameter("normalized", "true", "whether the Laplacian is divided by the degrees"),
    parameter("power", "1", "power of the Laplacian"),
    parameter("class_wise", "false", "whether the graph joins labeled rows of one class alone"),
    parameter(
        "solver",
        "auto",
        "direct (in the span of basis points), iterate (all rows, until labels stay) or auto",
    ),
    parameter("basis", "0", "most points the model may rest on; 0 = all of 2500 rows, 1000 of more"),
    parameter("bias", "false", "whether to learn a constant"),
    parameter("balance", "false", "whether to move the threshold to the share of positives"),
    RATIO,
    parameter("tolerance", "0.0001", "largest violation of the optimality conditions, or relative residual"),
    parameter("max_steps", "500", "iterate: most steps"),
    parameter("early", "true", "iterate: whether to end when no row changes its label any more"),
    CACHE,
    parameter("seed", "1", "seed of the draw of points the model rests on"),
];

const VIEWS: Parameter =
    parameter("views", "all", "columns of each view from 1 on, like 1..3000;3001..4840; all = one view");
const KERNELS: Parameter =
    parameter("kernels", "same", "kernel of each view: linear, rbf or rbf=GAMMA, like rbf;linear");
const VIEW: Parameter = parameter("view", "0", "the view the model speaks for; 0 = all of them");
const VIEW_GAMMA_C: &str = "weight of the disagreement of views on all rows; 0 = views apart";

/// Of the learners along graphs of views.
const VIEW_LAPLACIAN: [Parameter; 27] = [
    VIEWS,
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    KERNELS,
    parameter("coupling", "laplacian", "what views share: laplacian, or kernel = their outputs"),
    parameter("gamma_a", "0.001", "weight of |f|² against the sum of losses; a list has one a view"),
    parameter("gamma_i", "0.1", "weight of the variation of f along the graph"),
    parameter("gamma_c", "0.1", VIEW_GAMMA_C),
    parameter("shares", "1", "weight of each view's graph in the joint one; a list has one a view"),
    parameter("scaling", "raw", "raw, or paper = mean loss, disagreement / n, variation / n²"),
    parameter("neighbors", "0", "nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2)"),
    RADIUS,
    SEARCH,
    parameter("metric", "euclidean", "euclidean or cosine"),
    parameter("weights", "heat", "weights of edges: binary, heat, or cosine with that metric"),
    parameter("width", "0", "width of heat weights; 0 = mean length of an edge"),
    parameter("normalized", "true", "whether the Laplacian is divided by the degrees"),
    parameter("power", "1", "power of the Laplacian"),
    VIEW,
    parameter("basis", "0", "most points a view may rest on; 0 = all of 2500 rows, 1000 of more"),
    parameter("bias", "false", "whether to learn a constant"),
    parameter("balance", "false", "whether to move the threshold to the share of positives"),
    RATIO,
    parameter("tolerance", "0.0001", "colapsvm: largest violation of the optimality conditions"),
    parameter("seed", "1", "seed of the draw of points the model rests on"),
];

const BATCH: Parameter = parameter("batch", "100", "rows learned together, in the order of the table");
const MED_GAMMA_A: Parameter =
    parameter("gamma_a", "0", "weight of |f|² as for lapsvm, C = 1/(2·labels·gamma_a); 0 = c and beta");
const MED_LOSS: Parameter =
    parameter("loss", "box", "box = hinge, or barrier = the source's, which needs c above 1");
const MED_FORM: Parameter = parameter(
    "form",
    "bounded",
    "bounded = columns or landmarks; exact and spectral keep all rows, to compare",
);
const MED_BIAS: Parameter =
    parameter("bias", "prior", "the constant: prior = carried on, free = found anew in each batch, none");
const MED_BIAS_VARIANCE: Parameter =
    parameter("bias_variance", "0", "how far a batch may move the constant; 0 = mean of K(x,x)");
const MED_FORGET: Parameter =
    parameter("forget", "1", "share of what is known that a batch leaves; 1 = all of it");
const MED_LANDMARKS: Parameter = parameter("landmarks", "300", "most points the model may rest on");
const MED_SEED: Parameter = parameter("seed", "1", "seed of the draw of landmarks");

const GAP_FAMILY: [Parameter; 13] = [
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    COST,
    TOLERANCE,
    EPOCHS,
    FINISH,
    CLEAN_EVERY,
    CLEAN_KEEP,
    MAX_POINTS,
    CACHE,
    SEED,
];
const RAMP_FAMILY: [Parameter; 15] = ramp_family(FINISHED);
const FILTER_FAMILY: [Parameter; 15] = ramp_family(FINISH);

const RATIO: Parameter =
    parameter("ratio", "labels", "share of positives among rows without a label: a number, labels or auto");
const LAMBDA: Parameter = parameter(
    "lambda",
    "0",
    "weight of |w|²/2 against the mean loss; 0: 0.01 times the mean squared length of rows",
);
const LAMBDA_U: Parameter =
    parameter("lambda_u", "1", "weight of the rows without a label together, those with one having 1");
const CENTER: Parameter = parameter("center", "false", "whether to take its mean from every column");

const fn ramp_family(finish: Parameter) -> [Parameter; 15] {
    [
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        COST,
        TOLERANCE,
        parameter("s", "-1", "end of the ramp: samples with y·f below it are taken for mislabeled"),
        parameter("warm_up", "50", "support vectors before the ramp is trusted"),
        EPOCHS,
        finish,
        CLEAN_EVERY,
        CLEAN_KEEP,
        MAX_POINTS,
        CACHE,
        SEED,
    ]
}

/// A member of the LASVM family from flat parameters; only `lasvm` and `lasvm-nc` finish unless told.
fn build_lasvm(name: &str, loss: Loss, params: &Map<String, Value>) -> Result<Box<dyn Fit>> {
    Ok(Box::new(lasvm_params(name, loss, params)?))
}

/// The same as plain data.
pub(crate) fn lasvm_params(name: &str, loss: Loss, params: &Map<String, Value>) -> Result<LasvmParams> {
    let mut params = with_kernel(params)?;
    if loss == Loss::Local {
        gather_neighborhood(&mut params);
    }
    params.entry("finish").or_insert_with(|| matches!(loss, Loss::Hinge | Loss::Ramp).into());
    Ok(LasvmParams { loss, ..read::<LasvmParams>(name, &params)? })
}

const LOCAL: [Parameter; 16] = [
    KERNEL,
    GAMMA,
    DEGREE,
    COEF0,
    COST,
    TOLERANCE,
    parameter(
        "mode",
        "adaptive",
        "who moves: adaptive, radius, iterative, radius-iterative, nearest or full (all samples)",
    ),
    parameter("gap", "0.2", "adaptive: neighbors are added while the violation among all samples is larger"),
    parameter("nu", "1", "radius: length of the radius in widths of the rbf kernel"),
    parameter(
        "change",
        "0.01",
        "iterative: neighbors are added while a coefficient moves more, a share of its cost",
    ),
    parameter("nearest", "50", "nearest: number of neighbors"),
    EPOCHS,
    FINISH,
    MAX_POINTS,
    CACHE,
    SEED,
];

/// Of `local-svc`: the parameters of the neighborhood are an object of their own.
fn gather_neighborhood(params: &mut Map<String, Value>) {
    let names = ["mode", "gap", "nu", "change", "nearest"];
    let near: Map<String, Value> =
        names.iter().filter_map(|n| params.remove(*n).map(|v| ((*n).to_string(), v))).collect();
    params.insert("local".into(), near.into());
}

const KERNEL_OR_LINEAR: Parameter =
    parameter("kernel", "linear", "linear, rbf, poly, sigmoid or precomputed");
const RHO: Parameter =
    parameter("rho", "10", "weight of the cut over that of the labels; 0 = the labels alone");
const KAPPA: Parameter = parameter("kappa", "0", "C*/C itself; 0 = 2·rho·labeled/unlabeled");
const COST_UNLABELED: Parameter = parameter("c_unlabeled", "0", "C*, cost of an inferred label; 0 = kappa·c");
const CENTRED: Parameter = parameter("center", "true", "whether the linear kernel is that of centered rows");
const LABEL_WEIGHTS: Parameter =
    parameter("weights", "none", "weights of labels: none, or balanced = both classes pull alike");

const MODEL_TOLERANCE: Parameter =
    parameter("tolerance", "0.01", "accuracy of the model fitted to all labels");
const SMALL_CACHE: Parameter = parameter("cache_bytes", "268435456", "memory for cached kernel rows");

/// The kernel parameters of a learner whose kernel is linear unless told.
fn with_kernel_or_linear(params: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut params = params.clone();
    params.entry("kernel").or_insert_with(|| "linear".into());
    with_kernel(&params)
}

/// Every learner there is.
pub static LEARNERS: &[Learner] = &[
    Learner {
        name: "svc",
        summary: "support vector machine with any kernel (dual solver)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            COST,
            TOLERANCE,
            parameter("bias", "true", "whether to learn a constant"),
            parameter("max_steps", "0", "most pair steps; 0 = as many as it takes"),
            CACHE,
        ],
        multi: Multi::OneVsOne,
        semi: false,
        build: |params| Ok(Box::new(read::<SvcParams>("svc", &with_kernel(params)?)?)),
        path: Some((&["c"], svc_path)),
    },
    Learner {
        name: "lasvm",
        summary: "support vector machine that learns one sample at a time (any kernel)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            COST,
            TOLERANCE,
            EPOCHS,
            FINISHED,
            parameter(
                "delta_max",
                "0",
                "step on while the extremes are further apart; 0 = one step a sample",
            ),
            parameter("select", "random", "how samples are chosen: random, active, auto-active or gradient"),
            parameter("pool", "59", "samples among which active and gradient choose; 0 = all"),
            parameter("labels", "0", "most labels to look at; 0 = no limit"),
            parameter("stop", "margin", "when to stop choosing: margin, plateau, cross-validated or never"),
            parameter("curve", "false", "whether to keep models along the way"),
            parameter("retrain", "false", "whether to solve anew after every sample, to compare with"),
            parameter("virtual", "0", "virtual points for each positive that becomes a support vector"),
            parameter("neighbors", "5", "nearest positives among which virtual points are made"),
            MAX_POINTS,
            CACHE,
            SEED,
        ],
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| build_lasvm("lasvm", Loss::Hinge, params),
        path: None,
    },
    Learner {
        name: "lasvm-g",
        summary: "online support vector machine whose steps follow the duality gap (no bias)",
        parameters: &GAP_FAMILY,
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| build_lasvm("lasvm-g", Loss::Gap, params),
        path: None,
    },
    Learner {
        name: "lasvm-nc",
        summary: "online support vector machine with ramp loss: wrong labels do not pull (no bias)",
        parameters: &RAMP_FAMILY,
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| build_lasvm("lasvm-nc", Loss::Ramp, params),
        path: None,
    },
    Learner {
        name: "lasvm-i",
        summary: "online support vector machine that passes over samples outside the margin (no bias)",
        parameters: &FILTER_FAMILY,
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| build_lasvm("lasvm-i", Loss::Filter, params),
        path: None,
    },
    Learner {
        name: "full-svm",
        summary: "lasvm-g that never drops a point (no bias)",
        parameters: &GAP_FAMILY,
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| build_lasvm("full-svm", Loss::Full, params),
        path: None,
    },
    Learner {
        name: "local-svc",
        summary: "support vector machine that learns each sample among its neighbors (any kernel)",
        parameters: &LOCAL,
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| build_lasvm("local-svc", Loss::Local, params),
        path: None,
    },
    Learner {
        name: "ramp-svc",
        summary: "support vector machine with ramp loss, all samples at once: outliers do not pull",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            COST,
            parameter("s", "-1", "end of the ramp: a sample with y·f below it costs no more"),
            TOLERANCE,
            parameter("bias", "false", "whether to learn a constant"),
            parameter("rounds", "100", "most rounds of the concave-convex procedure"),
            CACHE,
        ],
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| Ok(Box::new(read::<RampParams>("ramp-svc", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "one-class",
        summary: "where rows of one class lie, without labels: inside or outside (any kernel)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            parameter(
                "nu",
                "0.5",
                "most of the rows that are outside, least that are support vectors: a share",
            ),
            parameter(
                "tolerance",
                "0.001",
                "largest violation of the optimality conditions, a share of nu times the mean of K(x,x)",
            ),
            parameter("max_steps", "0", "most pair steps; 0 = as many as it takes"),
            CACHE,
        ],
        multi: Multi::OneClass,
        semi: false,
        build: |params| Ok(Box::new(read::<OneClassParams>("one-class", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "perceptron",
        summary: "kernel perceptron, also averaged or with a budget of points",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            EPOCHS,
            parameter("average", "false", "whether the model is the mean of all along the way"),
            parameter("budget", "0", "most points; 0 = no limit"),
            parameter("beta", "0", "a sample with y·f at most this is a mistake"),
            CACHE,
            SEED,
        ],
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| Ok(Box::new(read::<PerceptronParams>("perceptron", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "linear",
        summary: "linear support vector machine for many rows or columns (squared hinge loss)",
        parameters: &[
            parameter("c", "1", "cost of a squared margin violation, times the weight of the example"),
            parameter("bias", "true", "whether to learn a constant"),
            parameter("tolerance", "0.001", "relative gradient that counts as solved"),
            parameter("max_steps", "0", "most passes and rounds; 0 = as many as it takes"),
        ],
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| Ok(Box::new(read::<LinearParams>("linear", params)?)),
        path: Some((&["c"], linear_path)),
    },
    Learner {
        name: "rls",
        summary: "regularized least squares with any kernel (one factorization, up to 20 000 rows)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            parameter("c", "1", "cost of a squared residual, times the weight of the example"),
            parameter("bias", "true", "whether to learn a constant"),
            parameter("tolerance", "0.000001", "relative gradient that counts as solved (linear kernel)"),
        ],
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| Ok(Box::new(read::<RlsParams>("rls", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "linear-tsvm",
        summary: "linear S3VM for many rows: labels of unlabeled rows are switched in pairs",
        parameters: &[
            LAMBDA,
            LAMBDA_U,
            RATIO,
            parameter("switch", "0", "most pairs switched at a time; 0 = all"),
            parameter("start", "0.00001", "first weight of the rows without a label"),
            parameter("rate", "1.5", "factor by which that weight grows"),
            parameter("bias", "true", "whether to learn a constant"),
            CENTER,
            parameter("tolerance", "0.001", "relative gradient that counts as solved"),
            parameter("max_steps", "0", "most Newton rounds in all; 0 = as many as it takes"),
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<LinearTsvmParams>("linear-tsvm", params)?)),
        path: None,
    },
    Learner {
        name: "linear-da",
        summary: "linear S3VM for many rows: labels as probabilities that cool down",
        parameters: &[
            LAMBDA,
            LAMBDA_U,
            RATIO,
            parameter("temperature", "10", "first temperature, in units of lambda_u"),
            parameter("rate", "1.5", "factor by which the temperature falls"),
            parameter(
                "settle",
                "0.0001",
                "mean change of p that ends a temperature, mean entropy that ends all",
            ),
            parameter(
                "by",
                "rank",
                "which rows are positive: as many as the share says (rank), those above 0 (sign)",
            ),
            parameter("bias", "true", "whether to learn a constant"),
            CENTER,
            parameter("tolerance", "0.001", "relative gradient that counts as solved"),
            parameter("max_steps", "0", "most Newton rounds in all; 0 = as many as it takes"),
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<LinearDaParams>("linear-da", params)?)),
        path: None,
    },
    Learner {
        name: "tsvm",
        summary: "transductive support vector machine with any kernel, by switching labels",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            KERNEL_LAMBDA,
            LAMBDA_U,
            RATIO,
            parameter("switch", "0", "most pairs of labels switched at a time; 0 = all"),
            TOLERANCE,
            BIAS,
            CACHE,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<TsvmParams>("tsvm", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "grad-tsvm",
        summary: "low-density separation by descent on a smooth objective (any kernel)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            KERNEL_LAMBDA,
            LAMBDA_U,
            RATIO,
            parameter("tolerance", "0.001", "relative gradient that counts as stationary"),
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<GradTsvmParams>("grad-tsvm", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "da",
        summary: "semi-supervised support vector machine by deterministic annealing (any kernel)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            parameter("loss", "l2", "l2 (squared hinge), l1 (hinge) or square"),
            KERNEL_LAMBDA,
            LAMBDA_U,
            RATIO,
            parameter("rate", "1.5", "factor by which the temperature falls"),
            parameter("tolerance", "0.001", "how exactly each function is solved for"),
            BIAS,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<DaParams>("da", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "cccp-s3vm",
        summary: "semi-supervised support vector machine by the concave-convex procedure (any kernel)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            KERNEL_LAMBDA,
            LAMBDA_U,
            RATIO,
            parameter("s", "-0.3", "end of the ramp: the loss of an unlabeled row is at most 1 + s"),
            TOLERANCE,
            parameter("rounds", "100", "most rounds of the concave-convex procedure"),
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<CccpParams>("cccp-s3vm", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "bnb-s3vm",
        summary: "the global optimum of a semi-supervised support vector machine, for few rows",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            KERNEL_LAMBDA,
            LAMBDA_U,
            RATIO,
            parameter("epsilon", "0.001", "share of the objective by which the optimum may be missed"),
            parameter("max_nodes", "100000", "most nodes of the search; 0 = no limit"),
            parameter("tolerance", "0.0001", "largest violation of the optimality conditions at a node"),
            BIAS,
            CACHE,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<BnbParams>("bnb-s3vm", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "lapsvm",
        summary: "support vector machine that varies little along a graph of all rows (semi-supervised)",
        parameters: &LAPLACIAN,
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| laplacian("lapsvm", params, lap::Loss::Hinge).map(|p| Box::new(p) as Box<dyn Fit>),
        path: Some((&["gamma_i", "gamma_a"], |task, watch| {
            lap::path(&|params| laplacian("lapsvm", params, lap::Loss::Hinge), task, watch)
        })),
    },
    Learner {
        name: "laprls",
        summary: "least squares that vary little along a graph of all rows (semi-supervised)",
        parameters: &LAPLACIAN,
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| laplacian("laprls", params, lap::Loss::Square).map(|p| Box::new(p) as Box<dyn Fit>),
        path: Some((&["gamma_i", "gamma_a"], |task, watch| {
            lap::path(&|params| laplacian("laprls", params, lap::Loss::Square), task, watch)
        })),
    },
    Learner {
        name: "seq-med",
        summary: "maximum entropy discrimination, batch after batch in bounded memory",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            COST,
            MED_GAMMA_A,
            MED_LOSS,
            MED_FORM,
            MED_BIAS,
            MED_BIAS_VARIANCE,
            MED_FORGET,
            MED_LANDMARKS,
            BATCH,
            parameter("tolerance", "0.0001", "largest violation of the optimality conditions of a batch"),
            MED_SEED,
        ],
        multi: Multi::OneVsRest,
        semi: false,
        build: |params| {
            let params: MedParams = read("seq-med", &with_kernel(params)?)?;
            Ok(Box::new(LabelsOnly(params.labels_alone())))
        },
        path: None,
    },
    Learner {
        name: "seq-lapmed",
        summary: "the same along graphs of the batches (semi-supervised)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            COST,
            parameter("beta", "0.5", "weight of the variation along the graph of a batch; 0 = labels alone"),
            MED_GAMMA_A,
            parameter("gamma_i", "0", "with gamma_a: weight of the variation as for lapsvm"),
            parameter(
                "schedule",
                "constant",
                "weight of the graphs: constant, or inverse = beta/t for batch t",
            ),
            MED_LOSS,
            MED_FORM,
            MED_BIAS,
            MED_BIAS_VARIANCE,
            MED_FORGET,
            parameter("neighbors", "0", "nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2)"),
            RADIUS,
            SEARCH,
            parameter("metric", "euclidean", "euclidean or cosine"),
            parameter("weights", "heat", "weights of edges: binary, heat, or cosine with that metric"),
            parameter("width", "0", "width of heat weights; 0 = mean length of an edge"),
            parameter("normalized", "true", "whether the Laplacian is divided by the degrees"),
            parameter("power", "1", "power of the Laplacian"),
            MED_LANDMARKS,
            BATCH,
            parameter("tolerance", "0.0001", "largest violation of the optimality conditions of a batch"),
            MED_SEED,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<MedParams>("seq-lapmed", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "corls",
        summary: "least squares in several views of the columns that agree on all rows (semi-supervised)",
        parameters: &[
            VIEWS,
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            KERNELS,
            parameter("gamma_a", "0.01", "weight of |f|² against the mean loss; a list has one a view"),
            parameter("gamma_c", "1", VIEW_GAMMA_C),
            parameter("mu", "1", "weight of the loss of each view; a list has one a view"),
            parameter("center", "true", "whether the outputs of each view are kept at mean 0"),
            VIEW,
            parameter("basis", "0", "most points a view may rest on; 0 = all of 2500 rows, 1000 of more"),
            parameter("balance", "false", "whether to move the threshold to the share of positives"),
            RATIO,
            parameter("seed", "1", "seed of the draw of points the model rests on"),
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<CoRlsParams>("corls", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "colapsvm",
        summary: "support vector machines of several views along a joint graph, or that agree (semi-supervised)",
        parameters: &VIEW_LAPLACIAN,
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| view_laplacian("colapsvm", params, lap::Loss::Hinge),
        path: None,
    },
    Learner {
        name: "colaprls",
        summary: "least squares of several views along a joint graph, or that agree (semi-supervised)",
        parameters: &VIEW_LAPLACIAN,
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| view_laplacian("colaprls", params, lap::Loss::Square),
        path: None,
    },
    Learner {
        name: "cotraining",
        summary: "views that label each other's surest rows and never revise: a baseline (semi-supervised)",
        parameters: &[
            VIEWS,
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            KERNELS,
            parameter("machine", "svc", "what learns in each view: svc or rls"),
            COST,
            BIAS,
            parameter("grow", "4", "rows a view labels in a round, two at least"),
            parameter("rounds", "0", "most rounds; 0 = until all rows have a label"),
            RATIO,
            VIEW,
            TOLERANCE,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<CoTrainingParams>("cotraining", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "sparse-lap",
        summary: "few basis functions that vary little along a graph of all rows (semi-supervised)",
        parameters: &[
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            parameter(
                "method",
                "decoupled",
                "decoupled, greedy, greedy-slack, slack, sigmoid, lasso, lars, uniform or random",
            ),
            parameter("basis", "100", "most points the model may rest on"),
            parameter("gamma_a", "0.001", "weight of |f|² against the sum of losses"),
            parameter("gamma_i", "0.1", "weight of the variation of f along the graph; 0 = labels alone"),
            parameter("scaling", "raw", "raw, or paper = mean loss and variation divided by n²"),
            parameter("nu", "1", "weight of the slack between f and the graph; decoupled: divides gamma_a"),
            parameter("candidates", "50", "points compared before one is taken"),
            parameter("exchange", "0.2", "share of them exchanged for others after a step, the worst first"),
            parameter(
                "backfit",
                "post",
                "scores of points with the other coefficients kept (post) or fitted (pre)",
            ),
            parameter("ridge", "false", "whether |f|² is the sum of squared coefficients"),
            parameter("neighbors", "0", "nearest others each row is joined with; 0 = max(6, n^(2/(d+2))/2)"),
            RADIUS,
            SEARCH,
            parameter("metric", "euclidean", "euclidean or cosine"),
            parameter("weights", "heat", "weights of edges: binary, heat, or cosine with that metric"),
            parameter("width", "0", "width of heat weights; 0 = mean length of an edge"),
            parameter("normalized", "true", "whether the Laplacian is divided by the degrees"),
            parameter("power", "1", "power of the Laplacian"),
            parameter("balance", "false", "whether to move the threshold to the share of positives"),
            RATIO,
            parameter("seed", "1", "seed of the draw of points to compare"),
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<SparseLapParams>("sparse-lap", &with_kernel(params)?)?)),
        path: None,
    },
    Learner {
        name: "label-propagation",
        summary: "labels spread along a neighborhood graph; svc learns from them",
        parameters: &[
            parameter("method", "harmonic", "harmonic or spreading (local and global consistency)"),
            parameter("neighbors", "10", "nearest others each row is joined with"),
            RADIUS,
            SEARCH,
            parameter("metric", "euclidean", "euclidean or cosine"),
            parameter("weights", "heat", "weights of edges: binary, heat, or cosine with that metric"),
            parameter("width", "0", "width of heat weights; 0 = mean length of an edge"),
            parameter("alpha", "0.99", "spreading: how much a row listens to its neighbors"),
            parameter("mass", "true", "whether the mass of each class is made its ratio"),
            RATIO,
            KERNEL,
            GAMMA,
            DEGREE,
            COEF0,
            COST,
            TOLERANCE,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| {
            Ok(Box::new(read::<LabelPropagationParams>("label-propagation", &with_kernel(params)?)?))
        },
        path: None,
    },
    Learner {
        name: "submod-s3vm",
        summary: "labels unlabeled rows by a seeded cut of the data, very fast (semi-supervised)",
        parameters: &[
            KERNEL_OR_LINEAR,
            GAMMA,
            DEGREE,
            COEF0,
            RATIO,
            RHO,
            KAPPA,
            COST_UNLABELED,
            COST,
            parameter(
                "variant",
                "polished",
                "polished, swift = from the labels alone, thesis = lazy greedy as printed, or plain greedy",
            ),
            CENTRED,
            LABEL_WEIGHTS,
            MODEL_TOLERANCE,
            SMALL_CACHE,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<SubmodParams>("submod-s3vm", &with_kernel_or_linear(params)?)?)),
        path: None,
    },
    Learner {
        name: "qp-s3vm",
        summary: "the same cut from many starts, each to a local optimum (semi-supervised)",
        parameters: &[
            KERNEL_OR_LINEAR,
            GAMMA,
            DEGREE,
            COEF0,
            RATIO,
            RHO,
            KAPPA,
            COST_UNLABELED,
            COST,
            parameter("starts", "10", "random starts beside greedy, reverse greedy and Parzen"),
            parameter("exchanges", "100", "most exchanges of two rows after each start"),
            CENTRED,
            LABEL_WEIGHTS,
            MODEL_TOLERANCE,
            SMALL_CACHE,
            SEED,
        ],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<QpParams>("qp-s3vm", &with_kernel_or_linear(params)?)?)),
        path: None,
    },
    Learner {
        name: "parzen",
        summary: "rows most similar to the labels, by the ratio of the classes: a baseline (semi-supervised)",
        parameters: &[KERNEL_OR_LINEAR, GAMMA, DEGREE, COEF0, RATIO, CENTRED, LABEL_WEIGHTS, SMALL_CACHE],
        multi: Multi::OneVsRest,
        semi: true,
        build: |params| Ok(Box::new(read::<ParzenParams>("parzen", &with_kernel_or_linear(params)?)?)),
        path: None,
    },
];

fn laplacian(name: &str, params: &Map<String, Value>, loss: lap::Loss) -> Result<LapParams> {
    Ok(LapParams { loss, ..read::<LapParams>(name, &with_kernel(params)?)? })
}

fn view_laplacian(name: &str, params: &Map<String, Value>, loss: lap::Loss) -> Result<Box<dyn Fit>> {
    Ok(Box::new(CoLapParams { loss, ..read::<CoLapParams>(name, &with_kernel(params)?)? }))
}
