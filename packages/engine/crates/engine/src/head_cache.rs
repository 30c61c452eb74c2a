use std::rc::Rc;

use bytes::Bytes;
use http::header::DATE;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use serve_dist_core::{Answer, Clock, Kind, Table, fields_of};

/// The maximum number of cached heads. They use at most 2 MB.
const MAX_HEADS: usize = 1024;

/// Response heads in the format of h2, cached per thread.
///
/// Shared heads and bodies would need atomic reference counts, on which all threads would contend.
#[derive(Default)]
pub struct HeadCache {
    /// The build of the cached heads.
    build: u64,
    /// The slot of a head is its number modulo `MAX_HEADS`.
    cached: Vec<Option<CachedHead>>,
    date: Option<HeaderValue>,
    empty_body: Rc<Bytes>,
}

struct CachedHead {
    number: usize,
    fields: HeaderMap,
    body: Rc<Bytes>,
}

impl HeadCache {
    /// Clears the cache if the build has changed.
    pub fn discard_other_builds(&mut self, table: Option<&Table>) {
        let build = table.map_or(0, Table::build);
        if self.build != build {
            self.build = build;
            self.cached = Vec::new();
        }
    }

    /// Returns the head of an answer with the current date, and its body.
    pub fn response(
        &mut self,
        table: &Table,
        answer: &Answer,
        clock: &Clock,
    ) -> (Response<()>, Rc<Bytes>) {
        self.discard_other_builds(Some(table));
        let status = match answer.kind {
            Kind::Ok => StatusCode::OK,
            Kind::NotModified => StatusCode::NOT_MODIFIED,
        };
        let number = Kind::COUNT * answer.representation + answer.kind as usize;
        if self.cached.len() <= number % MAX_HEADS {
            self.cached.resize_with(number % MAX_HEADS + 1, || None);
        }
        let slot = &mut self.cached[number % MAX_HEADS];
        slot.take_if(|cached| cached.number != number);
        let cached = slot.get_or_insert_with(|| {
            let answer = Answer {
                with_body: answer.kind.has_body(),
                ..*answer
            };
            CachedHead {
                number,
                fields: read_head(table, &answer, clock),
                body: Rc::new(table.parts(&answer, clock, false).rest_of_body(0)),
            }
        });
        let mut response = Response::new(());
        *response.status_mut() = status;
        response.headers_mut().clone_from(&cached.fields);
        self.date.take_if(|date| date.as_bytes() != clock.date());
        if self.date.is_none() {
            self.date = HeaderValue::from_bytes(clock.date()).ok();
        }
        if let Some(date) = &self.date {
            response.headers_mut().insert(DATE, date.clone());
        }
        let body = if answer.with_body {
            &cached.body
        } else {
            &self.empty_body
        };
        (response, body.clone())
    }
}

/// Returns the fields in Node's order, in which `Date` is last.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::table_of;

    #[test]
    fn returns_the_head_the_current_date_and_the_body() {
        let table = table_of(&[b"one".into(), b"other".into()]);
        let (mut clock, mut now) = (Clock::new(0, 0), 0);
        let mut heads = HeadCache::default();
        for (representation, length) in [(0, 3), (1, 5), (0, 3)] {
            for with_body in [true, false] {
                let answer = Answer {
                    consumed: 0,
                    resource: representation,
                    representation,
                    kind: Kind::Ok,
                    with_body,
                    closes: false,
                };
                let (head, body) = heads.response(&table, &answer, &clock);
                assert_eq!(head.headers()["content-length"], length.to_string());
                assert_eq!(head.headers()["date"].as_bytes(), clock.date());
                assert_eq!(body.len(), if with_body { length } else { 0 });
            }
            now += 1;
            clock.set(now);
            // Another head replaces the cached one.
            heads.cached[0] = Some(CachedHead {
                number: MAX_HEADS,
                fields: HeaderMap::new(),
                body: Rc::default(),
            });
        }
    }

    #[test]
    fn releases_the_bodies_of_an_old_build() {
        let mut heads = HeadCache::default();
        let answer = Answer {
            consumed: 0,
            resource: 0,
            representation: 0,
            kind: Kind::Ok,
            with_body: true,
            closes: false,
        };
        let table = table_of(&[b"one".into()]);
        let (_, body) = heads.response(&table, &answer, &Clock::new(0, 0));
        heads.discard_other_builds(Some(&table));
        assert_eq!(Rc::strong_count(&body), 2);
        heads.discard_other_builds(Some(&table_of(&[b"two".into()])));
        assert_eq!(Rc::strong_count(&body), 1);
    }
}
