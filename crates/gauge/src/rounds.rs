//! The engine: contenders take turns, an epoch each, in another order every
//! round, so that what disturbs the machine disturbs all of them alike.
//!
//! Who fails is left out from there on. An error is one that concerns all.

use anyhow::Result;
use wiregauge_result::random::Random;
use wiregauge_system::interrupt;

/// What a measurement tells of its progress: what it does, and how much of how
/// much is done.
pub type Progress<'a> = &'a dyn Fn(&str, usize, usize);

/// The rounds between two starts of processes.
#[derive(Clone, Copy, Debug)]
pub struct ProcessRounds<'a> {
    /// Which of the processes of each contender, from 0.
    pub process: usize,
    /// The cases, by their places in the plan, one after the other.
    pub cases: &'a [usize],
    /// Epochs that a contender has in a round, one of each experiment.
    pub experiments: usize,
    /// Rounds of each case.
    pub rounds: u32,
}

/// Whose epoch it is, and which.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Which process, from 0.
    pub process: usize,
    /// Which case.
    pub case: usize,
    /// Which experiment.
    pub experiment: usize,
    /// Which round, from 0.
    pub round: u32,
    /// Of how many.
    pub rounds: u32,
}

/// What is measured beside others.
pub trait Contender {
    /// A process of it that runs.
    type Live;
    /// What goes wrong with it, and with it alone, unless [`Contender::record_failure`]
    /// says otherwise.
    type Trouble;

    /// Starts its process; none where it does not take part.
    ///
    /// # Errors
    /// When it fails.
    fn start(
        &mut self,
        process_rounds: &ProcessRounds,
    ) -> Result<Option<Self::Live>, Self::Trouble>;

    /// Makes its process ready for a case.
    ///
    /// # Errors
    /// When it fails.
    fn load(&mut self, live: &mut Self::Live, case: usize) -> Result<(), Self::Trouble>;

    /// Its epoch; it keeps the samples by itself.
    ///
    /// # Errors
    /// When it fails.
    fn epoch(&mut self, live: &mut Self::Live, turn: &Turn) -> Result<(), Self::Trouble>;

    /// Ends its process after the last round.
    ///
    /// # Errors
    /// When it fails.
    fn end(
        &mut self,
        live: Self::Live,
        process_rounds: &ProcessRounds,
    ) -> Result<(), Self::Trouble>;

    /// Takes note of what went wrong with it.
    ///
    /// # Errors
    /// Passes on what concerns all, such as an interruption.
    fn record_failure(&mut self, trouble: Self::Trouble) -> Result<()>;

    /// What came of something that it did; none where it failed.
    ///
    /// # Errors
    /// What concerns all.
    fn record_outcome<T>(&mut self, outcome: Result<T, Self::Trouble>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(trouble) => self.record_failure(trouble).map(|()| None),
        }
    }
}

/// Starts a process of every contender, and measures on each case in rounds: an
/// epoch of each experiment for everyone. `show` is told case and round.
///
/// # Errors
/// What concerns all contenders.
pub fn run_rounds<C: Contender>(
    contenders: &mut [C],
    process_rounds: &ProcessRounds,
    random: &mut Random,
    show: &dyn Fn(usize, u32),
) -> Result<()> {
    let mut live = Vec::with_capacity(contenders.len());
    for contender in contenders.iter_mut() {
        interrupt::check()?;
        let started = contender.start(process_rounds);
        live.push(contender.record_outcome(started)?.flatten());
    }
    for &case in process_rounds.cases {
        for (contender, live) in contenders.iter_mut().zip(&mut live) {
            keep_if_ok(contender, live, |contender, live| contender.load(live, case))?;
        }
        for round in 0..process_rounds.rounds {
            interrupt::check()?;
            show(case, round);
            for experiment in 0..process_rounds.experiments {
                let ProcessRounds { process, rounds, .. } = *process_rounds;
                let turn = Turn { process, case, experiment, round, rounds };
                for index in random.shuffled(contenders.len()) {
                    keep_if_ok(&mut contenders[index], &mut live[index], |contender, live| {
                        contender.epoch(live, &turn)
                    })?;
                }
            }
        }
    }
    for (contender, live) in contenders.iter_mut().zip(live) {
        let Some(live) = live else { continue };
        let ended = contender.end(live, process_rounds);
        contender.record_outcome(ended)?;
    }
    Ok(())
}

