use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use napi::bindgen_prelude::{Float64Array, Object, Uint8Array, Uint32Array};
use napi::{Env, Error};
use napi_derive::napi;
use rustls::ServerConfig;
use serve_dist_core::{AcceptedValues, Table, TableError, TableParts};

use crate::copier::{Copier, FileParts};
use crate::credentials::read_credentials;
use crate::error_code::error_code;
use crate::event_sink::create_event_sink;
use crate::http2::Rate;
use crate::listen::{Address, Listener, Sharing};
use crate::observe::{BuildLabels, Observations};
use crate::shared::{Limits, Shared};

/// The result of a function whose error has a `code` in JavaScript.
type Result<T> = std::result::Result<T, Error<String>>;

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

/// The answers of one build.
#[napi(object, object_to_js = false)]
pub struct EngineTable {
    pub text: Uint8Array,
    pub index: Uint32Array,
    pub slabs: Vec<Uint8Array>,
    pub files: Vec<EngineFile>,
    pub codings: Vec<String>,
    pub choices: Uint8Array,
    pub classes: Option<Uint8Array>,
    pub saved: Option<Float64Array>,
}

/// A file with a body that is not in memory.
#[napi(object, object_to_js = false)]
pub struct EngineFile {
    pub path: String,
    pub state: String,
    pub sha256: Option<String>,
}

/// A certificate, its key and the protocols for ALPN.
#[napi(object, object_to_js = false)]
pub struct EngineCredentials {
    pub certificate: Uint8Array,
    pub key: Uint8Array,
    pub protocols: Vec<String>,
}

/// The JavaScript class of the engine.
#[napi]
pub struct Engine {
    shared: Arc<Shared>,
    copier: Arc<Copier>,
    threads: u32,
}

