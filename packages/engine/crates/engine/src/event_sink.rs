use std::net::SocketAddr;
use std::os::fd::IntoRawFd;

use napi::bindgen_prelude::{FnArgs, Function, FunctionRef, JsObjectValue, Object};
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

type ListenerFunction<Args> = FunctionRef<Args, ()>;
/// A connection, the number of a connection, a request or a path. All are empty for a busy probe.
type EventArguments = FnArgs<(
    Option<HandedConnection>,
    Option<f64>,
    Option<RefusedRequest>,
    Option<String>,
)>;

/// Creates a sink that calls the functions of `listener` in the order of the events. It does not keep the process
/// alive.
///
/// All events use one thread-safe function. With one function per event, `closed` could arrive before `handed`.
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
            // JavaScript now has the descriptor.
            drop(permit);
            let connection = HandedConnection {
                id: number(id),
                // Node closes the descriptor.
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
            // The acceptor may have stopped waiting.
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
