//! Tests that count what their whole process does: other tests in it would be counted too.

use std::process::Command;

/// Runs an ignored test of this program in a process of its own, where no other test runs, for at
/// most 20 seconds.
///
/// # Panics
/// Where it fails, with what it printed; or where no ignored test has this name.
pub fn run_alone(test: &str) {
    let program = std::env::current_exe().expect("a test is a program");
    let mut command = Command::new("timeout");
    command.args(["--foreground", "20"]).arg(program).args([test, "--exact", "--ignored"]);
    let output = command.output().expect("timeout is of coreutils");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let passed = output.status.success() && printed.contains(" 1 passed");
    assert!(passed, "{test}: {}\n{printed}{errors}", output.status);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_alone_passes() {
        run_alone("own_process::tests::passing_helper");
    }

    #[test]
    #[should_panic(expected = "this is why")]
    fn what_fails_alone_fails_with_its_words() {
        run_alone("own_process::tests::failing_helper");
    }

    #[test]
    #[should_panic(expected = "own_process::tests::missing_helper")]
    fn a_name_of_no_test_fails() {
        run_alone("own_process::tests::missing_helper");
    }

    #[test]
    #[ignore = "run by another test"]
    fn passing_helper() {}

    #[test]
    #[ignore = "fails on purpose, run by another test"]
    fn failing_helper() {
        panic!("this is why");
    }
}
