//! A file in an archive, read by ranges.

use std::env;
use std::fmt::Display;
use std::fs;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, Certificate, ClientConfigKey, ClientOptions, GetOptions, GetRange, ObjectMeta,
    ObjectStore, RetryConfig,
};
use url::Url;

use crate::aws_profile::AwsProfile;
use crate::azure_connection;
use crate::fault::{explain, is_cut_body, is_empty_object, Scheme, CHANGED};

/// How often a request is sent again.
const RETRIES: usize = 5;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the service that tells machines of AWS their credentials may take to answer.
const METADATA: Duration = Duration::from_secs(1);

/// A part of a file.
pub struct Part {
    /// Its bytes: fewer than asked for where the file ends.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
    /// What is another one when the file has changed; empty where the server does not tell.
    pub version: String,
}

/// A file in an archive.
pub struct ArchiveObject {
    store: Arc<dyn ObjectStore>,
    path: Path,
    scheme: Scheme,
    timeout: Duration,
}

impl ArchiveObject {
    /// Makes ready to read a file. No request is sent for it.
    pub fn open(url: &str, timeout: Duration) -> Result<ArchiveObject, String> {
        let (scheme, rest) = url.split_once("://").ok_or("it is no address of an archive")?;
        let scheme = Scheme::from_word(scheme)?;
        let (store, path): (Arc<dyn ObjectStore>, Path) = match scheme {
            Scheme::Http => open_http(url, timeout)?,
            _ => {
                let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() || key.is_empty() {
                    return Err("it names no file; give the bucket and the name in it".into());
                }
                let path =
                    Path::parse(key).map_err(|_| "its name has a part that is empty, . or ..")?;
                let store: Arc<dyn ObjectStore> = match scheme {
                    Scheme::S3 => open_s3(bucket, timeout)?,
                    Scheme::Google => open_google(bucket, timeout)?,
                    _ => open_azure(bucket, timeout)?,
                };
                (store, path)
            }
        };
        Ok(ArchiveObject { store, path, scheme, timeout })
    }

    /// Reads a part of it, in the version that it must be.
    pub async fn read(
        &self,
        from: u64,
        length: u64,
        version: Option<&str>,
    ) -> Result<Part, String> {
        let mut tries = 0;
        loop {
            match self.try_read(from, length, version).await {
                Ok(part) => return Ok(part),
                // The library goes on within a body only where the server tells a version.
                Err(error) if is_cut_body(&error) && tries < RETRIES => {
                    tries += 1;
                    tokio::time::sleep(Duration::from_millis(50 << tries)).await;
                }
                Err(error) => return Err(explain(&error, self.scheme, self.timeout)),
            }
        }
    }

    async fn try_read(
        &self,
        from: u64,
        length: u64,
        version: Option<&str>,
    ) -> object_store::Result<Part> {
        let range = GetRange::Bounded(from..from.saturating_add(length));
        // A weak one cannot be asked for.
        let strong = version.filter(|version| version.starts_with('"'));
        let if_match = strong.map(str::to_owned);
        let options = GetOptions { range: Some(range), if_match, ..GetOptions::default() };
        let answer = match self.store.get_opts(&self.path, options).await {
            Err(error) if from == 0 && is_empty_object(&error) => {
                let options = GetOptions { head: true, ..GetOptions::default() };
                let meta = self.store.get_opts(&self.path, options).await?.meta;
                if meta.size > 0 {
                    return Err(error);
                }
                return Ok(Part { bytes: Vec::new(), size: 0, version: version_of(&meta) });
            }
            other => other?,
        };
        let (size, found) = (answer.meta.size, version_of(&answer.meta));
        if version.is_some_and(|version| version != found) {
            let source = CHANGED.into();
            return Err(object_store::Error::Precondition { path: String::new(), source });
        }
        let bytes = answer.bytes().await?;
        Ok(Part { bytes: bytes.into(), size, version: found })
    }
}

/// What changes with a file; nothing where the server tells neither its version nor its time,
/// for which the library has 1970.
fn version_of(meta: &ObjectMeta) -> String {
    match &meta.e_tag {
        Some(tag) => tag.clone(),
        None if meta.last_modified.timestamp() == 0 => String::new(),
        None => format!("{} of {} bytes", meta.last_modified.to_rfc3339(), meta.size),
    }
}

fn open_http(url: &str, timeout: Duration) -> Result<(Arc<dyn ObjectStore>, Path), String> {
    let mut url = Url::parse(url).map_err(|error| format!("it is no URL: {error}"))?;
    let path = Path::from_url_path(url.path()).map_err(|_| "its path cannot be read")?;
    // What stands behind the question mark stays: the signature of an address that was signed.
    url.set_path("");
    url.set_fragment(None);
    let builder = HttpBuilder::new().with_url(url.to_string()).with_retry(retry(timeout));
    let builder = client_settings(timeout)
        .into_iter()
        .fold(builder, |builder, (key, value)| builder.with_config(key, value));
    let store = builder.build().map_err(|error| cannot_open(error, Scheme::Http))?;
    Ok((Arc::new(store), path))
}

