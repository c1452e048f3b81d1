//! Legal names: names that every target language accepts.
//!
//! A definition may call a field `type`, `Points` or `x_`; some generator
//! behind some format refuses each of these, or changes it so that the glue no
//! longer finds it. The readers therefore give every type, field and enum value
//! a second, legal name, and backends use only that one.
//!
//! A legal name consists of ASCII words. It is UpperCamelCase for a type,
//! lower_snake_case for a field and UPPER_SNAKE_CASE for an enum value; every
//! word starts with a letter; there is no leading, trailing or double
//! underscore. It is a keyword in no target language and unique in its scope,
//! both without regard to case or underscores. Converting it to camel case and
//! back yields it again.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::model::Name;

/// Keywords by language, in lower case.
const KEYWORDS: [&str; 15] = [
    // Rust
    "abstract as async await become box break const continue crate do dyn else enum extern false \
     final fn for gen if impl in let loop macro match mod move mut override priv pub ref return \
     self static struct super trait true try type typeof union unsafe unsized use virtual where \
     while yield",
    // C
    "alignas alignof auto bool break case char complex const constexpr continue default do double \
     else enum extern false float for goto if imaginary inline int long noreturn nullptr register \
     restrict return short signed sizeof static static_assert struct switch thread_local true \
     typedef typeof typeof_unqual union unsigned void volatile while",
    // C++20
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t \
     char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr \
     constinit continue decltype default delete do double dynamic_cast else enum explicit export \
     extern false final float for friend goto if import inline int long module mutable namespace \
     new noexcept not not_eq nullptr operator or or_eq override private protected public register \
     reinterpret_cast requires return short signed sizeof static static_assert static_cast struct \
     switch template this thread_local throw true try typedef typeid typename union unsigned using \
     virtual void volatile wchar_t while xor xor_eq",
    // Macros of the C and C++ standard headers, and of GCC
    "assert edom eilseq eof erange errno huge_val infinity linux nan null overflow stderr stdin \
     stdout underflow unix",
    // Python
    "and as assert async await break case class continue def del elif else except exec false \
     finally for from global if import in is lambda match none nonlocal not or pass print raise \
     return true try type while with yield",
    // OMG IDL 4
    "abstract any alias attribute bitfield bitmask bitset boolean case char component connector \
     const consumes context custom default double emits enum eventtype exception factory false \
     finder fixed float getraises getter home import in inout int16 int32 int64 int8 interface \
     local long manages map mirrorport module multiple native object octet oneway out port \
     porttype primarykey private provides public publishes raises readonly sequence setraises \
     setter short string struct supports switch true truncatable typedef typeid typename \
     typeprefix uint16 uint32 uint64 uint8 union unsigned uses valuebase valuetype void wchar \
     wstring",
    // Thrift
    "abstract alias and args as assert begin binary bool break byte case catch class clone const \
     continue cpp_include cpp_type declare def default del delete do double dynamic elif else \
     elseif elsif end enddeclare endfor endforeach endif endswitch endwhile ensure enum except \
     exception exec extends finally float for foreach from function global goto i16 i32 i64 i8 if \
     implements import in include inline instanceof interface is lambda list map module namespace \
     native new next nil not oneway optional or package pass private protected public raise redo \
     register required rescue retry return self senum service set sizeof slist static string struct \
     super switch synchronized then this throw throws transient try typedef undef union unless \
     unsigned until use uuid var virtual void volatile when while with xor xsd_all yield",
    // Cap'n Proto
    "annotation anypointer bool const enum extends false float32 float64 from group import int16 \
     int32 int64 int8 interface list struct text true uint16 uint32 uint64 uint8 union using void",
    // FlatBuffers
    "attribute bool byte double enum false file_extension file_identifier float float32 float64 \
     include int int16 int32 int64 int8 long namespace native_include null root_type rpc_service \
     short string struct table true ubyte uint uint16 uint32 uint64 uint8 ulong union ushort",
    // Java, for SBE
    "abstract assert boolean break byte case catch char class const continue default do double \
     else enum exports extends false final finally float for goto if implements import instanceof \
     int interface long module native new null opens package permits private protected provides \
     public record requires return sealed short static strictfp super switch synchronized this \
     throw throws transient true try uses var void volatile while with yield",
    // Protobuf
    "bool bytes double edition enum extend extensions fixed32 fixed64 float group import int32 \
     int64 map max message oneof option optional package public repeated required reserved returns \
     rpc service sfixed32 sfixed64 sint32 sint64 stream string syntax to uint32 uint64 weak",
    // zserio
    "align bit bitmask bool bytes case choice const default deprecated enum explicit extend extern \
     false float16 float32 float64 function if implicit import index instantiate int int16 int32 \
     int64 int8 isset lengthof null numbits offset on optional packed package pubsub publish \
     removed return rule rule_group service sql sql_database sql_table sql_virtual \
     sql_without_rowid string struct subscribe subtype template topic true uint16 uint32 uint64 \
     uint8 union using valueof varint varint16 varint32 varint64 varsize varuint varuint16 \
     varuint32 varuint64",
    // LCM
    "boolean byte const double enum float int16_t int32_t int64_t int8_t package string struct",
    // ROS
    "bool byte char float32 float64 int16 int32 int64 int8 string uint16 uint32 uint64 uint8 \
     wstring",
    // Go
    "break case chan const continue default defer else fallthrough for func go goto if import \
     interface map package range return select struct switch type var",
];

