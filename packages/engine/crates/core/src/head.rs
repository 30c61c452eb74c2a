use std::fmt;
use std::io::Write;
use std::ops::Range;

/// Placeholders in a template. They equal `engineMarks` in `binding.ts`. No field value may contain these octets.
pub const TAG: u8 = 1;
pub const LENGTH: u8 = 2;
pub const LAST_MODIFIED: u8 = 3;
pub const DICTIONARY: u8 = 4;

/// A response head with placeholders, which many answers share.
#[derive(Debug)]
pub(crate) struct Template(Box<[Segment]>);

/// A range of the text, and the value that follows it.
#[derive(Debug)]
struct Segment {
    text: Range<u32>,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    None,
    Tag,
    Length,
    LastModified,
    Dictionary,
}

/// The values for the placeholders of one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a> {
    pub tag: &'a [u8],
    pub length: u32,
    pub last_modified: &'a [u8],
    pub dictionary: &'a [u8],
}

/// The status line and the fields of an answer. Each line ends with CRLF.
pub struct Head<'a> {
    template: &'a Template,
    text: &'a [u8],
    values: Values<'a>,
}

impl Template {
    /// Parses a template that starts at `start` in the table's text. Returns `None` if it does not end with CRLF.
    pub fn read(template: &[u8], start: u32) -> Option<Self> {
        if !template.ends_with(b"\r\n") {
            return None;
        }
        let mut segments = Vec::new();
        let mut from = start;
        for (&byte, at) in template.iter().zip(start..) {
            let value = match byte {
                TAG => Value::Tag,
                LENGTH => Value::Length,
                LAST_MODIFIED => Value::LastModified,
                DICTIONARY => Value::Dictionary,
                _ => continue,
            };
            let text = from..at;
            segments.push(Segment { text, value });
            from = at + 1;
        }
        let text = from..start + u32::try_from(template.len()).ok()?;
        let value = Value::None;
        segments.push(Segment { text, value });
        Some(Self(segments.into()))
    }

    /// Returns the head of an answer. `text` is the table's text.
    pub fn with_values<'a>(&'a self, text: &'a [u8], values: Values<'a>) -> Head<'a> {
        Head {
            template: self,
            text,
            values,
        }
    }
}

impl Head<'_> {
    /// Appends the head to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        for Segment { text, value } in &self.template.0 {
            out.extend_from_slice(&self.text[text.start as usize..text.end as usize]);
            match value {
                Value::None => {}
                Value::Tag => out.extend_from_slice(self.values.tag),
                // Writing to a `Vec` cannot fail.
                Value::Length => write!(out, "{}", self.values.length).unwrap_or_default(),
                Value::LastModified => out.extend_from_slice(self.values.last_modified),
                Value::Dictionary => out.extend_from_slice(self.values.dictionary),
            }
        }
    }
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = Vec::new();
        self.write_to(&mut head);
        write!(formatter, "{:?}", String::from_utf8_lossy(&head))
    }
}

/// Returns the names and values of a serialized head, for HTTP/2.
pub fn fields_of(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = head.split(|&byte| byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let line = line.strip_suffix(b"\r")?;
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii_start()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"/path\x01HTTP/1.1 200 OK\r\nContent-Length: \x02\r\nETag: \x01\r\nLast-Modified: \x03\r\n\
        Use-As-Dictionary: \x04\r\nX: a: b\r\n";
    const VALUES: Values = Values {
        tag: b"\"tag\"",
        length: 1_234_567_890,
        last_modified: b"then",
        dictionary: b"match=\"/\"",
    };
    const WRITTEN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1234567890\r\nETag: \"tag\"\r\n\
        Last-Modified: then\r\nUse-As-Dictionary: match=\"/\"\r\nX: a: b\r\n";

    fn written(template: &[u8], start: u32) -> Vec<u8> {
        let mut out = Vec::new();
        let template = Template::read(template, start).expect("the template ends with CRLF");
        template.with_values(TEXT, VALUES).write_to(&mut out);
        out
    }

    #[test]
    fn replaces_placeholders_with_values() {
        assert_eq!(written(&TEXT[6..], 6), WRITTEN);
    }

    #[test]
    fn copies_a_template_without_placeholders() {
        assert_eq!(written(&TEXT[6..23], 6), b"HTTP/1.1 200 OK\r\n");
    }

    #[test]
    fn rejects_a_template_that_does_not_end_with_crlf() {
        assert!(Template::read(&TEXT[6..22], 6).is_none());
        assert!(Template::read(b"", 0).is_none());
    }

    #[test]
    fn splits_a_head_into_names_and_values() {
        let expected: [(&[u8], &[u8]); 5] = [
            (b"Content-Length", b"1234567890"),
            (b"ETag", b"\"tag\""),
            (b"Last-Modified", b"then"),
            (b"Use-As-Dictionary", b"match=\"/\""),
            (b"X", b"a: b"),
        ];
        assert!(fields_of(WRITTEN).eq(expected));
    }
}
