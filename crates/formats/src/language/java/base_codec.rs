//! What the `Main.java` of several formats extend: abstract codecs.

use wiregauge_normalized::File;

/// `ParsingCodec.java`, for libraries whose objects are read as they are.
pub fn parsing_codec() -> File {
    File::new("ParsingCodec.java", include_str!("base_codec/ParsingCodec.java"))
}

/// `ObjectCodec.java` and what it extends, for libraries with objects of their own that
/// `make` and `take` of `Glue.java` convert.
pub fn object_codec() -> [File; 2] {
    [parsing_codec(), File::new("ObjectCodec.java", include_str!("base_codec/ObjectCodec.java"))]
}