/// Macros of the C and C++ headers, and of those that programs on POSIX have usually, a line
/// each: in code for C and C++ they are no names, whatever a generator makes of them.
pub const MACROS: &str = include_str!("macros.txt");

/// Members that generators add to every record: LCM's `encode`, Thrift's
/// `read`, fastddsgen's `serialize`, Cap'n Proto's `which`, SBE's `count`.
const MEMBERS: &str = "acting_version as_reader block_length buffer buffer_length byte_size \
     cached_size clear clone count create decode default_instance descriptor deserialize encode \
     encoded_length encoded_len follow has_next index init limit marshal merge merge_from next \
     offset pack print_to read reset serialize skip swap template_id to_string total_size \
     unknown_fields unmarshal unpack verify which wrap write";

/// Types that languages or generators bring along and glue code relies on.
const TYPES: &str = "any args box builder char client clone copy data debug default drop err \
     error fn from future integer into iterator message none object ok option owned pipeline \
     reader result root self send server some string struct sync table text type vec vector \
     void writer";

/// Accessors that generators derive from a field's name by a prefix …
const PREFIXES: [&str; 12] = [
    "add", "clear", "disown", "get", "has", "init", "is", "mutable", "put", "release", "reset",
    "set",
];

/// … or by a suffix.
const SUFFIXES: [&str; 11] =
    ["bytes", "case", "count", "id", "index", "length", "len", "set", "size", "type", "used"];

/// Legal names for the fields of one record, in the given order.
pub fn legal_fields<S: AsRef<str>>(originals: &[S]) -> Vec<Name> {
    let plain: Vec<String> = originals
        .iter()
        .map(|o| avoid(split_words(o.as_ref()).join("_"), MEMBERS, "_value"))
        .collect();
    let all: HashSet<&str> = plain.iter().map(String::as_str).collect();
    let mut taken = HashSet::new();
    let legal = plain.iter().map(|name| {
        let is_taken = is_derived(name, &all) || is_macro(name);
        let name = if is_taken { format!("{name}_value") } else { name.clone() };
        unique(name, &mut taken)
    });
    pair(originals, legal.collect())
}

/// Legal names for the values of one enum, in the given order.
pub fn legal_values<S: AsRef<str>>(originals: &[S]) -> Vec<Name> {
    let mut taken = HashSet::new();
    let legal = originals.iter().map(|original| {
        let name = split_words(original.as_ref()).join("_").to_ascii_uppercase();
        let name = if is_macro(&name) { name + "_VALUE" } else { avoid(name, "", "_VALUE") };
        unique(name, &mut taken)
    });
    pair(originals, legal.collect())
}

