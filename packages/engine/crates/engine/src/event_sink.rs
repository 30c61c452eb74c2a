use std::net::SocketAddr;
use std::os::fd::IntoRawFd;

use napi::bindgen_prelude::{FnArgs, Function, FunctionRef, JsObjectValue, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode::NonBlocking;
use napi::{Env, Result, Status};
use napi_derive::napi;

use crate::event::{Event, EventSink, Handed, Refused};
use crate::tls::Protocol;

/// A connection whose next request Node answers.
#[napi(object, js_name = "HandedConnection")]
pub struct HandedConnection {
    /// Names it.
    pub id: f64,
    /// Node's end of the pair.
    pub fd: i32,
    /// Of the peer.
    pub address: String,
    /// Of the peer.
    pub port: u32,
    /// What Node is to read.
    pub protocol: String,
    /// Of the client's connection.
    pub encryption: Option<HandedEncryption>,
}

/// What the handshake of TLS has found.
#[napi(object)]
pub struct HandedEncryption {
    /// As OpenSSL names it.
    pub version: String,
    /// As its RFC names it.
    pub cipher: String,
    /// The host that the client wants.
    pub server_name: Option<String>,
    /// The protocol that was agreed on.
    pub protocol: Option<String>,
    /// Whether it goes on with an earlier session.
    pub is_resumed: bool,
}

/// A request that got an answer of ours which is no build's.
#[napi(object)]
pub struct RefusedRequest {
    /// Of the answer.
    pub status: u16,
    /// A code as Node and the system have it.
    pub error: String,
    /// Of the peer.
    pub address: String,
}

type ListenerFunction<Args> = FunctionRef<Args, ()>;
/// What the event is about: a connection, the number of one, a request, or a file; or nothing.
type EventArguments = FnArgs<(
    Option<HandedConnection>,
    Option<f64>,
    Option<RefusedRequest>,
    Option<String>,
)>;

/// Takes events to the functions of a listener, in the order in which they were said, and does not keep the process alive.
///
/// They go through one function: through one each, `closed` could overtake `handed`.
pub fn create_event_sink(env: &Env, listener: &Object) -> Result<EventSink> {
    let handed: ListenerFunction<HandedConnection> = function_of(listener, "handed")?;
    let closed: ListenerFunction<f64> = function_of(listener, "closed")?;
    let refused: ListenerFunction<RefusedRequest> = function_of(listener, "refused")?;
    let changed: ListenerFunction<String> = function_of(listener, "changed")?;
    let dispatch = env.create_function_from_closure::<EventArguments, (), _>(
        "dispatch",
        move |context| match (
            context.get(0)?,
            context.get(1)?,
            context.get(2)?,
            context.get(3)?,
        ) {
            (Some(connection), ..) => handed.borrow_back(context.env)?.call(connection),
            (_, Some(id), ..) => closed.borrow_back(context.env)?.call(id),
            (_, _, Some(request), ..) => refused.borrow_back(context.env)?.call(request),
            (.., Some(file)) => changed.borrow_back(context.env)?.call(file),
            _ => Ok(()),
        },
    )?;
    let dispatch = dispatch
        .build_threadsafe_function::<Event>()
        .weak::<true>()
        .callee_handled::<false>()
        .build_callback(|context| Ok(event_arguments(context.value)))?;
    Ok(Box::new(move |event| {
        dispatch.call(event, NonBlocking) == Status::Ok
    }))
}

fn function_of<Args: napi::bindgen_prelude::JsValuesTupleIntoVec>(
    listener: &Object,
    name: &str,
) -> Result<FunctionRef<Args, ()>> {
    listener
        .get_named_property::<Function<Args, ()>>(name)?
        .create_ref()
}

/// A number that JavaScript can hold.
#[expect(clippy::cast_precision_loss, reason = "there are no 2^53 connections")]
fn number(id: u64) -> f64 {
    id as f64
}

fn address_of(peer: Option<SocketAddr>) -> String {
    peer.map_or_else(String::new, |peer| peer.ip().to_string())
}

fn event_arguments(event: Event) -> EventArguments {
    match event {
        Event::Handed(handed) => {
            let Handed {
                id,
                end,
                peer,
                protocol,
                encryption,
                permit,
            } = handed;
            // JavaScript has its descriptor now.
            drop(permit);
            let connection = HandedConnection {
                id: number(id),
                // Node closes it from now on.
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
            };
            (Some(connection), None, None, None).into()
        }
        Event::Closed(id) => (None, Some(number(id)), None, None).into(),
        Event::BusyProbe(reply) => {
            // Who asked may not wait any more.
            let _ = reply.send(());
            (None, None, None, None).into()
        }
        Event::Refused(Refused {
            status,
            error,
            peer,
        }) => {
            let request = RefusedRequest {
                status,
                error: error.to_owned(),
                address: address_of(peer),
            };
            (None, None, Some(request), None).into()
        }
        Event::Changed(file) => {
            let file = file.to_string_lossy().into_owned();
            (None, None, None, Some(file)).into()
        }
    }
}
