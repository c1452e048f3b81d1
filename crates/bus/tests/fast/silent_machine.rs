//! A machine that says nothing for too long, though its agent is there: it must see that it is
//! given up.

use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use wiregauge_bus::machines::message::{version, JoinMessage, Task};
use wiregauge_bus::machines::remote::RemoteMachine;
use wiregauge_participant::control::{split, ConnectionClosed};

#[test]
fn the_connection_of_who_is_given_up_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let agent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (speaker, mut from_agent) = split(listener.accept().unwrap().0).unwrap();
    from_agent.set_silence_limit(Duration::from_millis(50)).unwrap();
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let join = JoinMessage {
        version: version(),
        names: vec!["beta".into()],
        scenario: Default::default(),
        address: here,
        machine: String::new(),
    };
    let machine = RemoteMachine::accept(join, speaker, from_agent, here, here).unwrap();

    let (_speaker, mut from_leader) = split(agent).unwrap();
    let begun = Instant::now();
    let error = loop {
        match from_leader.receive::<Task>() {
            Ok(_) => assert!(begun.elapsed() < Duration::from_secs(20), "the leader goes on"),
            Err(error) => break error,
        }
    };
    assert!(error.is::<ConnectionClosed>(), "{error:#}");
    assert!(machine.loss_reason().unwrap().contains("silent for 50ms"));
}
