//! A batch is closed: the classifier is solved, the past summarised, what is old forgotten.

use super::state::{Body, Said};
use super::transduction::Given;
use super::{Effects, Engine, Forget, Inferred};
use crate::error::Result;

impl Engine {
    /// The batch is done with.
    pub(super) fn close(&mut self, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let done = if body.current.closed { Ok(()) } else { self.close_at(&mut body, effects) };
        self.body = Some(body);
        done
    }

    pub(super) fn close_at(&mut self, body: &mut Body, effects: &mut Effects) -> Result<()> {
        body.current.closed = true;
        let drifted = std::mem::take(&mut self.drifted);
        self.forget(body, drifted)?;
        if body.current.news
            && let Some(machine) = &mut body.inductive
        {
            machine.review(&body.memory, self.batches, &self.classes, &self.params)?;
        }
        let (said, labels, _) = self.label(body, &body.current.x)?;
        self.infer(body, &said, &labels)?;
        self.absorb(body, &said)?;
        effects.labels = labels;
        for (label, truth) in effects.labels.iter_mut().zip(&body.current.truth) {
            label.class = truth.or(label.class);
        }
        if body.current.news && body.inductive.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
        Ok(())
    }

    /// Feeds labels inferred with confidence to the classifier.
    pub(super) fn infer(&self, body: &mut Body, said: &[Said], labels: &[Inferred]) -> Result<()> {
        let Some(machine) = body.inductive.as_mut().filter(|_| self.params.c_inferred > 0.0) else {
            return Ok(());
        };
        let sure = |i: &usize| {
            let (s, l) = (&said[*i], &labels[*i]);
            let agree = s.model == s.transduction || s.transduction.is_none() || s.model.is_none();
            body.current.truth[*i].is_none() && agree && l.confidence >= self.params.confidence
        };
        let chosen: Vec<(usize, u32)> =
            (0..said.len()).filter(sure).filter_map(|i| labels[i].class.map(|c| (i, c))).collect();
        if chosen.is_empty() {
            return Ok(());
        }
        machine.infer(body.current.x.view(), &chosen, body.current.base, &self.params)
    }

    /// Summarises the past; the samples of the batch without a label are the last batch now.
    pub(super) fn absorb(&mut self, body: &mut Body, said: &[Said]) -> Result<()> {
        let Some(mut t) = body.transduction.take() else { return Ok(()) };
        let class: Vec<u32> = body.memory.told().iter().map(|t| t.class).collect();
        let shares = self.shares(said);
        let open: Vec<usize> =
            (0..body.current.x.rows()).filter(|&i| body.current.truth[i].is_none()).collect();
        // without labels by transduction there is nothing to compare with, and the summary is as large as it may be
        let given: Option<Vec<Given>> = open
            .iter()
            .map(|&i| said[i].transduction.map(|class| Given { class, confidence: 0.0 }))
            .collect();
        let batch = body.current.x.view().select(&open);
        let told =
            t.absorb(self.known(body, &class, &shares), batch, given.as_deref(), self.params.seed, &());
        body.transduction = Some(t);
        self.absorbed = told?;
        Ok(())
    }

    /// Drops labels that are to be forgotten.
    pub(super) fn forget(&mut self, body: &mut Body, drifted: bool) -> Result<()> {
        let (n, told) = (body.memory.len(), body.memory.told());
        let keep: Vec<usize> = match self.params.forget {
            Forget::Window(most) if n > most => (n - most..n).collect(),
            Forget::OnDrift(batches) if drifted => {
                (0..n).filter(|&i| told[i].batch + batches > self.batches).collect()
            }
            Forget::HalfLife(_) if n > 0 => (0..n).collect(),
            _ => return Ok(()),
        };
        body.memory.keep(&keep);
        self.make_anew(body)
    }
}
