//! What DDS security wants of a participant, in each library: who it is, who says so, and
//! what is protected. The first participant of a run on a machine has the program openssl make it,
//! for all of them.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, ensure, Context, Result};

use crate::transport::Topic;

/// The files, by the names that ROS 2 gives them.
const FILES: [&str; 6] = [
    "identity_ca.cert.pem",
    "cert.pem",
    "key.pem",
    "permissions_ca.cert.pem",
    "governance.p7s",
    "permissions.p7s",
];
/// The authority's own key, which is gone once all is signed.
const AUTHORITY_KEY: &str = "ca.key.pem";
/// What is told of a transport that has it.
pub const PROTECTION: &str =
    "security=encrypted is authentication by certificates (PKI-DH, EC keys of prime256v1), access \
     control, and AES-GCM-GMAC with the library's keys of 256 bits: discovery, liveliness, \
     submessages and payload encrypted, RTPS messages signed, as ROS 2's sros2 has it by default";

/// What is protected: as ROS 2 has it by default.
const GOVERNANCE: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<dds xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
xsi:noNamespaceSchemaLocation=\"http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_governance.xsd\">
  <domain_access_rules><domain_rule>
    <domains><id_range><min>0</min><max>230</max></id_range></domains>
    <allow_unauthenticated_participants>false</allow_unauthenticated_participants>
    <enable_join_access_control>true</enable_join_access_control>
    <discovery_protection_kind>ENCRYPT</discovery_protection_kind>
    <liveliness_protection_kind>ENCRYPT</liveliness_protection_kind>
    <rtps_protection_kind>SIGN</rtps_protection_kind>
    <topic_access_rules><topic_rule>
      <topic_expression>*</topic_expression>
      <enable_discovery_protection>true</enable_discovery_protection>
      <enable_liveliness_protection>true</enable_liveliness_protection>
      <enable_read_access_control>true</enable_read_access_control>
      <enable_write_access_control>true</enable_write_access_control>
      <metadata_protection_kind>ENCRYPT</metadata_protection_kind>
      <data_protection_kind>ENCRYPT</data_protection_kind>
    </topic_rule></topic_access_rules>
  </domain_rule></domain_access_rules>
</dds>
";

/// Who may do what: all participants of a run are the same to it.
const PERMISSIONS: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<dds xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
xsi:noNamespaceSchemaLocation=\"http://www.omg.org/spec/DDS-SECURITY/20170901/omg_shared_ca_permissions.xsd\">
  <permissions><grant name=\"participant\">
    <subject_name>CN=participant</subject_name>
    <validity>
      <not_before>2020-01-01T00:00:00</not_before>
      <not_after>2037-12-31T00:00:00</not_after>
    </validity>
    <allow_rule>
      <domains><id_range><min>0</min><max>230</max></id_range></domains>
      <publish><topics><topic>*</topic></topics></publish>
      <subscribe><topics><topic>*</topic></topics></subscribe>
    </allow_rule>
    <default>DENY</default>
  </grant></permissions>
</dds>
";

/// The folder with a participant's files, where it is to be protected.
///
/// # Errors
/// Another word than those that are known, files that are not there or cannot be made.
pub fn find(topic: &Topic) -> Result<Option<PathBuf>> {
    let given = topic.options.get("certificates").map(PathBuf::from);
    match topic.options.get("security").map_or("none", String::as_str) {
        "none" if given.is_some() => {
            bail!("certificates have no effect without security=encrypted")
        }
        "none" => return Ok(None),
        "encrypted" => {}
        other => bail!("security is none or encrypted, not '{other}'"),
    }
    let folder = match (given, &topic.scratch) {
        (Some(folder), _) => folder.canonicalize().unwrap_or(folder),
        (None, Some(scratch)) if scratch.is_dir() => make_once(scratch)?,
        (None, _) => bail!(
            "the certificates of a run are made on one machine; for several give a folder with \
             ROS 2's six files on each by the option 'certificates'"
        ),
    };
    for name in FILES {
        ensure!(folder.join(name).is_file(), "there is no {name} in {}", folder.display());
    }
    Ok(Some(folder))
}

/// The run's own files, which another of its participants may have made already.
fn make_once(scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("certificates");
    if folder.is_dir() {
        return Ok(folder);
    }
    let own = scratch.join(format!("certificates-{}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&own)?;
    make(&own)?;
    match fs::rename(&own, &folder) {
        // Another one was faster.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => fs::remove_dir_all(&own)?,
        renamed => renamed?,
    }
    Ok(folder)
}

fn make(folder: &Path) -> Result<()> {
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let [authority, own, key, permissions_authority, ..] = FILES;
    openssl(
        folder,
        &format!("req -x509 {new_key} -days 2 -subj /CN=authority -keyout {AUTHORITY_KEY} -out {authority}"),
    )?;
    openssl(
        folder,
        &format!("req {new_key} -subj /CN=participant -keyout {key} -out request.pem"),
    )?;
    openssl(
        folder,
        &format!(
            "x509 -req -in request.pem -CA {authority} -CAkey {AUTHORITY_KEY} -CAcreateserial -days 2 \
             -out {own}"
        ),
    )?;
    fs::copy(folder.join(authority), folder.join(permissions_authority))?;
    for (name, text) in [("governance", GOVERNANCE), ("permissions", PERMISSIONS)] {
        fs::write(folder.join(format!("{name}.xml")), text)?;
        openssl(
            folder,
            &format!(
                "smime -sign -text -in {name}.xml -out {name}.p7s -signer {authority} -inkey \
                 {AUTHORITY_KEY}"
            ),
        )?;
    }
    Ok(fs::remove_file(folder.join(AUTHORITY_KEY))?)
}

fn openssl(folder: &Path, line: &str) -> Result<()> {
    let mut command = Command::new("openssl");
    command.args(line.split(' ').filter(|word| !word.is_empty())).current_dir(folder);
    // Its own settings, and not those of a file that the user has for something else.
    command.env_remove("OPENSSL_CONF").stdin(Stdio::null());
    let done = command.output().context("openssl does not start; apt-get install openssl")?;
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().last().unwrap_or_default();
    ensure!(done.status.success(), "'openssl {line}' fails: {last}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(scratch: Option<&Path>, options: &[(&str, &str)]) -> Topic {
        Topic { scratch: scratch.map(Path::to_owned), ..Topic::example(options) }
    }

    #[test]
    fn without_certificates_there_is_no_security() {
        assert_eq!(find(&topic(None, &[])).unwrap(), None);
        assert_eq!(find(&topic(None, &[("security", "none")])).unwrap(), None);
        let encrypted = ("security", "encrypted");
        for (options, words) in [
            (&[("security", "signed")][..], "security is none or encrypted, not 'signed'"),
            (&[("certificates", "/x")], "have no effect without security=encrypted"),
            (&[encrypted], "for several give a folder"),
            (&[encrypted, ("certificates", "/nowhere")], "no identity_ca.cert.pem in /nowhere"),
        ] {
            let error = find(&topic(None, options)).unwrap_err().to_string();
            assert!(error.contains(words), "{options:?}: {error}");
        }
        // As that of another machine.
        let gone = topic(Some(Path::new("/nowhere")), &[encrypted]);
        assert!(find(&gone).unwrap_err().to_string().contains("made on one machine"));
    }
}
