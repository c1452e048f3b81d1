//! How fields are compared, hashed and shown.

use super::scalar::JavaScalar;

/// How a field is compared.
pub enum EqualityMethod {
    /// A number.
    Number(JavaScalar),
    /// An array of numbers.
    Numbers,
    /// An object that knows it by itself.
    Object,
    /// An array of objects.
    Objects,
    /// A list of arrays.
    Blocks,
}

impl EqualityMethod {
    /// The class of `java.util` that compares it.
    pub fn class(&self) -> Option<&'static str> {
        match self {
            EqualityMethod::Number(_) => None,
            EqualityMethod::Object => Some("Objects"),
            EqualityMethod::Numbers | EqualityMethod::Objects | EqualityMethod::Blocks => {
                Some("Arrays")
            }
        }
    }

    /// Whether a member of two objects is equal.
    pub fn equal(&self, member: &str) -> String {
        let (a, b) = (format!("this.{member}"), format!("that.{member}"));
        match self {
            EqualityMethod::Number(kind) if kind.is_float() => {
                format!("{}.compare({a}, {b}) == 0", kind.boxed_type())
            }
            EqualityMethod::Number(_) => format!("{a} == {b}"),
            EqualityMethod::Object => format!("Objects.equals({a}, {b})"),
            EqualityMethod::Numbers => format!("Arrays.equals({a}, {b})"),
            EqualityMethod::Objects => format!("Arrays.deepEquals({a}, {b})"),
            EqualityMethod::Blocks => format!("Arrays.deepEquals({}, {})", array(&a), array(&b)),
        }
    }

    /// The hash of a member.
    pub fn hash(&self, member: &str) -> String {
        let a = format!("this.{member}");
        match self {
            EqualityMethod::Number(kind) => format!("{}.hashCode({a})", kind.boxed_type()),
            EqualityMethod::Object => format!("Objects.hashCode({a})"),
            EqualityMethod::Numbers => format!("Arrays.hashCode({a})"),
            EqualityMethod::Objects => format!("Arrays.deepHashCode({a})"),
            EqualityMethod::Blocks => format!("Arrays.deepHashCode({})", array(&a)),
        }
    }

    /// The text of a member.
    pub fn text_expression(&self, member: &str) -> String {
        let a = format!("this.{member}");
        match self {
            EqualityMethod::Number(kind) => kind.text_expression(&a),
            EqualityMethod::Object => a,
            EqualityMethod::Numbers => format!("Arrays.toString({a})"),
            EqualityMethod::Objects => format!("Arrays.deepToString({a})"),
            EqualityMethod::Blocks => format!("Arrays.deepToString({})", array(&a)),
        }
    }
}

fn array(list: &str) -> String {
    format!("{list} == null ? null : {list}.toArray()")
}
