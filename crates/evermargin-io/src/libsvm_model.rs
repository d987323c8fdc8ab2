//! Models in LIBSVM's text form.

use crate::error::{Error, Result};
use evermargin::model::Classifier;

/// The classifier as a LIBSVM model.
pub fn to_text(_classifier: &Classifier) -> Result<String> {
    Err(Error::inexpressible("LIBSVM models are not written yet"))
}

/// The classifier a LIBSVM model describes; `name` stands for the file in messages.
pub fn from_text(name: &str, _text: &[u8]) -> Result<Classifier> {
    Err(Error::content(name, "LIBSVM models are not read yet"))
}
