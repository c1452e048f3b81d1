//! What a library derives for the normalized message.

use wiregauge_schema::Field;

use super::attributes::{minicbor_attribute, serde_attribute};

/// The library whose traits are derived. A runner derives what its own library needs, as
/// its user does: the others would only be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derive {
    /// None: the library has structures of its own.
    Nothing,
    /// bincode's.
    Bincode,
    /// bitcode's.
    Bitcode,
    /// minicbor's.
    Minicbor,
    /// rkyv's.
    Rkyv,
    /// serde's, for all libraries that go by it.
    Serde,
    /// wincode's.
    Wincode,
}

impl Derive {
    /// All of them.
    pub const ALL: [Derive; 7] = [
        Derive::Nothing,
        Derive::Bincode,
        Derive::Bitcode,
        Derive::Minicbor,
        Derive::Rkyv,
        Derive::Serde,
        Derive::Wincode,
    ];

    /// The folder of the message that derives so.
    pub fn folder(self) -> &'static str {
        match self {
            Derive::Nothing => "plain",
            Derive::Bincode => "bincode",
            Derive::Bitcode => "bitcode",
            Derive::Minicbor => "minicbor",
            Derive::Rkyv => "rkyv",
            Derive::Serde => "serde",
            Derive::Wincode => "wincode",
        }
    }

    /// The traits, each behind a comma.
    pub(super) fn traits(self) -> &'static str {
        match self {
            Derive::Nothing => "",
            Derive::Bincode => ", bincode::Encode, bincode::Decode",
            Derive::Bitcode => ", bitcode::Encode, bitcode::Decode",
            Derive::Minicbor => ", minicbor::Encode, minicbor::Decode",
            Derive::Rkyv => ", rkyv::Archive, rkyv::Serialize, rkyv::Deserialize",
            Derive::Serde => ", serde::Serialize, serde::Deserialize",
            Derive::Wincode => ", wincode::SchemaWrite, wincode::SchemaRead",
        }
    }

    /// Whether it calls the module `octets`.
    pub(super) fn calls_octets(self) -> bool {
        matches!(self, Derive::Minicbor | Derive::Serde)
    }

    /// What stands before the field at a place.
    pub(super) fn attribute(self, place: usize, field: &Field) -> Option<String> {
        match self {
            Derive::Minicbor => Some(minicbor_attribute(place, field)),
            Derive::Serde => serde_attribute(field).map(str::to_owned),
            Derive::Nothing
            | Derive::Bincode
            | Derive::Bitcode
            | Derive::Rkyv
            | Derive::Wincode => None,
        }
    }
}
