use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request};
use serve_dist_core::{BareRequest, decide_fields};

use crate::http2::bodies::{Bodies, Progress};
use crate::http2::body_chunk::{BodyChunk, Payload};
use crate::http2::client::Client;

/// Answers a request from the table. Returns `false` if Node must answer.
pub fn answer(
    client: &Client,
    bodies: &mut Bodies,
    request: &Request<RecvStream>,
    respond: &mut SendResponse<BodyChunk>,
) -> bool {
    let Client {
        thread,
        connection,
        flow,
    } = client;
    let answers = thread.shared.answers.load();
    let Some(table) = &answers.table else {
        return false;
    };
    let uri = request.uri();
    // Node rejects other schemes.
    let of_http = |scheme: &str| {
        ["http", "https"]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(scheme))
    };
    if !uri.scheme_str().is_none_or(of_http) {
        return false;
    }
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let bare = BareRequest {
        method: request.method().as_str(),
        target: target.as_bytes(),
        authority: uri.authority().map(|host| host.as_str().as_bytes()),
    };
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
    let Some(found) = decide_fields(bare, fields, table, &answers.hosts) else {
        return false;
    };
    if thread.http2.stream_quota.refuses(flow.pending_answers()) {
        client.refuse(respond, Reason::REFUSED_STREAM);
        return true;
    }
    let observer = thread.observer.as_ref();
    if observer.is_some_and(|observer| observer.is_full()) {
        return false;
    }
    let clock = &*thread.clock.borrow();
    let mut heads = thread.http2.head_cache.borrow_mut();
    let (response, body) = heads.response(table, &found, clock);
    let observed = observer.map(|observer| {
        let text = if observer.logs() {
            text_of(request)
        } else {
            Vec::new()
        };
        let peer = connection.peer.map(|peer| peer.ip());
        observer.begin(answers.labels.of(table, &found), peer, &text)
    });
    // A head that h2 cannot send yet counts as pending until the end of its stream is sent.
    let is_over = body.is_empty() && !flow.cannot_send_now();
    // Fails only if the client has reset the stream.
    if let Ok(to) = respond.send_response(response, is_over) {
        let payload = Payload::new(body, observed, flow);
        if !is_over {
            let now = Progress {
                at: thread.now(),
                sent: flow.sent.get(),
            };
            bodies.send(to, payload, now);
        }
    }
    true
}

/// Formats a request like an HTTP/1.1 head for its log record.
fn text_of(request: &Request<RecvStream>) -> Vec<u8> {
    let target = request.uri().path_and_query();
    let target = target.map_or("", |target| target.as_str());
    let mut text = format!("{} {target} HTTP/2.0\r\n", request.method()).into_bytes();
    let host = request.uri().authority();
    let host = host.map(|host| ("host", host.as_str().as_bytes()));
    let fields = fields_of(request.headers());
    for (name, value) in host.into_iter().chain(fields) {
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text
}

fn fields_of(fields: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    let fields = fields.iter();
    fields.map(|(name, value)| (name.as_str(), value.as_bytes()))
}
