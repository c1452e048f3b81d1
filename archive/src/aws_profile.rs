//! A profile in AWS's files of settings, as its command line has it. The library reads the
//! environment only.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::PathBuf;

/// What a profile says.
#[derive(Default)]
pub struct AwsProfile {
    /// The access key's name, the secret, and a token where they are for some hours.
    pub keys: Option<(String, String, Option<String>)>,
    /// Where its buckets are.
    pub region: Option<String>,
    /// Another server than AWS's.
    pub endpoint: Option<String>,
    /// A file of certificates of those who vouch for it.
    pub authorities: Option<PathBuf>,
}

/// Words of profiles whose credentials another program or service hands out.
const ELSEWHERE: [&str; 4] = ["sso_session", "sso_start_url", "role_arn", "credential_process"];

impl AwsProfile {
    /// The profile that AWS_PROFILE names, or the one called `default`, which need not be there.
    pub fn read() -> Result<AwsProfile, String> {
        let named = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
        let name = named.as_deref().unwrap_or("default");
        let mut said = HashMap::new();
        let mut is_there = false;
        for (variable, file) in [
            ("AWS_CONFIG_FILE", ".aws/config"),
            ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
        ] {
            let own = env::var_os(variable).map(PathBuf::from);
            let home = || Some(PathBuf::from(env::var_os("HOME")?).join(file));
            let text = own.or_else(home).and_then(|path| fs::read_to_string(path).ok());
            let found = section(&text.unwrap_or_default(), name);
            is_there |= found.is_some();
            said.extend(found.unwrap_or_default());
        }
        if named.is_some() && !is_there {
            return Err("AWS_PROFILE names a profile that AWS's files do not have; see 'aws configure list-profiles'".into());
        }
        let mut take = |name: &str| said.remove(name);
        let keys = take("aws_access_key_id").zip(take("aws_secret_access_key"));
        let token = take("aws_session_token");
        let profile = AwsProfile {
            keys: keys.map(|(id, secret)| (id, secret, token)),
            region: take("region"),
            endpoint: take("endpoint_url"),
            authorities: take("ca_bundle").map(PathBuf::from),
        };
        let is_elsewhere = ELSEWHERE.iter().any(|word| said.contains_key(*word));
        if is_elsewhere && profile.keys.is_none() && env::var_os("AWS_ACCESS_KEY_ID").is_none() {
            return Err("the profile of AWS gets its credentials from elsewhere; set them by \
                        'eval \"$(aws configure export-credentials --format env)\"'"
                .into());
        }
        Ok(profile)
    }
}

/// What stands below `[name]` or `[profile name]`.
fn section(text: &str, name: &str) -> Option<HashMap<String, String>> {
    let mut found = None;
    let mut is_own = false;
    for line in text.lines() {
        if let Some(title) = line.trim().strip_prefix('[').and_then(|line| line.split(']').next()) {
            let title = title.trim();
            is_own = title.strip_prefix("profile ").map_or(title, str::trim) == name;
            if is_own {
                found.get_or_insert_with(HashMap::new);
            }
        } else if let (Some(found), true, Some((key, value))) =
            (&mut found, is_own, line.split_once('='))
        {
            // Settings within settings are moved in.
            if !key.starts_with([' ', '\t', '#', ';']) {
                found.insert(key.trim().to_owned(), value.trim().to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_profile_is_found_in_both_forms() {
        let text = "[default]\na = 1\n# b = 2\n[profile other]\na=3\n s3 =\n   x = 4\n";
        let said = section(text, "other").unwrap();
        assert_eq!((said.len(), &*said["a"]), (1, "3"));
        assert_eq!(section(text, "default").unwrap()["a"], "1");
        assert!(section(text, "none").is_none());
    }
}