/// Legal names for all types of a schema, in the given order. A qualified name
/// (`osi3.MovingObject.Type`, `sensor_msgs/msg/Image`) yields its last part; if
/// that is taken or a keyword, the part before it is put in front, and so on.
pub fn legal_types<S: AsRef<str>>(originals: &[S]) -> Vec<Name> {
    let mut taken = HashSet::new();
    let legal = originals.iter().map(|original| {
        let parts: Vec<&str> = original
            .as_ref()
            .split(['.', '/', ':'])
            .filter(|part| !part.is_empty() && *part != "msg")
            .collect();
        let mut candidates = (0..parts.len()).rev().map(|from| camel(&parts[from..]));
        let free = candidates.find(|name| !is_reserved(name, TYPES) && !taken.contains(&key(name)));
        let last = parts.last().copied().unwrap_or_default();
        unique(free.unwrap_or_else(|| avoid(camel(&[last]), TYPES, "Type")), &mut taken)
    });
    pair(originals, legal.collect())
}

fn pair<S: AsRef<str>>(originals: &[S], legal: Vec<String>) -> Vec<Name> {
    let original = originals.iter().map(|o| o.as_ref().to_owned());
    original.zip(legal).map(|(original, legal)| Name { original, legal }).collect()
}

/// The UpperCamelCase name made of several parts.
fn camel(parts: &[&str]) -> String {
    // Joined before the split into words, so that words merge across parts too.
    let words = split_words(&parts.join("_"));
    words.iter().map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

/// The lower-case words of a name, such that a converter that only sees the
/// camel case form finds the same words again. At least one.
fn split_words(original: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in split(original) {
        match words.last_mut() {
            // Digits belong to the word before them.
            Some(last) if !word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                last.push_str(&word)
            }
            None if !word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                words.push(format!("n{word}"))
            }
            _ => words.push(word),
        }
    }
    let mut joined: Vec<String> = Vec::new();
    let mut before = String::new();
    for word in words {
        match joined.last_mut() {
            Some(last) if !starts_word(&before, &word) => last.push_str(&word),
            _ => joined.push(word.clone()),
        }
        before = word;
    }
    if joined.is_empty() {
        joined.push("unnamed".into());
    }
    joined
}

/// Whether a converter finds the border between two words in camel case: the
/// first ends in lower case, or the second goes on in lower case (`PosX`,
/// `XPos`). It does not in `XY`.
fn starts_word(first: &str, second: &str) -> bool {
    first.chars().skip(1).any(|c| c.is_ascii_lowercase())
        || second.chars().nth(1).is_some_and(|c| c.is_ascii_lowercase())
}

/// Splits at everything but ASCII letters and digits, and where the case says
/// so: `HTTPServer` is `http` and `server`, `frameId` is `frame` and `id`.
fn split(original: &str) -> Vec<String> {
    let mut words = Vec::new();
    let ascii = original.chars().filter(char::is_ascii).collect::<String>();
    for run in ascii.split(|c: char| !c.is_ascii_alphanumeric()) {
        let letters: Vec<char> = run.chars().collect();
        let mut word = String::new();
        for (at, letter) in letters.iter().enumerate() {
            let before = at.checked_sub(1).map(|i| letters[i]);
            let ends_lower = before.is_some_and(|c| !c.is_ascii_uppercase());
            let goes_on_lower = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
            if letter.is_ascii_uppercase() && (ends_lower || goes_on_lower) && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.push(letter.to_ascii_lowercase());
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

/// What names are compared by: no case, no underscores.
fn key(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a name is a keyword or among the given words.
fn is_reserved(name: &str, words: &str) -> bool {
    // Looked for often: a definition of OSI has thousands of names.
    static KEYWORD_KEYS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        KEYWORDS.iter().flat_map(|words| words.split_ascii_whitespace()).map(key).collect()
    });
    let name = key(name);
    KEYWORD_KEYS.contains(&name) || words.split_ascii_whitespace().any(|word| key(word) == name)
}

/// Whether a preprocessor would put something else there: macros go by their case.
fn is_macro(name: &str) -> bool {
    static MACRO_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| MACROS.lines().collect());
    MACRO_NAMES.contains(name)
}

/// Adds the suffix to a name that is reserved.
fn avoid(name: String, words: &str, suffix: &str) -> String {
    if is_reserved(&name, words) {
        name + suffix
    } else {
        name
    }
}

/// Whether a generator derives this name from another field: `points_size`
/// beside `points`.
fn is_derived(name: &str, fields: &HashSet<&str>) -> bool {
    let by_prefix = name
        .split_once('_')
        .is_some_and(|(prefix, rest)| PREFIXES.contains(&prefix) && fields.contains(rest));
    let by_suffix = name
        .rsplit_once('_')
        .is_some_and(|(rest, suffix)| SUFFIXES.contains(&suffix) && fields.contains(rest));
    by_prefix || by_suffix
}

/// The name itself or, where it is taken, with the first free number from 2.
fn unique(name: String, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|n| taken.insert(key(n)));
    free.expect("there is always another number")
}

