//! What can be wrong with a field, a message or a conversion.

use std::fmt;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The field ends before its header, descriptors or names do.
    Truncated,
    /// Other bytes than the packed field's.
    Magic,
    /// A major version that this reader does not know.
    Version,
    /// Header or descriptors shorter than version 1.0 has them.
    Header,
    /// More bytes, rows, columns or alignment than allowed.
    Limit,
    /// A name that is empty, too long or not printable ASCII.
    Name,
    /// Two columns of one name.
    Duplicate,
    /// A column or a name outside of the field, or of the wrong size.
    Range,
    /// Two columns share bytes, or one lies in the header.
    Overlap,
    /// A scale that is zero, not finite, or not on an integer column.
    Scale,
    /// Not the wire format of Protobuf.
    Wire,
    /// Groups nested too deep.
    Depth,
    /// A field of a row that has no column and would be lost.
    Unknown,
    /// A column that OSI has no field for and would be lost.
    Foreign,
    /// Sub-messages and the packed field in one message.
    Both,
    /// An element type that the column cannot have.
    Element,
    /// A value that the element type cannot hold.
    Value,
    /// Detections for a SensorView, or reflections for SensorData.
    Kind,
    /// A buffer of another size than planned.
    Buffer,
    /// A resolution that is no positive number, or not on f64 or f32.
    Resolution,
    /// A value that is too many of its resolution.
    Steps,
    /// Blocks of a reduced column that do not hold its rows.
    Blocks,
    /// A resolution in another unit than the column's.
    Unit,
    /// A column that is not as the points have it.
    Points,
}

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub fault: Fault,
    /// The field's number, the column's index or the version; else 0.
    pub number: u32,
    /// The name of the column or message that is meant, where one is.
    pub name: String,
}

impl Error {
    pub(crate) fn new(fault: Fault, number: u32, name: &str) -> Self {
        Error { fault, number, name: name.into() }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::new(fault, 0, "")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { fault, number, name } = self;
        let column =
            if name.is_empty() { format!("column {number}") } else { format!("column '{name}'") };
        match fault {
            Fault::Truncated => f.write_str("the packed field is cut short"),
            Fault::Magic => f.write_str("this is not a packed field"),
            Fault::Version => write!(
                f,
                "the packed field has major version {number}, which this reader does not know"
            ),
            Fault::Header => f.write_str("the packed field's header or descriptors are too short"),
            Fault::Limit => {
                f.write_str("more bytes, rows, columns or alignment than a packed field may have")
            }
            Fault::Name => {
                write!(f, "the name of {column} is empty, too long or not printable ASCII")
            }
            Fault::Duplicate => write!(f, "{column} occurs twice"),
            Fault::Range => write!(f, "{column} does not fit into the packed field"),
            Fault::Overlap => write!(f, "{column} overlaps other parts of the packed field"),
            Fault::Scale => {
                write!(f, "{column} has a scale that is zero, not finite, or not on an integer")
            }
            Fault::Wire => f.write_str("the message is not in Protobuf's wire format"),
            Fault::Depth => f.write_str("the message has groups nested too deep"),
            Fault::Unknown => {
                write!(f, "field {number} of '{name}' has no column, so it would be lost")
            }
            Fault::Foreign => write!(f, "OSI has no field for {column}, so it would be lost"),
            Fault::Both => f.write_str("a message has both rows and a packed field"),
            Fault::Element => write!(f, "{column} cannot have this element type"),
            Fault::Value => {
                write!(f, "a value of {column} is out of its element type's range")
            }
            Fault::Kind => {
                f.write_str("reflections belong into a SensorView and detections into SensorData")
            }
            Fault::Buffer => f.write_str("the size of the buffer differs from the planned size"),
            Fault::Resolution => {
                write!(
                    f,
                    "the resolution of {column} is not a positive number, or the column is not \
                     f64 or f32"
                )
            }
            Fault::Steps => {
                write!(f, "a value of {column} is 2^51 of its resolution or more away from 0")
            }
            Fault::Blocks => write!(f, "the blocks of {column} do not have its number of rows"),
            Fault::Unit => write!(f, "{column} has another unit than its resolution"),
            Fault::Points => write!(
                f,
                "{column} is not a field of the points, has another type, or overlaps another \
                 field"
            ),
        }
    }
}

impl std::error::Error for Error {}

pub(crate) type Result<T> = std::result::Result<T, Error>;
