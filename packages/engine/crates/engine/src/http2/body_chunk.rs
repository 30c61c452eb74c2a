use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::{Buf, Bytes};

use crate::http2::wire::Flow;
use crate::observe::ObservedAnswer;

/// The body of a table answer, counted as pending until h2 drops it.
///
/// The answer ends with its last byte. It counts as aborted if h2 drops unsent bytes.
pub struct Payload {
    bytes: Rc<Bytes>,
    unsent: Cell<usize>,
    observed: RefCell<Option<ObservedAnswer>>,
    flow: Rc<Flow>,
}

/// Part of a body. h2 sends it without a copy.
pub enum BodyChunk {
    /// A range of a table answer's body.
    Table {
        payload: Rc<Payload>,
        start: usize,
        end: usize,
    },
    /// Part of a relayed body.
    Relayed(Bytes),
}

impl Payload {
    /// Creates a body without sent bytes.
    pub fn new(bytes: Rc<Bytes>, observed: Option<ObservedAnswer>, flow: &Rc<Flow>) -> Rc<Self> {
        flow.begin_answer();
        let payload = Self {
            unsent: Cell::new(bytes.len()),
            bytes,
            observed: RefCell::new(observed),
            flow: flow.clone(),
        };
        payload.note_sent(0);
        Rc::new(payload)
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    fn note_sent(&self, count: usize) {
        self.unsent.set(self.unsent.get() - count);
        let mut place = self.observed.borrow_mut();
        if let Some(observed) = &mut *place {
            observed.sent(count as u64);
        }
        if let Some(observed) = place.take_if(|_| self.unsent.get() == 0) {
            self.flow.end_with_turn(observed);
        }
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        self.flow.drop_answer();
    }
}

impl BodyChunk {
    pub fn of_table(payload: Rc<Payload>, start: usize, end: usize) -> Self {
        Self::Table {
            payload,
            start,
            end,
        }
    }
}

impl Buf for BodyChunk {
    fn remaining(&self) -> usize {
        self.chunk().len()
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::Table {
                payload,
                start,
                end,
            } => &payload.bytes[*start..*end],
            Self::Relayed(bytes) => bytes,
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Table { payload, start, .. } => {
                *start += count;
                payload.note_sent(count);
            }
            Self::Relayed(bytes) => bytes.advance(count),
        }
    }
}
