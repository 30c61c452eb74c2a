//! Tables for tests and for fuzzing.
use crate::{NO_SLAB, TableParts};

/// A resource and its representations.
pub struct Sample<'a> {
    pub path: &'a str,
    pub layout: u32,
    pub last_modified: &'a str,
    pub flags: u32,
    /// Opaque tags and bodies. `None` means that the body is not in memory.
    pub representations: &'a [(&'a str, Option<&'a str>)],
}

/// The modification date of the samples.
pub const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
/// The only known host.
pub const HOST: &str = "example.com";

const HAS_DELTAS: u32 = 1;
const HAS_HINTS: u32 = 2;

/// Layout 0 has brotli and identity; layout 1 has identity only.
pub const SAMPLES: [Sample; 6] = [
    Sample {
        path: "/",
        layout: 0,
        last_modified: DATE,
        flags: 0,
        representations: &[("\"br\"", Some("b")), ("\"id\"", Some("index"))],
    },
    Sample {
        path: "/app.js",
        layout: 0,
        last_modified: "",
        flags: 0,
        representations: &[("\"app-br\"", Some("")), ("\"app\"", Some("app"))],
    },
    Sample {
        path: "/image.png",
        layout: 1,
        last_modified: DATE,
        flags: 0,
        representations: &[("\"image\"", Some("image"))],
    },
    Sample {
        path: "/deltas.js",
        layout: 1,
        last_modified: DATE,
        flags: HAS_DELTAS,
        representations: &[("\"deltas\"", Some("deltas"))],
    },
    Sample {
        path: "/streamed",
        layout: 0,
        last_modified: DATE,
        flags: 0,
        representations: &[
            ("\"streamed-br\"", None),
            ("\"streamed\"", Some("streamed")),
        ],
    },
    Sample {
        path: "/hints",
        layout: 1,
        last_modified: DATE,
        flags: HAS_HINTS,
        representations: &[("\"hints\"", Some("hints"))],
    },
];

/// Builds a table of samples. Without `Accept-Encoding`, the choice is identity; for `br`, it is brotli if available.
/// For `*;q=0`, Node answers.
pub fn table_of(samples: &[Sample]) -> TableParts {
    let mut text = Text::default();
    let (mut resources, mut representations, mut slab) = (Vec::new(), Vec::new(), Vec::new());
    for sample in samples {
        let first = (representations.len() / 6) as u32;
        let [path, date] = [sample.path, sample.last_modified].map(|part| text.add(part));
        let count = sample.representations.len() as u32;
        resources.extend([
            path.0,
            path.1,
            sample.layout,
            first,
            count,
            date.0,
            date.1,
            0,
            0,
            sample.flags,
        ]);
        for (tag, body) in sample.representations {
            let tag = text.add(tag);
            let place = body.map_or([NO_SLAB, 0, 0], |body| {
                [0, slab.len() as u32, body.len() as u32]
            });
            representations.extend([0, tag.0, tag.1]);
            representations.extend(place);
            slab.extend_from_slice(body.unwrap_or_default().as_bytes());
        }
    }
    let ok = text.add("HTTP/1.1 200 OK\r\nETag: \x01\r\nContent-Length: \x02\r\n");
    let not_modified = text.add("HTTP/1.1 304 Not Modified\r\nETag: W/\x01\r\n");
    let templates = [ok.0, ok.1, not_modified.0, not_modified.1];
    let counts = [resources.len() / 10, representations.len() / 6, 2, 1].map(|count| count as u32);
    TableParts {
        text: text.0.into(),
        index: [&counts[..], &resources, &representations, &templates].concat(),
        slabs: vec![slab.into()],
        files: 0,
        codings: ["", "br", "*;q=0"].map(Vec::from).into(),
        choices: vec![1, 0, 0, 0, 255, 255],
    }
}

#[derive(Default)]
struct Text(Vec<u8>);

impl Text {
    fn add(&mut self, part: &str) -> (u32, u32) {
        let start = self.0.len() as u32;
        self.0.extend_from_slice(part.as_bytes());
        (start, part.len() as u32)
    }
}

/// Returns whether the engine must not answer this head. It uses another parser than the engine.
pub fn refuses_answer(head: &[u8]) -> bool {
    let text: String = head
        .iter()
        .map(|&byte| char::from(byte).to_ascii_lowercase())
        .collect();
    let Some(lines) = text.strip_suffix("\r\n\r\n") else {
        return true;
    };
    let mut lines = lines.split("\r\n");
    let request_line = lines.next().unwrap_or_default();
    let mut names: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name)
        .collect();
    let refused = [
        "range",
        "if-range",
        "if-match",
        "if-unmodified-since",
        "expect",
        "upgrade",
        "content-length",
        "transfer-encoding",
        "proxy-connection",
        "",
    ];
    let once = [
        "host",
        "accept-encoding",
        "if-none-match",
        "if-modified-since",
        "connection",
    ];
    names.sort_unstable();
    let is_refused = names
        .iter()
        .any(|name| refused.contains(name) || name.trim() != *name);
    let is_twice = names
        .windows(2)
        .any(|pair| pair[0] == pair[1] && once.contains(&pair[0]));
    let is_whole = !text[..text.len() - 2].contains("\r\n\r\n")
        && !text.replace("\r\n", "").contains(['\r', '\n']);
    is_refused || is_twice || !is_whole || !names.contains(&"host") || request_line.contains('#')
}
