//! Octets by serde, which takes them for a list of numbers unless told: text by
//! Base64 in formats for human readers, a block in all others. And lists of them
//! by minicbor.

use base64::prelude::*;
use serde::{de, Deserialize, Deserializer, Serialize, Serializer};

struct Borrowed<'a>(&'a [u8]);
struct Owned(Vec<u8>);
struct Text;

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            to.collect_str(&base64::display::Base64Display::new(self.0, &BASE64_STANDARD))
        } else {
            to.serialize_bytes(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Owned {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            from.deserialize_str(Text).map(Owned)
        } else {
            serde_bytes::ByteBuf::deserialize(from).map(|octets| Owned(octets.into_vec()))
        }
    }
}

impl de::Visitor<'_> for Text {
    type Value = Vec<u8>;
    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("text by Base64")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        BASE64_STANDARD.decode(text).map_err(E::custom)
    }
}

pub fn serialize<S: Serializer>(octets: &[u8], to: S) -> Result<S::Ok, S::Error> {
    Borrowed(octets).serialize(to)
}
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    Owned::deserialize(from).map(|octets| octets.0)
}

pub mod optional {
    use super::*;
    pub fn serialize<S: Serializer>(octets: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        octets.as_deref().map(Borrowed).serialize(to)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        Ok(Option::<Owned>::deserialize(from)?.map(|octets| octets.0))
    }
}

pub mod list {
    use super::*;
    pub fn serialize<S: Serializer>(
        list: &impl AsRef<[Vec<u8>]>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.as_ref().iter().map(|octets| Borrowed(octets)))
    }
    pub fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<Vec<Vec<u8>>>>(
        from: D,
    ) -> Result<T, D::Error> {
        let list: Vec<Vec<u8>> =
            Vec::<Owned>::deserialize(from)?.into_iter().map(|octets| octets.0).collect();
        list.try_into().map_err(|_| de::Error::custom("not as many octet strings as the array has"))
    }
}

pub mod cbor {
    use minicbor::{bytes::ByteVec, Decoder, Encoder};
    pub fn encode<C, W: minicbor::encode::Write>(
        list: &impl AsRef<[Vec<u8>]>,
        to: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        to.array(list.as_ref().len() as u64)?;
        for octets in list.as_ref() {
            to.bytes(octets)?;
        }
        Ok(())
    }
    pub fn decode<C, T: TryFrom<Vec<Vec<u8>>>>(
        from: &mut Decoder<'_>,
        _: &mut C,
    ) -> Result<T, minicbor::decode::Error> {
        let list: Vec<Vec<u8>> =
            from.decode::<Vec<ByteVec>>()?.into_iter().map(Vec::<u8>::from).collect();
        list.try_into().map_err(|_| {
            minicbor::decode::Error::message("not as many octet strings as the array has")
        })
    }
}
