//! Manifold regularization: estimators whose functions vary little along the data ([`lap`]), and the parts of which
//! they and the estimators of several views ([`coreg`](crate::estimators::multiview::coreg),
//! [`colap`](crate::estimators::multiview::colap)) consist.
//!
//! Problem (Sindhwani 2007, equation 2.5): over functions f of a kernel space,
//!
//! min ½|f|² + Σᵢ cᵢV(yᵢ, f(xᵢ)) + ½fᵀMf,
//!
//! with V over labeled rows, f in the last term the outputs on all rows, and M a power of a graph Laplacian times
//! γ_I/γ_A. All computations use one space ([`landmark_space::LandmarkSpace`]): f = Rv on the rows, |f|² = |v|², so
//! that the first and last term are ½vᵀ(I + RᵀMR)v. With I + RᵀMR = CCᵀ ([`deformed_kernel::DeformedKernel`]) the
//! samples are rows of RC⁻ᵀ and f is a linear function of them: the remaining problem is supervised. The inner products
//! of the samples are the data-dependent (warped) kernel of section 2.6.

pub mod deformed_kernel;
pub mod dictionary;
pub mod landmark_space;
pub mod lap;
pub mod penalty;
pub mod sparse;
pub mod spectral;
pub(crate) mod transduction;
