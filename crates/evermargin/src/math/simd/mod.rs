//! Inner loops that benefit from wide registers, in the only folder with `unsafe`: [`kernel_values`], [`vectors`],
//! [`dual`].
//!
//! Each loop is written once as plain Rust that the compiler vectorizes, compiled three times (AVX-512, AVX2 with FMA,
//! baseline) and selected at run time. The only unsafe operation is calling a function compiled for CPU features that
//! were detected before. Results may differ in the last bits between the three, but not between runs or thread counts
//! on one machine.
#![allow(unsafe_code, clippy::inline_always, clippy::needless_bitwise_bool)]

/// Defines `$name`, which runs `$body::<FMA>` with the widest registers that this machine supports.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident => $body:ident ( $($arg:ident : $ty:ty),* $(,)? ) $(-> $ret:ty)?) => {
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma")]
                fn avx512($($arg: $ty),*) $(-> $ret)? { $body::<true>($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) $(-> $ret)? { $body::<true>($($arg),*) }
                if super::has_avx512() {
                    // SAFETY: the features were detected on this machine.
                    return unsafe { avx512($($arg),*) };
                }
                if super::has_avx2_fma() {
                    // SAFETY: the features were detected on this machine.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body::<{ cfg!(target_arch = "aarch64") }>($($arg),*)
        }
    };
}

mod dual;
mod kernel_values;
mod vectors;

pub use dual::*;
pub use kernel_values::*;
pub use vectors::*;

/// Whether the loops run in their AVX-512 form.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("fma")
}

/// Whether the loops run in their AVX2 form, which fuses multiplication and addition, unless they run in a wider one.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn has_avx2_fma() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// Whether the loops run in their AVX-512 form.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_avx512() -> bool {
    false
}

/// Whether the loops run in their AVX2 form.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_avx2_fma() -> bool {
    false
}

#[inline(always)]
fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
fn fma64<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}
