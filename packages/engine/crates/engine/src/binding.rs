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
use serve_dist_core::{Hosts, Table, TableError, TableParts};

use crate::copier::{Copier, FileParts};
use crate::credentials::read_credentials;
use crate::error_code::error_code;
use crate::event_sink::create_event_sink;
use crate::http2::Rate;
use crate::listen::{Address, Listener, Sharing};
use crate::observe::{BuildLabels, Observations};
use crate::shared::{Limits, Shared};

/// A failure with its `code`.
type Result<T> = std::result::Result<T, Error<String>>;

/// Milliseconds and counts that hold for each connection.
#[napi(object, object_to_js = false)]
pub struct EngineLimits {
    /// For the whole head of a request.
    pub headers_timeout: f64,
    /// Between requests.
    pub keep_alive_timeout: f64,
    /// Without progress of an answer.
    pub socket_timeout: f64,
    /// Between checks of the others, at most.
    pub connections_checking_interval: f64,
    /// In the process.
    pub maximum_connections: u32,
    /// Over HTTP/2 in the process, of those whose answers wait for their clients.
    pub maximum_streams: u32,
    /// Bytes of a request's fields.
    pub max_header_size: u32,
}

/// How often something may happen.
#[napi(object, object_to_js = false)]
pub struct EngineRate {
    /// At once.
    pub burst: f64,
    /// Besides.
    pub per_second: f64,
}

/// What holds for each session of HTTP/2.
#[napi(object, object_to_js = false)]
pub struct EngineHttp2Limits {
    /// Streams at once.
    pub streams: u32,
    /// Fields of a request.
    pub fields: u32,
    /// Streams that are cancelled.
    pub resets: EngineRate,
    /// PING and SETTINGS.
    pub control_frames: EngineRate,
}

/// What an engine is made with.
#[napi(object, object_to_js = false)]
pub struct EngineOptions {
    /// Threads that accept and answer.
    pub threads: u32,
    /// What holds for each connection.
    pub limits: EngineLimits,
    /// What holds for each session of HTTP/2.
    pub http2_limits: EngineHttp2Limits,
    /// The whole answer to a head that did not come in time.
    pub timeout_answer: Uint8Array,
    /// Where a copy of large bodies may be: the first that is on a disk.
    pub body_folders: Vec<String>,
    /// Absent where nobody looks at answers.
    pub observe: Option<EngineObservations>,
}

/// What operators see of answers.
#[napi(object, object_to_js = false)]
pub struct EngineObservations {
    /// Upper bounds of the histogram of durations, in seconds.
    pub duration_buckets: Vec<f64>,
    /// Whether each answer leaves a record.
    pub log: bool,
}

/// Where an engine listens: a host and a port, a path and a mode, or a descriptor.
#[napi(object, object_to_js = false)]
pub struct EngineAddress {
    /// An address of this machine, or `*`.
    pub host: Option<String>,
    /// 0 takes a free one.
    pub port: Option<u16>,
    /// Of a unix socket.
    pub path: Option<String>,
    /// Permissions of the unix socket.
    pub mode: Option<u32>,
    /// Of a socket that is open already.
    pub descriptor: Option<i32>,
    /// Whether all that accept from that socket stop together.
    pub is_own: Option<bool>,
    /// Whether engines of other processes accept from it.
    pub is_shared: Option<bool>,
}

/// A socket that several engines are to listen on, each in a process of its own.
#[napi]
pub struct SharedSocket(Option<Listener>);

#[napi]
impl SharedSocket {
    /// Has the address for itself, and does not listen.
    #[napi(constructor, catch_unwind)]
    pub fn new(address: EngineAddress) -> Result<Self> {
        let listener = Listener::bind(read_address(address)?).map_err(failed)?;
        Ok(Self(Some(listener)))
    }

    /// Its number in this process; -1 where it is closed.
    #[napi(getter, catch_unwind)]
    pub fn descriptor(&self) -> i32 {
        self.0.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Closes it here, and removes the file of a unix socket.
    #[napi(catch_unwind)]
    pub fn close(&mut self) {
        self.0 = None;
    }
}

/// Where an engine has found to listen.
#[napi(object, object_from_js = false)]
pub struct ListeningAddress {
    /// An IP address, or the path of a unix socket.
    pub address: String,
    /// 0 for a unix socket.
    pub port: u16,
}

/// The answers of one build.
#[napi(object, object_to_js = false)]
pub struct EngineTable {
    /// Paths, templates of heads, and their values.
    pub text: Uint8Array,
    /// Where they are.
    pub index: Uint32Array,
    /// Bodies.
    pub slabs: Vec<Uint8Array>,
    /// Files of bodies that are not in memory.
    pub files: Vec<EngineFile>,
    /// The known values of `Accept-Encoding`.
    pub codings: Vec<String>,
    /// What each of them gets.
    pub choices: Uint8Array,
    /// Of each template the class of its 200 and that of its 304, where answers are observed.
    pub classes: Option<Uint8Array>,
    /// Of each representation the bytes that its coding saves, where answers are observed.
    pub saved: Option<Float64Array>,
}

/// A file whose bytes are not in memory.
#[napi(object, object_to_js = false)]
pub struct EngineFile {
    /// An absolute path.
    pub path: String,
    /// Its fingerprint and its time of change.
    pub state: String,
    /// Whether its bytes were compared with a digest.
    pub has_digest: bool,
}

/// How connections are encrypted.
#[napi(object, object_to_js = false)]
pub struct EngineCredentials {
    /// In PEM form, the chain behind it.
    pub certificate: Uint8Array,
    /// In PEM form, not encrypted.
    pub key: Uint8Array,
    /// Those of ALPN, the best first.
    pub protocols: Vec<String>,
}

/// The engine, as JavaScript has it.
#[napi]
pub struct Engine {
    shared: Arc<Shared>,
    copier: Arc<Copier>,
    threads: u32,
}

#[napi]
impl Engine {
    /// An engine that does not listen yet.
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
        // Before the environment frees the memory that answers are sent from. An engine that is gone needs no stop.
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

