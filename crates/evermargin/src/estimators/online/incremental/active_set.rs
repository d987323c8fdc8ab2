//! Active-set steps of the exact SVM: the coefficient of one sample moves while all other samples stay optimal.
//!
//! When α_c changes by t, the α of margin samples change by βt, b by β₀t and the g of all other samples by γt, with
//! [β₀; β] = −R[y_c; Q_c] and γᵢ = Q_ic + Σ Qᵢₛβₛ + yᵢβ₀ (Emara 2012, VI.2). A step ends when the first sample changes its
//! set. If the margin is empty, only b changes, and each gᵢ by yᵢ times as much, until some sample reaches g = 0.
//!
//! If several samples change their set at the same time, they are processed one at a time, lowest index first. This is
//! the least-index rule of principal pivoting (Murty 1974), which does not cycle if every curvature is positive; the
//! ridge of [`super`] ensures that.

use super::inverse::Inverse;
use super::{ExactSvm, Place};
use crate::error::{Error, Result};

/// Smallest step of α that counts, as a fraction of the cost.
const MIN_STEP: f64 = 1e-13;

/// Smallest rate of change that counts; smaller ones are rounding errors. Without this limit a duplicate of a margin sample
/// could join and leave the margin endlessly. The true rate of a duplicate is of the size of the ridge.
const MIN_RATE: f64 = 1e-13;

/// Largest residual of β that is accepted without correction; if it stays above a hundred times this value, R is
/// recomputed. Both limits are far below the ridge, which determines the solution among duplicates.
const RESIDUAL: f64 = 1e-14;

/// Maximum number of corrections of β. The fraction of the error that each one leaves grows with the condition number of
/// the margin's matrix; it is about 1e-6 with duplicates in the margin.
pub(crate) const MAX_CORRECTIONS: usize = 6;

/// Maximum number of steps of one move, per sample.
const MAX_STEPS: usize = 20;

/// Number of samples that may join the margin before R is recomputed.
const MAX_UPDATES: usize = 200;

/// Event that ends a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    /// α of the moving sample reached its bound.
    Bound,
    /// g of the moving sample reached 0.
    Reached,
    /// α of a margin sample reached 0 or C.
    Leaves(usize, Place),
    /// g of another sample reached 0.
    Joins(usize),
}

/// Rates of change of all quantities with α of the moving sample.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rates {
    /// [β₀; β]: rates of b and of the α of margin samples.
    pub beta: Vec<f64>,
    /// γ: rate of g of every sample; 0 up to rounding for margin samples.
    pub gamma: Vec<f64>,
    /// Largest absolute kernel value involved, at least 1.
    pub scale: f64,
}

impl ExactSvm {
    /// Moves α_c up from 0 until sample c is optimal (`way` = 1), or down to 0 (`way` = −1); `row` is its kernel row.
    pub(crate) fn move_sample(&mut self, c: usize, way: f64, row: &[f64]) -> Result<()> {
        let mut rates = Rates::default();
        for _ in 0..MAX_STEPS * (self.len() + 10) {
            if self.standing.margin.is_empty() {
                if self.move_bias(c, way)? {
                    return Ok(());
                }
                continue;
            }
            self.rates(c, row, &mut rates)?;
            let (step, event) = self.first_event(c, way, &rates);
            self.move_by(c, way * step, &rates);
            match event {
                Event::Bound => {
                    let at = &mut self.standing;
                    at.alpha[c] = if way > 0.0 { self.cost[c] } else { 0.0 };
                    at.place[c] = if way > 0.0 { Place::Error } else { Place::Absent };
                    return Ok(());
                }
                Event::Reached => {
                    self.standing.g[c] = 0.0;
                    return self.join(c);
                }
                Event::Leaves(s, place) => {
                    self.leave(s);
                    self.standing.alpha[s] = if place == Place::Error { self.cost[s] } else { 0.0 };
                    (self.standing.place[s], self.standing.g[s]) = (place, 0.0);
                }
                Event::Joins(i) => {
                    self.standing.g[i] = 0.0;
                    self.join(i)?;
                }
            }
        }
        Err(no_exact_solution())
    }

