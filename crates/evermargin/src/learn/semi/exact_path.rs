//! The exact support vector machine as samples come, go and change their label (Cauwenberghs & Poggio 2001; Emara 2012,
//! chapter VI, gives the sensitivities, the bookkeeping is the standard one).
//!
//! With Qᵢⱼ = yᵢyⱼKᵢⱼ and gᵢ = Σ Qᵢⱼαⱼ + yᵢb − 1 every sample is in one of three sets: margin (0 < α < C, g = 0), error
//! (α = C, g ≤ 0), rest (α = 0, g ≥ 0). When α_c of one sample moves by t, the others stay optimal if α of the margin moves
//! by βt, b by β₀t and the g outside by γt, where [β₀, β] = −R[y_c, Q_c] and R is the inverse of the margin's bordered
//! matrix [0 yᵀ; y Q]. The step goes as far as the first sample that changes its set; then R changes by one row and column.
//!
//! For small n: it keeps the whole kernel matrix and R, and a step costs O(n·|margin|). `ratio = auto` follows warm starts
//! instead, which need no kernel matrix; this is the exact reference for such paths, and for samples that arrive.
//! Why a loop of its own: the dual solver of `solve/smo.rs` approaches an optimum, this one never leaves it.

use crate::error::{Error, Result};

/// Where a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Not part of the problem.
    Absent,
    /// 0 < α < C, on the margin.
    Margin,
    /// α = C.
    Error,
    /// α = 0.
    Rest,
}

/// An exact solution that moves. Samples are named by their row of the kernel matrix.
#[derive(Debug, Clone)]
pub struct ExactPath {
    n: usize,
    kernel: Vec<f64>,
    y: Vec<f64>,
    cost: Vec<f64>,
    alpha: Vec<f64>,
    slack: Vec<f64>,
    place: Vec<Place>,
    bias: f64,
    /// Samples on the margin, in the order of the rows of R after its first.
    margin: Vec<usize>,
    /// R, (|margin| + 1)² values.
    inverse: Vec<f64>,
}

/// What ends a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    /// The moving sample has g = 0.
    Reached,
    /// The moving sample is at its bound.
    Bound,
    /// A margin sample is at 0 or C.
    Leaves(usize, Place),
    /// Another sample has g = 0.
    Joins(usize),
}

/// Smallest curvature of a sample that joins the margin; a copy of what is there has none.
const FLAT: f64 = 1e-11;

/// Steps of one move, for each sample, before it is given up.
const MOST_STEPS: usize = 200;

impl ExactPath {
    /// Nothing yet. `kernel` holds n² values, symmetric without negative eigenvalues.
    pub fn new(kernel: Vec<f64>, n: usize) -> Result<Self> {
        if kernel.len() != n * n {
            return Err(Error::Shape { what: "kernel values", expected: n * n, found: kernel.len() });
        }
        let zero = || vec![0.0; n];
        let place = vec![Place::Absent; n];
        let (margin, inverse) = (Vec::new(), vec![0.0]);
        let (y, cost, alpha, slack) = (zero(), zero(), zero(), zero());
        Ok(Self { n, kernel, y, cost, alpha, slack, place, bias: 0.0, margin, inverse })
    }

    /// α, not signed.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// b.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// Where each sample is.
    pub fn places(&self) -> &[Place] {
        &self.place
    }

    /// The margin's samples, and R.
    pub fn inverse(&self) -> (&[usize], &[f64]) {
        (&self.margin, &self.inverse)
    }

    /// f at every row.
    pub fn decisions(&self) -> Vec<f64> {
        let sum = |i: usize| (0..self.n).map(|j| self.alpha[j] * self.y[j] * self.k(i, j)).sum::<f64>();
        (0..self.n).map(|i| sum(i) + self.bias).collect()
    }

    /// ½|w|² + Σ Cᵢ ξᵢ of the samples that take part.
    pub fn objective(&self) -> f64 {
        let f = self.decisions();
        let signed = |i: usize| self.alpha[i] * self.y[i] * (f[i] - self.bias);
        let loss = |i: usize| self.cost[i] * (1.0 - self.y[i] * f[i]).max(0.0);
        let present = |i: &usize| self.place[*i] != Place::Absent;
        (0..self.n).filter(present).map(|i| 0.5 * signed(i) + loss(i)).sum()
    }

    fn k(&self, i: usize, j: usize) -> f64 {
        self.kernel[i * self.n + j]
    }

    fn q(&self, i: usize, j: usize) -> f64 {
        self.y[i] * self.y[j] * self.k(i, j)
    }

    /// g of a sample at the present α and b.
    fn g(&self, c: usize) -> f64 {
        let held = (0..self.n).filter(|&j| self.alpha[j] != 0.0);
        held.map(|j| self.q(c, j) * self.alpha[j]).sum::<f64>() + self.y[c] * self.bias - 1.0
    }

