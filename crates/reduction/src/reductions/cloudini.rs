//! cloudini, where the user has it.

use anyhow::{ensure, Result};
use wiregauge_build_tools::Need;
use wiregauge_points::{each, Values};

use crate::reduction::{DecodeUnit, Fidelity, ReductionEntry, ReductionFactory};
use crate::scalar::Scalar;
use crate::shim::{Native, UserLibrary};
use crate::table::Table;

static CLOUDINI: Native = Native {
    name: "cloudini",
    source: include_str!("../../cpp/cloudini.cpp"),
    standard: "c++20",
    library: "cloudini_lib",
    needs: &[Need::Program("g++", "build-essential")],
    place: Some(UserLibrary {
        variable: "WIREGAUGE_CLOUDINI",
        header: "cloudini_lib/cloudini.hpp",
        remedy: "wiregauge does not install it; build cloudini 1.2.3 with -DBUILD_SHARED_LIBS=ON, \
                 install it, and set the variable to its folder, which has include and lib",
    }),
};

/// Points of a chunk.
const CHUNK: usize = 32 * 1024;
const FIRST: &str =
    "format 5, LOSSY, one cloud whose fields are the columns without a gap; integers \
                     and fields without a resolution keep every bit";
const DIGITS: &str =
    "resolutions as f32 of six digits, as its header keeps them, never larger; it \
                      computes f32 in f32, by which an error may exceed half of the resolution";
const THREAD: &str =
    "use_threads off, as every row has one thread: by default its second stage is \
                      in a thread beside the first";
const POINTS: &str = "putting columns together to points and apart again is part of it, which who \
                      has points need not do; its calls that take prepared memory, one encoder and \
                      decoder for all tables";

inventory::submit! {
    ReductionEntry {
        name: "cloudini",
        title: "cloudini",
        order: 80,
        library: "cloudini",
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Block(CHUNK),
        options: &["its first stage alone", FIRST, DIGITS, POINTS],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Shim(&CLOUDINI, 0, admit),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "cloudini-lz4",
        title: "cloudini, its own LZ4",
        order: 81,
        library: "cloudini",
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Block(CHUNK),
        options: &["its second stage LZ4", FIRST, DIGITS, THREAD, POINTS],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Shim(&CLOUDINI, 1, admit),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "cloudini-zstd",
        title: "cloudini, its own zstd 1",
        order: 82,
        library: "cloudini",
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Block(CHUNK),
        options: &["its second stage zstd at level 1, its default", FIRST, DIGITS, THREAD, POINTS],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Shim(&CLOUDINI, 2, admit),
    }
}

/// It has no error for numbers that it cannot say, so they are looked for before.
fn admit(table: &Table) -> Result<()> {
    for column in &table.columns {
        let Some(resolution) = column.resolution else { continue };
        let name = &column.name;
        ensure!(
            (1e-30..=1e30).contains(&resolution),
            "{name}: cloudini has resolutions in f32, which cannot hold {resolution:e}"
        );
        let power = if matches!(column.values, Values::F32(_)) { 30 } else { 51 };
        let most = 2f64.powi(power) * resolution;
        let is_beyond = each!(&column.values, list => {
            list.iter().any(|value| value.double().abs() >= most)
        });
        ensure!(!is_beyond, "{name}: infinity and 2^{power} resolutions or more cannot be encoded");
    }
    Ok(())
}
