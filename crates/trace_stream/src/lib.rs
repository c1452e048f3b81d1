//! Streams recordings: plays their messages at their times to standard output, to the bus and
//! to an FMU, and records a trace file from the bus. It is apart from `wiregauge-trace-edit`,
//! as it needs the bus and the co-simulation, and edits need neither.

pub mod play_to_bus;
pub mod play_to_fmu;
pub mod playback;
pub mod record_from_bus;
pub mod stream_end;
mod time_text;

/// Takes what the user is to know at once, a line each. It may have words of others in it,
/// which a terminal must not obey.
pub type Notify<'n> = &'n dyn Fn(&str);
