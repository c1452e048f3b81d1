//! Holders as `wiregauge generate` writes them, for the target that reads with them.

/// A module of generated code. The test compares it with what is generated now.
macro_rules! generated {
    ($name:ident) => {
        #[allow(missing_docs, dead_code, unused_imports, clippy::all)]
        pub mod $name {
            include!(concat!("../tests/golden/", stringify!($name), ".rs.txt"));
        }
    };
}

generated!(kinds);
generated!(kinds_view);
generated!(tree);

/// What the generator puts beside all holders.
#[allow(missing_docs, dead_code, unused_imports, clippy::all)]
pub mod wiregauge {
    include!("../../data_holders/src/rust/wiregauge.rs");
    include!("../../data_holders/src/rust/heap.rs");
    include!("../../data_holders/src/rust/wires.rs");
    include!("../../data_holders/src/rust/values.rs");
    include!("../../data_holders/src/rust/shown.rs");
    include!("../../data_holders/src/rust/lists.rs");
}

#[allow(missing_docs, dead_code, unused_imports, clippy::all)]
#[path = "../../data_holders/src/rust/protobuf.rs"]
pub mod wiregauge_protobuf;

#[path = "../../data_holders/tests/rust/views.rs"]
pub mod views;

views::record!(
    kinds::Kinds,
    kinds_view::Kinds: truth = truth,
    small = small,
    large = large,
    number = number,
    text = text,
    texts = texts,
    truths = truths,
    octets = octets,
    bounded = bounded,
    numbers = numbers,
    pair = pair,
    parts = parts,
    gaps = gaps,
    nothing = nothing,
    last = last
);
views::record!(kinds::Part, kinds_view::Part: x = x, y = y);
views::record!(kinds::Gap, kinds_view::Gap: a = a, y = y, pair = pair);
views::record!(kinds::Nothing, kinds_view::Nothing: );
