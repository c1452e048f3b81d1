//! Draco.

use anyhow::{bail, Result};
use wiregauge_build_tools::Need;

use crate::reduction::{DecodeUnit, Fidelity, ReductionEntry, ReductionFactory};
use crate::shim::Native;
use crate::table::Table;

static DRACO: Native = Native {
    name: "draco",
    source: include_str!("../../cpp/draco.cpp"),
    standard: "c++17",
    library: "draco",
    needs: &[
        Need::Program("g++", "build-essential"),
        Need::Header("draco/compression/encode.h", "libdraco-dev"),
    ],
    place: None,
};

const GRID: &str = "columns with a resolution are quantized (SetAttributeExplicitQuantization) in \
                    the widest steps by which none is off by more than half of it: Draco gets, as \
                    f32, by how many steps a value is above its column's smallest";
const TABLE: &str = "refused are integers that span more than 2^27, of which the sequential \
                     encoding makes a table of 4 bytes each at every call, or reach 2^30, where it \
                     overflows; the tree, which is proven by it, likewise";
const SPEED: &str =
    "speed 3 to encode and to decode, which is compression level 7, the default of \
                     draco_encoder; the encoder's cloud and output keep their memory, a decoder \
                     makes a cloud anew";
const POSITION: &str = "x, y and z with one resolution are its position, every other column a \
                        generic attribute of its own; points are not deduplicated";
const BUILT: &str = "the library as the machine has it, glue by g++ -O3; putting columns into \
                     Draco's attributes and out of them is part of it";

inventory::submit! {
    ReductionEntry {
        name: "draco",
        title: "Draco",
        order: 70,
        library: "Draco",
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Whole,
        options: &[
            "sequential encoding, which keeps the order of points; integers keep every bit, floats \
             without a resolution and integers of 64 bits go as they are",
            GRID, TABLE, POSITION, SPEED, BUILT,
        ],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Shim(&DRACO, 0, |_| Ok(())),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "draco-kd",
        title: "Draco, KD-tree",
        order: 71,
        library: "Draco",
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Whole,
        options: &[
            "KD-tree, which loses the order of points and refuses floats without a resolution and \
             integers of 64 bits",
            "proven by the sequential encoding of the same steps: the same points come back to the \
             bit, each as often, and that one's are held against what was sent in their order",
            GRID, TABLE, POSITION, SPEED, BUILT,
        ],
        compressors: &[],
        sorted_by: Some("draco"),
        make: ReductionFactory::Shim(&DRACO, 1, has_all),
    }
}

/// Which rows have a value lies beside what it writes, in the order that it loses.
fn has_all(table: &Table) -> Result<()> {
    if let Some(column) = table.columns.iter().find(|column| column.presence().is_some()) {
        bail!(
            "{}: some rows have no value, and without the order of rows it is not known which",
            column.name
        );
    }
    Ok(())
}
