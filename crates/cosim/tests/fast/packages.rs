//! FMUs that are none, or do not go together: the error names the file, the
//! variable and what is wrong.

use std::fs;
use std::path::Path;

use crate::support::{archive, Fixture, MIME};
use wiregauge_cosim::package::coupling::{couple, VariableChoice};
use wiregauge_cosim::package::description::{Fmi, Handle};
use wiregauge_cosim::package::Package;
use zip::write::SimpleFileOptions;
use zip::ZipWriter;

/// Opening fails with one line that names the file and holds these words.
fn refused(path: &Path, words: &[&str]) {
    let error = format!("{:#}", Package::open(path).expect_err("it is faulty"));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(!error.contains('\n'), "{error}");
    for word in words.iter().chain([&name]) {
        assert!(error.contains(word), "no '{word}' in: {error}");
    }
}

#[test]
fn good_ones_are_opened_in_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    for fmi in [2, 3] {
        let source = Fixture::source(fmi).write(&folder.path().join(format!("source{fmi}.fmu")));
        let model = Fixture::model(fmi).write(&folder.path().join(format!("model{fmi}.fmu")));
        let (source, model) = (Package::open(&source).unwrap(), Package::open(&model).unwrap());
        let pair = couple(&source, &model, &VariableChoice::default()).unwrap();
        assert_eq!(pair.output.name, "OSMPSensorViewOut");
        assert_eq!(pair.input.name, "OSMPSensorViewIn");
        assert_eq!(pair.result.unwrap().mime.message(), "SensorData");
        let (version, handle) = match fmi {
            2 => (Fmi::Two, Handle::Pointer([20, 21, 22])),
            _ => (Fmi::Three, Handle::Whole(20)),
        };
        assert_eq!((source.description.fmi, pair.output.handle), (version, handle));
        assert_eq!(source.description.step, Some(0.1));
        let unpacked = source.path().to_owned();
        assert!(unpacked.exists());
        drop(source);
        assert!(!unpacked.exists(), "what was unpacked stays behind");
    }
}

#[test]
fn what_is_no_fmu() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.fmu");
    refused(&path, &["cannot read"]);
    fs::create_dir(&path).unwrap();
    refused(&path, &["is a folder; give a regular file"]);
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "this is no archive").unwrap();
    refused(&path, &["not a zip archive"]);
    fs::remove_file(&path).unwrap();
    // Opening it would wait for a writer for ever.
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused(&path, &["is a pipe; give a regular file"]);
    fs::remove_file(&path).unwrap();
    refused(Path::new("/dev/zero"), &["is a device"]);
    fs::write(&path, "version https://git-lfs.github.com/spec/v1\noid sha256:6f8b\nsize 9\n")
        .unwrap();
    refused(&path, &["git lfs pull"]);
    archive(&path, &[("readme.txt".into(), b"hello".to_vec())]);
    refused(&path, &["no modelDescription.xml"]);
    archive(&path, &[("modelDescription.xml".into(), b"<fmiModel".to_vec())]);
    refused(&path, &["not XML"]);
    archive(&path, &[("modelDescription.xml".into(), b"<a/>".to_vec())]);
    refused(&path, &["<a>", "fmiModelDescription"]);
    archive(&path, &[("modelDescription.xml".into(), vec![0xff, 0xfe, 0])]);
    refused(&path, &["UTF-8"]);
}

#[test]
fn a_damaged_archive() {
    let folder = tempfile::tempdir().unwrap();
    let path = Fixture::source(2).write(&folder.path().join("cut.fmu"));
    let whole = fs::read(&path).unwrap();
    for share in 1..20 {
        fs::write(&path, &whole[..whole.len() * share / 20]).unwrap();
        refused(&path, &["zip archive"]);
    }
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        // Wherever it is hit, it is opened or refused.
        let _ = Package::open(&path);
    }
}

#[test]
fn nothing_is_unpacked_outside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slip.fmu");
    let description = Fixture::source(2).description().into_bytes();
    // Known to nobody else, as it would lie where all may write.
    let escaped = format!("escaped-{}", std::process::id());
    for name in ["../", "a/../../", "/"].map(|place| format!("{place}{escaped}")) {
        let entries = [
            ("modelDescription.xml".to_owned(), description.clone()),
            (name.clone(), b"x".to_vec()),
        ];
        archive(&path, &entries);
        let error = format!("{:#}", Package::open(&path).unwrap_err());
        assert!(
            error.contains("outside of its folder") || error.contains("no binary"),
            "{name}: {error}"
        );
        assert!(!Path::new("/").join(&escaped).exists());
        assert!(!std::env::temp_dir().join(&escaped).exists());
    }
    let mut zip = ZipWriter::new(fs::File::create(&path).unwrap());
    zip.start_file("modelDescription.xml", SimpleFileOptions::default()).unwrap();
    zip.add_symlink("binaries", "/tmp", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap();
    refused(&path, &["symbolic link, 'binaries'"]);
}

