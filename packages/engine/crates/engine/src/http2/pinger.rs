use std::task::Context;
use std::time::Duration;

use h2::{Ping, PingPong};

/// Checks whether a silent client still responds.
pub struct Pinger {
    ping_pong: Option<PingPong>,
    /// The time of the last unanswered PING.
    pinged: Option<Duration>,
}

impl Pinger {
    pub fn new(ping_pong: Option<PingPong>) -> Self {
        Self {
            ping_pong,
            pinged: None,
        }
    }

    /// Sends a PING, unless one is unanswered.
    pub fn ping(&mut self, now: Duration) {
        if self.pinged.is_none() {
            let ping_pong = self.ping_pong.as_mut();
            self.pinged = ping_pong
                .and_then(|ping_pong| ping_pong.send_ping(Ping::opaque()).ok())
                .map(|()| now);
        }
    }

    /// Returns the time of the last PING if it is still unanswered.
    pub fn poll_unanswered(&mut self, cx: &mut Context) -> Option<Duration> {
        if self.pinged.is_some()
            && let Some(ping_pong) = &mut self.ping_pong
            && ping_pong.poll_pong(cx).is_ready()
        {
            self.pinged = None;
        }
        self.pinged
    }

    /// Returns the time of the last PING if no answer to it was noticed.
    pub fn unanswered(&self) -> Option<Duration> {
        self.pinged
    }
}
