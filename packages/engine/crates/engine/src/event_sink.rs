use std::cell::Cell;
use std::net::SocketAddr;
use std::os::fd::IntoRawFd;
use std::rc::Rc;

use napi::bindgen_prelude::{Function, FunctionRef, JsObjectValue, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode::NonBlocking;
use napi::{Env, Result, Status};
use napi_derive::napi;

use crate::event::{Event, EventSink, Handed, Refused};
use crate::tls::Protocol;

/// A connection that Node receives. `binding.ts` documents this type and the following ones.
#[napi(object, js_name = "HandedConnection")]
pub struct HandedConnection {
    pub id: f64,
    pub fd: i32,
    pub address: String,
    pub port: u32,
    pub protocol: String,
    pub encryption: Option<HandedEncryption>,
}

/// The result of a TLS handshake.
#[napi(object)]
pub struct HandedEncryption {
    pub version: String,
    pub cipher: String,
    pub server_name: Option<String>,
    pub protocol: Option<String>,
    pub is_resumed: bool,
}

/// A request that the engine answered with an error.
#[napi(object)]
pub struct RefusedRequest {
    pub status: u16,
    pub error: String,
    pub address: String,
}

/// The functions of the listener. Each event calls one of them.
struct Listener {
    handed: FunctionRef<HandedConnection, ()>,
    closed: FunctionRef<f64, ()>,
    refused: FunctionRef<RefusedRequest, ()>,
    changed: FunctionRef<String, ()>,
}

/// Creates a sink that calls the functions of `listener` in the order of the events. It does not keep the process
/// alive.
///
/// All events use one thread-safe function. With one function per event, `closed` could arrive before `handed`.
pub fn create_event_sink(env: &Env, listener: &Object) -> Result<EventSink> {
    let listener = Listener {
        handed: function_of(listener, "handed")?,
        closed: function_of(listener, "closed")?,
        refused: function_of(listener, "refused")?,
        changed: function_of(listener, "changed")?,
    };
    // Both closures run on the JavaScript thread, one after the other. An event that no function receives is dropped,
    // which closes its descriptor.
    let current = Rc::new(Cell::new(None));
    let next = current.clone();
    let dispatch = env.create_function_from_closure::<(), (), _>("dispatch", move |context| {
        next.take()
            .map_or(Ok(()), |event| listener.call(context.env, event))
    })?;
    let dispatch = dispatch
        .build_threadsafe_function::<Event>()
        .weak::<true>()
        .callee_handled::<false>()
        .build_callback(move |context| {
            current.set(Some(context.value));
            Ok(())
        })?;
    Ok(Box::new(move |event| {
        dispatch.call(event, NonBlocking) == Status::Ok
    }))
}

impl Listener {
    fn call(&self, env: &Env, event: Event) -> Result<()> {
        match event {
            Event::Handed(handed) => {
                let function = self.handed.borrow_back(env)?;
                function.call(handed.into())
            }
            Event::Closed(id) => self.closed.borrow_back(env)?.call(number(id)),
            Event::Refused(refused) => self.refused.borrow_back(env)?.call(refused.into()),
            Event::Changed(file) => {
                let file = file.to_string_lossy().into_owned();
                self.changed.borrow_back(env)?.call(file)
            }
            Event::BusyProbe(reply) => {
                // The acceptor may have stopped waiting.
                let _ = reply.send(());
                Ok(())
            }
        }
    }
}

fn function_of<Args: napi::bindgen_prelude::JsValuesTupleIntoVec>(
    listener: &Object,
    name: &str,
) -> Result<FunctionRef<Args, ()>> {
    listener
        .get_named_property::<Function<Args, ()>>(name)?
        .create_ref()
}

#[expect(clippy::cast_precision_loss, reason = "there are no 2^53 connections")]
fn number(id: u64) -> f64 {
    id as f64
}

fn address_of(peer: Option<SocketAddr>) -> String {
    peer.map_or_else(String::new, |peer| peer.ip().to_string())
}

impl From<Handed> for HandedConnection {
    /// Releases the descriptor, which Node closes, and the permit.
    fn from(handed: Handed) -> Self {
        let Handed {
            id,
            end,
            peer,
            protocol,
            encryption,
            permit,
        } = handed;
        drop(permit);
        Self {
            id: number(id),
            fd: end.into_raw_fd(),
            address: address_of(peer),
            port: peer.map_or(0, |peer| peer.port().into()),
            protocol: match protocol {
                Protocol::Http1 => "http1".to_owned(),
                Protocol::Http2 => "http2".to_owned(),
            },
            encryption: encryption.map(|handshake| HandedEncryption {
                version: handshake.version.to_owned(),
                cipher: handshake.cipher,
                server_name: handshake.server_name,
                protocol: handshake.protocol,
                is_resumed: handshake.is_resumed,
            }),
        }
    }
}

impl From<Refused> for RefusedRequest {
    fn from(refused: Refused) -> Self {
        Self {
            status: refused.status,
            error: refused.error.to_owned(),
            address: address_of(refused.peer),
        }
    }
}
