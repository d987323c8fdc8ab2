//! Statements of the works and the functions that measure them. A statement with the name of a table fills the cells of that
//! table.

use crate::ertekin;
use crate::failure::Result;
use crate::findings::Findings;
use crate::run::Bench;

/// A statement.
pub struct Claim {
    /// Unique name.
    pub id: &'static str,
    /// Text of the statement.
    pub title: &'static str,
    /// Function that measures it.
    pub check: fn(&Bench<'_>) -> Result<Findings>,
}

/// All statements.
pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "ertekin-one-pass",
        title: "One pass of LASVM with finishing does what the exact solution does, with fewer kernel values (Adult)",
        check: ertekin::one_pass,
    },
    Claim {
        id: "ertekin-sparse",
        title: "LASVM-NC needs few support vectors where labels are noisy (Adult, USPS+N)",
        check: ertekin::sparse,
    },
    Claim {
        id: "ertekin-ramp-end",
        title: "Where the ramp of LASVM-NC and LASVM-I ends: few support vectors against accuracy (Banana, USPS+N, Adult)",
        check: ertekin::ramp_end,
    },
    Claim {
        id: "ertekin-auto-active",
        title: "Choosing examples reaches the exact solution's accuracy with 2500 support vectors instead of 11278 (Adult)",
        check: ertekin::auto_active,
    },
    Claim {
        id: "ertekin-imbalance",
        title: "Active learning with class costs against every other remedy (Waveform, 32 negatives a positive)",
        check: ertekin::imbalance,
    },
    Claim {
        id: "ertekin-fig-3.4",
        title: "One or two passes of LASVM name digits as well as the exact solution (figure 3.4, MNIST, ten classes)",
        check: ertekin::digits,
    },
    Claim {
        id: "emara-III.3",
        title: "SUBMOD-S3VM is more accurate than its rivals over all data sets (table III.3)",
        check: crate::few::claims::rivals,
    },
    Claim {
        id: "emara-bound",
        title: "The bound that QP-S3VM minimizes grows with the S3VM objective (section III.3)",
        check: crate::few::claims::hamming,
    },
    Claim {
        id: "emara-scaling",
        title: "SUBMOD-S3VM takes time in proportion to the rows (figure III.15)",
        check: crate::few::claims::scaling,
    },
    Claim {
        id: "emara-vi",
        title: "Learning each sample among its n_neighbors: a fixed radius is faster, growth nearer to the optimum (figures \
                VI.11 and VI.12)",
        check: crate::local::neighborhoods,
    },
    Claim {
        id: "emara-iv",
        title: "Streams labeled with three batches of memory as well as with all of it, in constant time (figures IV.19 to IV.30)",
        check: crate::stream::memory::streams,
    },
    Claim {
        id: "emara-iv-kdd",
        title: "KDD-99 in batches of 2000, 4000 and 8000 (figure IV.25)",
        check: crate::stream::memory::connections,
    },
    Claim {
        id: "emara-iv-dependence",
        title: "Inter-batch dependence never hurts (figures IV.33 to IV.35)",
        check: crate::stream::memory::dependence,
    },
    Claim {
        id: "emara-iv-relaxed",
        title: "SUBMOD-EXMP finds exemplars as good as QP-EXMP's, several times faster (figure IV.16)",
        check: crate::stream::pairs::relaxed,
    },
    Claim {
        id: "emara-iv-exemplars",
        title: "One exemplar in a hundred rows stands for a batch when the next is labeled (figures IV.13 to IV.15)",
        check: crate::stream::pairs::agreement,
    },
    Claim {
        id: "emara-v",
        title: "SUBMOD-ACTV against random asking along streams (figures V.2 to V.4)",
        check: crate::stream::asking::streams,
    },
    Claim {
        id: "sindhwani-svmlin",
        title: "Linear TSVM and DA find what SVMlin finds (50 labels)",
        check: crate::few::claims::svmlin,
    },
    Claim {
        id: "sindhwani-2.3",
        title: "Letters of Isolet, one speaker labeled",
        check: crate::sindhwani::benchmarks::isolet,
    },
    Claim {
        id: "sindhwani-2.4",
        title: "Course pages of WebKB with twelve labels",
        check: crate::sindhwani::words::table,
    },
    Claim {
        id: "sindhwani-2.6",
        title: "Error on unlabeled rows of four data sets",
        check: crate::sindhwani::benchmarks::four_sets,
    },
    Claim {
        id: "sindhwani-2.7",
        title: "WebKB: 100 less the break-even point on unlabeled pages",
        check: crate::sindhwani::pages::joint,
    },
    Claim {
        id: "sindhwani-2.8",
        title: "WebKB: a university in and out of the sample, LapSVM",
        check: crate::sindhwani::pages::one_view_out,
    },
    Claim {
        id: "sindhwani-2.9",
        title: "Error on unlabeled and on test rows of four data sets",
        check: crate::sindhwani::benchmarks::out_of_sample,
    },
    Claim {
        id: "sindhwani-3.1",
        title: "Two moons: global and local optima",
        check: crate::sindhwani::optima::two_moons,
    },
    Claim {
        id: "sindhwani-3.2",
        title: "Three cars of COIL: global and local optima",
        check: crate::sindhwani::optima::three_cars,
    },
    Claim {
        id: "sindhwani-3.4",
        title: "Two moons and two circles: draws without an error, of ten",
        check: crate::sindhwani::optima::perfect_draws,
    },
    Claim {
        id: "sindhwani-3.6",
        title: "Annealing and other S3VM",
        check: crate::sindhwani::annealing::rivals,
    },
    Claim {
        id: "sindhwani-3.7",
        title: "Annealing and fixed temperatures",
        check: crate::sindhwani::annealing::temperatures,
    },
    Claim {
        id: "sindhwani-4.1",
        title: "WebKB in two views: break-even point on unlabeled pages",
        check: crate::sindhwani::pages::two_views,
    },
    Claim {
        id: "sindhwani-4.2",
        title: "WebKB in two views: a university in and out of the sample",
        check: crate::sindhwani::pages::views_out,
    },
    Claim {
        id: "sindhwani-5.2",
        title: "Few basis functions: full, greedy and supervised machines",
        check: crate::sindhwani::sparse::greedy,
    },
    Claim {
        id: "sindhwani-5.3",
        title: "Few basis functions: how they are chosen",
        check: crate::sindhwani::sparse::choices,
    },
    Claim {
        id: "sindhwani-5.4",
        title: "Few basis functions of an oracle",
        check: crate::sindhwani::sparse::oracle,
    },
    Claim {
        id: "sindhwani-5.5",
        title: "Few basis functions: slack",
        check: crate::sindhwani::sparse::slack,
    },
    Claim {
        id: "sindhwani-two-moons-two-lines",
        title: "Two views get right what neither does alone (figures 4.2 and 4.3)",
        check: |bench| crate::few::lines::moons_and_lines(bench).map(Findings::notes),
    },
    Claim {
        id: "sindhwani-5-large",
        title: "Sparse manifold regularization of 60,000 digits: accuracy against basis and seconds",
        check: |bench| crate::few::sparse::large(bench).map(Findings::notes),
    },
    Claim {
        id: "hou-hero-1",
        title: "Sequential MED on categories is far above the current batch alone and near all batches again (figure 1)",
        check: crate::sequential::categories,
    },
    Claim {
        id: "hou-hero-2",
        title: "Sequential Laplacian MED in a ball with a tenth of the labels (figure 2)",
        check: crate::sequential::ball,
    },
    Claim {
        id: "hou-hero-3",
        title: "Sequential Laplacian MED on Isolet, 24 batches of five speakers, one labeled (figure 3)",
        check: crate::sequential::letters,
    },
];
