use std::time::{Duration, SystemTime};

/// Returns the time since 1970.
pub fn unix_time() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// Returns the whole milliseconds.
pub fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
