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
    /// Each has one place, with its number.
    known: Vec<Option<(usize, HeaderMap)>>,
    date: Option<HeaderValue>,
}

impl Heads {
    /// The head of an answer, with the date.
    pub fn response(&mut self, table: &Table, answer: &Answer, clock: &Clock) -> Response<()> {
        if self.build != table.build() {
            self.build = table.build();
            self.known = Vec::new();
        }
        let is_304 = answer.kind == Kind::NotModified;
        let number = 2 * answer.representation + usize::from(is_304);
        if self.known.len() <= number % MOST {
            self.known.resize_with(number % MOST + 1, || None);
        }
        let place = &mut self.known[number % MOST];
        place.take_if(|(known, _)| *known != number);
        let (_, fields) = place.get_or_insert_with(|| (number, read_head(table, answer, clock)));
        let mut response = Response::new(());
        if is_304 {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response.headers_mut().clone_from(fields);
        self.date.take_if(|date| date.as_bytes() != clock.date());
        if self.date.is_none() {
            self.date = HeaderValue::from_bytes(clock.date()).ok();
        }
        if let Some(date) = &self.date {
            response.headers_mut().insert(DATE, date.clone());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::table_of;

    #[test]
    fn has_the_head_of_each_answer_with_the_date_of_now() {
        let table = table_of(&[b"one".into(), b"other".into()]);
        let (mut clock, mut now) = (Clock::new(0, 0), 0);
        let mut heads = Heads::default();
        for (representation, length) in [(0, "3"), (1, "5"), (0, "3")] {
            let answer = Answer {
                consumed: 0,
                resource: representation,
                representation,
                kind: Kind::Ok,
                with_body: true,
                closes: false,
            };
            let head = heads.response(&table, &answer, &clock);
            assert_eq!(head.headers()["content-length"], length);
            assert_eq!(head.headers()["date"].as_bytes(), clock.date());
            now += 1;
            clock.set(now);
            // Another one has had its place.
            heads.known[0] = Some((MOST, HeaderMap::new()));
        }
    }
}
