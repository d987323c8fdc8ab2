//! DBSCAN (Ester, Kriegel, Sander & Xu 1996) for any distance.
//!
//! A record is a *core* record if at least `min_points` records, including itself, are within `eps` of it. Core records
//! within `eps` of each other are in one cluster; another record near a core record joins the first such cluster that is
//! found; the remaining records are noise. Density compensates for a distance that is not a metric: records A and C that
//! look different have one author if enough records between them are similar to both.
//!
//! Departure: noise records become singletons, because every record has an author.

/// Clusters of n records.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// Cluster of each record, numbered from 0 in the order of their first records.
    pub label: Vec<usize>,
    /// Whether each record is a core record.
    pub core: Vec<bool>,
}

/// Clusters `n` records by a symmetric distance; it computes n² distances.
pub fn dbscan(n: usize, eps: f64, min_points: usize, distance: impl Fn(usize, usize) -> f64) -> Clusters {
    let near = |p: usize| -> Vec<usize> { (0..n).filter(|&q| p == q || distance(p, q) <= eps).collect() };
    let mut cluster: Vec<Option<usize>> = vec![None; n];
    let mut core = vec![false; n];
    let mut visited = vec![false; n];
    let mut clusters = 0;
    for start in 0..n {
        if visited[start] {
            continue;
        }
        let mut queue = vec![start];
        let mut grown = false;
        while let Some(p) = queue.pop() {
            if std::mem::replace(&mut visited[p], true) {
                continue;
            }
            let neighbors = near(p);
            if neighbors.len() < min_points {
                continue;
            }
            (core[p], grown) = (true, true);
            for q in neighbors {
                cluster[q].get_or_insert(clusters);
                queue.push(q);
            }
        }
        clusters += usize::from(grown);
    }
    Clusters { label: renumber(&cluster), core }
}

/// Numbers clusters by their first records; a record without a cluster gets its own.
fn renumber(cluster: &[Option<usize>]) -> Vec<usize> {
    let mut number = std::collections::BTreeMap::new();
    let alone = |i: usize, c: Option<usize>| c.map_or((true, i), |c| (false, c));
    let key: Vec<(bool, usize)> = cluster.iter().enumerate().map(|(i, c)| alone(i, *c)).collect();
    let of = |key: &(bool, usize)| {
        let next = number.len();
        *number.entry(*key).or_insert(next)
    };
    key.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Number of clusters, singletons included.
    fn count(clusters: &Clusters) -> usize {
        clusters.label.iter().max().map_or(0, |l| l + 1)
    }

    /// A symmetric matrix of distances in (0, 1).
    fn random(n: usize, rng: &mut Pcg64) -> Vec<Vec<f64>> {
        let mut d = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in i + 1..n {
                d[i][j] = rng.random_range(0.001..1.0);
                d[j][i] = d[i][j];
            }
        }
        d
    }

    /// Whether two labelings induce the same partition of the chosen records.
    fn same_partition(a: &[usize], b: &[usize], chosen: &[bool]) -> bool {
        let chosen: Vec<usize> = (0..a.len()).filter(|&i| chosen[i]).collect();
        chosen.iter().all(|&i| chosen.iter().all(|&j| (a[i] == a[j]) == (b[i] == b[j])))
    }

    /// The definition: the core records and their connected components, by propagating the smallest label until nothing
    /// changes.
    fn by_definition(d: &[Vec<f64>], eps: f64, min_points: usize) -> (Vec<bool>, Vec<usize>) {
        let n = d.len();
        let core: Vec<bool> =
            (0..n).map(|i| (0..n).filter(|&j| i == j || d[i][j] <= eps).count() >= min_points).collect();
        let mut label: Vec<usize> = (0..n).collect();
        for _ in 0..n {
            for i in 0..n {
                for j in 0..n {
                    if core[i] && core[j] && d[i][j] <= eps {
                        label[i] = label[i].min(label[j]);
                    }
                }
            }
        }
        (core, label)
    }

    #[test]
    fn agrees_with_the_definition_on_random_distances() {
        let mut rng = Pcg64::seed_from_u64(1);
        for round in 0..300 {
            let n = rng.random_range(1..15);
            let d = random(n, &mut rng);
            let (eps, min_points) = (rng.random_range(0.0..0.6), rng.random_range(1..5));
            let found = dbscan(n, eps, min_points, |i, j| d[i][j]);
            let (core, label) = by_definition(&d, eps, min_points);
            assert_eq!(found.core, core, "round {round}");
            assert!(same_partition(&found.label, &label, &core), "round {round}");
            for i in (0..n).filter(|&i| !core[i]) {
                let around: Vec<usize> = (0..n).filter(|&j| core[j] && d[i][j] <= eps).collect();
                let mates = (0..n).filter(|&j| j != i && found.label[j] == found.label[i]).count();
                let joined = around.iter().any(|&j| found.label[j] == found.label[i]);
                assert!(if around.is_empty() { mates == 0 } else { joined }, "round {round}, record {i}");
            }
        }
    }

    #[test]
    fn core_clusters_do_not_depend_on_the_order_of_records() {
        let mut rng = Pcg64::seed_from_u64(2);
        for _ in 0..100 {
            let n = 20;
            let d = random(n, &mut rng);
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(&mut rng);
            let plain = dbscan(n, 0.15, 3, |i, j| d[i][j]);
            let moved = dbscan(n, 0.15, 3, |i, j| d[order[i]][order[j]]);
            let mut back = vec![0; n];
            (0..n).for_each(|i| back[order[i]] = moved.label[i]);
            assert!((0..n).all(|i| moved.core[i] == plain.core[order[i]]));
            assert!(same_partition(&plain.label, &back, &plain.core));
        }
    }

    #[test]
    fn eps_0_gives_singletons_and_infinite_eps_one_cluster() {
        let mut rng = Pcg64::seed_from_u64(3);
        for n in 1..12 {
            let d = random(n, &mut rng);
            for min_points in 1..=n {
                let alone = dbscan(n, 0.0, min_points, |i, j| d[i][j]);
                assert_eq!(alone.label, (0..n).collect::<Vec<_>>());
                assert_eq!(count(&alone), n);
                let all = dbscan(n, f64::INFINITY, min_points, |i, j| d[i][j]);
                assert_eq!(all.label, vec![0; n]);
            }
            assert_eq!(count(&dbscan(n, f64::INFINITY, n + 1, |i, j| d[i][j])), n);
        }
        assert_eq!(count(&dbscan(0, 1.0, 1, |_, _| 0.0)), 0);
    }

    #[test]
    fn a_chain_is_one_cluster_and_a_far_record_a_singleton() {
        let at = [0.0_f64, 1.0, 2.0, 3.0, 10.0];
        let found = dbscan(5, 1.0, 3, |i, j| (at[i] - at[j]).abs());
        assert_eq!(found.label, [0, 0, 0, 0, 1]);
        assert_eq!(found.core, [false, true, true, false, false]);
    }
}
