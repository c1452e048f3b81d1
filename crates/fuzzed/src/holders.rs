//! Holders as `wiregauge generate` writes them, for the target that reads with them.

/// A module of generated code.
macro_rules! generated {
    ($name:ident) => {
        #[allow(missing_docs, dead_code, unused_imports, clippy::all)]
        pub mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    };
}

generated!(kinds);
generated!(tree);
generated!(wiregauge);
generated!(wiregauge_protobuf);
