use std::time::Duration;

use napi::Error;

/// The result of a function whose error has a `code` in JavaScript.
pub type Result<T> = std::result::Result<T, Error<String>>;

pub fn invalid(reason: String) -> Error<String> {
    Error::new("ERR_INVALID_ARG_VALUE".to_owned(), reason)
}

/// Converts a string to bytes. JavaScript represents field values as Latin-1 characters.
pub fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|character| u8::try_from(character).unwrap_or(b'?'))
        .collect()
}

pub fn milliseconds(count: f64) -> Duration {
    Duration::from_millis(integer(count))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
pub fn integer(number: f64) -> u64 {
    number as u64
}
