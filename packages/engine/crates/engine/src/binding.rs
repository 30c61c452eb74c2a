mod address;
mod convert;
mod options;
mod table;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use napi::bindgen_prelude::{Float64Array, Object, Uint8Array};
use napi::{Env, Error};
use napi_derive::napi;
use serve_dist_core::{AcceptedValues, Table, TableError};

use crate::binding::address::{EngineAddress, ListeningAddress, failed, read_address};
use crate::binding::convert::{Result, integer, latin1, milliseconds};
use crate::binding::options::{EngineCredentials, EngineOptions, encryption_of, read_limits};
use crate::binding::table::{Build, EngineTable, read_table, table_error};
use crate::copier::Copier;
use crate::engine::Engine;
use crate::event_sink::create_event_sink;
use crate::listen::Listener;
use crate::observe::Observations;
use crate::shared::Shared;

/// The JavaScript class of the engine.
#[napi(js_name = "Engine")]
pub struct JsEngine {
    engine: Arc<Engine>,
    shared: Arc<Shared>,
    copier: Arc<Copier>,
    threads: u32,
}

#[napi]
impl JsEngine {
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
        let limits = read_limits(&limits, &http2_limits);
        let event_sink = create_event_sink(env, &listener)?;
        let copier = Arc::new(Copier::new(
            body_folders.into_iter().map(PathBuf::from).collect(),
        ));
        let engine = Arc::new(Engine::new(Shared::new(
            limits,
            timeout_answer.to_vec(),
            observe.map(|observe| Observations::new(&observe.duration_buckets, observe.log)),
            event_sink,
        )));
        // Node frees the memory of the bodies after this hook. Therefore all threads must stop before. If the engine
        // was already dropped, they have.
        let weak = (Arc::downgrade(&engine), Arc::downgrade(&copier));
        env.add_env_cleanup_hook(weak, |(engine, copier)| {
            if let Some(engine) = engine.upgrade() {
                engine.stop();
            }
            if let Some(copier) = copier.upgrade() {
                copier.stop();
            }
        })?;
        Ok(Self {
            shared: engine.shared.clone(),
            engine,
            copier,
            threads: threads.max(1),
        })
    }

    /// Replaces the table.
    #[napi(catch_unwind)]
    pub fn set_table(&self, table: EngineTable) -> Result<()> {
        let Build {
            table,
            labels,
            files,
        } = read_table(table, self.shared.observations.is_some())?;
        self.shared.answers.change(|answers| {
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
            Ok(table) => self
                .shared
                .answers
                .change(|answers| answers.table = Some(table)),
            // The table is full, and Node continues to answer these requests.
            Err(TableError::Codings) => {}
            Err(error) => return Err(table_error(error)),
        }
        Ok(())
    }

    /// Removes all learned values of `Accept-Encoding`.
    #[napi(catch_unwind)]
    pub fn forget_codings(&self) {
        self.shared.answers.change(|answers| {
            answers.table = answers.table.as_ref().map(Table::without_codings);
        });
    }

    /// Adds an allowed value of `Host`.
    #[napi(catch_unwind)]
    pub fn learn_host(&self, value: String) {
        self.shared.answers.change(|answers| {
            answers.hosts.learn(&latin1(&value));
        });
    }

    /// Removes all learned hosts.
    #[napi(catch_unwind)]
    pub fn forget_hosts(&self) {
        self.shared
            .answers
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
            self.shared
                .answers
                .change(|answers| answers.table = learned);
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
        self.engine
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
        count(&self.shared.counters.connections)
    }

    /// Returns the number of connections that a panic has closed.
    #[napi(catch_unwind)]
    pub fn panics(&self) -> u32 {
        count(&self.shared.counters.panics)
    }

    /// Returns the number of connections that were closed immediately after they were accepted.
    #[napi(catch_unwind)]
    pub fn dropped(&self) -> u32 {
        count(&self.shared.counters.dropped)
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
        self.engine.drain(milliseconds(grace_period), settle);
        Ok(promise)
    }
}

/// Returns a handle that keeps the process alive until it is dropped, like a listening server in Node.
fn keep_alive(env: &Env) -> napi::Result<Box<dyn Send>> {
    let nothing = env.create_function_from_closure::<(), (), _>("listening", |_| Ok(()))?;
    Ok(Box::new(nothing.build_threadsafe_function::<()>().build()?))
}

fn count(counter: &AtomicUsize) -> u32 {
    u32::try_from(counter.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "no counter reaches 2^53")]
fn number(count: i64) -> f64 {
    count as f64
}
