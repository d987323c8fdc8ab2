//! Several classes at once: every unlabeled row is assigned to one class, and each class has a given size.
//!
//! Emara 2012 names the submodular welfare problem as the extension to many classes and leaves it open. Here: with the
//! cut Dᶜ of class c against the rest, maximize Σ_c Dᶜ(Aᶜ) over partitions of the unlabeled rows with |Aᶜ| = nᶜ. The
//! elements are pairs (row, class); the constraints that a row is used once and a class nᶜ times are two partition
//! matroids, which greedy selection enforces by [`allowed`](SetFunction::allowed). The result is polished as for two
//! classes: the sum is convex in the relaxed labels, so a partition with larger Σ sᶜ for the slopes s at the current
//! one is no worse. Such a partition is found from the current one by splitting the rows of each pair of classes again,
//! by the difference of their slopes, until no pair increases the sum.

use super::cut::Seeds;
use super::search::GREEDY_ROWS;
use super::space::{Space, Sum};
use super::{CutInput, CutParams, normalize_scores, total};
use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::Targets;
use crate::estimators::transductive::{FewLabels, Transduced, largest};
use crate::solver::lazy_greedy::{SetFunction, lazy};
use crate::solver::{Progress, Watch};

/// Whether there is one problem per class: the same rows, and every labeled row positive exactly once.
pub fn is_one_against_rest(few: &[FewLabels]) -> bool {
    let first = &few[0];
    let same = few.iter().all(|f| f.labeled == first.labeled && f.unlabeled == first.unlabeled);
    let once = |i: usize| few.iter().filter(|f| f.y[i] > 0.0).count() == 1;
    same && (0..first.labeled.len()).all(once)
}

/// The cuts of all classes on the same rows.
struct Welfare<'s, 'a> {
    space: &'s mut Space<'a>,
    seeds: &'s [Seeds],
    rows: Vec<u32>,
    room: Vec<usize>,
    kappa: f64,
    /// For each class the sum over its labels, and the score as a function.
    labels: Vec<Sum>,
    current: Vec<Sum>,
    /// s(∅) of each class.
    unselected: Vec<Vec<f64>>,
    diagonal: Vec<f64>,
    /// Largest |K'ᵢⱼ|.
    largest: f64,
    watch: &'s dyn Watch,
    stopped: bool,
    /// Class of each row; `UNASSIGNED` if it has none yet.
    class: Vec<u32>,
    taken: Vec<usize>,
}

const UNASSIGNED: u32 = u32::MAX;

impl<'s, 'a> Welfare<'s, 'a> {
    fn new(
        space: &'s mut Space<'a>,
        seeds: &'s [Seeds],
        rows: Vec<u32>,
        room: Vec<usize>,
        kappa: f64,
        labels: Vec<Sum>,
        watch: &'s dyn Watch,
    ) -> Self {
        let mut current = labels.clone();
        let weight = &seeds[0].weight;
        let (mut largest, mut stopped) = (0.0, false);
        for f in &mut current {
            let summed = space.add_all(&rows, -0.5 * kappa, weight, f, watch);
            stopped |= summed.is_none();
            largest = summed.unwrap_or(largest);
        }
        let square = |&i: &u32| weight[i as usize] * weight[i as usize] * space.square(i as usize);
        let diagonal = rows.iter().map(square).collect();
        let (class, taken) = (vec![UNASSIGNED; rows.len()], vec![0; seeds.len()]);
        let unselected = Vec::new();
        let mut out = Self {
            space,
            seeds,
            rows,
            room,
            kappa,
            labels,
            current,
            unselected,
            diagonal,
            largest,
            watch,
            stopped,
            class,
            taken,
        };
        out.unselected = out.slopes();
        out
    }

    fn weight(&self, m: usize) -> f64 {
        self.seeds[0].weight[self.rows[m] as usize]
    }

    /// s of each class at the current partition.
    fn slopes(&self) -> Vec<Vec<f64>> {
        self.values(&self.current)
    }

    fn values(&self, functions: &[Sum]) -> Vec<Vec<f64>> {
        let one = |f: &Sum| {
            let mut s = vec![0.0; self.rows.len()];
            self.space.values(f, &self.rows, &mut s);
            s.iter_mut().enumerate().for_each(|(m, s)| *s *= self.weight(m));
            s
        };
        functions.iter().map(one).collect()
    }

