//! How many rounds each cell of the table gets in the time that is left.
//!
//! What is promised is wall time, so a cell is as expensive as its epoch is to
//! ask for: extraction has its objects parsed ahead, an epoch of slow messages is
//! longer than wanted. Cheap cells get the most rounds; dear ones fewer, but
//! never fewer processes.

/// Most messages of an epoch.
pub const MOST: u64 = 1 << 32;

/// What a round of one cell costs and is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellCost {
    /// Wall time of one epoch in nanoseconds.
    pub wall_ns: f64,
    /// Its share of the time, beside 1 for most.
    pub weight: f64,
}

/// Rounds for each cell such that all together take `time_ns` at most, between
/// `least` and `most`; `least` is kept even where that takes longer.
pub fn rounds(shares: &[CellCost], time_ns: f64, least: u32, most: u32) -> Vec<u32> {
    let at = |level: f64| -> Vec<u32> {
        shares
            .iter()
            .map(|share| {
                let wanted = level * share.weight / share.wall_ns.max(1.0);
                (wanted as u32).clamp(least, most.max(least))
            })
            .collect()
    };
    let cost = |rounds: &[u32]| -> f64 {
        rounds.iter().zip(shares).map(|(rounds, share)| f64::from(*rounds) * share.wall_ns).sum()
    };
    // The level of time up to which each cell is filled, between nothing and all
    // the time for the cheapest.
    let (mut low, mut high) = (0.0, time_ns.max(0.0) * 1e3);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if cost(&at(middle)) <= time_ns {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(low)
}

/// Which of its `rounds` epochs a cell takes in round `round` of `all`, spread
/// evenly; none where it sits out.
pub fn epoch_in_round(round: u32, all: u32, rounds: u32) -> Option<u32> {
    let before = |round: u32| u64::from(round) * u64::from(rounds) / u64::from(all.max(1));
    (before(round + 1) > before(round)).then(|| before(round) as u32)
}

/// How many iterations to try next where so many took `ns`, so that an epoch
/// takes `wanted`. Short epochs are mostly start-up, so that it grows step by
/// step.
pub fn more_iterations(iterations: u64, ns: f64, wanted: f64) -> u64 {
    let factor = (wanted / ns * 1.1).clamp(1.2, 20.0);
    (iterations as f64 * factor) as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(wall_ns: f64) -> CellCost {
        CellCost { wall_ns, weight: 1.0 }
    }

    #[test]
    fn cheap_cells_get_all_rounds_and_dear_ones_what_is_left() {
        let shares = [share(1e6), share(1e6), share(100e6)];
        assert_eq!(rounds(&shares, 1e12, 5, 200), [200, 200, 200]);
        let some = rounds(&shares, 2e9, 5, 200);
        assert_eq!(some[..2], [200, 200]);
        assert_eq!(some[2], 16);
        // Never fewer than the least, though that takes too long.
        assert_eq!(rounds(&shares, 1.0, 5, 200), [5, 5, 5]);
    }

    #[test]
    fn the_time_is_kept_and_used() {
        let shares: Vec<CellCost> = (1..300).map(|i| share(f64::from(i) * 1e5)).collect();
        for time in [10e9, 20e9, 50e9] {
            let rounds = rounds(&shares, time, 1, 1000);
            let cost: f64 =
                rounds.iter().zip(&shares).map(|(r, s)| f64::from(*r) * s.wall_ns).sum();
            assert!(cost <= time && cost > 0.9 * time, "{cost:e} of {time:e}");
        }
    }

    #[test]
    fn what_helps_least_gets_least() {
        let shares = [share(1e6), CellCost { wall_ns: 1e6, weight: 0.25 }];
        let some = rounds(&shares, 100e6, 1, 1000);
        assert_eq!(some, [80, 20]);
    }

    #[test]
    fn turns_are_spread_evenly_and_all_taken() {
        for (all, rounds) in [(10, 10), (10, 3), (200, 7), (5, 1), (1, 1)] {
            let taken: Vec<u32> =
                (0..all).filter_map(|round| epoch_in_round(round, all, rounds)).collect();
            assert_eq!(taken, (0..rounds).collect::<Vec<_>>(), "{rounds} of {all}");
        }
        let at: Vec<u32> =
            (0..10).filter(|round| epoch_in_round(*round, 10, 3).is_some()).collect();
        assert_eq!(at, [3, 6, 9]);
    }

    #[test]
    fn epochs_grow_by_steps_until_they_are_long_enough() {
        assert_eq!(more_iterations(10, 1.0, 1e9), 201, "no more than twenty-fold");
        assert_eq!(more_iterations(1000, 50.0, 100.0), 2201);
        assert_eq!(more_iterations(10, 99.0, 100.0), 13, "and always longer");
    }
}
