//! OMG IDL, in which the formats with CDR are defined.

use wiregauge_schema::Scalar;

/// The IDL type of a scalar.
pub fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "boolean",
        Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::I8 => "int8",
        Scalar::I16 => "int16",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}