    /// Moves to another partition.
    fn assign(&mut self, class: &[u32]) {
        for c in 0..self.seeds.len() as u32 {
            let changed = |from: &[u32], to: &[u32]| -> Vec<u32> {
                (0..to.len()).filter(|&m| to[m] == c && from[m] != c).map(|m| self.rows[m]).collect()
            };
            let (into, out) = (changed(&self.class, class), changed(class, &self.class));
            let (weight, f) = (&self.seeds[0].weight, &mut self.current[c as usize]);
            let (kappa, watch) = (self.kappa, self.watch);
            self.stopped |= !self.space.add_watched(&into, kappa, weight, f, watch)
                || !self.space.add_watched(&out, -kappa, weight, f, watch);
        }
        self.class.copy_from_slice(class);
    }

    /// Σ_c Dᶜ at the current partition, from its slopes.
    fn value(&self, slopes: &[Vec<f64>]) -> f64 {
        let of = |(m, &c): (usize, &u32)| self.unselected[c as usize][m] + slopes[c as usize][m];
        0.5 * self.class.iter().enumerate().map(of).sum::<f64>()
    }

    /// Moves to partitions of increasing value; returns the partition, its value and the number of sweeps.
    fn polish(&mut self, start: &[u32], max: u64, watch: &dyn Watch) -> (Vec<u32>, f64, u64) {
        self.assign(start);
        let mut slopes = self.slopes();
        let (mut best, mut value) = (start.to_vec(), self.value(&slopes));
        for sweep in 0..max {
            let progress = Progress { steps: sweep, violation: 1.0, tolerance: 0.0 };
            let next = resplit(&slopes, best.clone());
            if next == best || self.stopped || !watch.proceed(&progress) {
                return (best, value, sweep);
            }
            self.assign(&next);
            if self.stopped {
                return (best, value, sweep);
            }
            slopes = self.slopes();
            let now = self.value(&slopes);
            if now <= value {
                self.assign(&best);
                return (best, value, sweep + 1);
            }
            (best, value) = (next, now);
        }
        (best, value, max)
    }

    /// Assigns rows to classes by scores alone: pairs from the largest score down, while row and class are free; then
    /// splits again.
    fn by_scores(&self, scores: &[Vec<f64>]) -> Vec<u32> {
        let (n, k) = (self.rows.len(), scores.len());
        let mut order: Vec<u32> = (0..(n * k) as u32).collect();
        let at = |e: u32| scores[e as usize % k][e as usize / k];
        order.sort_unstable_by(|&a, &b| at(b).total_cmp(&at(a)).then(a.cmp(&b)));
        let (mut class, mut room) = (vec![UNASSIGNED; n], self.room.clone());
        for e in order {
            let (m, c) = (e as usize / k, e as usize % k);
            if class[m] == UNASSIGNED && room[c] > 0 {
                class[m] = c as u32;
                room[c] -= 1;
            }
        }
        resplit(scores, class)
    }
}

/// Splits the rows of every pair of classes again by the difference of scores, with sizes unchanged, until no pair
/// changes. The sum of scores never decreases.
fn resplit(scores: &[Vec<f64>], mut class: Vec<u32>) -> Vec<u32> {
    const ROUNDS: usize = 20;
    for _ in 0..ROUNDS {
        let mut changed = false;
        for a in 0..scores.len() as u32 {
            for b in a + 1..scores.len() as u32 {
                let rows: Vec<usize> = (0..class.len()).filter(|&m| class[m] == a || class[m] == b).collect();
                let size = rows.iter().filter(|&&m| class[m] == a).count();
                let difference: Vec<f64> =
                    rows.iter().map(|&m| scores[a as usize][m] - scores[b as usize][m]).collect();
                let sum = |mark: &dyn Fn(usize) -> bool| -> f64 {
                    (0..rows.len()).filter(|&r| mark(r)).map(|r| difference[r]).sum()
                };
                let now = largest(&difference, size);
                if sum(&|r| now[r]) > sum(&|r| class[rows[r]] == a) {
                    changed = true;
                    rows.iter().zip(&now).for_each(|(&m, p)| class[m] = if *p { a } else { b });
                }
            }
        }
        if !changed {
            break;
        }
    }
    class
}

impl SetFunction for Welfare<'_, '_> {
    fn elements(&self) -> usize {
        self.rows.len() * self.seeds.len()
    }

    fn gain(&self, element: usize) -> f64 {
        let (m, c) = (element / self.seeds.len(), element % self.seeds.len());
        let f = self.space.at(&self.current[c], self.rows[m] as usize);
        self.weight(m) * f + 0.5 * self.kappa * self.diagonal[m]
    }

