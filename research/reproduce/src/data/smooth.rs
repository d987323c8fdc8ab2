//! Conversion between the two gray scales of USPS.
//!
//! The digits of *The Elements of Statistical Learning* (`zip.train`) and those of LIBSVM's data page (`usps`) are the
//! same images; the latter are smoothed by a Gaussian of width 0.75 pixels, cut at 3 pixels, with −1 (white) around
//! the image. On the 2007 test digits, which are available in both forms, this holds to six decimals.

/// Number of pixels per row and column.
const SIDE: usize = 16;
/// Radius at which the Gaussian is cut, in pixels.
const REACH: usize = 3;
/// Width of the Gaussian, in pixels.
const WIDTH: f64 = 0.75;
/// Gray value around an image.
const WHITE: f64 = -1.0;

/// Number of pixels of an image.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// Smooths consecutive images of 16 × 16 pixels.
pub(super) fn smooth(images: &mut [f64]) {
    let weights = weights();
    for image in images.chunks_exact_mut(PIXELS) {
        let rows = along(image, &weights, |line, at| line * SIDE + at);
        let both = along(&rows, &weights, |line, at| at * SIDE + line);
        image.copy_from_slice(&both);
    }
}

fn weights() -> [f64; 2 * REACH + 1] {
    let mut weights = [0.0; 2 * REACH + 1];
    for (i, w) in weights.iter_mut().enumerate() {
        *w = (-(i as f64 - REACH as f64).powi(2) / (2.0 * WIDTH * WIDTH)).exp();
    }
    let sum: f64 = weights.iter().sum();
    weights.map(|w| w / sum)
}

/// Smooths in one direction; `index(line, position)` is the index of a pixel.
fn along(image: &[f64], weights: &[f64], index: impl Fn(usize, usize) -> usize) -> Vec<f64> {
    let mut out = vec![0.0; PIXELS];
    for line in 0..SIDE {
        for at in 0..SIDE {
            let value = |(i, w): (usize, &f64)| {
                let inside = (at + i).checked_sub(REACH).filter(|p| *p < SIDE);
                w * inside.map_or(WHITE, |p| image[index(line, p)])
            };
            out[index(line, at)] = weights.iter().enumerate().map(value).sum();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_keeps_white_and_spreads_a_dot() {
        let mut images = vec![WHITE; 2 * PIXELS];
        images[PIXELS + 5 * SIDE + 7] = 1.0;
        smooth(&mut images);
        assert!(images[..PIXELS].iter().all(|v| (v - WHITE).abs() < 1e-12));
        let at = |r: usize, c: usize| images[PIXELS + r * SIDE + c] - WHITE;
        assert!((at(5, 7) / 2.0 - 0.2830).abs() < 1e-3);
        assert!((at(5, 8) / at(5, 7) - (-1.0f64 / 1.125).exp()).abs() < 1e-9);
        assert!((at(4, 7) - at(5, 6)).abs() < 1e-12);
        assert!((images[PIXELS..].iter().map(|v| v - WHITE).sum::<f64>() - 2.0).abs() < 1e-9);
    }
}
