//! Data sets of the streams.

use crate::data::{Origin, Scaling, digits};
use crate::failure::{Failure, Result};
use crate::few::Rows;
use evermargin::{Label, Matrix};
use std::path::Path;

/// Rows and their classes, 0 or 1.
#[derive(Debug, Clone)]
pub(super) struct Set {
    pub x: Matrix,
    pub truth: Vec<u32>,
}

impl Set {
    /// Opens a data set by its name in tables about few labels, or `reuters-earn` or `mnist-odd`. Rows are scaled to length 1, except
    /// digits (values / 255) and binary features (unchanged).
    pub(super) fn open(name: &str, folder: &Path) -> Result<Self> {
        let mut set = match name {
            "reuters-earn" => stories(folder)?,
            "mnist-odd" => odd_digits(folder)?,
            name => {
                let rows = Rows::open(name, folder)?;
                let truth = rows.labels.of.iter().map(|c| u32::from(*c == Some(1))).collect();
                Self { x: rows.x, truth }
            }
        };
        let scaling = match name {
            "mnist-odd" => Scaling::Pixels,
            "kdd99" | "ssl:Text" => Scaling::Unit,
            _ => Scaling::None,
        };
        set.x = scaling.fit(&set.x)?.apply(set.x)?;
        Ok(set)
    }
}

/// Both parts of Reuters-21578 (ModApte), with stories about earnings against the others.
fn stories(folder: &Path) -> Result<Set> {
    let Origin::Fixed(split) = Origin::open("reuters:earn", folder)? else {
        return Err(Failure::Content("the Reuters stories have no fixed split".into()));
    };
    let mut x = split.train.x;
    (0..split.test.x.rows()).for_each(|i| x.push(split.test.x.view().row(i)));
    let positive = split.train.y.iter().chain(&split.test.y).map(|y| u32::from(*y == Label::Pos));
    Ok(Set { truth: positive.collect(), x })
}

/// 60,000 digits of MNIST, odd against even.
fn odd_digits(folder: &Path) -> Result<Set> {
    let set = digits(folder, "train")?;
    let odd: Vec<u32> =
        set.labels.classes.iter().map(|c| u32::from(c.parse::<u32>().is_ok_and(|d| d % 2 == 1))).collect();
    Ok(Set { truth: set.labels.of.iter().map(|c| c.map_or(0, |c| odd[c as usize])).collect(), x: set.x })
}
