use std::os::fd::IntoRawFd;

use napi::bindgen_prelude::{FnArgs, Function, FunctionRef, JsObjectValue, Object};
use napi::threadsafe_function::ThreadsafeFunctionCallMode::NonBlocking;
use napi::{Env, Result, Status};
use napi_derive::napi;

use crate::event::{Event, Handed, Tell};

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
}

type Heard<Args> = FunctionRef<Args, ()>;
/// The number of the event, then what it says.
type Said = FnArgs<(u32, Option<HandedConnection>, f64)>;

const HANDED: u32 = 0;
const CLOSED: u32 = 1;

/// Takes events to the functions of a listener, in the order in which they were said, and does not keep the process alive.
///
/// They go through one function: through one each, `closed` could overtake `handed`.
pub fn notify(env: &Env, listener: &Object) -> Result<Tell> {
    let handed: Heard<HandedConnection> = function_of(listener, "handed")?;
    let closed: Heard<f64> = function_of(listener, "closed")?;
    let dropped: Heard<()> = function_of(listener, "dropped")?;
    let hear = env.create_function_from_closure::<Said, (), _>("hear", move |context| {
        match (
            context.get::<u32>(0)?,
            context.get::<Option<HandedConnection>>(1)?,
        ) {
            (HANDED, Some(connection)) => handed.borrow_back(context.env)?.call(connection),
            (CLOSED, _) => closed.borrow_back(context.env)?.call(context.get(2)?),
            _ => dropped.borrow_back(context.env)?.call(()),
        }
    })?;
    let tell = hear
        .build_threadsafe_function::<Event>()
        .weak::<true>()
        .callee_handled::<false>()
        .build_callback(|context| Ok(say(context.value)))?;
    Ok(Box::new(move |event| {
        tell.call(event, NonBlocking) == Status::Ok
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

fn say(event: Event) -> Said {
    match event {
        Event::Handed(Handed { id, end, peer }) => {
            let connection = HandedConnection {
                id: number(id),
                // Node closes it from now on.
                fd: end.into_raw_fd(),
                address: peer.map_or_else(String::new, |peer| peer.ip().to_string()),
                port: peer.map_or(0, |peer| peer.port().into()),
            };
            (HANDED, Some(connection), 0.0).into()
        }
        Event::Closed(id) => (CLOSED, None, number(id)).into(),
        Event::Dropped => (CLOSED + 1, None, 0.0).into(),
    }
}