    /// β and γ for a change of α_c; `row` is its kernel row. The residual of β is γ of the margin samples, so it is a
    /// by-product.
    pub(crate) fn rates(&mut self, c: usize, row: &[f64], rates: &mut Rates) -> Result<()> {
        let y_c = self.y[c];
        let size = self.standing.margin.len() + 1;
        let mut against = Vec::with_capacity(size);
        for last in [false, true] {
            rates.beta.clear();
            rates.beta.resize(size, 0.0);
            rates.gamma.clear();
            rates.gamma.extend(row.iter().map(|k| y_c * k));
            against.clear();
            against.push(y_c);
            against.extend(self.standing.margin.iter().map(|&s| self.y[s] * y_c * row[s]));
            let diagonal = self.standing.margin.iter().zip(&self.rows).map(|(&s, row)| row[s]);
            let scale = against.iter().copied().chain(diagonal).fold(1.0, |max: f64, v| max.max(v.abs()));
            rates.scale = scale;
            let mut worst = f64::INFINITY;
            for _ in 0..MAX_CORRECTIONS {
                worst = self.correct_beta(&mut against, rates, y_c);
                if worst <= RESIDUAL * scale {
                    break;
                }
            }
            if worst <= 100.0 * RESIDUAL * scale || last {
                break;
            }
            self.refresh()?;
        }
        rates.gamma.iter_mut().zip(&self.y).for_each(|(g, y)| *g *= y);
        Ok(())
    }

    /// Corrects β once by R times its residual `against`, and updates the sums in γ and the residual accordingly. Returns
    /// the largest absolute value of the new residual.
    fn correct_beta(&self, against: &mut [f64], rates: &mut Rates, y_c: f64) -> f64 {
        let margin = &self.standing.margin;
        let mut step = vec![0.0; against.len()];
        self.standing.inverse.subtract_times(against, &mut step);
        rates.beta.iter_mut().zip(&step).for_each(|(b, s)| *b += s);
        rates.gamma.iter_mut().for_each(|h| *h += step[0]);
        for ((&s, step), row) in margin.iter().zip(&step[1..]).zip(&self.rows) {
            let by = self.y[s] * step;
            rates.gamma.iter_mut().zip(row).for_each(|(h, k)| *h += by * k);
        }
        against[0] = y_c + margin.iter().zip(&rates.beta[1..]).map(|(&s, b)| self.y[s] * b).sum::<f64>();
        for (left, &s) in against[1..].iter_mut().zip(margin) {
            *left = self.y[s] * rates.gamma[s];
        }
        against.iter().fold(0.0, |max: f64, v| max.max(v.abs()))
    }

    /// The first event and the change of α_c until it happens. Ties go to the moving sample, then to the lowest index.
    fn first_event(&self, c: usize, way: f64, rates: &Rates) -> (f64, Event) {
        let at = &self.standing;
        let bound = if way > 0.0 { self.cost[c] - at.alpha[c] } else { at.alpha[c] };
        let mut first = (bound.max(0.0), Event::Bound);
        let min_step = MIN_STEP * self.cost[c];
        let mut consider = |step: f64, event: Event| {
            let step = if step <= min_step { 0.0 } else { step };
            if step < first.0 {
                first = (step, event);
            }
        };
        if way > 0.0 && rates.gamma[c] > 0.0 {
            consider(-at.g[c] / rates.gamma[c], Event::Reached);
        }
        let mut slot = vec![0.0; self.len()];
        at.margin.iter().zip(&rates.beta[1..]).for_each(|(&s, b)| slot[s] = *b);
        for i in (0..self.len()).filter(|&i| i != c) {
            let (speed, drift) = (way * slot[i], way * rates.gamma[i]);
            let min_drift = MIN_RATE * rates.scale;
            match at.place[i] {
                Place::Margin if speed > MIN_RATE => {
                    consider((self.cost[i] - at.alpha[i]) / speed, Event::Leaves(i, Place::Error));
                }
                Place::Margin if speed < -MIN_RATE => {
                    consider(at.alpha[i] / -speed, Event::Leaves(i, Place::Rest));
                }
                Place::Error if drift > min_drift => consider(-at.g[i] / drift, Event::Joins(i)),
                Place::Rest if drift < -min_drift => consider(at.g[i] / -drift, Event::Joins(i)),
                _ => {}
            }
        }
        first
    }

