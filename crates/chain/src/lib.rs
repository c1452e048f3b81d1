//! Measures a chain as an engineer draws it, from the sensor to the actuator: stages with a
//! cycle or without, and between two of them a hop with its message, codec and transport. It
//! measures the parts of each hop and the whole in one run, predicts from the parts what a
//! change would bring, and measures the best changes to see whether that is so.

pub mod chain;
#[cfg(feature = "clap")]
pub mod chain_args;
pub mod chain_file;
pub mod chain_machines;
pub mod chain_process;
pub mod chain_result;
pub mod chain_run;
pub mod change;
pub mod distribution;
pub mod machine_clock;
pub mod measurement;
pub mod messages;
pub mod passes;
pub mod prediction;
pub mod remote_stages;
