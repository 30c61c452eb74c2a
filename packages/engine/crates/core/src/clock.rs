use std::time::{Duration, UNIX_EPOCH};

use httpdate::fmt_http_date;

const DATE: &str = "Date: ";
/// The last second of the year 9999. The format of HTTP dates has four digits for the year.
const LAST_SECOND: u64 = 253_402_300_799;

/// The last lines of a response head, in Node's order: `Date`, the connection fields and the empty line.
///
/// The owner calls [`Clock::set`] once per second (RFC 9110 §6.6.1).
#[derive(Clone, Debug)]
pub struct Clock {
    second: u64,
    keep_alive_tail: Vec<u8>,
    close_tail: Vec<u8>,
}

impl Clock {
    /// Creates a clock. `keep_alive_timeout` is in milliseconds; 0 omits `Keep-Alive`, as in Node. `now` is in seconds
    /// since 1970.
    pub fn new(keep_alive_timeout: u64, now: u64) -> Self {
        let mut keeps = String::from("Connection: keep-alive\r\n");
        if keep_alive_timeout > 0 {
            keeps += &format!("Keep-Alive: timeout={}\r\n", keep_alive_timeout / 1000);
        }
        let date = date_of(now);
        let tail = |fields: &str| format!("{DATE}{date}\r\n{fields}\r\n").into_bytes();
        Self {
            second: now,
            keep_alive_tail: tail(&keeps),
            close_tail: tail("Connection: close\r\n"),
        }
    }

    /// Sets the time, in seconds since 1970.
    pub fn set(&mut self, now: u64) {
        if now == self.second {
            return;
        }
        self.second = now;
        let date = date_of(now);
        for tail in [&mut self.keep_alive_tail, &mut self.close_tail] {
            tail[DATE.len()..][..date.len()].copy_from_slice(date.as_bytes());
        }
    }

    /// The value of `Date`.
    pub fn date(&self) -> &[u8] {
        let rest = &self.close_tail[DATE.len()..];
        &rest[..memchr::memchr(b'\r', rest).unwrap_or(rest.len())]
    }

    /// Returns the last lines of a head. `closes` selects `Connection: close`.
    pub fn tail(&self, closes: bool) -> &[u8] {
        if closes {
            &self.close_tail
        } else {
            &self.keep_alive_tail
        }
    }
}

fn date_of(now: u64) -> String {
    fmt_http_date(UNIX_EPOCH + Duration::from_secs(now.min(LAST_SECOND)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 9110 §5.6.7.
    const NOW: u64 = 784_111_777;

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).expect("tails are ASCII")
    }

    #[test]
    fn writes_keep_alive_fields_in_the_order_of_node() {
        let expected = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\n\
            Keep-Alive: timeout=65\r\n\r\n";
        assert_eq!(text(Clock::new(65_999, NOW).tail(false)), expected);
    }

    #[test]
    fn writes_connection_close() {
        let expected = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n\r\n";
        assert_eq!(text(Clock::new(65_000, NOW).tail(true)), expected);
    }

    #[test]
    fn omits_keep_alive_without_a_timeout() {
        let expected = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\n\r\n";
        assert_eq!(text(Clock::new(0, NOW).tail(false)), expected);
    }

    #[test]
    fn changes_only_the_date() {
        let mut clock = Clock::new(5000, NOW);
        for (now, date) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            clock.set(now);
            let fresh = Clock::new(5000, now);
            assert_eq!(text(&clock.tail(false)[6..35]), date);
            assert_eq!(text(clock.date()), date);
            assert_eq!(clock.tail(false), fresh.tail(false));
            assert_eq!(clock.tail(true), fresh.tail(true));
        }
    }
}
