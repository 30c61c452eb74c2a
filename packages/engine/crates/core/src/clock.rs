use std::fmt::Write;

const DATE: &str = "Date: ";
const DATE_LENGTH: usize = "Sun, 06 Nov 1994 08:49:37 GMT".len();
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The last lines of a head, in Node's order: `Date`, the fields of the connection, and the empty line.
///
/// The text of the date is made once a second (RFC 9110 §5.6.7, §6.6.1); who owns the clock sets it.
#[derive(Clone, Debug)]
pub struct Clock {
    second: u64,
    keeps: Vec<u8>,
    closes: Vec<u8>,
}

impl Clock {
    /// `keep_alive_timeout` is in milliseconds; 0 leaves `Keep-Alive` out, as Node does.
    pub fn new(keep_alive_timeout: u64, now: u64) -> Self {
        let mut keeps = String::from("Connection: keep-alive\r\n");
        if keep_alive_timeout > 0 {
            keeps += &format!("Keep-Alive: timeout={}\r\n", keep_alive_timeout / 1000);
        }
        let date = date_of(now);
        let tail = |fields: &str| format!("{DATE}{date}\r\n{fields}\r\n").into_bytes();
        Self {
            second: now,
            keeps: tail(&keeps),
            closes: tail("Connection: close\r\n"),
        }
    }

    /// Sets the time, in seconds since 1970.
    pub fn set(&mut self, now: u64) {
        if now == self.second {
            return;
        }
        self.second = now;
        let date = date_of(now);
        for tail in [&mut self.keeps, &mut self.closes] {
            tail[DATE.len()..][..DATE_LENGTH].copy_from_slice(date.as_bytes());
        }
    }

    /// The lines of an answer after which the connection is kept, or closed.
    pub fn tail(&self, closes: bool) -> &[u8] {
        if closes { &self.closes } else { &self.keeps }
    }
}

/// An IMF-fixdate (RFC 9110 §5.6.7) of seconds since 1970, to the end of the year 9999.
fn date_of(now: u64) -> String {
    let now = now.min(253_402_300_799);
    let days = now / 86_400;
    let (year, month, day) = civil_date(days);
    let mut text = String::with_capacity(DATE_LENGTH);
    let weekday = DAYS[(days % 7) as usize];
    let (hour, minute, second) = (now / 3600 % 24, now / 60 % 60, now % 60);
    write!(
        text,
        "{weekday}, {day:02} {} {year:04} {hour:02}:{minute:02}:{second:02} GMT",
        MONTHS[month]
    )
    .expect("a string takes everything");
    text
}

/// Year, month from 0 and day of a count of days since 1970 in the Gregorian calendar.
fn civil_date(days: u64) -> (u64, usize, u64) {
    let (mut year, mut rest) = (1970, days);
    while rest >= days_of(year) {
        rest -= days_of(year);
        year += 1;
    }
    let february = if days_of(year) == 366 { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while rest >= lengths[month] {
        rest -= lengths[month];
        month += 1;
    }
    (year, month, rest + 1)
}

fn days_of(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if is_leap { 366 } else { 365 }
}
