//! What is told of a cached runner is what it was built with, not what is on the
//! machine today.

use std::fs;

use wiregauge_formats::build::{self, BuildOrigin, Variant};
use wiregauge_formats::Codec;
use wiregauge_schema::{proto, Projection};

#[test]
fn a_cached_runner_tells_what_it_was_built_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "syntax = \"proto3\"; message One { uint32 number = 1; }";
    let schema = proto::read_texts(&[("one.proto", text)], None).expect("loads");
    let projection = Projection::choose(&schema);
    let codec = Codec::find("noop-cpp").expect("a bound");
    let build = || {
        let built = build::build(folder.path(), &schema, &projection, &[codec], &|_, _, _| Ok(()))
            .expect("the build folder works")
            .remove(0);
        (built.program.expect("it compiles"), built.origin)
    };
    let (program, origin) = build();
    assert_eq!(origin, BuildOrigin::probe(&Variant::from_codec(codec)));
    assert!(!origin.compiler.is_empty() && origin.flags.contains("-O3"), "{origin:?}");

    // Nothing to build again.
    let made = fs::metadata(&program).and_then(|file| file.modified()).expect("a program");
    build();
    let again = fs::metadata(&program).and_then(|file| file.modified()).expect("a program");
    assert_eq!(made, again);

    // As if the compiler had been replaced since: the runner is not of today's.
    let kept = program.with_extension("origin.json");
    let earlier = BuildOrigin { compiler: "c++ of last year".into(), ..origin };
    fs::write(&kept, serde_json::to_vec(&earlier).expect("JSON")).expect("written");
    assert_eq!(build().1, BuildOrigin::probe(&Variant::from_codec(codec)));
    let anew = fs::metadata(&program).and_then(|file| file.modified()).expect("a program");
    assert_ne!(again, anew);
}

/// The files of a failed build are not taken for those of the one before it.
#[test]
fn after_a_build_that_failed_all_is_written_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "syntax = \"proto3\"; message One { uint32 number = 1; }";
    let schema = proto::read_texts(&[("one.proto", text)], None).expect("loads");
    let projection = Projection::choose(&schema);
    let codec = Codec::find("json-python").expect("it is there");
    let build = || {
        build::build(folder.path(), &schema, &projection, &[codec], &|_, _, _| Ok(()))
            .expect("the build folder works")
            .remove(0)
            .program
    };
    let program = build().expect("it is written");
    let message = program.ancestors().nth(2).expect("bin is in it");
    let glue = message.join("python/json-python/glue.py");
    let written = fs::read(&glue).expect("its source");

    let origin = program.with_extension("origin.json");
    let own_origin = fs::read(&origin).expect("written");
    fs::write(&origin, "{}").expect("written");
    fs::remove_file(&glue).expect("removed");
    fs::create_dir(&glue).expect("made");
    assert!(build().is_err(), "a folder is where its source goes");

    fs::remove_dir(&glue).expect("removed");
    fs::write(&glue, "of another try").expect("written");
    fs::write(&origin, own_origin).expect("written");
    build().expect("it is written");
    assert_eq!(fs::read(&glue).expect("its source"), written);
}

#[test]
fn a_jar_tells_who_built_it() {
    let library = |name: &str| {
        let codec = Codec::find(name).expect("it is there");
        BuildOrigin::probe(&Variant::from_codec(codec)).library
    };
    let own = library("kryo");
    assert!(own.starts_with("jar of kryo, by its makers"), "{own}");
    let distributed = library("lcm-java");
    assert!(distributed.starts_with("jar of liblcm-java 1."), "{distributed}");
    assert!(distributed.contains(", by the distribution"), "{distributed}");
}
