use std::rc::Rc;

use h2::Reason;
use h2::server::SendResponse;

use crate::connection::Connection;
use crate::http2::body_chunk::BodyChunk;
use crate::http2::wire::{Flow, Wire};
use crate::stream::Stream;
use crate::thread::Thread;

/// The h2 session of a client.
pub type Session<'a> = h2::server::Connection<Wire<&'a Stream>, BodyChunk>;

/// A client with an HTTP/2 session.
#[derive(Clone)]
pub struct Client<'a> {
    pub thread: &'a Rc<Thread>,
    pub connection: &'a Connection,
    pub flow: Rc<Flow>,
}

impl Client<'_> {
    /// Resets an unprocessed stream. After `REFUSED_STREAM`, the client may retry (RFC 9113 §8.7).
    pub fn refuse(&self, respond: &mut SendResponse<BodyChunk>, reason: Reason) {
        respond.send_reset(reason);
        self.flow.note_reset();
    }
}
