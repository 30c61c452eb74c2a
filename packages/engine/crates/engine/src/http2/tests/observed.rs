use super::*;

/// Returns the number of answers and the number of aborted answers.
fn begun_and_aborted(thread: &Thread) -> [i64; 2] {
    let observations = thread.shared.observations.as_ref();
    let counts = observations.expect("observations are enabled").counts();
    [counts[0], counts[1]]
}

fn observations() -> Observations {
    Observations::new(&[], false)
}

#[test]
fn counts_an_answer_without_a_sent_end_as_aborted() {
    on_observed_thread(LIMITS, observations(), async |thread, _events| {
        shorten_body(thread);
        let mut raw = http2_client(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        let mut first = [0; SHORTER];
        raw.read_exact(&mut first)
            .await
            .expect("the engine answers");
        drop(raw);
        all_closed(thread).await;
        let [begun, aborted] = begun_and_aborted(thread);
        assert_eq!(begun, 8);
        assert!((4..8).contains(&aborted), "{aborted}");
    });
}

#[test]
fn counts_an_answer_to_a_disconnected_client_as_aborted() {
    on_observed_thread(LIMITS, observations(), async |thread, _events| {
        let table = Some(table_of(&[b"short".into()]));
        let short = Answers { table, ..answers() };
        thread.shared.answers.set(short);
        let mut raw = http2_client(thread);
        let mut first = [0];
        raw.write_all(&greedy(0)).await.expect("the engine reads");
        raw.read_exact(&mut first)
            .await
            .expect("the session starts");
        SockRef::from(&raw)
            .shutdown(Shutdown::Read)
            .expect("the connection is open");
        let request = greedy(1).split_off(greedy(0).len());
        raw.write_all(&request).await.expect("the engine reads");
        all_closed(thread).await;
        assert_eq!(begun_and_aborted(thread), [1, 1]);
    });
}
