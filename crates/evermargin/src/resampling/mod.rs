//! Resampling of imbalanced classes (undersampling, synthetic rows), and controlled corruption for experiments (flipped
//! labels, thinned classes). All randomness comes from the generator passed in.
//!
//! Source: Ertekin 2009, chapters 4 and 5.

mod synthetic;

pub use synthetic::{Neighbors, SyntheticRows, between, neighbors, smote};

use crate::data::Labels;
use crate::error::{Error, Result};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// Size of the largest class divided by that of the smallest, among classes with rows.
pub fn imbalance_ratio(counts: &[usize]) -> Option<f64> {
    let present = || counts.iter().copied().filter(|n| *n > 0);
    Some(present().max()? as f64 / present().min()? as f64)
}

/// The rows that remain, ascending, when class `majority` keeps a uniform sample of round(ratio·m) of its rows, where m
/// is the number of labeled rows of all other classes. It keeps all its rows if it has no more than that. Other rows
/// remain.
pub fn undersample(labels: &Labels, majority: u32, ratio: f64, rng: &mut Pcg64) -> Result<Vec<usize>> {
    positive("ratio", ratio)?;
    let rows = rows_of(labels, majority)?;
    let others = labels.labeled() - rows.len();
    Ok(keep_some(labels, &rows, (ratio * others as f64).round() as usize, rng))
}

/// The rows that remain, ascending, when rows of `class` are deleted at random until the largest other class has `ratio`
/// times as many (rounded, at least one row remains). An error if `class` already has fewer rows.
pub fn thin(labels: &Labels, class: u32, ratio: f64, rng: &mut Pcg64) -> Result<Vec<usize>> {
    positive("thin", ratio)?;
    let rows = rows_of(labels, class)?;
    let mut others = labels.counts();
    others[class as usize] = 0;
    let largest = others.into_iter().max().unwrap_or(0);
    let wanted = ((largest as f64 / ratio).round() as usize).max(1);
    if wanted > rows.len() {
        let now = largest as f64 / rows.len() as f64;
        return Err(Error::parameter("thin", ratio, format!("at least {now:.4}, the current ratio")));
    }
    Ok(keep_some(labels, &rows, wanted, rng))
}

/// Replaces exactly round(share·n) of the n labels by another class, drawn uniformly. Returns the rows, ascending.
pub fn flip_labels(labels: &mut Labels, share: f64, rng: &mut Pcg64) -> Result<Vec<usize>> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::parameter("flip", share, "a share from 0 to 1"));
    }
    let classes = labels.classes.len() as u32;
    let mut rows: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i].is_some()).collect();
    let wanted = (share * rows.len() as f64).round() as usize;
    if wanted > 0 && classes < 2 {
        return Err(Error::Data("wrong labels need a second class to choose".into()));
    }
    rows.shuffle(rng);
    rows.truncate(wanted);
    rows.sort_unstable();
    for &i in &rows {
        labels.of[i] = labels.of[i].map(|c| (c + rng.random_range(1..classes)) % classes);
    }
    Ok(rows)
}

/// All rows except those of `rows` that are not among the `wanted` drawn ones.
fn keep_some(labels: &Labels, rows: &[usize], wanted: usize, rng: &mut Pcg64) -> Vec<usize> {
    let mut drawn = rows.to_vec();
    drawn.shuffle(rng);
    let mut keep = vec![true; labels.of.len()];
    drawn.iter().skip(wanted).for_each(|&i| keep[i] = false);
    (0..keep.len()).filter(|&i| keep[i]).collect()
}

/// The rows of a class; an error if there are none.
fn rows_of(labels: &Labels, class: u32) -> Result<Vec<usize>> {
    let rows: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i] == Some(class)).collect();
    match labels.classes.get(class as usize) {
        None => Err(Error::parameter("class", class, format!("below {}", labels.classes.len()))),
        Some(name) if rows.is_empty() => Err(Error::Data(format!("class {name} has no rows"))),
        Some(_) => Ok(rows),
    }
}

fn positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::parameter(name, value, "a positive number"))
}