/// Has a contender do something, if its process lives; it is kept where that
/// goes well.
fn keep_if_ok<C: Contender>(
    contender: &mut C,
    slot: &mut Option<C::Live>,
    act: impl FnOnce(&mut C, &mut C::Live) -> Result<(), C::Trouble>,
) -> Result<()> {
    let Some(live) = slot else { return Ok(()) };
    let outcome = act(contender, live);
    if contender.record_outcome(outcome)?.is_none() {
        *slot = None;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anyhow::bail;

    use super::*;

    /// What was done, in order.
    type Diary = RefCell<Vec<String>>;

    /// One that fails where it is told to.
    struct Scripted<'a> {
        name: char,
        fails_at: &'static str,
        fatal: bool,
        failed: bool,
        diary: &'a Diary,
    }

    impl Scripted<'_> {
        fn act(&self, what: &str) -> Result<(), String> {
            self.diary.borrow_mut().push(format!("{} {what}", self.name));
            if what == self.fails_at {
                Err(what.to_owned())
            } else {
                Ok(())
            }
        }
    }

    impl Contender for Scripted<'_> {
        type Live = ();
        type Trouble = String;

        fn start(&mut self, process_rounds: &ProcessRounds) -> Result<Option<()>, String> {
            if self.failed {
                return Ok(None);
            }
            self.act(&format!("starts {}", process_rounds.process)).map(Some)
        }

        fn load(&mut self, (): &mut (), case: usize) -> Result<(), String> {
            self.act(&format!("loads {case}"))
        }

        fn epoch(&mut self, (): &mut (), turn: &Turn) -> Result<(), String> {
            self.act(&format!("{}/{}/{}", turn.case, turn.experiment, turn.round))
        }

        fn end(&mut self, (): (), _: &ProcessRounds) -> Result<(), String> {
            self.act("ends")
        }

        fn record_failure(&mut self, trouble: String) -> Result<()> {
            if self.fatal {
                bail!("{trouble}");
            }
            self.failed = true;
            Ok(())
        }
    }

    fn scripted<'a>(diary: &'a Diary, fails_at: [&'static str; 3]) -> [Scripted<'a>; 3] {
        let names = ['a', 'b', 'c'];
        std::array::from_fn(|at| Scripted {
            name: names[at],
            fails_at: fails_at[at],
            fatal: false,
            failed: false,
            diary,
        })
    }

    const SITTING: ProcessRounds =
        ProcessRounds { process: 1, cases: &[4, 7], experiments: 2, rounds: 3 };

    fn calls_of(diary: &Diary, name: char) -> Vec<String> {
        let diary = diary.borrow();
        diary
            .iter()
            .filter_map(|line| line.strip_prefix(&format!("{name} ")))
            .map(String::from)
            .collect()
    }

    #[test]
    fn everyone_has_one_epoch_of_each_experiment_a_round() {
        let diary = Diary::default();
        let mut contenders = scripted(&diary, [""; 3]);
        let shown = RefCell::new(Vec::new());
        let show = |case, round| shown.borrow_mut().push((case, round));
        run_rounds(&mut contenders, &SITTING, &mut Random::new(1), &show).unwrap();
        let wanted = [
            "starts 1", "loads 4", "4/0/0", "4/1/0", "4/0/1", "4/1/1", "4/0/2", "4/1/2", "loads 7",
            "7/0/0", "7/1/0", "7/0/1", "7/1/1", "7/0/2", "7/1/2", "ends",
        ];
        for name in ['a', 'b', 'c'] {
            assert_eq!(calls_of(&diary, name), wanted);
        }
        assert_eq!(*shown.borrow(), [(4, 0), (4, 1), (4, 2), (7, 0), (7, 1), (7, 2)]);
        // Between two turns of one, each of the others has had its own.
        let diary = diary.borrow();
        let epochs: Vec<&String> = diary.iter().filter(|line| line.contains('/')).collect();
        let mut orders: Vec<String> = Vec::new();
        for turn in epochs.chunks(3) {
            let order: String = turn.iter().map(|line| &line[..1]).collect();
            assert!("abc".chars().all(|name| order.contains(name)), "{order}");
            assert!(turn.iter().all(|line| line[1..] == turn[0][1..]));
            orders.push(order);
        }
        assert!(orders.iter().any(|order| *order != orders[0]), "{orders:?}");
    }

    #[test]
    fn who_fails_is_left_out_and_the_others_go_on() {
        let diary = Diary::default();
        let mut contenders = scripted(&diary, ["starts 1", "4/1/0", "loads 7"]);
        run_rounds(&mut contenders, &SITTING, &mut Random::new(2), &|_, _| {}).unwrap();
        assert_eq!(calls_of(&diary, 'a'), ["starts 1"]);
        assert_eq!(calls_of(&diary, 'b'), ["starts 1", "loads 4", "4/0/0", "4/1/0"]);
        assert_eq!(calls_of(&diary, 'c').last().unwrap(), "loads 7");
        assert_eq!(calls_of(&diary, 'c').len(), 9);
        run_rounds(&mut contenders, &SITTING, &mut Random::new(2), &|_, _| {}).unwrap();
        assert_eq!(
            calls_of(&diary, 'a').len() + calls_of(&diary, 'b').len(),
            5,
            "they stay left out"
        );
    }

    #[test]
    fn what_goes_wrong_at_the_end_counts() {
        let diary = Diary::default();
        let mut contenders = scripted(&diary, ["", "ends", ""]);
        run_rounds(&mut contenders, &SITTING, &mut Random::new(4), &|_, _| {}).unwrap();
        assert_eq!(contenders.map(|contender| contender.failed), [false, true, false]);
    }

    #[test]
    fn what_concerns_all_ends_the_rounds() {
        let diary = Diary::default();
        let mut contenders = scripted(&diary, ["", "4/0/1", ""]);
        contenders[1].fatal = true;
        let error =
            run_rounds(&mut contenders, &SITTING, &mut Random::new(3), &|_, _| {}).unwrap_err();
        assert_eq!(error.to_string(), "4/0/1");
        let lines = diary.borrow();
        assert_eq!(lines.last().unwrap(), "b 4/0/1");
    }
}
