use std::collections::HashMap;

use http::header::DATE;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serve_dist_core::{Answer, Clock, Kind, Table, fields_of};

/// Heads that are remembered: 2 MB at most.
const MOST: usize = 1024;

/// Heads of answers as fields: made from their text once, not for each request, and for each thread, since all threads
/// would feel it if one counted the users of a text that they share.
#[derive(Default)]
pub struct Heads {
    /// The build that they are of.
    build: u64,
    known: HashMap<(usize, bool), HeaderMap>,
}

impl Heads {
    /// The head of an answer, with the date.
    pub fn response(&mut self, table: &Table, answer: &Answer, clock: &Clock) -> Response<()> {
        if self.build != table.build() || self.known.len() >= MOST {
            self.build = table.build();
            self.known = HashMap::new();
        }
        let is_304 = answer.kind == Kind::NotModified;
        let known = self.known.entry((answer.representation, is_304));
        let fields = known.or_insert_with(|| read_head(table, answer, clock));
        let mut response = Response::new(());
        if is_304 {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response.headers_mut().clone_from(fields);
        if let Ok(date) = HeaderValue::from_bytes(clock.date()) {
            response.headers_mut().insert(DATE, date);
        }
        response
    }
}

/// In Node's order: the date is the last field.
fn read_head(table: &Table, answer: &Answer, clock: &Clock) -> HeaderMap {
    let mut head = Vec::new();
    table.parts(answer, clock, false).head.write_to(&mut head);
    let mut fields = HeaderMap::new();
    for (name, value) in fields_of(&head) {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            fields.append(name, value);
        }
    }
    fields.append(DATE, HeaderValue::from_static(""));
    fields
}
