use super::adwin::{MIN_SIDE, epsilon};
use super::kswin::distance;
use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::VecDeque;

/// Random errors (1) and correct predictions (0); the error probability changes after `change` values.
fn bernoulli(seed: u64, (before, after): (f64, f64), change: usize, len: usize) -> Vec<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let p = |i: usize| if i < change { before } else { after };
    (0..len).map(|i| f64::from(u8::from(rng.random::<f64>() < p(i)))).collect()
}

/// Whether any cut of the raw values is significant, among the cuts after `cuts` values from the oldest.
fn has_cut(window: &[f64], cuts: impl Iterator<Item = usize>) -> bool {
    let n = window.len();
    if n < 2 * MIN_SIDE as usize {
        return false;
    }
    let mean = window.iter().sum::<f64>() / n as f64;
    let variance = window.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n as f64;
    let mut sums = vec![0.0];
    window.iter().for_each(|v| sums.push(sums[sums.len() - 1] + v));
    cuts.filter(|&c| c >= MIN_SIDE as usize && n - c >= MIN_SIDE as usize).any(|c| {
        let (old, new) = (sums[c] / c as f64, (sums[n] - sums[c]) / (n - c) as f64);
        (old - new).abs() > epsilon(c as u64, (n - c) as u64, variance)
    })
}

/// Compares the histogram with the raw values of its window, cut at the same positions: the decision is the same after
/// every value.
#[test]
fn adwin_decides_as_the_exact_window_cut_at_its_buckets() {
    let mut changes = 0;
    for seed in 0..8 {
        let values = bernoulli(seed, (0.15, 0.15 + 0.1 * seed as f64), 1200, 2400);
        let (mut adwin, mut window) = (Adwin::default(), VecDeque::new());
        for (i, value) in values.into_iter().enumerate() {
            window.push_back(value);
            let before = adwin.width();
            let mut uncut = adwin.clone();
            let changed = adwin.add(value).is_some();
            // the buckets before any was dropped
            uncut.insert_without_cut(value);
            let exact: Vec<f64> = window.iter().copied().collect();
            assert_eq!(uncut.width(), before + 1);
            assert!((uncut.sum() - exact.iter().sum::<f64>()).abs() < 1e-9);
            let cuts = uncut.lengths().into_iter().scan(0, |at, len| {
                *at += len as usize;
                Some(*at)
            });
            assert_eq!(has_cut(&exact, cuts), changed, "seed {seed}, value {i}");
            window.drain(..window.len() - adwin.width() as usize);
            changes += usize::from(changed);
            adwin.check().unwrap();
        }
    }
    assert!(changes >= 7, "{changes}");
}

/// Compares with all cuts of the raw values: ADWIN detects a change never earlier, and later by at most about the size
/// of a bucket.
#[test]
fn adwin_detects_what_all_cuts_of_the_exact_window_detect() {
    for (seed, after) in [(1, 0.3), (2, 0.4), (3, 0.5), (4, 0.6), (5, 0.8), (6, 0.35), (7, 0.9), (8, 0.45)] {
        let change = 600;
        let values = bernoulli(seed, (0.1, after), change, 1400);
        let exact = (1..=values.len()).find(|&n| has_cut(&values[..n], 1..n));
        let mut adwin = Adwin::default();
        let found = values.iter().position(|v| adwin.add(*v).is_some()).map(|i| i + 1);
        let (Some(exact), Some(found)) = (exact, found) else {
            panic!("seed {seed}: {exact:?} {found:?}");
        };
        assert!(exact > change && found >= exact, "seed {seed}: {exact} {found}");
        let since = exact - change;
        assert!(found - exact <= 4 + since / 2, "seed {seed}: {exact} {found}");
    }
    let mut counts = [0, 0];
    for seed in 100..110 {
        let values = bernoulli(seed, (0.3, 0.3), 0, 1000);
        counts[0] += usize::from((1..=values.len()).any(|n| has_cut(&values[..n], 1..n)));
        let mut adwin = Adwin::default();
        counts[1] += usize::from(values.iter().any(|v| adwin.add(*v).is_some()));
    }
    assert!(counts[1] <= counts[0] && counts[0] <= 2, "{counts:?} of 10 streams without a change");
}