#[test]
fn descriptions_that_cannot_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source.fmu");
    let hi = "name=\"OSMPSensorViewOut\" role=\"base.hi\"";
    let cases = [
        ("fmiVersion=\"2.0\"", "fmiVersion=\"1.0\"", &["1.0", "2.0 and 3.0"][..]),
        ("fmiVersion=\"2.0\"", "", &["none"]),
        ("<CoSimulation ", "<ModelExchange ", &["co-simulation"]),
        ("modelIdentifier=\"fixture\"", "", &["CoSimulation", "modelIdentifier"]),
        ("modelIdentifier=\"fixture\"", "modelIdentifier=\"../x\"", &["not a file name"]),
        (
            "modelIdentifier=\"fixture\"",
            "modelIdentifier=\"other\"",
            &["modelIdentifier", "other.so is missing", "there is fixture.so"],
        ),
        ("guid=\"{fixture}\"", "", &["guid"]),
        (
            "modelIdentifier=\"fixture\"",
            "modelIdentifier=\"fixture\" needsExecutionTool=\"true\"",
            &["needsExecutionTool"],
        ),
        ("<Integer start=\"0\"/>", "", &["size has no type"]),
        ("valueReference=\"21\"", "valueReference=\"x\"", &["OSMPSensorViewOut.base.hi", "'x'"]),
        (hi, "name=\"Other\" role=\"base.hi\"", &["OSMPSensorViewOut", "the variable", "base.hi"]),
        (hi, "name=\"OSMPSensorViewOut\" role=\"size\"", &["two variables", "role size"]),
        (hi, "name=\"OSMPSensorViewOut\" role=\"full\"", &["role full", "Binary"]),
        (hi, "name=\"OSMPSensorViewOut\"", &["OSMPSensorViewOut.base.hi", "role"]),
        (
            "valueReference=\"21\" causality=\"output\"",
            "valueReference=\"21\" causality=\"input\"",
            &["OSMPSensorViewOut.base.lo is output", "OSMPSensorViewOut.base.hi is input"],
        ),
        ("version=3.8.0; ", "", &["OSMPSensorViewOut", "osi-version"]),
        (
            "application/x-open-simulation-interface",
            "osi",
            &["OSMPSensorViewOut", "not a MIME type"],
        ),
    ];
    for (from, to, words) in cases {
        let fixture = Fixture::source(2);
        let fixture = if from == "version=3.8.0; " {
            fixture.mime("application/x-open-simulation-interface")
        } else {
            fixture.edit(from, to)
        };
        refused(&fixture.write(&path), words);
    }
    let draft = Fixture::source(3).edit("fmiVersion=\"3.0\"", "fmiVersion=\"3.0-beta.3\"");
    refused(&draft.write(&path), &["3.0-beta.3", "2.0 and 3.0"]);
    // A host has room for one value.
    let annotations = "<Annotations><Annotation ";
    let sized = |dimension: &str| {
        let to = format!("<Dimension {dimension}/>{annotations}");
        Fixture::source(3).edit(annotations, &to).write(&path)
    };
    refused(&sized("start=\"2\""), &["OSMPSensorViewOut", "an array"]);
    refused(&sized("valueReference=\"0\""), &["OSMPSensorViewOut", "an array"]);
    Package::open(&sized("start=\"1\"")).expect("one value is no array");
    let undeclared = Fixture::source(3)
        .edit(" mimeType=\"", " description=\"")
        .edit("type=\"net.pmsf.osmp\"", "type=\"other\"")
        .edit("<Annotations>", "<Dimension start=\"2\"/><Annotations>");
    let package = Package::open(&undeclared.write(&path)).expect("it says nothing of OSI");
    assert_eq!(package.description.binaries, []);
    // One part that says something else.
    let one = "role=\"size\" mime-type=\"application/x-open-simulation-interface; version=3.8.0";
    let other = one.replace("3.8.0", "3.7.0");
    refused(
        &Fixture::source(2).edit(one, &other).write(&path),
        &["MIME types", "OSMPSensorViewOut.size", "3.7.0", "3.8.0"],
    );
    let annotation = "role=\"full\" mime-type=\"application";
    let fixture = Fixture::source(3).edit(annotation, "role=\"full\" mime-type=\"other");
    refused(&fixture.write(&path), &["OSMPSensorViewOut", "mimeType", "differ"]);
}

#[test]
fn the_version_of_the_whole_fmu_serves_where_a_variable_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let vendor = "<VendorAnnotations><Tool name=\"net.pmsf.osmp\" \
                  xmlns:osmp=\"http://xsd.pmsf.net/OSISensorModelPackaging\"><osmp:osmp \
                  version=\"1.6.0\" osi-version=\"3.5.0\"/></Tool></VendorAnnotations>";
    let fixture = Fixture::source(2)
        .mime("application/x-open-simulation-interface")
        .edit("<ModelVariables>", &format!("{vendor}<ModelVariables>"));
    let package = Package::open(&fixture.write(&folder.path().join("a.fmu"))).unwrap();
    assert_eq!(package.description.binaries[0].mime.version.as_deref(), Some("3.5.0"));
}

