use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The end of Node's current answer on a link. JavaScript reports it, and the relay reads it.
#[derive(Default)]
pub struct AnswerEnd(Mutex<State>);

#[derive(Default)]
struct State {
    /// In bytes since the link was opened.
    end: Option<u64>,
    /// Whether the end of the link aborts the answer. Set before Node closes its end.
    is_cut_off: bool,
    /// The relay, if it cannot continue without the end.
    waiting: Option<Waker>,
}

impl AnswerEnd {
    /// Prepares for the next answer.
    pub fn clear(&self) {
        self.state().end = None;
    }

    /// Returns the end of the answer, if Node has reported it.
    pub fn get(&self) -> Option<u64> {
        self.state().end
    }

    pub fn is_cut_off(&self) -> bool {
        self.state().is_cut_off
    }

    /// Returns the end of the answer. If it is unknown, wakes the task of `waker` when Node reports it.
    pub fn get_or_wake(&self, waker: &Waker) -> Option<u64> {
        let mut state = self.state();
        if state.end.is_none() {
            state.waiting = Some(waker.clone());
        }
        state.end
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answers' ends of all open links, by the number of the link.
#[derive(Default)]
pub struct AnswerEnds(Mutex<HashMap<u64, Arc<AnswerEnd>>>);

impl AnswerEnds {
    /// Adds a link until `remove`.
    pub fn add(&self, id: u64) -> Arc<AnswerEnd> {
        self.links().entry(id).or_default().clone()
    }

    pub fn remove(&self, id: u64) {
        self.links().remove(&id);
    }

    /// Sets the end of an answer. The link may already be closed.
    ///
    /// The relay usually learns it with the next request of the client. This saves a wake-up of its thread.
    pub fn set(&self, id: u64, bytes: u64) {
        let waiting = self.find(id).and_then(|answer| {
            let mut state = answer.state();
            state.end = Some(bytes);
            state.waiting.take()
        });
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    /// Makes the end of a link abort its answer. The link may already be closed.
    pub fn cut_off(&self, id: u64) {
        if let Some(answer) = self.find(id) {
            answer.state().is_cut_off = true;
        }
    }

    fn find(&self, id: u64) -> Option<Arc<AnswerEnd>> {
        self.links().get(&id).cloned()
    }

    fn links(&self) -> MutexGuard<'_, HashMap<u64, Arc<AnswerEnd>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