    fn add(&mut self, element: usize) {
        let (m, c) = (element / self.seeds.len(), element % self.seeds.len());
        self.space.add(&[self.rows[m]], self.kappa, &self.seeds[0].weight, &mut self.current[c]);
        self.class[m] = c as u32;
        self.taken[c] += 1;
    }

    fn rise(&self) -> f64 {
        self.kappa * self.largest
    }

    fn allowed(&self, element: usize) -> bool {
        let (m, c) = (element / self.seeds.len(), element % self.seeds.len());
        self.class[m] == UNASSIGNED && self.taken[c] < self.room[c]
    }
}

/// Sizes that add up to n: the integer parts first, then one more for the largest remainders.
pub fn sizes(ratios: &[f64], n: usize) -> Vec<usize> {
    let total: f64 = ratios.iter().sum();
    let exact: Vec<f64> = ratios.iter().map(|r| r / total * n as f64).collect();
    let mut sizes: Vec<usize> = exact.iter().map(|e| e.floor() as usize).collect();
    let remainders: Vec<f64> = exact.iter().map(|e| e - e.floor()).collect();
    let left = n - sizes.iter().sum::<usize>().min(n);
    largest(&remainders, left).iter().zip(&mut sizes).for_each(|(more, s)| *s += usize::from(*more));
    sizes
}

/// Computes the partition and returns it as scores of every problem.
pub(crate) fn fit(
    params: &CutParams,
    x: MatrixView<'_>,
    problems: &[Targets],
    few: &[FewLabels],
    max: u64,
    thorough: bool,
    watch: &dyn Watch,
) -> Result<CutInput> {
    let seeds: Vec<Seeds> = few.iter().zip(problems).map(|(f, t)| params.seeds(f, t)).collect();
    let mut space = params.space(x, &CutParams::taking_part(&seeds[0]))?;
    let n = few[0].unlabeled.len();
    let ratios: Vec<f64> = few.iter().map(|f| f.ratio).collect();
    let room = sizes(&ratios, n);
    let kappa = params.kappa(total(&few[0].labeled, &problems[0]), total(&few[0].unlabeled, &problems[0]));
    let labels: Vec<Sum> = seeds
        .iter()
        .map(|s| {
            let mut f = space.zero();
            space.add(&s.labeled, 1.0, &s.pull, &mut f);
            f
        })
        .collect();
    let rows = seeds[0].unlabeled.clone();
    let mut welfare =
        Welfare::new(&mut space, &seeds, rows.clone(), room.clone(), kappa, labels.clone(), watch);
    let parzen = welfare.by_scores(&welfare.values(&welfare.labels));
    let (mut class, mut value, mut sweeps) = welfare.polish(&parzen, max, watch);
    let (mut start, mut evaluations) = ("parzen", 0);
    if thorough && n * seeds.len() <= GREEDY_ROWS * 4 && !welfare.stopped {
        let mut greedy = Welfare::new(welfare.space, &seeds, rows, room, kappa, labels, watch);
        let picks = lazy(&mut greedy, n, watch);
        evaluations = picks.evaluations;
        if picks.order.len() == n {
            let (other, better, more) = greedy.polish(&greedy.class.clone(), max, watch);
            sweeps += more;
            if better > value && !greedy.stopped {
                (class, value, start) = (other, better, "greedy");
            }
        }
        welfare = greedy;
    }
    welfare.assign(&class);
    let facts = few.iter().flat_map(FewLabels::facts).collect();
    let mut out = Transduced { ratio: ratios, facts, ..Default::default() };
    // incomplete sums are not meaningful: the labels alone are used
    let interrupted = welfare.stopped;
    let functions = std::mem::take(if interrupted { &mut welfare.labels } else { &mut welfare.current });
    let all: Vec<u32> = (0..x.rows() as u32).collect();
    for (c, f) in functions.iter().enumerate() {
        let mut scores = vec![0.0; x.rows()];
        space.values(f, &all, &mut scores);
        let own: Vec<bool> = class.iter().map(|&of| of as usize == c).collect();
        normalize_scores(&mut scores, &few[0].unlabeled, &problems[c].cost, &own);
        out.scores.push(scores);
    }
    for (name, value) in [
        ("start", start.into()),
        ("sweeps", sweeps.into()),
        ("evaluations", evaluations.into()),
        ("kappa", kappa.into()),
        ("objective", (params.c * params.c * kappa * value).into()),
        ("classes", seeds.len().into()),
        ("interrupted", interrupted.into()),
    ] {
        out.facts.insert(name.into(), value);
    }
    Ok(CutInput { labels: out, kappas: vec![kappa], start: None })
}
