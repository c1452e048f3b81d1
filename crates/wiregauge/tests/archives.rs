//! Recordings in archives, from a server that is faulty on purpose: the program that reads them
//! with all that it links. It takes two minutes of a processor to build, so these tests are
//! ignored here and run by `make test-archives`. What is fetched, and when, is held by the
//! fast tests of `trace`.

#[path = "support/archive_server.rs"]
mod archive_server;
mod support;

use std::fs;
use std::path::Path;

use archive_server::{ArchiveServer, ServedFile};
use support::{recording, to_said, wiregauge, Said};

/// What nobody may see.
const SECRET: &str = "kE3pTh1sSecretAway0123456789abcdefghijkl";

fn ask(folder: &Path, arguments: &[&str], server: &ArchiveServer) -> Said {
    let mut command = wiregauge();
    command.args(arguments).current_dir(folder).env("WIREGAUGE_ARCHIVE_TIMEOUT", "1");
    command.env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE").env("AWS_SECRET_ACCESS_KEY", SECRET);
    command.env("AWS_SESSION_TOKEN", SECRET).env("AWS_REGION", "us-east-1");
    command.env("AWS_ENDPOINT_URL", format!("http://{}", server.address));
    let key = "a0VhcFRoMXNTZWNyZXRBd2F5MDEyMzQ1Njc4OWFiY2RlZmdoaWprbA==";
    let address = &server.address;
    let connection = format!("AccountName=account;AccountKey={key};BlobEndpoint=http://{address};");
    command.env("AZURE_STORAGE_CONNECTION_STRING", connection);
    command.env("GOOGLE_SERVICE_ACCOUNT_KEY", format!(
        r#"{{"gcs_base_url":"http://{}","disable_oauth":true,"client_email":"","private_key":"{SECRET}","private_key_id":""}}"#,
        server.address
    ));
    let said = to_said(command.output().unwrap());
    for secret in [SECRET, "a0VhcFRoMXNTZWNyZXRB", "Signature="] {
        let all = format!("{}{}", said.out, said.err);
        assert!(!all.contains(secret), "{arguments:?} shows a secret: {all}");
    }
    said
}

#[test]
#[ignore = "builds what reads archives: make test-archives"]
fn recordings_are_read_where_archives_lie() {
    let folder = tempfile::tempdir().unwrap();
    let (name, bytes) = ("drive ü.mcap", fs::read(recording("osi/zstd.mcap")).unwrap());
    fs::write(folder.path().join(name), &bytes).unwrap();
    let size = bytes.len();
    let server = ArchiveServer::start(&[(name, ServedFile::new(bytes))]);
    let here = ask(folder.path(), &["trace", "cat", name], &server);
    assert!(here.code == Some(0) && !here.out.is_empty(), "{}", here.err);
    let of = |way: &str| format!("http://{}/{way}/drive%20%C3%BC.mcap", server.address);
    for url in [
        of("plain"),
        of("busy"),
        of("cut"),
        of("moved"),
        format!("{}?X-Amz-Signature=Signature=abc", of("plain")),
        format!("s3://plain/{name}"),
        format!("gs://plain/{name}"),
        format!("az://plain/{name}"),
    ] {
        let there = ask(folder.path(), &["trace", "cat", &url], &server);
        assert_eq!((there.code, &there.out), (Some(0), &here.out), "{url}: {}", there.err);
        // So small a file is fetched at once, and not again by who opens it next.
        let requests = server.take_requests();
        let most = if url.contains("busy") { 3 } else { 2 };
        let sent: usize = requests.iter().map(|request| request.sent).sum();
        assert!(requests.len() <= most && sent <= size, "{url}: {requests:?}");
    }
    let url = of("plain");
    for words in [
        &["trace", "info", "FILE"][..],
        &["trace", "info", "--all", "FILE"],
        &["trace", "check", "FILE"],
        &["trace", "cut", "FILE", "-o", "cut.mcap", "--range", "1"],
        &["trace", "convert", "FILE", "-o", "out.jsonl"],
        &["codecs", "--input", "FILE", "--channel", "/none"],
    ] {
        let with = |file: &str| -> Said {
            let words: Vec<&str> =
                words.iter().map(|it| if *it == "FILE" { file } else { it }).collect();
            ask(folder.path(), &words, &server)
        };
        let (here, there) = (with(name), with(&url));
        assert_eq!(there.code, here.code, "{words:?}: {}{}", here.err, there.err);
        assert_eq!(there.out.replace(&url, name), here.out, "{words:?}");
        assert_eq!(there.err.replace(&url, name), here.err, "{words:?}");
    }
}

#[test]
#[ignore = "builds what reads archives: make test-archives"]
fn what_goes_wrong_is_said_in_a_line_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(recording("osi/zstd.mcap")).unwrap();
    // So large that it is fetched in more than one piece.
    let large = ServedFile { size: 1 << 30, ..ServedFile::new(bytes.clone()) };
    let server = ArchiveServer::start(&[
        ("drive.mcap", ServedFile::new(bytes)),
        ("large.mcap", large),
        ("empty.mcap", ServedFile::default()),
    ]);
    // Where the program is not built yet, this says so.
    let url = format!("http://{}/plain/drive.mcap", server.address);
    assert_eq!(ask(folder.path(), &["trace", "info", &url], &server).code, Some(0));
    for (way, name, words) in [
        ("plain", "none.mcap", "there is no such file; check the address"),
        ("plain", "empty.mcap", "is empty; a recorder may not have written to it"),
        ("forbidden", "drive.mcap", "the archive refuses access; "),
        ("down", "drive.mcap", "the archive answers 503, and did so again and again; try later"),
        (
            "slow",
            "drive.mcap",
            "no whole answer came within 1 s; try later, or set WIREGAUGE_ARCHIVE_TIMEOUT",
        ),
        ("whole", "drive.mcap", "the server sends no parts of files"),
        ("changed", "large.mcap", "it was changed while it was read; run the command again"),
        (
            "changed-silently",
            "large.mcap",
            "it was changed while it was read; run the command again",
        ),
    ] {
        let address = &server.address;
        for url in [format!("http://{address}/{way}/{name}"), format!("s3://{way}/{name}")] {
            // How a file is served depends on what was asked before.
            server.take_requests();
            let said = ask(folder.path(), &["trace", "info", &url], &server);
            assert_eq!(said.code, Some(2), "{url}: {}{}", said.out, said.err);
            assert_eq!(said.err.trim_end().lines().count(), 1, "{url}: {}", said.err);
            assert!(said.err.contains(&url) && said.err.contains(words), "{url}: {}", said.err);
        }
    }
    let nobody = ask(folder.path(), &["trace", "info", "http://127.0.0.1:9/x.mcap"], &server);
    assert!(nobody.err.contains("cannot connect"), "{}", nobody.err);
    nobody.expect_code(2);
}
