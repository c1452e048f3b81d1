//! FEP SDK 3's table over all transports. `bus::load::fep` has its loads and figures.

use crate::publication::Publication;

/// What it repeats.
pub const PUBLICATION: Publication = Publication {
    name: "fep",
    about: "FEP SDK 3's throughput of a bus, over all transports",
    source: "CARIAD: FEP SDK 3, Performance",
    year: "2023",
};
