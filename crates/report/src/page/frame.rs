//! What is around every page: head, style, patterns and script.

use crate::page::markup::escape;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Fills that differ by more than colour: plain, hatched one way, the other
/// way, dotted, plain in another colour.
const PATTERNS: &str = r#"<svg class="patterns" aria-hidden="true"><defs>
<pattern id="hatch-1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" style="fill:var(--p1)"/><rect width="2" height="6" style="fill:var(--paper)"/></pattern>
<pattern id="hatch-2" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect width="6" height="6" style="fill:var(--p2)"/><rect width="1" height="6" style="fill:var(--paper)"/></pattern>
<pattern id="hatch-3" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="5" style="fill:var(--p3)"/><circle cx="2.5" cy="2.5" r="1" style="fill:var(--paper)"/></pattern>
</defs></svg>"#;

/// A page with this title around its body.
pub fn frame(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{PATTERNS}\n{body}<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escape(title)
    )
}
