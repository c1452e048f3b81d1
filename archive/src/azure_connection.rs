//! Azure's connection string, as its portal shows it and its tools take it. The library reads
//! the variables for each part only.

use std::env;

use object_store::azure::AzureConfigKey;

const VARIABLE: &str = "AZURE_STORAGE_CONNECTION_STRING";

/// What the connection string of the environment says; nothing where there is none.
pub fn read() -> Result<Vec<(AzureConfigKey, String)>, String> {
    match env::var(VARIABLE) {
        Ok(text) if !text.trim().is_empty() => parse(&text).ok_or_else(|| {
            format!(
                "{VARIABLE} is no connection string; it has AccountName=… and AccountKey=…, \
                 parted by semicolons"
            )
        }),
        _ => Ok(Vec::new()),
    }
}

/// Keys go without regard to case, and a value may have equals signs:
/// <https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string>.
fn parse(text: &str) -> Option<Vec<(AzureConfigKey, String)>> {
    let mut settings = Vec::new();
    let (mut account, mut suffix, mut protocol, mut has_endpoint) = (None, None, "https", false);
    for part in text.trim().split(';').filter(|part| !part.trim().is_empty()) {
        let (key, value) = part.split_once('=')?;
        let key = match key.trim().to_ascii_lowercase().as_str() {
            "accountname" => {
                account = Some(value);
                AzureConfigKey::AccountName
            }
            "accountkey" => AzureConfigKey::AccessKey,
            "sharedaccesssignature" => AzureConfigKey::SasKey,
            "blobendpoint" => {
                has_endpoint = true;
                AzureConfigKey::Endpoint
            }
            "usedevelopmentstorage" => AzureConfigKey::UseEmulator,
            "defaultendpointsprotocol" => {
                protocol = value;
                continue;
            }
            "endpointsuffix" => {
                suffix = Some(value);
                continue;
            }
            // Of queues, tables and files.
            _ => continue,
        };
        settings.push((key, value.to_owned()));
    }
    if let (Some(account), Some(suffix), false) = (account, suffix, has_endpoint) {
        let endpoint = format!("{protocol}://{account}.blob.{suffix}");
        settings.push((AzureConfigKey::Endpoint, endpoint));
    }
    // An endpoint with a signature need not name its account.
    if account.is_none() && has_endpoint {
        let endpoint = settings.iter().find(|(key, _)| *key == AzureConfigKey::Endpoint)?;
        let host = endpoint.1.split_once("://")?.1;
        let name = host.split('.').next().unwrap_or_default().to_owned();
        settings.push((AzureConfigKey::AccountName, name));
    }
    (!settings.is_empty()).then_some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<Vec<String>> {
        let all = parse(text)?;
        Some(all.iter().map(|(key, value)| format!("{}={value}", key.as_ref())).collect())
    }

    #[test]
    fn a_connection_string_says_account_key_and_endpoint() {
        let text = "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=a+/b==;\
                    EndpointSuffix=core.windows.net";
        let wanted = [
            "azure_storage_account_name=me",
            "azure_storage_account_key=a+/b==",
            "azure_storage_endpoint=https://me.blob.core.windows.net",
        ];
        assert_eq!(told(text).unwrap(), wanted);
        let text = "BlobEndpoint=https://me.blob.core.windows.net/;QueueEndpoint=x;\
                    SharedAccessSignature=sv=2024&sig=a%3D";
        let wanted = [
            "azure_storage_endpoint=https://me.blob.core.windows.net/",
            "azure_storage_sas_key=sv=2024&sig=a%3D",
            "azure_storage_account_name=me",
        ];
        assert_eq!(told(text).unwrap(), wanted);
        let emulated = told("UseDevelopmentStorage=true").unwrap();
        assert_eq!(emulated, ["azure_storage_use_emulator=true"]);
        assert_eq!((told("me"), told("a=b")), (None, None));
    }
}