#[test]
fn page_hinkley_equals_its_definition() {
    use super::page_hinkley::{DELTA, LAMBDA, MIN_VALUES};
    let mut changes = 0;
    for seed in 0..6 {
        let values = bernoulli(seed, (0.1, 0.1 * (seed + 2) as f64), 500, 1500);
        let (mut test, mut start) = (PageHinkley::default(), 0);
        for t in 0..values.len() {
            let found = test.add(values[t]);
            let part = &values[start..=t];
            // mₜ and its minimum from the definition
            let (mut sum, mut m, mut minimum) = (0.0, 0.0, 0.0f64);
            for (i, x) in part.iter().enumerate() {
                sum += x;
                m += x - sum / (i + 1) as f64 - DELTA;
                minimum = minimum.min(m);
            }
            let is_change = part.len() as u64 >= MIN_VALUES && m - minimum > LAMBDA;
            assert_eq!(found.is_some(), is_change, "seed {seed}, value {t}");
            match found {
                Some(change) => {
                    assert!(change.now > change.before);
                    (start, changes) = (t + 1, changes + 1);
                }
                None => assert_eq!(test.statistic(), m - minimum),
            }
            test.check().unwrap();
        }
    }
    assert!(changes >= 4, "{changes}");
}

#[test]
fn kswin_distance_equals_the_brute_force_one() {
    let mut rng = Pcg64::seed_from_u64(4);
    for round in 0..200 {
        let (n, m) = (rng.random_range(1..40), rng.random_range(1..40));
        // rounded values, so that there are ties within and between the samples
        let grid = if round % 2 == 0 { 8.0 } else { 1e6 };
        let mut draw = |n: usize, shift: f64| {
            let mut out: Vec<f64> =
                (0..n).map(|_| (grid * (rng.random::<f64>() + shift)).round() / grid).collect();
            out.sort_unstable_by(f64::total_cmp);
            out
        };
        let (a, b) = (draw(n, 0.0), draw(m, 0.02 * f64::from(round % 20)));
        let at_most = |s: &[f64], v: f64| s.iter().filter(|x| **x <= v).count() as f64 / s.len() as f64;
        let all = a.iter().chain(&b);
        let exact = all.map(|v| (at_most(&a, *v) - at_most(&b, *v)).abs()).fold(0.0, f64::max);
        assert!((distance(&a, &b) - exact).abs() < 1e-12);
    }
}

/// Outcome for a row: whether the prediction was wrong, and the input of KSWIN.
fn outcome(rng: &mut Pcg64, p: f64) -> (bool, f64) {
    let wrong = rng.random::<f64>() < p;
    let confidence = 0.5 + 0.5 * rng.random::<f64>();
    (wrong, if wrong { confidence } else { 1.0 - confidence })
}

#[test]
fn windowed_test_detects_a_rise_with_few_false_alarms() {
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut found, mut wrong) = (0, 0);
    for _ in 0..200 {
        let mut test = WindowedTest::default();
        wrong += (0..2000).filter(|_| test.add(u64::from(rng.random::<f64>() < 0.1), 1).is_some()).count();
        let after = (0..200).position(|_| test.add(u64::from(rng.random::<f64>() < 0.5), 1).is_some());
        found += usize::from(after.is_some());
    }
    assert!(found >= 195, "{found} of 200 changes from 10 to 50 % within 200 labels");
    // 200 streams of 40 windows
    assert!(wrong <= 60, "{wrong} of 8000 windows");
}

