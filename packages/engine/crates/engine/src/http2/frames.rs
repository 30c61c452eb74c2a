use std::time::Duration;

use crate::limits::Rate;

/// The length of the connection preface (RFC 9113 §3.4).
const PREFACE: usize = 24;
/// The length of a frame header (RFC 9113 §4.1).
const HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
/// The flag of SETTINGS and PING that marks a reply.
const ACK: u8 = 1;

/// Bytes of requests and sent bytes together must be at least an eighth of the received bytes, with a credit of 1 MiB.
/// nginx uses the same numbers.
const MIN_REQUEST_SHARE: u64 = 8;
const FREE_BYTES: u64 = 1024 * 1024;

/// A token bucket that refills over time.
struct TokenBucket {
    rate: Rate,
    tokens: f64,
    since: Duration,
}

/// Parses frame headers from a byte stream.
#[derive(Default)]
struct FrameHeads {
    /// The number of bytes until the next header.
    skipped: usize,
    head: [u8; HEAD],
    /// The number of received bytes of the header.
    received: usize,
}

/// Limits frames that are cheap for the client and expensive for the server. h2 does not report them.
pub struct FrameLimiter {
    heads: FrameHeads,
    /// The number of received bytes, and how many of them belong to requests.
    received: u64,
    request_bytes: u64,
    resets: TokenBucket,
    control_frames: TokenBucket,
}

impl TokenBucket {
    fn new(rate: Rate) -> Self {
        Self {
            rate,
            tokens: rate.burst,
            since: Duration::ZERO,
        }
    }

    /// Takes a token. Returns whether none was left.
    fn is_exceeded(&mut self, now: Duration) -> bool {
        let passed = now.saturating_sub(self.since).as_secs_f64();
        self.since = now;
        self.tokens = (self.tokens + passed * self.rate.per_second).min(self.rate.burst);
        if self.tokens < 1.0 {
            return true;
        }
        self.tokens -= 1.0;
        false
    }
}

impl FrameHeads {
    /// Returns the next header. Removes it and the preceding bytes from `bytes`.
    fn next(&mut self, bytes: &mut &[u8]) -> Option<[u8; HEAD]> {
        let skipped = self.skipped.min(bytes.len());
        self.skipped -= skipped;
        *bytes = &bytes[skipped..];
        let taken = (HEAD - self.received).min(bytes.len());
        self.head[self.received..][..taken].copy_from_slice(&bytes[..taken]);
        self.received += taken;
        *bytes = &bytes[taken..];
        if self.received < HEAD {
            return None;
        }
        self.received = 0;
        let [a, b, c, ..] = self.head;
        self.skipped = u32::from_be_bytes([0, a, b, c]) as usize;
        Some(self.head)
    }
}

impl FrameLimiter {
    /// Creates a limiter. `resets` limits canceled streams; `control_frames` limits PING and SETTINGS.
    pub fn new(resets: Rate, control_frames: Rate) -> Self {
        Self {
            heads: FrameHeads {
                skipped: PREFACE,
                ..FrameHeads::default()
            },
            received: 0,
            request_bytes: 0,
            resets: TokenBucket::new(resets),
            control_frames: TokenBucket::new(control_frames),
        }
    }

    /// Counts a reset that the server sent. Returns whether it exceeds the limit.
    pub fn note_reset(&mut self, now: Duration) -> bool {
        self.resets.is_exceeded(now)
    }

    /// Counts received frames. Returns whether they exceed a limit. `sent` is the number of bytes sent to the client.
    pub fn exceeds_limits(&mut self, mut bytes: &[u8], now: Duration, sent: u64) -> bool {
        let mut is_exceeded = false;
        self.received += bytes.len() as u64;
        while let Some([_, _, _, kind, flags, ..]) = self.heads.next(&mut bytes) {
            is_exceeded |= match kind {
                DATA | HEADERS | CONTINUATION => {
                    self.request_bytes += self.heads.skipped as u64;
                    false
                }
                RST_STREAM => self.resets.is_exceeded(now),
                PING | SETTINGS if flags & ACK == 0 => self.control_frames.is_exceeded(now),
                _ => false,
            };
        }
        is_exceeded || self.received / MIN_REQUEST_SHARE > self.request_bytes + sent + FREE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Rate = Rate {
        burst: 2.0,
        per_second: 1.0,
    };

    const START: Duration = Duration::ZERO;

    fn frames() -> FrameLimiter {
        let mut frames = FrameLimiter::new(FEW, FEW);
        assert!(!frames.exceeds_limits(&[0; PREFACE], START, 0));
        frames
    }

    /// Returns a frame on stream 1.
    fn frame(kind: u8, flags: u8, length: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        bytes.resize(HEAD + usize::from(length), RST_STREAM);
        bytes
    }

    #[test]
    fn limits_resets_pings_and_settings() {
        for kind in [RST_STREAM, PING, SETTINGS] {
            let mut frames = frames();
            let bytes = frame(kind, 0, 8);
            let found: Vec<_> = (0..3)
                .map(|_| frames.exceeds_limits(&bytes, START, 0))
                .collect();
            assert_eq!(found, [false, false, true]);
            assert!(!frames.exceeds_limits(&bytes, Duration::from_secs(1), 0));
            assert!(frames.exceeds_limits(&bytes, Duration::from_secs(1), 0));
        }
    }

    #[test]
    fn limits_bytes_that_belong_to_no_request() {
        const WINDOW_UPDATE: u8 = 8;
        let many = |kind: u8, length: u8| frame(kind, 0, length).repeat(10_000);
        let is_exceeded = |bytes: &[u8], sent: u64| {
            let mut frames = frames();
            (1..100).any(|round| frames.exceeds_limits(bytes, START, round * sent))
        };
        assert!(is_exceeded(&many(WINDOW_UPDATE, 4), 0));
        assert!(!is_exceeded(&many(WINDOW_UPDATE, 4), 20_000));
        assert!(!is_exceeded(&many(DATA, 4), 0));
    }

    #[test]
    fn ignores_other_frames() {
        let mut frames = frames();
        for bytes in [
            frame(0, 0, 200),
            frame(PING, ACK, 8),
            frame(SETTINGS, ACK, 0),
        ] {
            assert!(!(0..5).any(|_| frames.exceeds_limits(&bytes, START, 0)));
        }
    }

    #[test]
    fn finds_frames_in_fragmented_input() {
        let bytes = [frame(0, 0, 20), frame(RST_STREAM, 0, 4)].concat();
        for size in 1..bytes.len() {
            let mut frames = frames();
            let mut count = || {
                let pieces = bytes.chunks(size);
                pieces
                    .filter(|piece| frames.exceeds_limits(piece, START, 0))
                    .count()
            };
            assert_eq!([count(), count(), count()], [0, 0, 1], "pieces of {size}");
        }
    }
}
