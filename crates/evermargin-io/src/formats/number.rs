//! Parser of decimal numbers in bytes. Its results are bit-identical to those of `str::parse::<f64>`.
//!
//! A decimal m·10^e with m < 2^53 and |e| ≤ 22 is a correctly rounded product or quotient of two exact doubles (the fast
//! path of Clinger 1990); all other numbers are parsed by the standard library.

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Parses the number that starts at `start` and ends before a space, a tab or the end of `line`. Returns the number and
/// its end; `None` if the token is not a decimal number. The number may be infinite (`1e999`); words such as `nan` and `inf`
/// are not numbers.
#[inline]
pub(crate) fn scan(line: &[u8], start: usize) -> Option<(f64, usize)> {
    let mut p = start;
    let negative = skip_sign(line, &mut p);
    let digits_start = p;
    let mut mantissa: u64 = 0;
    while let Some(digit) = digit_at(line, p) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
        p += 1;
    }
    let mut digits = p - digits_start;
    let mut exponent: i64 = 0;
    if line.get(p) == Some(&b'.') {
        p += 1;
        let fraction_start = p;
        while let Some(digit) = digit_at(line, p) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
            p += 1;
        }
        digits += p - fraction_start;
        exponent = -((p - fraction_start) as i64);
    }
    if digits == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = line.get(p) {
        p += 1;
        let down = skip_sign(line, &mut p);
        let exponent_start = p;
        let mut written: i64 = 0;
        while let Some(digit) = digit_at(line, p) {
            written = (written * 10 + digit as i64).min(1_000_000);
            p += 1;
        }
        if p == exponent_start {
            return None;
        }
        exponent += if down { -written } else { written };
    }
    if p < line.len() && !matches!(line[p], b' ' | b'\t') {
        return None;
    }
    // 19 digits do not overflow a u64.
    if digits <= 19 && mantissa < (1 << 53) && (-22..=22).contains(&exponent) {
        let m = mantissa as f64;
        let power = POWERS[exponent.unsigned_abs() as usize];
        let value = if exponent < 0 { m / power } else { m * power };
        return Some((if negative { -value } else { value }, p));
    }
    let text = std::str::from_utf8(&line[start..p]).ok()?;
    Some((text.parse().ok()?, p))
}

/// Parses a whole token; `None` if it is not a number.
pub(crate) fn parse(token: &[u8]) -> Option<f64> {
    scan(token, 0).filter(|(_, end)| *end == token.len()).map(|(value, _)| value)
}

/// Writes the shortest decimal that reads back to the same bits, without a trailing `.0`.
pub(crate) fn write(out: &mut Vec<u8>, value: f64) {
    use std::io::Write;
    // Writing to a vector cannot fail.
    if value.fract() == 0.0 && value.abs() < 1e15 && (value != 0.0 || value.is_sign_positive()) {
        let _ = write!(out, "{}", value as i64);
    } else {
        let _ = write!(out, "{value:?}");
    }
}

/// Skips a sign; returns whether it is a minus.
fn skip_sign(line: &[u8], p: &mut usize) -> bool {
    let sign = line.get(*p).copied();
    *p += usize::from(matches!(sign, Some(b'-' | b'+')));
    sign == Some(b'-')
}

#[inline]
fn digit_at(line: &[u8], p: usize) -> Option<u64> {
    let digit = line.get(p)?.wrapping_sub(b'0');
    (digit < 10).then_some(digit as u64)
}

#[cfg(test)]
mod tests {
    use super::{parse, scan, write};
    use proptest::prelude::*;

    fn assert_agrees(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(parse(text.as_bytes()).map(f64::to_bits), Some(expected.to_bits()), "{text}");
    }

    #[test]
    fn parses_adversarial_decimals_like_standard_library() {
        for text in [
            "0",
            "-0",
            "+0",
            "1",
            "-1",
            "+1",
            "0.1",
            "1.",
            ".5",
            "-.5e-3",
            "1e22",
            "1e23",
            "1e-22",
            "1e-23",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "9007199254740993e22",
            "1e308",
            "1e309",
            "-1e999",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072011e-308",
            "0.000000000000000000000000000000000000000000000000000000000000001",
            "18446744073709551616",
            "99999999999999999999999999999",
            "123456789012345678901234567890.12345e-20",
            "8.41e21",
            "1e00000000005",
            "1E5",
            "1e+5",
            "0e999999999999999999",
            "7.2057594037927933e16",
            "000000000000000000000000001.5",
            "1.7976931348623159e308",
            "0.30000000000000004",
            "5e-1000000000000",
            "6.0000",
            "-1.0000",
        ] {
            assert_agrees(text);
        }
    }

    #[test]
    fn refuses_words_and_fragments() {
        for text in [
            "", "-", "+", ".", "e5", "1e", "1e+", "nan", "inf", "-inf", "infinity", "1_0", "0x1", "1:2",
            "1 ", "1,5", "--1",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn scan_stops_at_blank() {
        assert_eq!(scan(b"a 12.5\t7", 2), Some((12.5, 6)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn parses_random_decimals_like_standard_library(text in "[+-]?[0-9]{1,22}(\\.[0-9]{0,22})?([eE][+-]?[0-9]{1,3})?") {
            assert_agrees(&text);
        }

        #[test]
        fn parses_short_decimals_like_standard_library(text in "-?[0-9]{0,4}\\.[0-9]{1,8}") {
            assert_agrees(&text);
        }

        #[test]
        fn reads_back_written_numbers(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut text = Vec::new();
            write(&mut text, value);
            prop_assert_eq!(parse(&text).map(f64::to_bits), Some(bits));
        }
    }
}
