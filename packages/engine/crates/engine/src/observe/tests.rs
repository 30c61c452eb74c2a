use std::rc::Rc;

use super::{CLASSES, Observations, TOTALS};
use crate::answers::Answers;
use crate::testing::{
    BODY, HIT, LAST_HIT, LIMITS, OK_CLASS, OTHER_CLASS, SHORT, client, handed, on_observed_thread,
    on_thread, read, read_all,
};
use crate::thread::Thread;

const ALL: f64 = 1000.0;

fn observations() -> Observations {
    Observations::new(&[0.0, ALL], true)
}

fn of(thread: &Thread) -> &Observations {
    thread
        .shared
        .observations
        .as_ref()
        .expect("observations are enabled")
}

/// Returns `[started, aborted, saved, sent]` and the counts of both classes.
fn counts(thread: &Thread) -> ([i64; 4], [i64; 2]) {
    let all = of(thread).counts();
    let class = |class: u8| all[TOTALS + usize::from(class)];
    (
        [all[0], all[1], all[2], all[3]],
        [class(OK_CLASS), class(OTHER_CLASS)],
    )
}

/// The last fields of a log record.
#[derive(Debug, PartialEq)]
struct Record {
    sent: u64,
    class: u8,
    is_aborted: bool,
    request: String,
}

fn take_records(thread: &Thread) -> Vec<Record> {
    let log = of(thread).take_log().concat();
    let mut rest = &log[..];
    let mut records = Vec::new();
    while let Some((length, _)) = rest.split_at_checked(4) {
        let length = u32::from_le_bytes(length.try_into().expect("the slice has four bytes"));
        let (record, behind) = rest.split_at(length as usize);
        let number = |at: usize| {
            record[at..at + 8]
                .try_into()
                .expect("the slice has eight bytes")
        };
        assert!(f64::from_le_bytes(number(4)) > 1e9, "the time is recent");
        assert!((0.0..ALL).contains(&f64::from_le_bytes(number(12))));
        records.push(Record {
            sent: u64::from_le_bytes(number(20)),
            class: record[28],
            is_aborted: record[29] == 1,
            request: String::from_utf8_lossy(&record[31 + usize::from(record[30])..]).into(),
        });
        rest = behind;
    }
    records
}

fn record(sent: usize, class: u8, is_aborted: bool, request: &str) -> Record {
    let (sent, request) = (sent as u64, request.to_owned());
    Record {
        sent,
        class,
        is_aborted,
        request,
    }
}

async fn wait_until_closed(thread: &Rc<Thread>) {
    while !thread.connections.is_empty() {
        tokio::time::sleep(SHORT).await;
    }
}

#[test]
fn counts_and_logs_complete_answers() {
    on_observed_thread(LIMITS, observations(), async |thread, _| {
        let head = "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n";
        let mut client = client(thread, &[head, HIT, LAST_HIT].concat()).await;
        read_all(&mut client).await;
        let sent = 2 * BODY as i64;
        assert_eq!(counts(thread), ([3, 0, 14, sent], [3, 0]));
        let all = of(thread).counts();
        assert!(all[4] > 0, "the duration is positive");
        assert_eq!(all[TOTALS + CLASSES..], [0, 3, 0]);
        let records = [
            record(0, OK_CLASS, false, head),
            record(BODY, OK_CLASS, false, HIT),
            record(BODY, OK_CLASS, false, LAST_HIT),
        ];
        assert_eq!(take_records(thread), records);
        assert_eq!(take_records(thread), []);
    });
}

#[test]
fn keeps_the_class_of_an_answer_after_the_table_changes() {
    on_observed_thread(LIMITS, observations(), async |thread, _| {
        let same = "GET /a HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"x\"\r\n\r\n";
        let mut client = client(thread, &[same, LAST_HIT].concat()).await;
        tokio::time::sleep(SHORT).await;
        thread.shared.answers.set(Answers::default());
        read_all(&mut client).await;
        assert_eq!(counts(thread), ([2, 0, 7, BODY as i64], [1, 1]));
        assert_eq!(take_records(thread)[0], record(0, OTHER_CLASS, false, same));
    });
}

#[test]
fn counts_the_bytes_sent_to_a_disconnected_client() {
    on_observed_thread(LIMITS, observations(), async |thread, _| {
        let mut client = client(thread, &[HIT, HIT].concat()).await;
        read(&mut client, 1000).await;
        assert_eq!(counts(thread), ([1, 0, 0, 0], [0, 0]));
        drop(client);
        wait_until_closed(thread).await;
        let ([begun, aborted, saved, sent], [ended, _]) = counts(thread);
        assert_eq!((begun, aborted, saved, ended), (1, 1, 0, 1));
        assert!((500..BODY as i64).contains(&sent));
        let records = take_records(thread);
        assert_eq!(records, [record(sent as usize, OK_CLASS, true, HIT)]);
    });
}

#[test]
fn leaves_answers_to_node_while_the_log_is_full() {
    let full = Observations {
        max_log: 1,
        ..observations()
    };
    on_observed_thread(LIMITS, full, async |thread, events| {
        let mut first = client(thread, LAST_HIT).await;
        read_all(&mut first).await;
        let second = client(thread, HIT).await;
        let (_, mut node) = handed(events).await;
        assert_eq!(read(&mut node, HIT.len()).await, HIT);
        assert_eq!(take_records(thread).len(), 1);
        let mut third = client(thread, LAST_HIT).await;
        assert_eq!(read_all(&mut third).await.matches('b').count(), BODY);
        assert_eq!(counts(thread).0[0], 2);
        drop(second);
    });
}

#[test]
fn observes_nothing_without_the_option() {
    on_thread(LIMITS, async |thread, _| {
        let mut client = client(thread, LAST_HIT).await;
        read_all(&mut client).await;
        assert!(thread.observer.is_none() && thread.shared.observations.is_none());
    });
}

#[test]
fn has_the_same_numbers_as_typescript() {
    let binding = include_str!("../../../../src/binding.ts");
    let counts = format!("  totals: {TOTALS},\n  classes: {CLASSES},\n");
    assert!(binding.contains(&counts), "{counts}");
}
