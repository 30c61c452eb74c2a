use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serve_dist_core::{Answer, Kind, Table};

use crate::time::unix_time;

/// The maximum number of answer classes.
pub const CLASSES: usize = 64;
/// The maximum size of a thread's log in bytes. If it is full, Node answers and writes its own log.
const MAX_LOG: usize = 16 * 1024 * 1024;
/// The number of counters before those of classes and durations.
const TOTALS: usize = Total::Nanoseconds as usize + 1;

/// The first counters, in the order that `engine-answers.ts` reads. `TOTALS` names the last one.
enum Total {
    Started,
    Aborted,
    SavedBytes,
    SentBytes,
    Nanoseconds,
}

/// The counters and log records of all threads.
pub struct Observations {
    /// The upper bounds of the histogram.
    buckets: Vec<Duration>,
    max_log: usize,
    logs: bool,
    observers: Mutex<Vec<Arc<Observer>>>,
}

impl Observations {
    /// Creates counters by class and duration (bounds in seconds). `logs` enables log records.
    pub fn new(buckets: &[f64], logs: bool) -> Self {
        Self {
            buckets: buckets
                .iter()
                .copied()
                .map(Duration::from_secs_f64)
                .collect(),
            max_log: MAX_LOG,
            logs,
            observers: Mutex::default(),
        }
    }

    /// Creates an observer for a thread. Its counters outlive the thread.
    pub fn observer(&self) -> Arc<Observer> {
        let observer = Arc::new(Observer {
            buckets: self.buckets.clone(),
            counts: (0..TOTALS + CLASSES + self.buckets.len() + 1)
                .map(|_| AtomicU64::new(0))
                .collect(),
            max_log: self.max_log,
            log: self.logs.then(Mutex::default),
        });
        lock(&self.observers).push(observer.clone());
        observer
    }

    /// Returns the sums over all threads. `binding.ts` documents the order.
    pub fn counts(&self) -> Vec<i64> {
        let mut sums = vec![0_i64; TOTALS + CLASSES + self.buckets.len() + 1];
        for observer in lock(&self.observers).iter() {
            // Read in reverse order, so that no answer counts as ended before it counts as started.
            for (sum, count) in sums.iter_mut().zip(&observer.counts).rev() {
                *sum = sum.wrapping_add(count.load(Ordering::Relaxed).cast_signed());
            }
        }
        sums
    }

    /// Returns the log records since the last call, one buffer per thread that has any.
    pub fn take_log(&self) -> Vec<Vec<u8>> {
        let observers = lock(&self.observers);
        let logs = observers
            .iter()
            .filter_map(|observer| observer.log.as_ref());
        logs.map(|log| std::mem::take(&mut *lock(log)))
            .filter(|records| !records.is_empty())
            .collect()
    }
}

/// The counters and records of one thread, which is the only writer.
pub struct Observer {
    buckets: Vec<Duration>,
    counts: Vec<AtomicU64>,
    max_log: usize,
    log: Option<Mutex<Vec<u8>>>,
}

impl Observer {
    /// Starts to observe an answer. `request` is the head of the request.
    pub fn begin(
        self: &Arc<Self>,
        label: AnswerLabel,
        peer: Option<IpAddr>,
        request: &[u8],
    ) -> ObservedAnswer {
        self.add(Total::Started as usize, 1);
        ObservedAnswer {
            observer: self.clone(),
            label,
            peer,
            request: self.log.as_ref().map(|_| request.into()),
            started: Instant::now(),
            sent: 0,
            is_whole: false,
        }
    }

    /// Returns whether log records are enabled. Only they need the head of the request.
    pub fn logs(&self) -> bool {
        self.log.is_some()
    }

    /// Returns whether the log is full because JavaScript has not read it.
    pub fn is_full(&self) -> bool {
        let is_long = |log: &Mutex<Vec<u8>>| lock(log).len() >= self.max_log;
        self.log.as_ref().is_some_and(is_long)
    }

    fn record(&self, answer: &ObservedAnswer) {
        let ObservedAnswer {
            label,
            sent,
            is_whole,
            ..
        } = *answer;
        let duration = answer.started.elapsed();
        let bucket = self.buckets.iter().position(|bound| duration <= *bound);
        let bucket = bucket.unwrap_or(self.buckets.len());
        if is_whole {
            self.add(Total::SavedBytes as usize, label.saved.cast_unsigned());
        } else {
            self.add(Total::Aborted as usize, 1);
        }
        self.add(Total::SentBytes as usize, sent);
        let nanoseconds = duration.as_nanos().try_into().unwrap_or(u64::MAX);
        self.add(Total::Nanoseconds as usize, nanoseconds);
        self.add(TOTALS + usize::from(label.class), 1);
        self.add(TOTALS + CLASSES + bucket, 1);
        if let (Some(log), Some(request)) = (&self.log, &answer.request) {
            write_record(&mut lock(log), answer, duration, request);
        }
    }