    /// A sample comes, with label ±1 and its cost.
    pub fn add(&mut self, c: usize, y: f64, cost: f64) -> Result<()> {
        if c >= self.n || self.place[c] != Place::Absent {
            return Err(Error::Data(format!("sample {} is there already or out of range", c + 1)));
        }
        if !(cost > 0.0 && cost.is_finite() && (y == 1.0 || y == -1.0)) {
            return Err(Error::Data(format!("sample {}: label must be 1 or -1 and cost positive", c + 1)));
        }
        (self.y[c], self.cost[c], self.alpha[c]) = (y, cost, 0.0);
        self.slack[c] = self.g(c);
        if self.slack[c] >= 0.0 {
            self.place[c] = Place::Rest;
            return Ok(());
        }
        self.travel(c, 1.0)
    }

    /// A sample goes.
    pub fn remove(&mut self, c: usize) -> Result<()> {
        if c >= self.n || self.place[c] == Place::Absent {
            return Err(Error::Data(format!("sample {} is not there", c + 1)));
        }
        if self.place[c] == Place::Margin {
            self.leave(c);
        }
        self.place[c] = Place::Absent;
        if self.alpha[c] > 0.0 {
            self.travel(c, -1.0)?;
        }
        self.place[c] = Place::Absent;
        (self.alpha[c], self.cost[c]) = (0.0, 0.0);
        Ok(())
    }

    /// A sample changes its label.
    pub fn flip(&mut self, c: usize) -> Result<()> {
        if c >= self.n || self.place[c] == Place::Absent {
            return Err(Error::Data(format!("sample {} is not there", c + 1)));
        }
        let (y, cost) = (self.y[c], self.cost[c]);
        self.remove(c)?;
        self.add(c, -y, cost)
    }

    /// [β₀, β] of the margin when α of sample c, with label `y`, moves.
    pub fn sensitivities(&self, c: usize, y: f64) -> Vec<f64> {
        let size = self.margin.len() + 1;
        let signed = self.margin.iter().map(|&s| self.y[s] * y * self.k(s, c));
        let against: Vec<f64> = std::iter::once(y).chain(signed).collect();
        let row = |r: usize| (0..size).map(|j| self.inverse[r * size + j] * against[j]).sum::<f64>();
        (0..size).map(|r| -row(r)).collect()
    }

    /// Change of g a unit of α_c, for one sample.
    fn gamma(&self, i: usize, c: usize, beta: &[f64]) -> f64 {
        let margin = self.margin.iter().zip(&beta[1..]);
        self.q(i, c) + margin.map(|(&s, b)| self.q(i, s) * b).sum::<f64>() + self.y[i] * beta[0]
    }

    /// Moves α_c up (or down, to 0) until it is settled.
    fn travel(&mut self, c: usize, way: f64) -> Result<()> {
        for _ in 0..MOST_STEPS * (self.n + 1) {
            if self.margin.is_empty() {
                if self.slide(c, way) {
                    return Ok(());
                }
                continue;
            }
            let beta = self.sensitivities(c, self.y[c]);
            let gamma: Vec<f64> = (0..self.n)
                .map(|i| if i == c || self.outside(i) { self.gamma(i, c, &beta) } else { 0.0 })
                .collect();
            let (step, event) = self.first_event(c, way, &beta, &gamma);
            self.move_by(c, way * step, &beta, &gamma);
            match event {
                Event::Reached => {
                    self.slack[c] = 0.0;
                    self.join(c);
                    return Ok(());
                }
                Event::Bound => {
                    let top = way > 0.0;
                    self.alpha[c] = if top { self.cost[c] } else { 0.0 };
                    self.place[c] = if top { Place::Error } else { Place::Absent };
                    return Ok(());
                }
                Event::Leaves(s, place) => {
                    self.leave(s);
                    self.alpha[s] = if place == Place::Error { self.cost[s] } else { 0.0 };
                    (self.place[s], self.slack[s]) = (place, 0.0);
                }
                Event::Joins(i) => {
                    self.slack[i] = 0.0;
                    self.join(i);
                }
            }
        }
        Err(Error::Data("the exact path did not settle; samples may be copies of each other".into()))
    }

    fn outside(&self, i: usize) -> bool {
        matches!(self.place[i], Place::Error | Place::Rest)
    }

