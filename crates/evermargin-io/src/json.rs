//! Classifiers as JSON, for people and other programs. Numbers are written so that reading them gives the same bits.

use crate::artifacts::validate::check;
use crate::error::{Error, Result};
use evermargin::data::Matrix;
use evermargin::model::{Classifier, Model};

/// Encodes the classifier as indented JSON.
pub fn to_json(classifier: &Classifier) -> Result<String> {
    check(classifier).map_err(Error::inexpressible)?;
    serde_json::to_string_pretty(classifier).map_err(|e| Error::inexpressible(e.to_string()))
}

/// Decodes a classifier from JSON; `name` is the name of the file in error messages.
pub fn from_json(name: &str, text: &[u8]) -> Result<Classifier> {
    let mut classifier: Classifier = serde_json::from_slice(text).map_err(|e| {
        let place = crate::error::Place { line: e.line() as u64, column: e.column() as u64 };
        Error::Content { file: name.to_string(), place, message: format!("not a classifier: {e}").into() }
    })?;
    recheck_model(&mut classifier.model).map_err(|e| Error::content(name, e.to_string()))?;
    check(&classifier).map_err(|what| Error::content(name, what))?;
    Ok(classifier)
}

fn recheck_model(model: &mut Model) -> evermargin::Result<()> {
    match model {
        Model::Linear { .. } => Ok(()),
        Model::Expansion { points, .. } => recheck(points),
        Model::Views { parts, .. } => parts.iter_mut().try_for_each(|p| recheck_model(&mut p.model)),
    }
}

/// Runs the checks of the constructors of a matrix, which deserialization skips.
fn recheck(points: &mut Matrix) -> evermargin::Result<()> {
    let empty = Matrix::dense(Vec::new(), 0, 0)?;
    *points = match std::mem::replace(points, empty) {
        Matrix::Dense { values, rows, cols, .. } => Matrix::dense(values, rows, cols)?,
        Matrix::Csr { indptr, indices, values, cols, .. } => Matrix::csr(indptr, indices, values, cols)?,
    };
    Ok(())
}