    /// Needs no atomic addition, because only this thread writes.
    fn add(&self, at: usize, number: u64) {
        let count = &self.counts[at];
        count.store(
            count.load(Ordering::Relaxed).wrapping_add(number),
            Ordering::Relaxed,
        );
    }
}

/// The classes and savings of a build's answers.
#[derive(Default)]
pub struct BuildLabels {
    /// For each template, the class of each `Kind`.
    pub classes: Vec<u8>,
    /// For each representation, the bytes that its coding saves.
    pub saved: Vec<i64>,
}

/// The class and the savings of one answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerLabel {
    class: u8,
    saved: i64,
}

impl BuildLabels {
    /// Returns whether the lengths match the table and all classes are valid.
    pub fn match_table(&self, templates: usize, representations: usize) -> bool {
        self.classes.len() == Kind::COUNT * templates
            && self.saved.len() == representations
            && self
                .classes
                .iter()
                .all(|&class| usize::from(class) < CLASSES)
    }

    /// Returns the label of an answer.
    pub fn of(&self, table: &Table, answer: &Answer) -> AnswerLabel {
        let template = table.template(answer.representation);
        AnswerLabel {
            class: self
                .classes
                .get(Kind::COUNT * template + answer.kind as usize)
                .copied()
                .unwrap_or_default(),
            saved: match self.saved.get(answer.representation) {
                Some(&saved) if answer.with_body => saved,
                _ => 0,
            },
        }
    }
}

/// An unfinished answer. It counts as aborted if it is dropped without a call of `end`.
pub struct ObservedAnswer {
    observer: Arc<Observer>,
    label: AnswerLabel,
    peer: Option<IpAddr>,
    /// The head of the request if log records are enabled.
    request: Option<Box<[u8]>>,
    started: Instant,
    sent: u64,
    is_whole: bool,
}

impl ObservedAnswer {
    /// Adds sent bytes of the body.
    pub fn sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Marks the answer as complete.
    pub fn end(mut self) {
        self.is_whole = true;
    }
}

impl Drop for ObservedAnswer {
    fn drop(&mut self) {
        self.observer.record(self);
    }
}

/// The unfinished answers of an HTTP/1.1 connection, in order.
#[derive(Default)]
pub struct ObservedAnswers(RefCell<VecDeque<QueuedAnswer>>);

/// The number of bytes of an answer, and how many of them belong to its body.
#[derive(Clone, Copy)]
pub struct AnswerSize {
    pub whole: usize,
    pub body: usize,
}

struct QueuedAnswer {
    /// The connection's total sent bytes at the end of this answer.
    end: u64,
    body: u64,
    answer: ObservedAnswer,
}

impl ObservedAnswers {
    /// Adds an answer after all queued answers. `taken` is the number of bytes sent so far.
    pub fn begin(&self, taken: u64, size: AnswerSize, answer: ObservedAnswer) {
        let mut queue = self.0.borrow_mut();
        let begin = queue.back().map_or(taken, |last| last.end);
        queue.push_back(QueuedAnswer {
            end: begin + size.whole as u64,
            body: size.body as u64,
            answer,
        });
    }

    /// Ends all answers that are complete after `taken` bytes.
    pub fn settle(&self, taken: u64) {
        let mut queue = self.0.borrow_mut();
        while queue.front().is_some_and(|first| first.end <= taken) {
            if let Some(mut first) = queue.pop_front() {
                first.answer.sent(first.body);
                first.answer.end();
            }
        }
        if queue.is_empty() && queue.capacity() > 0 {
            *queue = VecDeque::new();
        }
    }

    /// Ends complete answers, and aborts the others.
    pub fn abort(&self, taken: u64) {
        self.settle(taken);
        for mut queued in self.0.borrow_mut().drain(..) {
            let missing = queued.end - taken;
            queued.answer.sent(queued.body.saturating_sub(missing));
        }
    }
}

/// Appends a record. `binding.ts` documents its fields; numbers are little-endian.
fn write_record(log: &mut Vec<u8>, answer: &ObservedAnswer, duration: Duration, request: &[u8]) {
    let start = log.len();
    log.extend_from_slice(&[0; 4]);
    log.extend_from_slice(&unix_time().as_secs_f64().to_le_bytes());
    log.extend_from_slice(&duration.as_secs_f64().to_le_bytes());
    log.extend_from_slice(&answer.sent.to_le_bytes());
    log.extend_from_slice(&[answer.label.class, u8::from(!answer.is_whole), 0]);
    let peer = log.len();
    if let Some(address) = answer.peer {
        // Writing to a `Vec` cannot fail.
        let _ = write!(log, "{address}");
    }
    log[peer - 1] = u8::try_from(log.len() - peer).unwrap_or(u8::MAX);
    log.extend_from_slice(request);
    let length = u32::try_from(log.len() - start).unwrap_or(u32::MAX);
    log[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

fn lock<Content>(mutex: &Mutex<Content>) -> MutexGuard<'_, Content> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
