use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::ServerConfig;

use crate::answer_end::AnswerEnds;
use crate::answers::{Answers, CurrentAnswers};
use crate::counters::Counters;
use crate::event::{Event, EventSink};
use crate::limits::Limits;
use crate::observe::Observations;
use crate::shortage::DescriptorShortage;
use crate::stream_quota::StreamQuota;

/// The state that all threads and JavaScript share.
pub struct Shared {
    pub answers: CurrentAnswers,
    /// The TLS configuration of new connections. `None` disables TLS.
    pub encryption: ArcSwapOption<ServerConfig>,
    pub limits: Limits,
    /// The streams that Node must answer. Node limits them, too, but not while its event loop is blocked.
    pub relayed_streams: StreamQuota,
    /// The complete answer to a head that exceeds its time limit.
    pub timeout_answer: Vec<u8>,
    /// The counters and logs of answers. `None` disables them.
    pub observations: Option<Observations>,
    pub counters: Arc<Counters>,
    pub answer_ends: AnswerEnds,
    pub shortage: Arc<DescriptorShortage>,
    event_sink: ArcSwapOption<EventSink>,
}

impl Shared {
    /// Creates the state of an engine without threads.
    pub fn new(
        limits: Limits,
        timeout_answer: Vec<u8>,
        observations: Option<Observations>,
        event_sink: EventSink,
    ) -> Self {
        Self {
            answers: CurrentAnswers::default(),
            encryption: ArcSwapOption::empty(),
            limits,
            relayed_streams: StreamQuota::new(2 * limits.maximum_streams),
            timeout_answer,
            observations,
            counters: Arc::default(),
            answer_ends: AnswerEnds::default(),
            shortage: Arc::new(DescriptorShortage::new()),
            event_sink: ArcSwapOption::from_pointee(event_sink),
        }
    }

    /// Sends an event to JavaScript. Returns whether JavaScript will receive it.
    pub fn emit(&self, event: Event) -> bool {
        let event_sink = self.event_sink.load();
        event_sink
            .as_ref()
            .is_some_and(|event_sink| event_sink(event))
    }

    /// Drops the table, its files and the JavaScript functions. This breaks the reference cycle between the functions
    /// and the engine.
    pub fn release(&self) {
        self.answers.set(Answers::default());
        self.event_sink.store(None);
    }
}
