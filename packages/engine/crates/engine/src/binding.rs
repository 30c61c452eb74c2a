use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use napi::bindgen_prelude::{Object, Uint8Array, Uint32Array};
use napi::{Env, Error};
use napi_derive::napi;
use serve_dist_core::{Hosts, Table, TableError, TableParts};

use crate::failure::code_of;
use crate::listen::{Address, Listener};
use crate::notify::notify;
use crate::shared::{Answers, Limits, Shared};

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
}

/// What an engine is made with.
#[napi(object, object_to_js = false)]
pub struct EngineOptions {
    /// Threads that accept and answer.
    pub threads: u32,
    /// What holds for each connection.
    pub limits: EngineLimits,
    /// The whole answer to a head that did not come in time.
    pub timeout_answer: Uint8Array,
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
    /// Paths, heads, tags and dates.
    pub text: Uint8Array,
    /// Where they are.
    pub index: Uint32Array,
    /// Bodies.
    pub slabs: Vec<Uint8Array>,
    /// The known values of `Accept-Encoding`.
    pub codings: Vec<String>,
    /// What each of them gets.
    pub choices: Uint8Array,
}

/// The engine, as JavaScript has it.
#[napi]
pub struct Engine {
    shared: Arc<Shared>,
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
            timeout_answer,
        } = options;
        let limits = Limits {
            headers: milliseconds(limits.headers_timeout),
            keep_alive: milliseconds(limits.keep_alive_timeout),
            socket: milliseconds(limits.socket_timeout),
            checking_interval: milliseconds(limits.connections_checking_interval),
            maximum_connections: limits.maximum_connections as usize,
        };
        let tell = notify(env, &listener)?;
        let shared = Arc::new(Shared::new(limits, timeout_answer.to_vec(), tell));
        // Before the environment frees the memory that answers are sent from.
        env.add_env_cleanup_hook(shared.clone(), |shared| shared.stop())?;
        Ok(Self {
            shared,
            threads: threads.max(1),
        })
    }

    /// Answers from this table from now on.
    #[napi(catch_unwind)]
    pub fn set_table(&self, table: EngineTable) -> Result<()> {
        let table = Table::new(TableParts {
            text: Bytes::copy_from_slice(&table.text),
            index: table.index.to_vec(),
            slabs: table.slabs.into_iter().map(Bytes::from_owner).collect(),
            codings: table.codings.iter().map(|coding| latin1(coding)).collect(),
            choices: table.choices.to_vec(),
        });
        self.replace(Some(table.map_err(wrong)?), |hosts| hosts.clone());
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
            Ok(table) => self.replace(Some(table), |hosts| hosts.clone()),
            // There is no room for more: Node goes on to answer those.
            Err(TableError::Codings) => {}
            Err(error) => return Err(wrong(error)),
        }
        Ok(())
    }

    /// Answers requests with this `Host` by itself.
    #[napi(catch_unwind)]
    pub fn learn_host(&self, value: String) {
        self.replace(None, |hosts| {
            let mut hosts = hosts.clone();
            hosts.learn(&latin1(&value));
            hosts
        });
    }

    /// Takes all learned hosts back.
    #[napi(catch_unwind)]
    pub fn forget_hosts(&self) {
        self.replace(None, |_| Hosts::default());
    }

    /// Accepts connections.
    #[napi(catch_unwind)]
    pub fn listen(&self, env: &Env, address: EngineAddress) -> Result<ListeningAddress> {
        let failed = |error: std::io::Error| {
            let code = code_of(&error);
            let words = error.to_string();
            let words = words.split(" (os error").next().unwrap_or_default();
            Error::new(
                code.to_owned(),
                format!("listen {code}: {}", words.to_lowercase()),
            )
        };
        let listener = Listener::open(read_address(address)?).map_err(failed)?;
        let (address, port) = listener.address().map_err(failed)?;
        let held = keep_alive(env)
            .map_err(|error| Error::new(error.status.as_ref().to_owned(), error.reason.clone()))?;
        self.shared
            .start(listener, self.threads.into(), held)
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

    /// Stops; settles when the last connection is closed.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn drain<'env>(&self, env: &'env Env, grace_period: f64) -> napi::Result<Object<'env>> {
        type Nothing = fn(Env) -> napi::Result<()>;
        let (deferred, promise) = env.create_deferred::<(), Nothing>()?;
        let settle = Box::new(move || deferred.resolve(|_| Ok(())));
        self.shared.drain(milliseconds(grace_period), settle);
        Ok(promise)
    }

    /// JavaScript's thread alone writes, so nothing is lost between reading and writing.
    fn replace(&self, table: Option<Table>, hosts: impl FnOnce(&Hosts) -> Hosts) {
        let before = self.shared.answers.load();
        self.shared.answers.store(Arc::new(Answers {
            table: table.or_else(|| before.table.clone()),
            hosts: hosts(&before.hosts),
        }));
    }
}

/// Keeps the process alive as long as it is held, as a server of Node's does.
fn keep_alive(env: &Env) -> napi::Result<Box<dyn Send>> {
    let nothing = env.create_function_from_closure::<(), (), _>("listening", |_| Ok(()))?;
    Ok(Box::new(nothing.build_threadsafe_function::<()>().build()?))
}

fn read_address(address: EngineAddress) -> Result<Address> {
    let invalid = |what: &str| Error::new("EINVAL".to_owned(), format!("listen EINVAL: {what}"));
    match address {
        EngineAddress {
            descriptor: Some(descriptor),
            ..
        } => Ok(Address::Descriptor(descriptor)),
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
                host => Some(host.parse::<IpAddr>().map_err(|_| invalid("host"))?),
            };
            Ok(Address::Tcp { host, port })
        }
        _ => Err(invalid("address")),
    }
}

fn wrong(error: TableError) -> Error<String> {
    Error::new("ERR_INVALID_ARG_VALUE".to_owned(), error.to_string())
}

/// Fields of HTTP are bytes, which JavaScript has as characters up to U+00FF.
fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|character| u8::try_from(character).unwrap_or(b'?'))
        .collect()
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
