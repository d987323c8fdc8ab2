//! Training from typed parameters: `Classifier::fit(SvcParams { .. }, &dataset)`.

use super::options::{Gamma, TrainOptions};
use super::train::train;
use crate::data::{Dataset, Labels, Matrix};
use crate::error::Result;
use crate::estimators::EstimatorParams;
use crate::model::Classifier;
use crate::params::ParamValue;

/// Kernel width of default parameters, which stands for `gamma = scale`.
const DEFAULT_GAMMA: f64 = 1.0;

impl TrainOptions {
    /// Default options for an estimator with typed parameters.
    ///
    /// A kernel width that differs from the default of the parameters (1) is kept; the default stands for
    /// [`Gamma::Scale`], 1/(d·Var X) of the scaled rows. Set [`TrainOptions::gamma`] to use a width of 1.
    pub fn of(params: impl Into<EstimatorParams>) -> Result<Self> {
        let params = params.into();
        let mut options = Self::new(params.spec().name);
        let mut values = params.values()?;
        let gamma = values.remove("gamma").as_ref().and_then(ParamValue::as_f64);
        options.gamma = gamma.filter(|gamma| *gamma != DEFAULT_GAMMA).map(Gamma::Value);
        options.params = values;
        Ok(options)
    }
}

impl Classifier {
    /// Trains a classifier of any number of classes with default options: the scaling is chosen from the data, and rows
    /// without a label take part if the estimator uses them. [`train`] has all options, reports and messages.
    pub fn fit(params: impl Into<EstimatorParams>, data: &Dataset) -> Result<Self> {
        let options = TrainOptions { compare: false, ..TrainOptions::of(params)? };
        Ok(train(data.x.clone(), &data.labels, &options, &())?.classifier)
    }

    /// The predicted class of each row, by name.
    pub fn predict_names(&self, x: Matrix) -> Result<Vec<&str>> {
        let predictions = self.predict(x)?;
        Ok(predictions.class.iter().map(|&class| self.classes[class as usize].as_str()).collect())
    }

    /// Fraction of the labeled rows that are predicted correctly; `None` without labels.
    pub fn accuracy(&self, data: &Dataset) -> Result<Option<f64>> {
        let names = self.predict_names(data.x.clone())?;
        let Labels { classes, of } = &data.labels;
        let known =
            of.iter().zip(&names).filter_map(|(class, name)| class.map(|c| classes[c as usize] == *name));
        let (labeled, correct) =
            known.fold((0, 0), |(n, k), is_correct| (n + 1, k + usize::from(is_correct)));
        Ok((labeled > 0).then(|| f64::from(correct as u32) / f64::from(labeled)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::{GenerateParams, generate};
    use crate::estimators::supervised::linear::LinearParams;
    use crate::estimators::supervised::svc::SvcParams;
    use crate::kernel::Kernel;

    fn waveform() -> Dataset {
        let (x, labels) = generate("waveform", &GenerateParams { rows: 150, ..Default::default() }).unwrap();
        Dataset::new(x, labels).unwrap()
    }

    #[test]
    fn typed_parameters_train_the_classifier_of_named_ones() {
        let data = waveform();
        let typed = Classifier::fit(SvcParams { c: 3.0, ..SvcParams::default() }, &data).unwrap();
        let mut named = TrainOptions::new("svc");
        named.set("c", 3.0).unwrap();
        let named = train(data.x.clone(), &data.labels, &named, &()).unwrap().classifier;
        assert_eq!(typed.model, named.model);
        assert_eq!(typed.predict(data.x.clone()).unwrap(), named.predict(data.x.clone()).unwrap());
    }

    #[test]
    fn kernel_widths_other_than_the_default_are_kept() {
        let with = |gamma| SvcParams { kernel: Kernel::Rbf { gamma }, ..SvcParams::default() };
        assert_eq!(TrainOptions::of(with(0.25)).unwrap().gamma, Some(Gamma::Value(0.25)));
        assert_eq!(TrainOptions::of(with(1.0)).unwrap().gamma, None);
        assert_eq!(TrainOptions::of(LinearParams::default()).unwrap().gamma, None);
    }

    #[test]
    fn several_classes_are_predicted_by_name() {
        let data = waveform();
        let classifier = Classifier::fit(LinearParams::default(), &data).unwrap();
        let names = classifier.predict_names(data.x.clone()).unwrap();
        assert!(names.iter().all(|name| data.labels.classes.iter().any(|class| class == name)));
        let correct = names.iter().zip(&data.labels.of);
        let correct =
            correct.filter(|(name, of)| of.is_some_and(|c| data.labels.classes[c as usize] == **name));
        assert_eq!(classifier.accuracy(&data).unwrap(), Some(correct.count() as f64 / 150.0));
        let unlabeled = Dataset { labels: Labels { of: vec![None; 150], ..data.labels.clone() }, ..data };
        assert_eq!(classifier.accuracy(&unlabeled).unwrap(), None);
    }
}