/// False alarms on streams without a change, and the delay after a rise from 10 to 50 % errors.
#[test]
fn detectors_have_few_false_alarms_and_short_delays() {
    // maximum false alarms in 100 streams of 2,000 values, minimum share of changes found within `within` values
    let table = [
        (DriftMethod::None, 0, 0.0, 400),
        (DriftMethod::Windowed, 30, 0.95, 200),
        (DriftMethod::Adwin, 2, 0.98, 100),
        (DriftMethod::Kswin, 350, 0.9, 200),
        (DriftMethod::PageHinkley, 0, 0.98, 250),
    ];
    for (method, max_alarms, min_found, within) in table {
        let (mut alarms, mut found, mut delays) = (0, 0, Vec::new());
        for seed in 0..100 {
            let rng = &mut Pcg64::seed_from_u64(seed);
            let mut detector = ErrorDetector::new(method);
            let mut add = |p: f64| {
                let (wrong, doubt) = outcome(rng, p);
                detector.add(wrong, doubt, seed).is_some()
            };
            alarms += (0..2000).filter(|_| add(0.1)).count();
            if let Some(delay) = (0..within).position(|_| add(0.5)) {
                found += 1;
                delays.push(delay + 1);
            }
        }
        delays.sort_unstable();
        let median = delays.get(delays.len() / 2);
        println!("{}: {alarms} false alarms, {found} of 100 found, median delay {median:?}", method.name());
        assert!(alarms <= max_alarms, "{}: {alarms} false alarms", method.name());
        assert!(f64::from(found) >= 100.0 * min_found, "{}: {found} of 100 changes", method.name());
    }
}

/// 10⁵ values with several changes: states stay small and resume with bit-identical results.
#[test]
fn detectors_stay_small_and_resume_bit_identically() {
    for method in DriftMethod::ALL {
        let rng = &mut Pcg64::seed_from_u64(9);
        let mut live = ErrorDetector::new(method);
        let mut loaded = live.clone();
        let mut largest = 0;
        for i in 0..100_000 {
            let p = [0.1, 0.3, 0.05, 0.2][i / 40_000];
            let (wrong, doubt) = outcome(rng, p);
            assert_eq!(live.add(wrong, doubt, 3), loaded.add(wrong, doubt, 3), "{} {i}", method.name());
            if i % 997 == 0 {
                let bytes = rmp_serde::to_vec_named(&live).unwrap();
                largest = largest.max(bytes.len());
                loaded = rmp_serde::from_slice(&bytes).unwrap();
                assert_eq!(loaded, live);
                loaded.check(method).unwrap();
            }
            if let ErrorDetector::Adwin(adwin) = &live {
                assert!(adwin.buckets() <= 100);
            }
        }
        assert!(largest < 5000, "{}: {largest} bytes", method.name());
    }
}

#[test]
fn check_refuses_states_of_another_method_and_impossible_states() {
    for method in DriftMethod::ALL {
        for other in DriftMethod::ALL.into_iter().filter(|other| *other != method) {
            assert!(ErrorDetector::new(other).check(method).is_err());
        }
        assert_eq!(method.name().parse::<DriftMethod>().unwrap(), method);
    }
    let refused = |json: &str| {
        serde_json::from_str::<ErrorDetector>(json).ok().is_none_or(|d| d.check(d.method()).is_err())
    };
    assert!(refused(r#"{"adwin":{"buckets":[{"size":63,"sum":0,"squares":0}]}}"#));
    assert!(refused(r#"{"adwin":{"buckets":[{"size":0,"sum":2,"squares":0}]}}"#));
    assert!(refused(
        r#"{"adwin":{"buckets":[{"size":0,"sum":0,"squares":0},{"size":1,"sum":0,"squares":0}]}}"#
    ));
    assert!(refused(r#"{"kswin":{"window":[1.5],"values":1}}"#));
    assert!(refused(r#"{"kswin":{"window":[0.5],"values":18446744073709551615}}"#));
    assert!(!refused(r#"{"kswin":{"window":[0.5],"values":1}}"#));
}
