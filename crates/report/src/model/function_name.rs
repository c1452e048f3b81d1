//! Names of functions as tables have them: short.

/// Longer names of functions are shortened to so many characters.
const MOST_NAME: usize = 48;

/// A name without what makes it long: first without its arguments, then without those of its
/// types, then without its namespaces, at last without its middle.
pub(super) fn shorten(name: &str) -> String {
    let steps: [fn(&str) -> String; 4] = [
        |name| name.replace("(anonymous namespace)::", ""),
        |name| collapse(name, '(', ')').replace("(…)", ""),
        |name| collapse(name, '<', '>'),
        without_namespaces,
    ];
    let mut short = name.to_owned();
    for step in steps {
        if short.chars().count() > MOST_NAME {
            short = step(&short);
        }
    }
    let characters: Vec<char> = short.chars().collect();
    if characters.len() > MOST_NAME {
        let (start, end) = (MOST_NAME / 2, characters.len() - (MOST_NAME - MOST_NAME / 2 - 1));
        short = characters[..start].iter().chain(&['…']).chain(&characters[end..]).collect();
    }
    short
}

/// `a::b::C::d` as `C::d`, wherever there is such a path.
fn without_namespaces(name: &str) -> String {
    let mut short = String::new();
    let mut path: Vec<&str> = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let is_word = |c: char| c.is_alphanumeric() || "_$~".contains(c);
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if word > 0 {
            path.push(&rest[..word]);
            rest = &rest[word..];
        }
        match rest.strip_prefix("::") {
            Some(after) if !path.is_empty() && after.starts_with(is_word) => rest = after,
            _ => {
                short.push_str(&path[path.len().saturating_sub(2)..].join("::"));
                path.clear();
                let other = rest.chars().next().map_or(0, char::len_utf8);
                short.push_str(&rest[..other]);
                rest = &rest[other..];
            }
        }
    }
    short
}

/// A text with `…` in place of what stands between brackets, but for what it begins with.
fn collapse(text: &str, open: char, close: char) -> String {
    let least = usize::from(text.starts_with(open));
    let (mut depth, mut before) = (0usize, ' ');
    let mut short = String::new();
    for c in text.chars() {
        // `->` closes nothing.
        if c == close && before != '-' {
            depth = depth.saturating_sub(1);
        }
        if depth <= least {
            short.push(c);
        }
        if c == open {
            if depth == least {
                short.push('…');
            }
            depth += 1;
        }
        before = c;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_arguments_first() {
        for (name, wanted) in [
            ("memcpy", "memcpy"),
            ("wg::LidarPoint::~LidarPoint()", "wg::LidarPoint::~LidarPoint()"),
            (
                "(anonymous namespace)::take(wg::LidarPointsMsg&, message::LidarPointsMsg&, int)",
                "take",
            ),
            (
                "<prost::codec::Prost as wiregauge_runner::codec::Codec<Vec<u8>>>::write",
                "<codec::Prost as codec::Codec<…>>::write",
            ),
            (
                "google::protobuf::internal::ParseContext::ReadSizeAndPushLimitAndDepth(char const*)",
                "ParseContext::ReadSizeAndPushLimitAndDepth",
            ),
            (
                "std::vector<message::LidarPoint, std::allocator<message::LidarPoint> >::_M_append(long)",
                "std::vector<…>::_M_append",
            ),
        ] {
            assert_eq!(shorten(name), wanted);
        }
        for long in [
            "x".repeat(61),
            format!("{}é::{0}", "é".repeat(70)),
            "<".repeat(99),
            "(".repeat(99),
            "::".repeat(99),
            ">)".repeat(99),
        ] {
            assert!(shorten(&long).chars().count() <= MOST_NAME, "{long}");
        }
    }
}
