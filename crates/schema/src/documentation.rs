//! What a definition says beside the model: comments, constants, and types as
//! their author spelled them. Nothing of it changes a value; it is for those who
//! write a definition anew, and is empty where a schema was read from elsewhere.

use std::collections::BTreeMap;

/// What a definition says, by the original names of its types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documentation {
    /// Whether the definition was read as one of ROS 1, and not of ROS 2; none where it is no text of
    /// ROS.
    pub is_ros1: Option<bool>,
    pub(crate) types: BTreeMap<String, TypeDocumentation>,
}

/// What is said of a type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TypeDocumentation {
    /// Its comment, without the marks.
    pub comment: String,
    /// Its constants, in the order of definition.
    pub constants: Vec<Constant>,
    /// What is said of its fields or values, by their original names.
    pub members: BTreeMap<String, MemberDocumentation>,
    /// The definition of this type alone, as it was read; none where that is
    /// no text of ROS.
    pub text: Option<String>,
}

/// What is said of a field or of an enum's value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemberDocumentation {
    /// Its comment, without the marks.
    pub comment: String,
    /// Its type as spelled, `string<=10[4]`; empty where that is the model's.
    pub spelling: String,
}

/// A constant of a ROS message.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its type as spelled.
    pub spelling: String,
    /// Its value as written.
    pub value: String,
    /// Whether it is of ROS 1, where nothing is quoted: quotes are of the text.
    pub is_bare: bool,
    /// Its comment, without the marks.
    pub comment: String,
}

impl Documentation {
    /// What is said of a type; nothing where it has no words.
    pub fn find_type(&self, original: &str) -> Option<&TypeDocumentation> {
        self.types.get(original)
    }

    /// What is said of a field or value of a type.
    pub fn find_member(&self, original: &str, member: &str) -> Option<&MemberDocumentation> {
        self.find_type(original)?.members.get(member)
    }

    /// Says this of a type.
    pub fn insert(&mut self, original: &str, words: TypeDocumentation) {
        self.types.insert(original.to_owned(), words);
    }

    /// Adds what is said elsewhere, of types that nothing is said of here.
    pub fn extend(&mut self, other: &Documentation) {
        for (name, words) in &other.types {
            self.types.entry(name.clone()).or_insert_with(|| words.clone());
        }
    }
}
