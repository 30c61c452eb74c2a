use super::*;

#[test]
fn sends_answers_in_h2_before_it_drains() {
    on_thread(LIMITS, async |thread, _events| {
        shorten_body(thread);
        let mut raw = http2_client(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        let mut bytes = vec![0; 100];
        raw.read_exact(&mut bytes)
            .await
            .expect("the engine answers");
        let mut drained = pin!(drain(thread, None, LONG));
        timeout(2 * GOAWAY_TIMEOUT, &mut drained)
            .await
            .expect_err("the drain waits for the client");
        let ((), ended) = tokio::join!(drained, raw.read_to_end(&mut bytes));
        ended.expect("the session ends");
        let bodies = frames_of(&bytes).into_iter().filter(|frame| frame.0 == 0);
        assert_eq!(bodies.map(|frame| frame.1).sum::<usize>(), 8 * SHORTER);
    });
}

#[test]
fn resets_bodies_after_the_grace_period() {
    on_thread(LIMITS, async |thread, _events| {
        let mut send = connect(thread, 0).await;
        let response = get(&mut send, "/a").await.expect("the engine answers");
        let drained = drain(thread, None, GOAWAY_TIMEOUT + SHORT);
        let (came, ()) = tokio::join!(read(response.into_body()), drained);
        let error = came.expect_err("the body is incomplete");
        assert_eq!(reason(&error), Some(Reason::INTERNAL_ERROR));
    });
}

#[test]
fn resets_relayed_answers_after_the_grace_period_even_if_node_is_busy() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let response = send
            .send_request(request(Method::POST, "/miss"), true)
            .expect("the stream is open")
            .0;
        let mut node = node(events).await;
        let (asked, _respond) = next_request(&mut node).await;
        let ((), reset) = tokio::join!(drain(thread, None, GOAWAY_TIMEOUT + SHORT), response);
        let error = reset.expect_err("the stream is reset");
        assert_eq!(reason(&error), Some(Reason::INTERNAL_ERROR));
        drop(asked);
    });
}

#[test]
fn keeps_a_complete_answer_to_an_unfinished_upload_after_the_grace_period() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, mut upload, unread) = answer_early(&mut send, events).await;
        let drained = drain(thread, None, GOAWAY_TIMEOUT + SHORT);
        let ((), response) = tokio::join!(drained, response);
        let body = response.expect("the engine answers").into_body();
        assert_eq!(read(body).await.expect("the body is complete").0, 2);
        let reset = poll_fn(|cx| upload.poll_reset(cx)).await;
        assert_eq!(reset.expect("the stream is reset"), Reason::NO_ERROR);
        drop(unread);
    });
}

#[test]
fn drains_without_waiting_for_a_silent_client() {
    on_thread(LIMITS, async |thread, _events| {
        let _raw = http2_client(thread);
        tokio::task::yield_now().await;
        timeout(3 * NEW_CONNECTION, drain(thread, None, LONG))
            .await
            .expect("the drain does not wait for the client");
    });
}