    /// The first thing to happen, and after how much of α_c. Ties: the lowest sample.
    fn first_event(&self, c: usize, way: f64, beta: &[f64], gamma: &[f64]) -> (f64, Event) {
        let bound = if way > 0.0 { self.cost[c] - self.alpha[c] } else { self.alpha[c] };
        let mut first = (bound.max(0.0), Event::Bound);
        let mut meet = |step: f64, event: Event| {
            if step < first.0 {
                first = (step.max(0.0), event);
            }
        };
        if way > 0.0 && gamma[c] > FLAT {
            meet(-self.slack[c] / gamma[c], Event::Reached);
        }
        for (&s, b) in self.margin.iter().zip(&beta[1..]) {
            let speed = way * b;
            if speed > FLAT {
                meet((self.cost[s] - self.alpha[s]) / speed, Event::Leaves(s, Place::Error));
            } else if speed < -FLAT {
                meet(self.alpha[s] / -speed, Event::Leaves(s, Place::Rest));
            }
        }
        for i in (0..self.n).filter(|&i| i != c) {
            let speed = way * gamma[i];
            let meets = match self.place[i] {
                Place::Error => speed > FLAT,
                Place::Rest => speed < -FLAT,
                Place::Absent | Place::Margin => false,
            };
            if meets {
                meet(-self.slack[i] / speed, Event::Joins(i));
            }
        }
        first
    }

    fn move_by(&mut self, c: usize, step: f64, beta: &[f64], gamma: &[f64]) {
        self.alpha[c] += step;
        self.bias += step * beta[0];
        for (&s, b) in self.margin.iter().zip(&beta[1..]) {
            self.alpha[s] += step * b;
        }
        self.slack.iter_mut().zip(gamma).for_each(|(g, rate)| *g += step * rate);
    }

    /// With an empty margin only b can move: towards what lets α_c move. True if c is settled.
    fn slide(&mut self, c: usize, way: f64) -> bool {
        let direction = way * self.y[c];
        let mut first: Option<(f64, usize)> = None;
        let mut meet = |distance: f64, i: usize| {
            if distance >= 0.0 && first.is_none_or(|(d, _)| distance < d) {
                first = Some((distance, i));
            }
        };
        if way > 0.0 {
            meet(-self.slack[c], c);
        }
        for i in (0..self.n).filter(|&i| i != c) {
            let speed = direction * self.y[i];
            match self.place[i] {
                Place::Error if speed > 0.0 => meet((-self.slack[i]).max(0.0), i),
                Place::Rest if speed < 0.0 => meet(self.slack[i].max(0.0), i),
                _ => {}
            }
        }
        let Some((distance, i)) = first else {
            // one class: b is free, nothing holds α_c
            self.alpha[c] = 0.0;
            self.place[c] = if way > 0.0 { Place::Rest } else { Place::Absent };
            return true;
        };
        self.bias += direction * distance;
        for j in 0..self.n {
            if j == c || self.outside(j) {
                self.slack[j] += direction * distance * self.y[j];
            }
        }
        self.slack[i] = 0.0;
        if i == c && self.alpha[c] == 0.0 {
            self.place[c] = Place::Rest;
            return true;
        }
        self.join(i);
        i == c
    }

    /// A sample with g = 0 joins the margin: R grows by a row and a column.
    fn join(&mut self, c: usize) {
        let old = self.margin.len() + 1;
        let size = old + 1;
        let mut grown = vec![0.0; size * size];
        if self.margin.is_empty() {
            // the inverse of [0 y; y Q] directly: there is nothing to start from
            let q = self.q(c, c);
            (grown[0], grown[1], grown[2]) = (-q, self.y[c], self.y[c]);
        } else {
            let mut beta = self.sensitivities(c, self.y[c]);
            let gamma = self.gamma(c, c, &beta);
            if gamma <= FLAT {
                // a copy of what is on the margin: it may stay where it is, at its bound
                self.place[c] = if self.alpha[c] > 0.5 * self.cost[c] { Place::Error } else { Place::Rest };
                return;
            }
            beta.push(1.0);
            for i in 0..size {
                for j in 0..size {
                    let before = if i < old && j < old { self.inverse[i * old + j] } else { 0.0 };
                    grown[i * size + j] = before + beta[i] * beta[j] / gamma;
                }
            }
        }
        self.inverse = grown;
        self.margin.push(c);
        self.place[c] = Place::Margin;
    }

    /// A sample leaves the margin: R loses a row and a column.
    fn leave(&mut self, c: usize) {
        let Some(at) = self.margin.iter().position(|&s| s == c) else { return };
        let size = self.margin.len() + 1;
        self.margin.remove(at);
        if self.margin.is_empty() {
            self.inverse = vec![0.0];
            return;
        }
        let (r, k) = (&self.inverse, at + 1);
        let kept = || (0..size).filter(|&i| i != k);
        let value =
            |i: usize, j: usize| r[i * size + j] - r[i * size + k] * r[k * size + j] / r[k * size + k];
        self.inverse = kept().flat_map(|i| kept().map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect();
    }
}
