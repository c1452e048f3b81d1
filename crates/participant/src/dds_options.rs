//! What all libraries of DDS are told in the same words: the domain, and the quality of service.

use anyhow::{bail, ensure, Context, Result};

use crate::transport::Topic;

/// The largest domain whose ports there are.
const LAST_DOMAIN: u32 = 230;
/// Names of the options.
pub const RELIABILITY: &str = "reliability";
/// See [`RELIABILITY`].
pub const HISTORY: &str = "history";

/// What a writer and its readers promise each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Whether what is lost on the way is sent again.
    pub reliable: bool,
    /// So many of the newest samples are kept (KeepLast); none: all (KeepAll).
    pub depth: Option<i32>,
}

impl Quality {
    /// The depth, or 0 where all are kept, as C has it.
    pub fn kept_or_all(self) -> i32 {
        self.depth.unwrap_or(0)
    }
}

impl Topic {
    /// The domain that the user names, or 0.
    ///
    /// # Errors
    /// What is no domain.
    pub fn domain(&self) -> Result<u32> {
        let Some(text) = self.options.get("domain") else { return Ok(0) };
        let domain = text.parse().ok().filter(|domain| *domain <= LAST_DOMAIN);
        domain.with_context(|| format!("'{text}' is not a domain; give 0 to {LAST_DOMAIN}"))
    }

    /// The quality of service that the user wants; reliable, and all kept, unless said.
    ///
    /// # Errors
    /// What is neither.
    pub fn quality(&self) -> Result<Quality> {
        let reliable = match self.options.get(RELIABILITY).map(String::as_str) {
            None | Some("reliable") => true,
            Some("best-effort") => false,
            Some(other) => bail!("reliability is reliable or best-effort, not '{other}'"),
        };
        let depth = match self.options.get(HISTORY).map(String::as_str) {
            None | Some("all") => None,
            Some(text) => {
                let depth = text.parse::<i32>().unwrap_or(0);
                ensure!(depth > 0, "history is 'all', or how many samples are kept, not '{text}'");
                Some(depth)
            }
        };
        Ok(Quality { reliable, depth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_end_where_their_ports_do() {
        assert_eq!(Topic::example(&[]).domain().unwrap(), 0);
        assert_eq!(Topic::example(&[("domain", "230")]).domain().unwrap(), 230);
        for wrong in ["231", "-1", "", "x"] {
            let error = Topic::example(&[("domain", wrong)]).domain().unwrap_err().to_string();
            assert_eq!(error, format!("'{wrong}' is not a domain; give 0 to 230"));
        }
    }

    #[test]
    fn all_is_kept_and_sent_again_unless_said() {
        let quality = |options: &[(&str, &str)]| Topic::example(options).quality();
        let whole = Quality { reliable: true, depth: None };
        assert_eq!(quality(&[]).unwrap(), whole);
        assert_eq!(quality(&[("reliability", "reliable"), ("history", "all")]).unwrap(), whole);
        let newest = quality(&[("reliability", "best-effort"), ("history", "3")]).unwrap();
        assert_eq!((newest.reliable, newest.kept_or_all()), (false, 3));
        for (name, wrong) in [("reliability", "besteffort"), ("history", "0"), ("history", "-1")] {
            let error = quality(&[(name, wrong)]).unwrap_err().to_string();
            assert!(error.contains(&format!("not '{wrong}'")), "{error}");
        }
    }
}