    /// Answers from this table from now on.
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
            return Err(invalid("the classes do not fit the templates".to_owned()));
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

    /// Answers requests with this value of `Accept-Encoding` by itself.
    #[napi(catch_unwind)]
    pub fn learn_coding(&self, value: String, choices: Uint8Array) -> Result<()> {
        let answers = self.shared.answers.load();
        let Some(table) = &answers.table else {
            return Ok(());
        };
        match table.with_coding(&latin1(&value), &choices) {
            Ok(table) => self.shared.change(|answers| answers.table = Some(table)),
            // There is no room for more: Node goes on to answer those.
            Err(TableError::Codings) => {}
            Err(error) => return Err(wrong(error)),
        }
        Ok(())
    }

    /// Takes all learned values of `Accept-Encoding` back.
    #[napi(catch_unwind)]
    pub fn forget_codings(&self) {
        self.shared.change(|answers| {
            answers.table = answers.table.as_ref().map(Table::without_codings);
        });
    }

    /// Answers requests with this `Host` by itself.
    #[napi(catch_unwind)]
    pub fn learn_host(&self, value: String) {
        self.shared.change(|answers| {
            answers.hosts.learn(&latin1(&value));
        });
    }

    /// Takes all learned hosts back.
    #[napi(catch_unwind)]
    pub fn forget_hosts(&self) {
        self.shared
            .change(|answers| answers.hosts = Hosts::default());
    }

    /// Fails for what new connections cannot be encrypted with.
    #[napi(catch_unwind)]
    pub fn check_credentials(credentials: EngineCredentials) -> Result<()> {
        encryption_of(credentials).map(drop)
    }

    /// Encrypts new connections with this certificate and its key.
    #[napi(catch_unwind)]
    pub fn set_credentials(&self, credentials: EngineCredentials) -> Result<()> {
        self.shared
            .encryption
            .store(Some(encryption_of(credentials)?));
        Ok(())
    }

    /// Accepts connections.
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

    /// Node's answer is whole after so many bytes.
    #[napi(catch_unwind)]
    pub fn done(&self, id: f64, bytes_written: f64) {
        self.shared.done(integer(id), integer(bytes_written));
    }

    /// The client gets a reset when Node closes its end.
    #[napi(catch_unwind)]
    pub fn reset(&self, id: f64) {
        self.shared.reset_at_end(integer(id));
    }

    /// Connections that are open.
    #[napi(catch_unwind)]
    pub fn connections(&self) -> u32 {
        u32::try_from(self.shared.connections.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// Connections that a fault of the engine has closed.
    #[napi(catch_unwind)]
    pub fn panics(&self) -> u32 {
        u32::try_from(self.shared.panics.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// Connections that were closed at once.
    #[napi(catch_unwind)]
    pub fn dropped(&self) -> u32 {
        u32::try_from(self.shared.dropped.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// What was counted of answers; nothing where nobody looks at them.
    #[napi(catch_unwind)]
    pub fn counts(&self) -> Float64Array {
        let observations = self.shared.observations.as_ref();
        let counts = observations.map_or_else(Vec::new, Observations::counts);
        Float64Array::new(counts.into_iter().map(number).collect())
    }

    /// The records of each thread that has made some since they were taken.
    #[napi(catch_unwind)]
    pub fn take_log(&self) -> Vec<Uint8Array> {
        let observations = self.shared.observations.as_ref();
        let logs = observations.map_or_else(Vec::new, Observations::take_log);
        logs.into_iter().map(Uint8Array::new).collect()
    }

    /// Stops; settles when the last connection is closed.
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

/// Keeps the process alive as long as it is held, as a server of Node's does.
fn keep_alive(env: &Env) -> napi::Result<Box<dyn Send>> {
    let nothing = env.create_function_from_closure::<(), (), _>("listening", |_| Ok(()))?;
    Ok(Box::new(nothing.build_threadsafe_function::<()>().build()?))
}

/// A failure to listen, as Node words it.
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
            has_digest: file.has_digest,
        }
    }
}

fn wrong(error: TableError) -> Error<String> {
    invalid(error.to_string())
}

fn invalid(reason: String) -> Error<String> {
    Error::new("ERR_INVALID_ARG_VALUE".to_owned(), reason)
}

/// Fields of HTTP are bytes, which JavaScript has as characters up to U+00FF.
fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|character| u8::try_from(character).unwrap_or(b'?'))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "nothing is counted up to 2^53")]
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
    reason = "what is out of range becomes the nearest number"
)]
fn integer(number: f64) -> u64 {
    number as u64
}
