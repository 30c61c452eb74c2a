use std::time::Duration;

/// What a client says before its first frame (RFC 9113 §3.4).
const PREFACE: usize = 24;
/// Length, type, flags and stream (RFC 9113 §4.1).
const HEAD: usize = 9;

const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
/// Of SETTINGS and PING: it answers one of ours.
const ACK: u8 = 1;

/// How often something may happen.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// At once.
    pub burst: f64,
    /// Besides.
    pub per_second: f64,
}

/// A token bucket that refills over time.
struct Bucket {
    rate: Rate,
    tokens: f64,
    since: Duration,
}

/// Counts frames that cost a client nothing and make us work; h2 knows none of them but as a frame that it has dealt with.
pub struct Frames {
    /// Bytes until the next head.
    skipped: usize,
    head: [u8; HEAD],
    /// Bytes of the head that have come.
    come: usize,
    resets: Bucket,
    questions: Bucket,
}

impl Bucket {
    fn new(rate: Rate) -> Self {
        Self {
            rate,
            tokens: rate.burst,
            since: Duration::ZERO,
        }
    }

    /// Whether it is one too many.
    fn overflows(&mut self, now: Duration) -> bool {
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

impl Frames {
    /// `resets` is for streams that are cancelled, `questions` for PING and SETTINGS, which want an answer.
    pub fn new(resets: Rate, questions: Rate) -> Self {
        Self {
            skipped: PREFACE,
            head: [0; HEAD],
            come: 0,
            resets: Bucket::new(resets),
            questions: Bucket::new(questions),
        }
    }

    /// Looks at what a client has sent; whether that is too much.
    pub fn overflow(&mut self, mut bytes: &[u8], now: Duration) -> bool {
        let mut is_too_much = false;
        loop {
            let skipped = self.skipped.min(bytes.len());
            self.skipped -= skipped;
            bytes = &bytes[skipped..];
            let taken = (HEAD - self.come).min(bytes.len());
            self.head[self.come..][..taken].copy_from_slice(&bytes[..taken]);
            self.come += taken;
            bytes = &bytes[taken..];
            if self.come < HEAD {
                return is_too_much;
            }
            self.come = 0;
            let [a, b, c, kind, flags, ..] = self.head;
            self.skipped = u32::from_be_bytes([0, a, b, c]) as usize;
            is_too_much |= match kind {
                RST_STREAM => self.resets.overflows(now),
                PING | SETTINGS if flags & ACK == 0 => self.questions.overflows(now),
                _ => false,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Rate = Rate {
        burst: 2.0,
        per_second: 1.0,
    };

    fn frames() -> Frames {
        let mut frames = Frames::new(FEW, FEW);
        assert!(!frames.overflow(&[0; PREFACE], Duration::ZERO));
        frames
    }

    fn frame(kind: u8, flags: u8, length: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        bytes.resize(HEAD + usize::from(length), RST_STREAM);
        bytes
    }

    #[test]
    fn counts_what_is_cancelled_and_what_wants_an_answer() {
        for kind in [RST_STREAM, PING, SETTINGS] {
            let mut frames = frames();
            let bytes = frame(kind, 0, 8);
            let found: Vec<_> = (0..3)
                .map(|_| frames.overflow(&bytes, Duration::ZERO))
                .collect();
            assert_eq!(found, [false, false, true]);
            assert!(!frames.overflow(&bytes, Duration::from_secs(1)));
            assert!(frames.overflow(&bytes, Duration::from_secs(1)));
        }
    }

    #[test]
    fn counts_no_other_frames() {
        let mut frames = frames();
        for bytes in [
            frame(0, 0, 200),
            frame(PING, ACK, 8),
            frame(SETTINGS, ACK, 0),
        ] {
            assert!(!(0..5).any(|_| frames.overflow(&bytes, Duration::ZERO)));
        }
    }

    #[test]
    fn finds_frames_however_they_are_cut() {
        let bytes = [frame(0, 0, 20), frame(RST_STREAM, 0, 4)].concat();
        for size in 1..bytes.len() {
            let mut frames = frames();
            let mut count = || {
                let pieces = bytes.chunks(size);
                pieces
                    .filter(|piece| frames.overflow(piece, Duration::ZERO))
                    .count()
            };
            assert_eq!([count(), count(), count()], [0, 0, 1], "pieces of {size}");
        }
    }
}
