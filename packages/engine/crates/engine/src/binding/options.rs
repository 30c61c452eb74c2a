use std::sync::Arc;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use rustls::ServerConfig;

use crate::binding::convert::{Result, invalid, milliseconds};
use crate::credentials::read_credentials;
use crate::limits::{Limits, Rate};

/// Limits for connections. `binding.ts` documents this type and the following ones.
#[napi(object, object_to_js = false)]
pub struct EngineLimits {
    pub headers_timeout: f64,
    pub keep_alive_timeout: f64,
    pub socket_timeout: f64,
    pub connections_checking_interval: f64,
    pub maximum_connections: u32,
    pub maximum_streams: u32,
    pub max_header_size: u32,
}

/// A rate limit.
#[napi(object, object_to_js = false)]
pub struct EngineRate {
    pub burst: f64,
    pub per_second: f64,
}

/// Limits for each HTTP/2 session.
#[napi(object, object_to_js = false)]
pub struct EngineHttp2Limits {
    pub streams: u32,
    pub fields: u32,
    pub resets: EngineRate,
    pub control_frames: EngineRate,
}

/// The options of an engine.
#[napi(object, object_to_js = false)]
pub struct EngineOptions {
    pub threads: u32,
    pub limits: EngineLimits,
    pub http2_limits: EngineHttp2Limits,
    pub timeout_answer: Uint8Array,
    pub body_folders: Vec<String>,
    pub observe: Option<EngineObservations>,
}

/// The options for metrics and the access log.
#[napi(object, object_to_js = false)]
pub struct EngineObservations {
    pub duration_buckets: Vec<f64>,
    pub log: bool,
}

/// A certificate, its key and the protocols for ALPN.
#[napi(object, object_to_js = false)]
pub struct EngineCredentials {
    pub certificate: Uint8Array,
    pub key: Uint8Array,
    pub protocols: Vec<String>,
}

/// Converts the limits for all connections and those for HTTP/2.
pub fn read_limits(limits: &EngineLimits, http2: &EngineHttp2Limits) -> Limits {
    Limits {
        headers: milliseconds(limits.headers_timeout),
        keep_alive: milliseconds(limits.keep_alive_timeout),
        socket: milliseconds(limits.socket_timeout),
        checking_interval: milliseconds(limits.connections_checking_interval),
        maximum_connections: limits.maximum_connections as usize,
        header_size: limits.max_header_size,
        fields: http2.fields as usize,
        streams_at_once: http2.streams,
        maximum_streams: limits.maximum_streams as usize,
        resets: rate_of(&http2.resets),
        control_frames: rate_of(&http2.control_frames),
    }
}

fn rate_of(rate: &EngineRate) -> Rate {
    Rate {
        burst: rate.burst,
        per_second: rate.per_second,
    }
}

/// Creates the TLS configuration. Returns an error if rustls cannot use the credentials.
pub fn encryption_of(credentials: EngineCredentials) -> Result<Arc<ServerConfig>> {
    let EngineCredentials {
        certificate,
        key,
        protocols,
    } = credentials;
    read_credentials(&certificate, &key, protocols).map_err(|error| invalid(error.to_string()))
}
