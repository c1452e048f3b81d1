//! What is told of a co-simulation beside its samples: sizes, how single steps
//! are distributed, the slowest of them, and what the hosts said.

use wiregauge_result::run::{Curve, Fact, SlowestSample, Subject};
use wiregauge_result::stats::tail;
use wiregauge_result::warning::Warning;
use wiregauge_timing::latency::reported_shares;

use crate::host::job::HostSummary;
use crate::master::case_run::CaseRun;
use crate::master::contender::FmuContender;
use crate::master::coupled_pair::CoupledPair;
use crate::master::plan::Plan;
use crate::metric::DISTRIBUTED;

/// What is told.
#[derive(Default)]
pub struct DerivedResults {
    /// Sizes, counts and bounds of times.
    pub facts: Vec<Fact>,
    /// What speaks against figures.
    pub warnings: Vec<Warning>,
    /// How the steps' times are distributed.
    pub curves: Vec<Curve>,
    /// The slowest steps, and what the machine did meanwhile.
    pub slowest: Vec<SlowestSample>,
    /// What is to be said of each case, by its place.
    pub notes: Vec<(usize, String)>,
}

/// A subject on a case, by their keys.
struct ResultKey<'a> {
    case: &'a str,
    subject: &'a str,
}

impl ResultKey<'_> {
    fn fact(&self, metric: impl Into<String>, unit: &str, value: f64) -> Fact {
        Fact {
            case: self.case.into(),
            subject: self.subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
        }
    }
}

impl DerivedResults {
    /// Of all that was measured.
    pub fn from_contenders(plan: &Plan, contenders: &mut [FmuContender]) -> DerivedResults {
        let mut findings = DerivedResults::default();
        findings.sizes(plan, contenders);
        for contender in contenders.iter() {
            findings.hosts(plan, contender);
        }
        findings.distributions(plan, contenders);
        findings.tallies(plan, contenders);
        findings
    }

    fn sizes(&mut self, plan: &Plan, contenders: &[FmuContender]) {
        for contender in contenders.iter().filter(|contender| !contender.subject.bound) {
            for run in &contender.runs {
                let whose = result_key(plan, contender, run.case);
                let sizes = ["size", "size/model output"].into_iter().zip(run.sizes);
                let sizes = sizes.filter(|(_, size)| *size > 0);
                self.facts.extend(sizes.map(|(metric, size)| whose.fact(metric, "B", size as f64)));
            }
        }
    }

    /// How the times of single steps are distributed, with the facts that
    /// percentiles need.
    fn distributions(&mut self, plan: &Plan, contenders: &mut [FmuContender]) {
        for contender in contenders {
            let FmuContender { subject, runs, .. } = contender;
            for CaseRun { case, times, .. } in runs {
                let whose = ResultKey { case: &plan.cases[*case].case.id, subject: &subject.id };
                for (metric, times) in DISTRIBUTED.iter().zip(times) {
                    times.sort_by(f64::total_cmp);
                    let Some(most) = times.last().copied() else { continue };
                    let count = times.len() as f64;
                    self.facts.push(whose.fact(format!("{metric}/max"), "ns", most));
                    self.facts.push(whose.fact(format!("{metric}/count"), "1", count));
                    self.curves.push(Curve {
                        case: whose.case.into(),
                        subject: whose.subject.into(),
                        metric: (*metric).into(),
                        unit: "ns".into(),
                        over: "share".into(),
                        points: tail::distribution(times, &reported_shares()),
                    });
                }
            }
        }
    }

    /// The slowest steps, and what is to be said of steps that took longer than
    /// they simulate.
    fn tallies(&mut self, plan: &Plan, contenders: &[FmuContender]) {
        for contender in contenders {
            let Subject { id, title, .. } = &contender.subject;
            for CaseRun { case, tally, .. } in &contender.runs {
                let key = &plan.cases[*case].case.id;
                self.facts.extend(tally.facts(key, id));
                self.slowest.extend(tally.slowest(key, id));
                self.notes.extend(tally.notes(title).into_iter().map(|told| (*case, told)));
            }
        }
    }

    /// What the hosts of a subject said of their steps.
    fn hosts(&mut self, plan: &Plan, contender: &FmuContender) {
        let Some(ready) = &contender.ready else { return };
        for (case, load) in plan.cases.iter().enumerate() {
            let of_case = contender.accounts.iter().filter(|(of, _)| *of == case);
            let accounts: Vec<&HostSummary> = of_case.map(|(_, account)| account).collect();
            let at = match plan.cases.len() {
                0 | 1 => String::new(),
                _ => format!(" at {}", load.case.id),
            };
            let steps = sum(&accounts, |account| account.steps);
            self.fmi_warnings(&result_key(plan, contender, case), ready, &accounts, &at);
            let empty = sum(&accounts, |account| account.empty);
            if empty > 0 {
                self.warn(
                    "empty-steps",
                    format!(
                        "{}: {} had no message in {empty} of {steps} steps{at}; these steps are \
                         not counted",
                        ready.source.name, ready.coupling.output.name
                    ),
                    "no action is needed if it is meant to be silent in these steps",
                );
            }
            let unanswered = sum(&accounts, |account| account.unanswered);
            let result = ready.coupling.result.as_ref();
            if let (Some(result), 1..) = (result, unanswered) {
                self.warn(
                    "unanswered-steps",
                    format!(
                        "{}: {} had no message in {unanswered} of {steps} steps{at}; these steps \
                         are counted",
                        ready.model.name, result.name
                    ),
                    "no action is needed if the model is meant to be silent in these steps; \
                     otherwise the figures mix two kinds of steps",
                );
            }
            let end = contender.ends.iter().find(|(of, _)| *of == case);
            if let Some((_, end)) = end {
                self.warn(
                    "ended",
                    format!("{end}{at}; the steps before that were measured"),
                    "for narrower intervals measure more steps: a longer trace or more --processes",
                );
            }
        }
    }

    /// How often each FMU returned a warning.
    fn fmi_warnings(
        &mut self,
        whose: &ResultKey,
        ready: &CoupledPair,
        accounts: &[&HostSummary],
        at: &str,
    ) {
        let steps = sum(accounts, |account| account.steps);
        let fmus = [("source", &ready.source), ("model", &ready.model)];
        for (fmu, (role, package)) in fmus.into_iter().enumerate() {
            let count = sum(accounts, |account| account.warnings[fmu]);
            if count == 0 {
                continue;
            }
            let mut words = accounts.iter().map(|account| &account.complaints[fmu]);
            let words = words.find(|words| !words.is_empty());
            let words =
                words.map_or(String::new(), |words| format!("; the first message: {words}"));
            self.warn(
                "fmi-warning",
                format!(
                    "{}: DoStep returned a warning in {count} of {steps} steps{at}{words}",
                    package.name
                ),
                "read the FMU's messages before you use its figures",
            );
            self.facts.push(whose.fact(format!("warnings/{role}"), "1", count as f64));
        }
    }

    fn warn(&mut self, code: &str, text: String, remedy: &str) {
        self.warnings.push(Warning { code: code.into(), text, remedy: remedy.into() });
    }
}

fn result_key<'a>(plan: &'a Plan, contender: &'a FmuContender, case: usize) -> ResultKey<'a> {
    ResultKey { case: &plan.cases[case].case.id, subject: &contender.subject.id }
}

fn sum(accounts: &[&HostSummary], part: impl Fn(&HostSummary) -> u64) -> u64 {
    accounts.iter().map(|account| part(account)).sum()
}
