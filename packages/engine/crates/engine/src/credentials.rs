use std::sync::Arc;

use rustls::crypto::aws_lc_rs::{Ticketer, default_provider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, ServerConfig};

/// Creates a TLS configuration from a certificate with its chain, and its key, both in PEM format.
///
/// The server selects the first of `protocols` (ALPN, RFC 7301) that the client supports. All threads can resume
/// sessions of this configuration.
pub fn read_credentials(
    certificate: &[u8],
    key: &[u8],
    protocols: Vec<String>,
) -> Result<Arc<ServerConfig>, Error> {
    let chain = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Error::General(format!("the certificate: {error}")))?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| Error::General(format!("the key: {error}")))?;
    // rustls only supports TLS 1.2 and 1.3.
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = protocols.into_iter().map(String::into_bytes).collect();
    config.ticketer = Ticketer::new()?;
    Ok(Arc::new(config))
}
