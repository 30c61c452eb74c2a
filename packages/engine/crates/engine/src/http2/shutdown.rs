use std::time::Duration;

use h2::Reason;

use crate::http2::client::Session;
use crate::tuning::NEW_CONNECTION;

/// The time that a client has to react to GOAWAY.
pub const GOAWAY_TIMEOUT: Duration = Duration::from_secs(1);

/// Ends a session while the server drains.
pub struct Shutdown {
    /// The time when the session was opened.
    pub opened: Duration,
    /// Whether the client has sent a request.
    pub has_requested: bool,
    /// The time of the GOAWAY.
    announced: Option<Duration>,
}

impl Shutdown {
    pub fn new(opened: Duration) -> Self {
        Self {
            opened,
            has_requested: false,
            announced: None,
        }
    }

    /// Sends GOAWAY, and later ends a session without streams. A new client may first send a request.
    pub fn proceed(&mut self, session: &mut Session, now: Duration, has_streams: bool) {
        let is_new = !self.has_requested && now < self.opened + NEW_CONNECTION;
        match self.announced {
            None if !is_new => {
                session.graceful_shutdown();
                self.announced = Some(now);
            }
            Some(then) if now >= then + GOAWAY_TIMEOUT && !has_streams => {
                session.abrupt_shutdown(Reason::NO_ERROR);
            }
            _ => {}
        }
    }

    /// Returns the time of the next step.
    pub fn deadline(&self, now: Duration, has_streams: bool) -> Option<Duration> {
        let then = match self.announced {
            None => self.opened + NEW_CONNECTION,
            Some(then) => then + GOAWAY_TIMEOUT,
        };
        (then > now || !has_streams).then_some(then)
    }
}
