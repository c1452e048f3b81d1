//! What the machine does during slow steps.

use std::hint::black_box;
use std::thread::sleep;
use std::time::Duration;

use wiregauge_cosim::host::job::StepTimes;
use wiregauge_cosim::host::watch::SlowStepWatch;
use wiregauge_testkit::own_process::run_alone;
use wiregauge_timing::clock::monotonic;

/// A step that does something.
fn step(number: u64, work: impl FnOnce()) -> StepTimes {
    let began = monotonic();
    work();
    StepTimes { number, began, model: monotonic() - began, ..StepTimes::default() }
}

#[test]
fn a_slow_step_is_told_with_what_happened_in_it() {
    // The counters are those of all threads, and so of other tests.
    run_alone("watch::helper_with_a_slow_step");
}

#[test]
#[ignore = "run by another test"]
fn helper_with_a_slow_step() {
    let mut watch = SlowStepWatch::new();
    // Before the steps, and none of theirs.
    black_box(vec![1u8; 40 << 20]);
    watch.begin();
    let nap = || sleep(Duration::from_millis(20));
    let touch = || drop(black_box(vec![1u8; 40 << 20]));
    let steps = [step(7, || ()), step(8, nap)];
    steps.iter().for_each(|step| watch.add(step));
    watch.begin();
    watch.add(&step(9, || (0..3).for_each(|_| touch())));
    let told = watch.into_slowest();
    let of = |number| told.iter().find(|slow| slow.sequence == number).unwrap();
    assert_eq!(told.len(), 3);
    assert_eq!((of(8).at, of(8).time), (steps[1].began, steps[1].exchange()));
    assert!(of(8).toll.voluntary >= 1 && of(8).over >= of(8).time, "{told:?}");
    assert!(of(9).toll.minor >= 40 && of(7).toll.minor < 20, "{told:?}");
}
