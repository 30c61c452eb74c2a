/// An answer from the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The length of the request, which has no body. 0 over HTTP/2.
    pub consumed: usize,
    /// The number of the resource in the table.
    pub resource: usize,
    /// The number of the representation in the table.
    pub representation: usize,
    /// The status.
    pub kind: Kind,
    /// Whether the answer includes the body.
    pub with_body: bool,
    /// Whether the client sent `Connection: close`. Always false over HTTP/2.
    pub closes: bool,
}

impl Answer {
    /// Returns where the request ends if Node answers it instead.
    pub fn request_end(&self) -> RequestEnd {
        if self.closes {
            RequestEnd::Open
        } else {
            RequestEnd::Plain { body: 0 }
        }
    }
}

/// The status code of an answer. `request.rs` selects it, and the templates of its heads are in `build_index.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 200 OK.
    Ok,
    /// 304 Not Modified.
    NotModified,
}

impl Kind {
    /// The number of kinds.
    pub const COUNT: usize = Self::NotModified as usize + 1;

    /// Returns whether the answer to GET has the representation as its body.
    pub fn has_body(self) -> bool {
        match self {
            Self::Ok => true,
            Self::NotModified => false,
        }
    }
}

/// The end of a request that Node answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// After the body. The engine may then reuse the connection.
    Plain {
        /// The length of the body in bytes.
        body: u64,
    },
    /// The engine cannot know. Node keeps the connection.
    Open,
}
