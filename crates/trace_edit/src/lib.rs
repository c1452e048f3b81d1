//! Edits recordings: copies the selected messages of some files into one, describes their
//! channels as the output's container wants them, converts encodings, makes points, splits a file
//! into parts, and shows what is in recordings as a page. `wiregauge-trace` reads and writes the containers; here is what takes
//! OSI's definitions from the official package or a compiler of definitions, which are programs.

pub mod channel_hints;
pub mod copy_job;
pub mod copy_summary;
pub mod encoding;
pub mod info_page;
pub mod message_filter;
pub mod output_file;
pub mod points_job;
pub mod split_job;
pub mod table_job;