#[test]
fn a_binary_for_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("windows.fmu");
    refused(&Fixture::source(2).without_binary().write(&path), &["no binary", "win64"]);
    refused(&Fixture::source(3).without_binary().write(&path), &["fixture.so", "win64"]);
}

/// Coupling fails with one line that holds these words and both files.
fn check_refused(source: Fixture, model: Fixture, wanted: &VariableChoice, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let open = |fixture: &Fixture, name: &str| {
        Package::open(&fixture.write(&folder.path().join(name))).unwrap()
    };
    let (source, model) = (open(&source, "from.fmu"), open(&model, "to.fmu"));
    let error = couple(&source, &model, wanted).expect_err("they do not go together").to_string();
    for word in words {
        assert!(error.contains(word), "no '{word}' in: {error}");
    }
}

#[test]
fn who_names_both_knows_what_they_carry() {
    let folder = tempfile::tempdir().unwrap();
    let open = |fixture: Fixture, name: &str| {
        Package::open(&fixture.write(&folder.path().join(name))).unwrap()
    };
    let any = VariableChoice::default();
    let named = VariableChoice {
        output: Some("OSMPSensorViewOut".into()),
        input: Some("OSMPSensorViewIn".into()),
        ..VariableChoice::default()
    };
    let source = open(Fixture::source(2), "source");
    // As a parameter decides what it takes: another type, a type alone, or nothing is said.
    let typed = "application/x-open-simulation-interface; version=3.8.0; type=SensorView";
    for said in [
        "application/x-open-simulation-interface; version=3.8.0; type=SensorData",
        "application/x-open-simulation-interface",
        "text/plain",
    ] {
        let model = open(Fixture::model(2).edit(typed, said), "model");
        let error = couple(&source, &model, &any).unwrap_err().to_string();
        assert!(error.contains("message types differ") && error.contains("--connect"), "{error}");
        couple(&source, &model, &named).expect(said);
    }
    let mime = format!(" mime-type=\"{typed}\"");
    let silent = open(Fixture::model(2).edit(&mime, ""), "model");
    couple(&source, &silent, &any).unwrap();

    // Of several inputs the one that fits.
    let two = Fixture::model(3).with_two_outputs();
    let beside = "name=\"OSMPGroundTruthOut[1]\" valueReference=\"30\" causality=\"output\"";
    let two = two.edit(beside, &beside.replace("output", "input"));
    let old = two.clone().edit("version=3.8.0; type=GroundTruth", "version=3.7.0; type=SensorView");
    for model in [two, old] {
        let model = open(model, "model");
        let coupling = couple(&source, &model, &any).unwrap();
        assert_eq!(coupling.input.name, "OSMPSensorViewIn");
    }
}

#[test]
fn fmus_that_do_not_go_together() {
    let both = ["from.fmu: OSMPSensorViewOut", "to.fmu: OSMPSensorViewIn"];
    let any = VariableChoice::default();
    let other = |mime: &str| Fixture::model(2).mime(mime);
    let old = other("application/x-open-simulation-interface; version=3.7.0");
    check_refused(
        Fixture::source(2),
        old.clone(),
        &any,
        &[&both[..], &["3.8.0", "3.7.0"]].concat(),
    );
    let folder = tempfile::tempdir().unwrap();
    let source = Package::open(&Fixture::source(2).write(&folder.path().join("a"))).unwrap();
    let model = Package::open(&old.write(&folder.path().join("b"))).unwrap();
    couple(&source, &model, &VariableChoice { any_version: true, ..any.clone() }).unwrap();

    // A packed sensor reads plain messages; the other way round columns are lost.
    let packed = Fixture::source(2).mime(&format!("{MIME}; encoding=packed"));
    check_refused(packed, Fixture::model(2), &any, &[&both[..], &["protobuf", "packed"]].concat());
    let wrong = Fixture::model(2).edit("3.8.0; type=SensorView", "3.8.0; type=GroundTruth");
    check_refused(
        Fixture::source(2),
        wrong,
        &any,
        &[&both[..], &["SensorView", "GroundTruth"]].concat(),
    );
    let plain = Fixture::model(2).edit("net.pmsf.osmp", "somebody.else");
    check_refused(Fixture::source(2), plain, &any, &["to.fmu", "no binary input", "--connect"]);
    let none = Fixture::model(2).edit("base.lo", "low").edit("net.pmsf.osmp", "somebody.else");
    check_refused(
        Fixture::source(2),
        none,
        &any,
        &["to.fmu", "no binary input", "osmp-binary-variable"],
    );
    let swapped = ["to.fmu", "no binary input", "a model needs", "OSMPSensorViewOut (output)"];
    check_refused(Fixture::model(2), Fixture::source(2), &any, &swapped);
    let named = VariableChoice { output: Some("Nothing".into()), ..any };
    check_refused(
        Fixture::source(2),
        Fixture::model(2),
        &named,
        &["from.fmu", "Nothing", "OSMPSensorViewOut"],
    );
}
