//! A run that strangers come to all the time.

#[path = "support/flood.rs"]
mod flood;

use flood::{Flood, STRANGERS};
use wiregauge_bus::background::Background;
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::catalogue::Reach;
use wiregauge_bus::conduct::conductor::conduct;
use wiregauge_bus::placement::Placement;
use wiregauge_bus::record::RunRecord;
use wiregauge_bus::transports::tcp::Tcp;
use wiregauge_participant::control::{Assignment, Mode, Role};
use wiregauge_participant::transport::{Topic, Transport};

const MS: u64 = 1_000_000;

#[test]
fn strangers_are_not_let_in_and_nothing_is_lost() {
    for mode in [Mode::Continuous, Mode::Discrete] {
        let topic = Topic {
            several: None,
            name: "flooded".into(),
            size: 100,
            varies: false,
            bind: [127, 0, 0, 1].into(),
            readers: 1,
            token: "0123456789abcdef0123456789abcdef".into(),
            scratch: None,
            options: Default::default(),
        };
        let assignment = Assignment {
            role: Role::Receiver,
            transport: "tcp".into(),
            topic,
            seed: 7,
            mode,
            cycle: 5 * MS,
            fast: false,
            duration: 1500 * MS,
            window: 200 * MS,
            // Steps have a port of their own then.
            announced: mode == Mode::Discrete,
            patience: 5000 * MS,
            round_trips: 0,
            alive: 5000 * MS,
            realtime: Default::default(),
            coding: None,
            keep: 0,
        };
        let transport: &'static dyn Transport = &Tcp;
        let placement = Placement::in_process(Box::leak(Box::new([transport])));
        let plans = placement.plans(1, Reach::Process);
        let flood = Flood::start();
        let record = conduct(
            &placement,
            &Program::BuiltIn,
            plans,
            &assignment,
            Background::default(),
            &|_| {},
            None,
        );
        let came = flood.connections();
        let record = record.and_then(RunRecord::require_complete).expect("it comes to its end");
        let received = &record.received[0];
        // How many could be sent in time is up to the machine.
        assert!(record.sent.due == Some(300) && record.sent.samples > 0, "{:?}", record.sent);
        assert_eq!(received.samples, record.sent.samples, "lost");
        assert_eq!((received.foreign, received.damaged, received.repeated), (0, 0, 0));
        assert_eq!(record.sent.timeouts, 0);
        assert!(came > STRANGERS as u64, "{came} strangers are no flood");
    }
}