fn open_s3(bucket: &str, timeout: Duration) -> Result<Arc<dyn ObjectStore>, String> {
    use AmazonS3ConfigKey as Key;
    let profile = AwsProfile::read()?;
    let authorities = read_authorities(&profile)?;
    let mut builder = AmazonS3Builder::new()
        .with_client_options(authorities)
        .with_bucket_name(bucket)
        .with_retry(retry(timeout));
    // What `from_env` does, which would forget the authorities.
    for (name, value) in env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    for (key, value) in client_settings(timeout) {
        builder = builder.with_config(Key::Client(key), value);
    }
    let is_set = |builder: &AmazonS3Builder, key: Key| builder.get_config_value(&key).is_some();
    if let Some(region) = profile.region.filter(|_| !is_set(&builder, Key::Region)) {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = profile.endpoint.filter(|_| !is_set(&builder, Key::Endpoint)) {
        builder = builder.with_endpoint(endpoint);
    }
    let is_unsigned = builder.get_config_value(&Key::SkipSignature).is_some_and(|it| it == "true");
    let others = [
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    let has_others = others.iter().any(|name| env::var_os(name).is_some());
    if !is_unsigned && !has_others && !is_set(&builder, Key::AccessKeyId) {
        match profile.keys {
            Some((id, secret, token)) => {
                builder = builder.with_access_key_id(id).with_secret_access_key(secret);
                if let Some(token) = token {
                    builder = builder.with_token(token);
                }
            }
            None if tells_credentials(&builder) => {}
            None => return Err(format!("no credentials were found; {}", Scheme::S3.remedy())),
        }
    }
    Ok(Arc::new(builder.build().map_err(|error| cannot_open(error, Scheme::S3))?))
}

/// Those who vouch for the server besides the system's: in the file of AWS_CA_BUNDLE, or of the
/// profile's `ca_bundle`.
fn read_authorities(profile: &AwsProfile) -> Result<ClientOptions, String> {
    let named = env::var_os("AWS_CA_BUNDLE").filter(|path| !path.is_empty());
    let Some(path) = named.map(PathBuf::from).or_else(|| profile.authorities.clone()) else {
        return Ok(ClientOptions::new());
    };
    let cannot = |why: &dyn Display| {
        let path = path.display();
        format!("cannot read the certificates in {path}: {why}; correct AWS_CA_BUNDLE or ca_bundle")
    };
    let text = fs::read(&path).map_err(|error| cannot(&error))?;
    let all = Certificate::from_pem_bundle(&text).map_err(|error| cannot(&error))?;
    if all.is_empty() {
        return Err(cannot(&"there are none"));
    }
    Ok(all.into_iter().fold(ClientOptions::new(), ClientOptions::with_root_certificate))
}

/// Whether there is the service that tells machines of AWS their credentials.
fn tells_credentials(builder: &AmazonS3Builder) -> bool {
    let is_disabled =
        env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|it| it.eq_ignore_ascii_case("true"));
    let endpoint = builder.get_config_value(&AmazonS3ConfigKey::MetadataEndpoint);
    let endpoint = endpoint.unwrap_or_else(|| "http://169.254.169.254".into());
    let address = Url::parse(&endpoint).ok().and_then(|url| {
        let (host, port) = (url.host_str()?.to_owned(), url.port_or_known_default()?);
        (host, port).to_socket_addrs().ok()?.next()
    });
    let answers = |address: SocketAddr| TcpStream::connect_timeout(&address, METADATA).is_ok();
    !is_disabled && address.is_some_and(answers)
}

fn open_google(bucket: &str, timeout: Duration) -> Result<Arc<dyn ObjectStore>, String> {
    let builder =
        GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retry(timeout));
    let builder = client_settings(timeout).into_iter().fold(builder, |builder, (key, value)| {
        builder.with_config(GoogleConfigKey::Client(key), value)
    });
    Ok(Arc::new(builder.build().map_err(|error| cannot_open(error, Scheme::Google))?))
}

fn open_azure(container: &str, timeout: Duration) -> Result<Arc<dyn ObjectStore>, String> {
    let mut builder =
        MicrosoftAzureBuilder::from_env().with_container_name(container).with_retry(retry(timeout));
    for (key, value) in azure_connection::read()? {
        builder = builder.with_config(key, value);
    }
    for (key, value) in client_settings(timeout) {
        builder = builder.with_config(AzureConfigKey::Client(key), value);
    }
    Ok(Arc::new(builder.build().map_err(|error| cannot_open(error, Scheme::Azure))?))
}

/// Plain HTTP is used where the user says so by the address.
fn client_settings(timeout: Duration) -> [(ClientConfigKey, String); 3] {
    let seconds = |time: Duration| format!("{}ms", time.as_millis());
    [
        (ClientConfigKey::AllowHttp, "true".into()),
        (ClientConfigKey::Timeout, seconds(timeout)),
        (ClientConfigKey::ConnectTimeout, seconds(timeout.min(CONNECT))),
    ]
}

fn retry(timeout: Duration) -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(5),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: RETRIES, retry_timeout: 2 * timeout }
}

/// What is wrong with the settings. The library's text may show a part of them.
fn cannot_open(error: impl Display, scheme: Scheme) -> String {
    let text = error.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let (words, remedy) = (words.join(" "), scheme.remedy());
    format!("the settings of the archive cannot be used: {words}; {remedy}")
}