#[napi]
impl Engine {
    /// Creates an engine that does not listen yet.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: &Env, options: EngineOptions, listener: Object) -> napi::Result<Self> {
        let EngineOptions {
            threads,
            limits,
            http2_limits,
            timeout_answer,
            body_folders,
            observe,
        } = options;
        let limits = Limits {
            headers: milliseconds(limits.headers_timeout),
            keep_alive: milliseconds(limits.keep_alive_timeout),
            socket: milliseconds(limits.socket_timeout),
            checking_interval: milliseconds(limits.connections_checking_interval),
            maximum_connections: limits.maximum_connections as usize,
            header_size: limits.max_header_size,
            fields: http2_limits.fields as usize,
            streams_at_once: http2_limits.streams,
            maximum_streams: limits.maximum_streams as usize,
            resets: rate_of(http2_limits.resets),
            control_frames: rate_of(http2_limits.control_frames),
        };
        let event_sink = create_event_sink(env, &listener)?;
        let copier = Arc::new(Copier::new(
            body_folders.into_iter().map(PathBuf::from).collect(),
        ));
        let shared = Arc::new(Shared::new(
            limits,
            timeout_answer.to_vec(),
            observe.map(|observe| Observations::new(&observe.duration_buckets, observe.log)),
            event_sink,
        ));
        // Node frees the memory of the bodies after this hook. Therefore all threads must stop before. If the engine
        // was already dropped, they have.
        let weak = (Arc::downgrade(&shared), Arc::downgrade(&copier));
        env.add_env_cleanup_hook(weak, |(shared, copier)| {
            if let Some(shared) = shared.upgrade() {
                shared.stop();
            }
            if let Some(copier) = copier.upgrade() {
                copier.stop();
            }
        })?;
        Ok(Self {
            shared,
            copier,
            threads: threads.max(1),
        })
    }

    /// Replaces the table.
    #[napi(catch_unwind)]
    pub fn set_table(&self, table: EngineTable) -> Result<()> {
        let [representations, templates] =
            [1, 3].map(|at| table.index.get(at).map_or(0, |&count| count as usize));
        let labels = BuildLabels {
            classes: table
                .classes
                .map_or_else(Vec::new, |classes| classes.to_vec()),
            saved: table.saved.map_or_else(Vec::new, |saved| {
                saved.iter().map(|&count| count as i64).collect()
            }),
        };
        if self.shared.observations.is_some() && !labels.match_table(templates, representations) {
            return Err(invalid(
                "the number of classes or saved bytes does not match the table".to_owned(),
            ));
        }
        let files: Vec<FileParts> = table.files.into_iter().map(FileParts::from).collect();
        let table = Table::new(TableParts {
            files: u32::try_from(files.len()).unwrap_or(u32::MAX),
            text: Bytes::from_owner(table.text),
            index: table.index.to_vec(),
            slabs: table.slabs.into_iter().map(Bytes::from_owner).collect(),
            codings: table.codings.iter().map(|coding| latin1(coding)).collect(),
            choices: table.choices.to_vec(),
        });
        let table = table.map_err(wrong)?;
        self.shared.change(|answers| {
            let is_same = |before: &Table| before.has_bodies_of(&table);
            if !answers.table.as_ref().is_some_and(is_same) || !answers.bodies.are_of(&files) {
                answers.bodies = self.copier.prepare(table.clone(), files);
            }
            answers.table = Some(table);
            answers.labels = labels.into();
        });
        Ok(())
    }

    /// Adds a value of `Accept-Encoding` and its choices.
    #[napi(catch_unwind)]
    pub fn learn_coding(&self, value: String, choices: Uint8Array) -> Result<()> {
        let answers = self.shared.answers.load();
        let Some(table) = &answers.table else {
            return Ok(());
        };
        match table.with_coding(&latin1(&value), &choices) {
            Ok(table) => self.shared.change(|answers| answers.table = Some(table)),
            // The table is full, and Node continues to answer these requests.
            Err(TableError::Codings) => {}
            Err(error) => return Err(wrong(error)),
        }
        Ok(())
    }

    /// Removes all learned values of `Accept-Encoding`.
    #[napi(catch_unwind)]
    pub fn forget_codings(&self) {
        self.shared.change(|answers| {
            answers.table = answers.table.as_ref().map(Table::without_codings);
        });
    }

    /// Adds an allowed value of `Host`.
    #[napi(catch_unwind)]
    pub fn learn_host(&self, value: String) {
        self.shared.change(|answers| {
            answers.hosts.learn(&latin1(&value));
        });
    }

    /// Removes all learned hosts.
    #[napi(catch_unwind)]
    pub fn forget_hosts(&self) {
        self.shared
            .change(|answers| answers.hosts = AcceptedValues::default());
    }

    /// Adds an accepted value of `Authorization` for the resources that a rule protects.
    #[napi(catch_unwind)]
    pub fn learn_authorization(&self, rule: u32, value: String) {
        let answers = self.shared.answers.load();
        let learned = answers
            .table
            .as_ref()
            .and_then(|table| table.with_authorization(rule as usize, &latin1(&value)));
        if learned.is_some() {
            self.shared.change(|answers| answers.table = learned);
        }
    }

    /// Returns an error if the engine cannot use these credentials.
    #[napi(catch_unwind)]
    pub fn check_credentials(credentials: EngineCredentials) -> Result<()> {
        encryption_of(credentials).map(drop)
    }

    /// Encrypts new connections with these credentials.
    #[napi(catch_unwind)]
    pub fn set_credentials(&self, credentials: EngineCredentials) -> Result<()> {
        self.shared
            .encryption
            .store(Some(encryption_of(credentials)?));
        Ok(())
    }

    /// Starts to accept connections.
    #[napi(catch_unwind)]
    pub fn listen(&self, env: &Env, address: EngineAddress) -> Result<ListeningAddress> {
        let listener = Listener::open(read_address(address)?).map_err(failed)?;
        let (address, port) = listener.address().map_err(failed)?;
        let keep_alive_handle = keep_alive(env)
            .map_err(|error| Error::new(error.status.as_ref().to_owned(), error.reason.clone()))?;
        self.shared
            .start(listener, self.threads.into(), keep_alive_handle)
            .map_err(failed)?;
        Ok(ListeningAddress { address, port })
    }

    /// Reports the length of Node's answer on a link.
    #[napi(catch_unwind)]
    pub fn done(&self, id: f64, bytes_written: f64) {
        self.shared
            .answer_ends
            .set(integer(id), integer(bytes_written));
    }

    /// Makes the client receive a reset when Node closes its end.
    #[napi(catch_unwind)]
    pub fn reset(&self, id: f64) {
        self.shared.answer_ends.cut_off(integer(id));
    }

    /// Returns the number of open connections.
    #[napi(catch_unwind)]
    pub fn connections(&self) -> u32 {
        u32::try_from(self.shared.connections.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// Returns the number of connections that a panic has closed.
    #[napi(catch_unwind)]
    pub fn panics(&self) -> u32 {
        u32::try_from(self.shared.panics.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// Returns the number of connections that were closed immediately after they were accepted.
    #[napi(catch_unwind)]
    pub fn dropped(&self) -> u32 {
        u32::try_from(self.shared.dropped.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// Returns the counters, or an empty array if answers are not observed.
    #[napi(catch_unwind)]
    pub fn counts(&self) -> Float64Array {
        let observations = self.shared.observations.as_ref();
        let counts = observations.map_or_else(Vec::new, Observations::counts);
        Float64Array::new(counts.into_iter().map(number).collect())
    }

    /// Returns the log records since the last call, one array per thread that has any.
    #[napi(catch_unwind)]
    pub fn take_log(&self) -> Vec<Uint8Array> {
        let observations = self.shared.observations.as_ref();
        let logs = observations.map_or_else(Vec::new, Observations::take_log);
        logs.into_iter().map(Uint8Array::new).collect()
    }

    /// Stops the engine. The promise resolves when the last connection is closed.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn drain<'env>(&self, env: &'env Env, grace_period: f64) -> napi::Result<Object<'env>> {
        type Nothing = fn(Env) -> napi::Result<()>;
        let (deferred, promise) = env.create_deferred::<(), Nothing>()?;
        let settle = Box::new(move || deferred.resolve(|_| Ok(())));
        self.shared.drain(milliseconds(grace_period), settle);
        Ok(promise)
    }
}

fn encryption_of(credentials: EngineCredentials) -> Result<Arc<ServerConfig>> {
    let EngineCredentials {
        certificate,
        key,
        protocols,
    } = credentials;
    read_credentials(&certificate, &key, protocols).map_err(|error| invalid(error.to_string()))
}

/// Returns a handle that keeps the process alive until it is dropped, like a listening server in Node.
fn keep_alive(env: &Env) -> napi::Result<Box<dyn Send>> {
    let nothing = env.create_function_from_closure::<(), (), _>("listening", |_| Ok(()))?;
    Ok(Box::new(nothing.build_threadsafe_function::<()>().build()?))
}

/// Converts a listen error to the format of Node.
fn failed(error: std::io::Error) -> Error<String> {
    let code = error_code(&error);
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    Error::new(
        code.to_owned(),
        format!("listen {code}: {}", words.to_lowercase()),
    )
}

fn read_address(address: EngineAddress) -> Result<Address> {
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

impl From<EngineFile> for FileParts {
    fn from(file: EngineFile) -> Self {
        Self {
            path: file.path.into(),
            state: file.state,
            sha256: file.sha256,
        }
    }
}

fn wrong(error: TableError) -> Error<String> {
    invalid(error.to_string())
}

fn invalid(reason: String) -> Error<String> {
    Error::new("ERR_INVALID_ARG_VALUE".to_owned(), reason)
}

/// Converts a string to bytes. JavaScript represents field values as Latin-1 characters.
fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|character| u8::try_from(character).unwrap_or(b'?'))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "no counter reaches 2^53")]
fn number(count: i64) -> f64 {
    count as f64
}

fn rate_of(EngineRate { burst, per_second }: EngineRate) -> Rate {
    Rate { burst, per_second }
}

fn milliseconds(count: f64) -> Duration {
    Duration::from_millis(integer(count))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn integer(number: f64) -> u64 {
    number as u64
}
