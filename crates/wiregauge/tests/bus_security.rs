//! DDS security: samples arrive, who has no certificate gets none, and nothing of them is on the
//! wire as it is.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use support::{fact, result, run};
use wiregauge_participant::sample::{SampleContent, HEADER_SIZE};
use wiregauge_testkit::prerequisites::HOSTS;

const CASE: &str = "500 B, 10 ms, continuous";
/// The rows of both libraries, plain and protected.
const PLAIN: [&str; 2] = ["dds", "fastdds"];
const PROTECTED: [&str; 2] = ["dds-security", "fastdds-security"];

/// A domain that others on this machine are hardly in. Each test has its own number: participants
/// with the certificates of another one would try each other's for nothing.
fn domain(test: u32) -> String {
    (1 + (2 * std::process::id() + test) % 200).to_string()
}

/// Sends over these rows, and expects all to arrive.
fn send(rows: [&str; 2], domain: &str, topic: &str, more: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let names = rows.join(",");
    let words = ["bus", "run", "--transport", &names, "--cycle", "10ms", "--duration", "2s"];
    let window = ["--window", "250ms", "--round-trips", "20"];
    let option = |name: &str, value: &str| {
        PLAIN.map(|transport| ["--option".to_owned(), format!("{transport}.{name}={value}")])
    };
    let options = [option("domain", domain), option("topic", topic)].concat().concat();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let said = run(folder.path(), &[&words[..], &window, &options, more].concat());
    assert_eq!(said.code, Some(0), "{names}: {}{}", said.out, said.err);
    let run = result(folder.path());
    for row in rows {
        let fact = |metric| fact(&run, CASE, row, metric);
        assert!(fact("sent") > Some(0.0) && fact("round-trip/count") > Some(0.0), "{row}");
        assert_eq!((fact("lost"), fact("damaged")), (Some(0.0), None), "{row}");
    }
}

/// Killed in the end.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A reader of Cyclone's own without certificates: the samples that it has counted by now.
fn count_by_stranger(domain: &str) -> (Killed, Receiver<u64>) {
    let mut command = Command::new("ddsperf");
    command.args(["-i", domain, "-D", "60", "-1", "sub"]).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("ddsperf starts; apt-get install cyclonedds-tools");
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let (tell, counts) = mpsc::channel();
    thread::spawn(move || {
        for line in lines.filter(|line| line.contains(" lost ")) {
            let total = line.split_whitespace().skip_while(|word| *word != "total").nth(1);
            let _ = tell.send(total.unwrap().parse().unwrap());
        }
    });
    (Killed(child), counts)
}

#[test]
fn who_has_no_certificate_gets_no_sample() {
    let domain = domain(0);
    let (_stranger, counts) = count_by_stranger(&domain);
    send(PROTECTED, &domain, "DDSPerfRDataKS", &[]);
    // It tells once a second.
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(counts.try_iter().max().unwrap_or(0), 0, "it reads what is encrypted");
    // The same reader reads what is not.
    send(PLAIN, &domain, "DDSPerfRDataKS", &[]);
    let deadline = Instant::now() + Duration::from_secs(30);
    let left = || deadline.saturating_duration_since(Instant::now());
    while counts.recv_timeout(left()).expect("it does not read what is not encrypted") <= 50 {}
}

/// Looks into all packets of DDS of this machine until its input is closed, for the words of its
/// command line, and says which it saw. TCP is a row too, and carries the same samples.
const SNIFFER: &str = "
import socket, sys, threading
wanted = [bytes.fromhex(word) for word in sys.argv[1:]]
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
packets.settimeout(0.2)
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
print('ready', flush=True)
seen = set()
while not ended.is_set():
    try:
        packet = packets.recv(1 << 17)
    except socket.timeout:
        continue
    if b'RTPS' in packet:
        seen.update(number for number, word in enumerate(wanted) if word in packet)
print(*sorted(seen))
";

/// Which of these words were on the wire while something was done.
fn sniff(words: &[Vec<u8>], work: impl FnOnce()) -> Vec<usize> {
    let hexadecimal =
        |word: &Vec<u8>| word.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut child = Command::new("python3")
        .args(["-c", SNIFFER])
        .args(words.iter().map(hexadecimal))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut sniffer = Killed(child);
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    work();
    drop(sniffer.0.stdin.take());
    let mut seen = String::new();
    output.read_to_string(&mut seen).unwrap();
    seen.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

#[test]
fn nothing_of_a_sample_is_on_the_wire_as_it_is() {
    // Who may look into packets may have hosts too.
    if !HOSTS.is_met() {
        return;
    }
    let topic = format!("wiregauge_wire_{}", std::process::id());
    let content = SampleContent { size: 500, seed: 7, count: 1000, message: None };
    let mut words = vec![topic.clone().into_bytes()];
    for sequence in [20, 60, 100] {
        let mut sample = vec![0; content.size];
        content.fill(&mut sample, sequence);
        words.push(sample[HEADER_SIZE..HEADER_SIZE + 32].to_vec());
    }
    let over = |rows| sniff(&words, || send(rows, &domain(1), &topic, &["--seed", "7"]));
    assert_eq!(over(PROTECTED), Vec::<usize>::new());
    let plain = over(PLAIN);
    assert!(plain.contains(&0) && plain.len() > 1, "what is not encrypted is there: {plain:?}");
}

#[test]
fn what_security_there_is_not_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let none = format!("fastdds-security:certificates={}", folder.path().display());
    for (row, words) in [
        ("dds:security=signed", "security is none or encrypted, not 'signed'"),
        ("fastdds:certificates=x", "certificates have no effect without security=encrypted"),
        (&none, "there is no identity_ca.cert.pem in"),
    ] {
        let said = run(folder.path(), &["bus", "run", "--duration", "6s", "--transport", row]);
        said.expect_code(1);
        assert!(said.out.contains(words), "{}", said.out);
    }
}
