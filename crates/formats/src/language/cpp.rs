//! What the formats of C++ runners have in common.

pub mod c_struct;
