//! One sample moves, all others stay optimal: the steps of the exact machine.
//!
//! When α_c moves by t, α of the margin moves by βt, b by β₀t and the g outside by γt, with [β₀; β] = −R[y_c; Q_c] and
//! γᵢ = Q_ic + Σ Qᵢₛβₛ + yᵢβ₀ (Emara 2012, VI.2). The step ends where the first sample changes its set. With an empty
//! margin only b moves, gᵢ by yᵢ times as much, until a sample reaches g = 0.
//!
//! Several samples may change at once: of those that do so without a step the first is taken, one at a time. This is the
//! rule of the least index of principal pivoting (Murty 1974), which does not cycle where every curvature is positive;
//! the ridge of [`super`] makes it so.

use super::inverse::Inverse;
use super::{ExactSvm, Place};
use crate::error::{Error, Result};

/// Steps of α below this share of the cost are none.
const NOTHING: f64 = 1e-13;

/// Rates below this are rounding: a copy of what is on the margin must not join and leave for ever. A true rate of a copy
/// is of the size of the ridge.
const FLAT: f64 = 1e-13;

/// Largest residual of β that is not corrected; a hundred times as much asks for a fresh R. Both are far below the ridge,
/// which is what decides between copies.
const RESIDUAL: f64 = 1e-14;

/// Most corrections of β: each leaves a share of the error that grows with the condition of the margin's matrix, about 1e-6
/// where it holds copies.
pub(crate) const PASSES: usize = 6;

/// Steps of one move, for each sample, before it is given up.
const MAX_STEPS: usize = 20;

/// Samples that joined the margin before R is computed afresh.
const FRESH: usize = 200;

/// What ends a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    /// The moving sample is at its bound.
    Bound,
    /// The moving sample has g = 0.
    Reached,
    /// A margin sample is at 0 or C.
    Leaves(usize, Place),
    /// Another sample has g = 0.
    Joins(usize),
}

/// How everything moves when α of one sample does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rates {
    /// [β₀; β] of the margin.
    pub beta: Vec<f64>,
    /// γ of every sample; 0 on the margin up to rounding.
    pub gamma: Vec<f64>,
    /// Size of the kernel values behind them, at least 1.
    pub scale: f64,
}

impl ExactSvm {
    /// Moves α_c up from 0 until it is settled, or down to 0; `row` is its kernel row.
    pub(crate) fn travel(&mut self, c: usize, way: f64, row: &[f64]) -> Result<()> {
        let mut rates = Rates::default();
        for _ in 0..MAX_STEPS * (self.len() + 10) {
            if self.standing.margin.is_empty() {
                if self.slide(c, way)? {
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
        Err(unsettled())
    }

    /// β and γ when α_c moves; `row` is its kernel row. The residual of β is γ of the margin, so it costs nothing to know.
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
            let scale = against.iter().copied().chain(diagonal).fold(1.0, |most: f64, v| most.max(v.abs()));
            rates.scale = scale;
            let mut worst = f64::INFINITY;
            for _ in 0..PASSES {
                worst = self.refine(&mut against, rates, y_c);
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

    /// One correction of β by R times its residual `against`; the sums behind γ follow, and the residual is that of the
    /// new β. Returns the largest of it.
    fn refine(&self, against: &mut [f64], rates: &mut Rates, y_c: f64) -> f64 {
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
        against.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
    }

    /// The first thing to happen, and after how much of α_c; of those at once the first sample, the moving one before all.
    fn first_event(&self, c: usize, way: f64, rates: &Rates) -> (f64, Event) {
        let at = &self.standing;
        let bound = if way > 0.0 { self.cost[c] - at.alpha[c] } else { at.alpha[c] };
        let mut first = (bound.max(0.0), Event::Bound);
        let nothing = NOTHING * self.cost[c];
        let mut consider = |step: f64, event: Event| {
            let step = if step <= nothing { 0.0 } else { step };
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
            let flat = FLAT * rates.scale;
            match at.place[i] {
                Place::Margin if speed > FLAT => {
                    consider((self.cost[i] - at.alpha[i]) / speed, Event::Leaves(i, Place::Error));
                }
                Place::Margin if speed < -FLAT => {
                    consider(at.alpha[i] / -speed, Event::Leaves(i, Place::Rest));
                }
                Place::Error if drift > flat => consider(-at.g[i] / drift, Event::Joins(i)),
                Place::Rest if drift < -flat => consider(at.g[i] / -drift, Event::Joins(i)),
                _ => {}
            }
        }
        first
    }

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

    /// With an empty margin only b can move: toward what lets α_c move. Says whether c is settled.
    fn slide(&mut self, c: usize, way: f64) -> Result<bool> {
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
        let (distance, i) = first.ok_or_else(unsettled)?;
        at.b += direction * distance;
        for (g, y) in at.g.iter_mut().zip(&self.y) {
            *g += direction * distance * y;
        }
        at.g[i] = 0.0;
        self.join(i)?;
        Ok(i == c)
    }

    /// A sample with g = 0 joins the margin; one that moved there from 0 without a step rests.
    fn join(&mut self, i: usize) -> Result<()> {
        if self.standing.place[i] == Place::Absent && self.standing.alpha[i] <= NOTHING * self.cost[i] {
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
                return Err(unsettled());
            }
            self.standing.inverse.join(&rates.beta, rates.gamma[i]);
        }
        self.standing.margin.push(i);
        self.standing.place[i] = Place::Margin;
        self.rows.push(row);
        self.standing.changes += 1;
        Ok(())
    }

    /// A sample leaves the margin; the caller says where to.
    pub(crate) fn leave(&mut self, s: usize) {
        if let Some(slot) = self.standing.margin.iter().position(|&m| m == s) {
            self.standing.margin.remove(slot);
            self.rows.remove(slot);
            if self.standing.inverse.leave(slot + 1) {
                self.standing.changes = FRESH;
            }
        }
    }

    /// Rounding is not left to add up for ever.
    pub(crate) fn freshen(&mut self) -> Result<()> {
        if self.standing.changes >= FRESH { self.refresh() } else { Ok(()) }
    }

    /// R from the kernel values of the margin.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        self.standing.inverse = self.factored()?;
        self.standing.changes = 0;
        Ok(())
    }
}

fn unsettled() -> Error {
    Error::Data(
        "the sample could not be placed exactly: the kernel values are too large or too many samples are copies of \
         each other; scale the samples, or lower C. Nothing was changed"
            .into(),
    )
}
