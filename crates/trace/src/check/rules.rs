//! The rules, by their ids.

use serde::Serialize;

/// What it means that a rule does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The file is no trace file of OSI.
    Error,
    /// It is one, and lacks what is recommended.
    Warning,
}

/// A rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name in results.
    pub id: &'static str,
    /// What it means that it does not hold.
    pub level: Level,
    /// What must hold.
    pub what: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $level:ident $what:literal $remedy:literal;)*) => {
        $(
            #[doc = concat!("The rule `", $id, "`.")]
            pub const $name: Rule =
                Rule { id: $id, level: Level::$level, what: $what, remedy: $remedy };
        )*
        /// All of them.
        pub const ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    WHOLE "file.whole" Error
        "lengths lead from message to message up to the end of the file, and checksums are right"
        "save what is whole: wiregauge trace repair";
    NAME "name.pattern" Warning
        "the name is <timestamp>_<type>_<osi-version>_<protobuf-version>_<frames>_<name>"
        "call it so, as 20210818T150542Z_sv_312_300_1523_highway.osi";
    NAME_TYPE "name.type" Error
        "the name's type is that of the messages"
        "call it by the right type: sv, gt, sd …, or multi where there are several";
    NAME_VERSION "name.version" Warning
        "the name's version of OSI is that of the messages"
        "call it by the right version";
    NAME_FRAMES "name.frames" Warning
        "the name's number of frames is that of the messages, or of the longest channel"
        "call it by the right number";
    CHUNKED "mcap.chunks" Error
        "all messages are in chunks"
        "write it anew: --fix";
    COMPRESSION "mcap.compression" Error
        "chunks are not compressed, or by zstd or lz4"
        "write it anew: --fix";
    SUMMARY "mcap.summary" Error
        "there is a summary, and it is whole"
        "write it anew: --fix";
    INDEX "mcap.index" Error
        "each chunk is in the index, at its place and with its times"
        "write it anew: --fix";
    TIMES "mcap.times" Error
        "a chunk's times are those of its messages"
        "write it anew: --fix";
    MESSAGE_INDEX "mcap.message-index" Error
        "message indexes have the times and places of their chunk's messages"
        "write it anew: --fix";
    STATISTICS "mcap.statistics" Warning
        "the statistics have the numbers and times that there are"
        "write it anew: --fix";
    METADATA "trace.metadata" Error
        "there is exactly one metadata record net.asam.osi.trace"
        "write it anew: --fix";
    METADATA_ENTRY "trace.entry" Error
        "version, min_ and max_osi_version, min_ and max_protobuf_version are there"
        "write it anew: --fix, with --protobuf-version";
    VERSION_FORM "trace.version" Error
        "versions are major.minor.patch"
        "write it anew: --fix, with --osi-version and --protobuf-version";
    TIME_FORM "trace.date" Error
        "zero_time and creation_time are dates with time and zone, as 2024-06-03T15:23:22Z"
        "have the recorder write them so";
    RECOMMENDED "trace.recommended" Warning
        "zero_time, creation_time, description, authors and data_sources are there"
        "have the recorder write them";
    RESERVED "trace.reserved" Error
        "no other name of metadata begins with net.asam.osi"
        "have the recorder use a name of its own domain";
    OSI_CHANNEL "channel.osi" Error
        "there is a channel with messages of OSI"
        "it is a recording, and no trace file of OSI";
    TOPIC "channel.topic" Error
        "each channel has a topic of its own"
        "have the recorder name channels apart";
    CHANNEL_ENCODING "channel.encoding" Error
        "messages of OSI and their schema are in protobuf"
        "have the recorder say protobuf";
    CHANNEL_VERSION "channel.version" Error
        "a channel of OSI says osi_version and protobuf_version, as major.minor.patch"
        "write it anew: --fix, with --protobuf-version";
    CHANNEL_DESCRIPTION "channel.description" Warning
        "a channel of OSI has a description"
        "have the recorder write one";
    CHANNEL_SUMMARY "channel.summary" Error
        "channels and schemas of OSI are in the summary too"
        "write it anew: --fix";
    SCHEMA "schema.data" Error
        "a schema of OSI is a complete descriptor set that has the type"
        "have the recorder write what protoc --include_imports makes";
    TOP_LEVEL "schema.top-level" Error
        "a channel of OSI holds top-level messages"
        "put other messages into a channel that is not called osi3";
    PARSES "message.parses" Error
        "each message is one of its type"
        "it was damaged before it was recorded";
    MESSAGE_VERSION "message.version" Error
        "a message's version is that of its channel, and within what the file says"
        "write it anew: --fix";
    MESSAGE_NO_VERSION "message.version-absent" Warning
        "a message says its version of OSI"
        "have the model fill in version";
    MESSAGE_NO_TIME "message.time-absent" Error
        "a message has a time stamp"
        "have the model fill in timestamp";
    PUBLISH_TIME "message.publish-time" Error
        "publish_time is the message's time stamp"
        "write it anew: --fix";
    LOG_TIME "message.log-time" Warning
        "log_time is the message's time stamp, unless sending took time"
        "have the recorder write the time stamp";
    ORDER "time.order" Warning
        "the times of a channel do not go back"
        "see to the source; messages are kept in its order";
    SEQUENCE "message.sequence" Warning
        "sequence numbers go up by one, or are all 0"
        "messages were lost, or the recorder counts what it did not write";
}
