use std::net::IpAddr;
use std::os::fd::AsRawFd;

use napi::Error;
use napi_derive::napi;

use crate::binding::convert::Result;
use crate::error_code::error_code;
use crate::listen::{Address, Listener, Sharing};

/// The address of a listening socket: host and port, path and mode, or a descriptor.
#[napi(object, object_to_js = false)]
pub struct EngineAddress {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub path: Option<String>,
    pub mode: Option<u32>,
    pub descriptor: Option<i32>,
    pub is_own: Option<bool>,
    pub is_shared: Option<bool>,
}

/// A bound socket on which several processes can listen.
#[napi]
pub struct SharedSocket(Option<Listener>);

#[napi]
impl SharedSocket {
    /// Binds the address without listening.
    #[napi(constructor, catch_unwind)]
    pub fn new(address: EngineAddress) -> Result<Self> {
        let listener = Listener::bind(read_address(address)?).map_err(failed)?;
        Ok(Self(Some(listener)))
    }

    /// Returns the descriptor in this process, or -1 if it is closed.
    #[napi(getter, catch_unwind)]
    pub fn descriptor(&self) -> i32 {
        self.0.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Closes the socket in this process and removes the file of a unix socket.
    #[napi(catch_unwind)]
    pub fn close(&mut self) {
        self.0 = None;
    }
}

/// The address on which an engine listens.
#[napi(object, object_from_js = false)]
pub struct ListeningAddress {
    pub address: String,
    pub port: u16,
}

/// Converts a listen error to the format of Node.
pub fn failed(error: std::io::Error) -> Error<String> {
    let code = error_code(&error);
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    Error::new(
        code.to_owned(),
        format!("listen {code}: {}", words.to_lowercase()),
    )
}

pub fn read_address(address: EngineAddress) -> Result<Address> {
    let invalid = |what: &str| Error::new("EINVAL".to_owned(), format!("listen EINVAL: {what}"));
    match address {
        EngineAddress {
            descriptor: Some(descriptor),
            is_own,
            is_shared,
            ..
        } => Ok(Address::Descriptor {
            descriptor,
            sharing: Sharing {
                is_own: is_own == Some(true),
                is_shared: is_shared == Some(true),
            },
        }),
        EngineAddress {
            path: Some(path),
            mode: Some(mode),
            ..
        } => Ok(Address::Path {
            path: path.into(),
            mode,
        }),
        EngineAddress {
            host: Some(host),
            port: Some(port),
            ..
        } => {
            let host = match host.as_str() {
                "*" => None,
                host => Some(
                    host.parse::<IpAddr>()
                        .map_err(|_| invalid("not an IP address"))?,
                ),
            };
            Ok(Address::Tcp { host, port })
        }
        _ => Err(invalid("address")),
    }
}
