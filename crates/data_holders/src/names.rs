//! Names that a language accepts, as near to their authors' as may be.

use std::collections::{BTreeMap, BTreeSet};

use wiregauge_schema::{Schema, TypeDef, TypeId};

/// What names a language does not accept.
pub struct Rules {
    /// Keywords, for all names.
    pub keywords: &'static str,
    /// More that are names of nothing.
    pub macros: &'static str,
    /// What a holder has beside its fields.
    pub members: &'static str,
    /// What a module has beside its holders.
    pub types: &'static str,
    /// What an enum has beside its values.
    pub values: &'static str,
    /// Whether a field or constant must not be called like a type.
    pub members_unlike_types: bool,
    /// Whether each type is a file, so that names have to differ by more than case.
    pub types_are_files: bool,
}

impl Rules {
    /// A module's name, unless it means something else: a keyword, or one of those words.
    pub fn module(&self, name: &str, taken: &str) -> String {
        let mut words = [self.keywords, self.macros, taken].into_iter();
        match words.any(|words| words.split_ascii_whitespace().any(|word| word == name)) {
            true => format!("{name}_"),
            false => name.to_owned(),
        }
    }

    /// Keywords, and more words.
    fn reserved(&self, more: &'static str) -> TakenNames<'static> {
        let words = [self.keywords, self.macros, more];
        words.into_iter().flat_map(str::split_ascii_whitespace).collect()
    }
}

/// Names that are taken.
type TakenNames<'a> = BTreeSet<&'a str>;

/// The names of a schema's types and of what is in them.
pub struct Names {
    types: Vec<String>,
    members: Vec<Vec<String>>,
    constants: Vec<Vec<String>>,
}

impl Names {
    /// Legal names; `constants` are those of each type.
    pub fn new(schema: &Schema, rules: &Rules, constants: &[Vec<&str>]) -> Names {
        let types = type_names(schema, rules);
        let mut of_records: TakenNames = rules.reserved(rules.members);
        if rules.members_unlike_types {
            of_records.extend(types.iter().map(String::as_str));
        }
        let of_enums = rules.reserved(rules.values);
        let mut members = Vec::new();
        let mut constant_names = Vec::new();
        for (def, constants) in schema.types.iter().zip(constants) {
            // Constants share the scope of the fields.
            let (originals, reserved): (Vec<&str>, _) = match def {
                TypeDef::Record(record) => {
                    (record.fields.iter().map(|f| f.name.original.as_str()).collect(), &of_records)
                }
                TypeDef::Enum(def) => {
                    (def.values.iter().map(|v| v.name.original.as_str()).collect(), &of_enums)
                }
            };
            let all: Vec<&str> = originals.iter().chain(constants).copied().collect();
            let mut names = unique(&all, reserved, false);
            constant_names.push(names.split_off(originals.len()));
            members.push(names);
        }
        Names { types, members, constants: constant_names }
    }

    /// The name of a type.
    pub fn type_name(&self, id: TypeId) -> &str {
        &self.types[id]
    }

    /// The name of a field or of an enum's value, by its place.
    pub fn member(&self, id: TypeId, place: usize) -> &str {
        &self.members[id][place]
    }

    /// The name of a constant, by its place.
    pub fn constant(&self, id: TypeId, place: usize) -> &str {
        &self.constants[id][place]
    }
}

/// The last part of each name, `Image`, with what a message is defined in,
/// `MovingObjectType`; where two are the same, both with their packages.
fn type_names(schema: &Schema, rules: &Rules) -> Vec<String> {
    let short: Vec<String> =
        schema.types.iter().map(|def| camel(unqualified_name(def.original()))).collect();
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for name in &short {
        *uses.entry(name.to_ascii_lowercase()).or_default() += 1;
    }
    let names: Vec<String> = schema
        .types
        .iter()
        .zip(short)
        .map(|(def, name)| match uses[&name.to_ascii_lowercase()] {
            1 => name,
            _ => camel(&def.original().replace("/msg/", "/")),
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    unique(&names, &rules.reserved(rules.types), rules.types_are_files)
}

/// The part of a qualified name behind the package: after the last `/`, or from
/// the first capital part on.
fn unqualified_name(original: &str) -> &str {
    let last = original.rsplit('/').next().unwrap_or(original);
    let mut start = last.rfind('.').map_or(0, |dot| dot + 1);
    for (dot, _) in last.rmatch_indices('.') {
        let before = last[..dot].rfind('.').map_or(0, |dot| dot + 1);
        if last[before..].starts_with(|c: char| c.is_ascii_uppercase()) {
            start = before;
        } else {
            break;
        }
    }
    &last[start..]
}

/// `StdMsgsString` for `std_msgs/String`: other capitals stay as they are.
fn camel(text: &str) -> String {
    let mut name = String::new();
    for part in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = part.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.extend(letters);
    }
    name
}

/// The names themselves where they are legal, and unlike each other, maybe also without
/// regard to case.
fn unique(originals: &[&str], reserved: &TakenNames, ignores_case: bool) -> Vec<String> {
    let key = |name: &str| match ignores_case {
        true => name.to_ascii_lowercase(),
        false => name.to_owned(),
    };
    // Who is legal as it is keeps its name, whatever comes before it.
    let legal: Vec<String> = originals.iter().map(|original| spelled(original)).collect();
    let own = |at: usize| legal[at] == originals[at] && !reserved.contains(legal[at].as_str());
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = vec![String::new(); originals.len()];
    let (first, then): (Vec<usize>, Vec<usize>) = (0..originals.len()).partition(|at| own(*at));
    for at in first.into_iter().chain(then) {
        let mut name = legal[at].clone();
        if reserved.contains(name.as_str()) {
            name.push('_');
        }
        let mut number = 2;
        let stem = name.clone();
        while reserved.contains(name.as_str()) || !taken.insert(key(&name)) {
            name = format!("{stem}{number}");
            number += 1;
        }
        names[at] = name;
    }
    names
}

/// Letters, digits and single underscores, beginning with a letter: others have
/// meanings of their own in Python and C++.
fn spelled(original: &str) -> String {
    let mut name = String::new();
    for letter in original.chars() {
        match letter {
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ if name.is_empty() || name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    match name.chars().next() {
        None => "unnamed".into(),
        Some(c) if c.is_ascii_digit() => format!("n{name}"),
        Some(_) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_names_stay_and_others_give_way() {
        let reserved = TakenNames::from(["class", "def"]);
        let names = unique(&["class_", "class", "x__y", "_p", "3d", "größe", ""], &reserved, false);
        assert_eq!(names, ["class_", "class_2", "x_y", "p", "n3d", "gr_e", "unnamed"]);
        assert_eq!(unique(&["Scan", "SCAN", "Class"], &reserved, true), ["Scan", "SCAN2", "Class"]);
    }

    #[test]
    fn types_are_called_by_what_stands_behind_their_package() {
        assert_eq!(unqualified_name("sensor_msgs/msg/Image"), "Image");
        assert_eq!(unqualified_name("osi3.MovingObject.Type"), "MovingObject.Type");
        assert_eq!(unqualified_name("a.b.point"), "point");
        assert_eq!(camel("std_msgs/String"), "StdMsgsString");
    }
}