    /// Applies a change of α_c by `step` to all quantities.
    fn move_by(&mut self, c: usize, step: f64, rates: &Rates) {
        let at = &mut self.standing;
        at.alpha[c] += step;
        at.b += step * rates.beta[0];
        for (&s, b) in at.margin.iter().zip(&rates.beta[1..]) {
            at.alpha[s] = (at.alpha[s] + step * b).clamp(0.0, self.cost[s]);
        }
        for (i, (g, gamma)) in at.g.iter_mut().zip(&rates.gamma).enumerate() {
            if at.place[i] != Place::Margin {
                *g += step * gamma;
            }
        }
    }

    /// With an empty margin, moves b until the first sample reaches g = 0 and joins the margin, in the direction that lets
    /// α_c move. Returns whether that sample is c.
    fn move_bias(&mut self, c: usize, way: f64) -> Result<bool> {
        let direction = way * self.y[c];
        let at = &mut self.standing;
        let mut first = (way > 0.0).then_some((-at.g[c], c));
        for i in (0..at.g.len()).filter(|&i| i != c) {
            let speed = direction * self.y[i];
            let distance = match at.place[i] {
                Place::Error if speed > 0.0 => (-at.g[i]).max(0.0),
                Place::Rest if speed < 0.0 => at.g[i].max(0.0),
                _ => continue,
            };
            if first.is_none_or(|(d, _)| distance < d) {
                first = Some((distance, i));
            }
        }
        let (distance, i) = first.ok_or_else(no_exact_solution)?;
        at.b += direction * distance;
        for (g, y) in at.g.iter_mut().zip(&self.y) {
            *g += direction * distance * y;
        }
        at.g[i] = 0.0;
        self.join(i)?;
        Ok(i == c)
    }

    /// Adds a sample with g = 0 to the margin. A new sample with α = 0 goes to the rest set instead.
    fn join(&mut self, i: usize) -> Result<()> {
        if self.standing.place[i] == Place::Absent && self.standing.alpha[i] <= MIN_STEP * self.cost[i] {
            self.standing.alpha[i] = 0.0;
            self.standing.place[i] = Place::Rest;
            return Ok(());
        }
        let row = self.kernel_row(i);
        if self.standing.margin.is_empty() {
            self.standing.inverse = Inverse::one(row[i], self.y[i]);
        } else {
            let mut rates = Rates::default();
            self.rates(i, &row, &mut rates)?;
            if rates.gamma[i] <= 0.0 {
                return Err(no_exact_solution());
            }
            self.standing.inverse.join(&rates.beta, rates.gamma[i]);
        }
        self.standing.margin.push(i);
        self.standing.place[i] = Place::Margin;
        self.rows.push(row);
        self.standing.changes += 1;
        Ok(())
    }

    /// Removes a sample from the margin; the caller sets its new place.
    pub(crate) fn leave(&mut self, s: usize) {
        if let Some(slot) = self.standing.margin.iter().position(|&m| m == s) {
            self.standing.margin.remove(slot);
            self.rows.remove(slot);
            if self.standing.inverse.leave(slot + 1) {
                self.standing.changes = MAX_UPDATES;
            }
        }
    }

    /// Recomputes R after [`MAX_UPDATES`] updates, so that rounding errors do not accumulate.
    pub(crate) fn refresh_if_due(&mut self) -> Result<()> {
        if self.standing.changes >= MAX_UPDATES { self.refresh() } else { Ok(()) }
    }

    /// Recomputes R from the kernel values of the margin.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        self.standing.inverse = self.factored()?;
        self.standing.changes = 0;
        Ok(())
    }
}

fn no_exact_solution() -> Error {
    Error::Data(
        "no exact solution was found: the kernel values are too large or too many samples are duplicates; scale the \
         samples or lower C. The model was not changed"
            .into(),
    )
}
