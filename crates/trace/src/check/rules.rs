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
        "the file is whole: lengths lead from message to message up to its end, and checksums are \
         right"
        "save the undamaged part: wiregauge trace repair";
    NAME "name.pattern" Warning
        "the name is <timestamp>_<type>_<osi-version>_<protobuf-version>_<frames>_<name>"
        "rename the file, for example to 20210818T150542Z_sv_312_300_1523_highway.osi";
    NAME_TYPE "name.type" Error
        "the type in the name is that of the messages"
        "rename the file with the right type: sv, gt, sd …, or multi if there are several";
    NAME_VERSION "name.version" Warning
        "the version of OSI in the name is that of the messages"
        "rename the file with the right version";
    NAME_FRAMES "name.frames" Warning
        "the number of frames in the name is that of the messages, or of the longest channel"
        "rename the file with the right number";
    CHUNKED "mcap.chunks" Error
        "all messages are in chunks"
        "write it again: --fix";
    COMPRESSION "mcap.compression" Error
        "chunks are compressed by zstd or lz4, or not compressed"
        "write it again: --fix";
    SUMMARY "mcap.summary" Error
        "there is a summary, and it is whole"
        "write it again: --fix";
    INDEX "mcap.index" Error
        "each chunk is in the index, with its place and its times"
        "write it again: --fix";
    TIMES "mcap.times" Error
        "a chunk's times are those of its messages"
        "write it again: --fix";
    MESSAGE_INDEX "mcap.message-index" Error
        "message indexes have the times and places of their chunk's messages"
        "write it again: --fix";
    STATISTICS "mcap.statistics" Warning
        "the statistics have the right numbers and times"
        "write it again: --fix";
    METADATA "trace.metadata" Error
        "there is exactly one metadata record net.asam.osi.trace"
        "write it again: --fix";
    METADATA_ENTRY "trace.entry" Error
        "version, min_ and max_osi_version, min_ and max_protobuf_version are present"
        "write it again: --fix, with --protobuf-version";
    VERSION_FORM "trace.version" Error
        "versions are major.minor.patch"
        "write it again: --fix, with --osi-version and --protobuf-version";
    TIME_FORM "trace.date" Error
        "zero_time and creation_time are dates with time and zone, such as 2024-06-03T15:23:22Z"
        "make the recorder write them in this form";
    RECOMMENDED "trace.recommended" Warning
        "zero_time, creation_time, description, authors and data_sources are present"
        "make the recorder write them";
    RESERVED "trace.reserved" Error
        "no other name of metadata begins with net.asam.osi"
        "make the recorder use a name of its own domain";
    OSI_CHANNEL "channel.osi" Error
        "there is a channel with messages of OSI"
        "it is a recording, but not a trace file of OSI";
    TOPIC "channel.topic" Error
        "no two channels have the same topic"
        "make the recorder give each channel another topic";
    CHANNEL_ENCODING "channel.encoding" Error
        "messages of OSI and their schema are in protobuf"
        "make the recorder declare protobuf";
    CHANNEL_VERSION "channel.version" Error
        "a channel of OSI has osi_version and protobuf_version, as major.minor.patch"
        "write it again: --fix, with --protobuf-version";
    CHANNEL_DESCRIPTION "channel.description" Warning
        "a channel of OSI has a description"
        "make the recorder write one";
    CHANNEL_SUMMARY "channel.summary" Error
        "channels and schemas of OSI are in the summary too"
        "write it again: --fix";
    SCHEMA "schema.data" Error
        "a schema of OSI is a complete descriptor set that defines its type"
        "make the recorder write the output of protoc --include_imports";
    TOP_LEVEL "schema.top-level" Error
        "a channel of OSI has top-level messages"
        "put other messages into a channel whose type is not in osi3";
    PARSES "message.parses" Error
        "each message can be decoded as its type"
        "the message was damaged before it was recorded";
    MESSAGE_VERSION "message.version" Error
        "a message's version is that of its channel, and within the range of the file"
        "write it again: --fix";
    MESSAGE_NO_VERSION "message.version-absent" Warning
        "a message has its version of OSI"
        "make the model set version";
    MESSAGE_NO_TIME "message.time-absent" Error
        "a message has a time stamp"
        "make the model set timestamp";
    PUBLISH_TIME "message.publish-time" Error
        "publish_time is the message's time stamp"
        "write it again: --fix";
    LOG_TIME "message.log-time" Warning
        "log_time is the message's time stamp, unless sending took time"
        "make the recorder write the time stamp";
    ORDER "time.order" Warning
        "the times of a channel do not decrease"
        "correct the source; wiregauge keeps its order of messages";
    SEQUENCE "message.sequence" Warning
        "sequence numbers go up by one, or are all 0"
        "messages were lost, or the recorder counted messages that it did not write";
}