#[cfg(test)]
mod tests {
    use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
    use proptest::prelude::*;

    use super::*;

    fn legal(names: Vec<Name>) -> Vec<String> {
        names.into_iter().map(|name| name.legal).collect()
    }

    #[test]
    fn fields_become_snake_case() {
        let names =
            legal_fields(&["frameId", "HTTPServer", "a_1", "x_", "__y", "3d", "größe", "", "data"]);
        let wanted = ["frame_id", "http_server", "a1", "x", "y", "n3d", "gre", "unnamed", "data"];
        assert_eq!(legal(names), wanted);
    }

    #[test]
    fn words_that_camel_case_would_swallow_are_joined() {
        let names = legal_fields(&["x_y_z", "pos_x", "x_pos", "pos3D", "a1_b"]);
        assert_eq!(legal(names), ["xyz", "pos_x", "x_pos", "pos3_d", "a1b"]);
    }

    #[test]
    fn keywords_members_and_accessors_are_avoided() {
        let names =
            legal_fields(&["type", "Begin", "offset", "points_size", "points", "has_points"]);
        let wanted = [
            "type_value",
            "begin_value",
            "offset_value",
            "points_size_value",
            "points",
            "has_points_value",
        ];
        assert_eq!(legal(names), wanted);
        assert_eq!(
            legal(legal_values(&["NULL", "lidar", "Lidar"])),
            ["NULL_VALUE", "LIDAR", "LIDAR2"]
        );
        let names = legal_values(&["LITTLE_ENDIAN", "einval", "ENDIAN"]);
        assert_eq!(legal(names), ["LITTLE_ENDIAN_VALUE", "EINVAL_VALUE", "ENDIAN"]);
        assert_eq!(
            legal(legal_fields(&["errno", "st_mtime", "einval"])),
            ["errno_value", "st_mtime_value", "einval"]
        );
    }

    #[test]
    fn equal_names_are_numbered() {
        assert_eq!(
            legal(legal_fields(&["fooBar", "foo_bar", "foobar"])),
            ["foo_bar", "foo_bar2", "foobar3"]
        );
    }

    #[test]
    fn types_take_as_much_of_the_qualified_name_as_they_need() {
        let names = legal_types(&[
            "osi3.MovingObject.Type",
            "osi3.SensorView",
            "other.SensorView",
            "sensor_msgs/msg/Image",
            "Map",
        ]);
        let wanted = ["MovingObjectType", "SensorView", "OtherSensorView", "Image", "MapType"];
        assert_eq!(legal(names), wanted);
    }

    proptest! {
        #[test]
        fn legal_names_survive_case_conversion(
            originals in prop::collection::vec("[a-zA-Z0-9_]{0,12}|[a-d]_[x-z]?_?[0-9]?", 1..12),
        ) {
            for name in legal(legal_fields(&originals)) {
                prop_assert_eq!(name.to_upper_camel_case().to_snake_case(), name);
            }
            for name in legal(legal_types(&originals)) {
                prop_assert_eq!(name.to_snake_case().to_upper_camel_case(), name);
            }
            for name in legal(legal_values(&originals)) {
                prop_assert_eq!(name.to_upper_camel_case().to_shouty_snake_case(), name);
            }
        }

        #[test]
        fn legal_names_are_unique_and_well_formed(
            originals in prop::collection::vec(".{0,4}|[aA]_?[bB]?[12]?", 1..16),
        ) {
            for names in [legal(legal_fields(&originals)), legal(legal_types(&originals)), legal(legal_values(&originals))] {
                let keys: HashSet<String> = names.iter().map(|n| key(n)).collect();
                prop_assert_eq!(keys.len(), names.len());
                for name in names {
                    prop_assert!(name.split('_').all(|word| {
                        word.starts_with(|c: char| c.is_ascii_alphabetic())
                            && word.chars().all(|c| c.is_ascii_alphanumeric())
                    }), "{}", name);
                    prop_assert!(!is_reserved(&name, ""), "{}", name);
                }
            }
        }
    }
}
