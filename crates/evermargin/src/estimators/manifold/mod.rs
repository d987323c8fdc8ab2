//! Geometry and views: learners that ask a function to vary little along the data ([`lap`]), functions of several views to
//! agree ([`coreg`](crate::estimators::multiview::coreg), [`colap`](crate::estimators::multiview::colap)), and what they are made of.
//!
//! Problem (Sindhwani 2007, equation 2.5, in the form of its digest): over functions f of a kernel space,
//!
//! min ½|f|² + Σᵢ cᵢV(yᵢ, f(xᵢ)) + ½fᵀMf,
//!
//! V over labeled rows, f in the last term the outputs on all rows, M a power of a graph Laplacian times γ_I/γ_A. All of it
//! happens in one space ([`landmark_space::LandmarkSpace`]): f = Rv on the rows, |f|² = |v|², so that the first and last term are
//! ½vᵀ(I + RᵀMR)v. With I + RᵀMR = CCᵀ ([`deformed_kernel::DeformedKernel`]) the samples are rows of RC⁻ᵀ and f a linear function of them: what
//! remains is any supervised learner. Their inner products are the data-dependent (warped) kernel of section 2.6.

pub mod deformed_kernel;
pub mod dictionary;
pub mod landmark_space;
pub mod lap;
pub mod penalty;
pub mod sparse;
pub mod spectral;
pub(crate) mod transduction;
