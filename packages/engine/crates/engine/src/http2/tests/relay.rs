use super::*;

#[test]
fn relays_bodies_hints_and_trailers() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (mut response, mut upload) = send
            .send_request(request(Method::POST, "/miss"), false)
            .expect("the stream is open");
        let mut node = node(events).await;
        let (asked, mut respond) = next_request(&mut node).await;
        tokio::task::spawn_local(async move { node.accept().await.is_none() });
        assert_eq!(asked.uri(), "https://x/miss");
        upload
            .send_data(Bytes::from_static(b"up"), false)
            .expect("the stream is open");
        let mut trailers = HeaderMap::new();
        trailers.insert("sum", "1".parse().expect("the value is valid"));
        upload
            .send_trailers(trailers.clone())
            .expect("the stream is open");
        let (length, came) = read(asked.into_body()).await.expect("the body is complete");
        assert_eq!((length, came.as_ref()), (2, Some(&trailers)));
        let hint = Response::builder().status(103).header("link", "a");
        respond
            .send_informational(hint.body(()).expect("the response is valid"))
            .expect("the stream is open");
        let mut down = respond
            .send_response(Response::new(()), false)
            .expect("the stream is open");
        down.send_data(vec![b'd'; 100_000].into(), false)
            .expect("the stream is open");
        down.send_trailers(trailers.clone())
            .expect("the stream is open");
        let hint = poll_fn(|cx| response.poll_informational(cx)).await;
        assert_eq!(
            hint.expect("a request arrives")
                .expect("the response is valid")
                .status(),
            103
        );
        let response = response.await.expect("the engine answers");
        let (length, came) = read(response.into_body())
            .await
            .expect("the body is complete");
        assert_eq!((length, came), (100_000, Some(trailers)));
    });
}

#[test]
fn relays_resets_in_both_directions() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, mut upload) = send
            .send_request(request(Method::POST, "/miss"), false)
            .expect("the stream is open");
        let mut node = node(events).await;
        let (asked, _respond) = next_request(&mut node).await;
        upload.send_reset(Reason::CANCEL);
        drop(response);
        let driver = tokio::task::spawn_local(async move {
            let (_, mut respond) = next_request(&mut node).await;
            respond.send_reset(Reason::ENHANCE_YOUR_CALM);
            node.accept().await.is_none()
        });
        let error = read(asked.into_body())
            .await
            .expect_err("the stream is canceled");
        assert_eq!(reason(&error), Some(Reason::CANCEL));
        let error = get(&mut send, "/miss")
            .await
            .expect_err("the stream is reset");
        assert_eq!(reason(&error), Some(Reason::ENHANCE_YOUR_CALM));
        drop(driver);
    });
}

#[test]
fn relays_a_complete_answer_to_an_unread_upload() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, mut upload, unread) = answer_early(&mut send, events).await;
        drop(unread);
        let response = response.await.expect("the engine answers");
        assert_eq!(
            read(response.into_body())
                .await
                .expect("the body is complete")
                .0,
            2
        );
        let reset = poll_fn(|cx| upload.poll_reset(cx)).await;
        assert_eq!(reset.expect("the stream is reset"), Reason::NO_ERROR);
    });
}

#[test]
fn continues_a_session_after_reset_uploads() {
    let limits = Limits {
        resets: Rate {
            burst: 1000.0,
            per_second: 0.0,
        },
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = http2_client(thread);
        let settings = frame(4, 0, 0, b"");
        raw.write_all(&[PREFACE, &settings].concat())
            .await
            .expect("the engine reads");
        let mut bytes = Vec::new();
        let fields = [
            b"\x83\x87\x84\x01\x01x".to_vec(),
            b"\x00\x01a\x00".repeat(LIMITS.fields),
        ];
        for number in 0..300 {
            let head = frame(1, 4, 2 * number + 1, &fields.concat());
            raw.write_all(&head).await.expect("the engine reads");
            while count_of(3, &bytes) <= number as usize {
                raw.read_buf(&mut bytes).await.expect("the stream is reset");
            }
        }
        // Frames that were already in transit.
        for round in 0..5 {
            for number in 0..300 {
                let chunk = frame(0, 0, 2 * number + 1, &[0; 256]);
                raw.write_all(&chunk).await.expect("the engine reads");
            }
            let ping = frame(6, 0, 0, &[0; 8]);
            raw.write_all(&ping).await.expect("the engine reads");
            while count_of(6, &bytes) <= round {
                let count = raw
                    .read_buf(&mut bytes)
                    .await
                    .expect("the connection is open");
                assert!(count > 0, "the session continues");
            }
        }
    });
}

#[test]
fn converts_host_to_authority() {
    on_thread(LIMITS, async |thread, events| {
        let mut raw = http2_client(thread);
        // GET, https, /miss and `host: x`, without indexing.
        let fields = b"\x82\x87\x04\x05/miss\x00\x04host\x01x";
        let bytes = [PREFACE, &frame(4, 0, 0, b""), &frame(1, 5, 1, fields)].concat();
        raw.write_all(&bytes).await.expect("the engine reads");
        let mut node = node(events).await;
        let (asked, _respond) = next_request(&mut node).await;
        assert_eq!(asked.uri(), "https://x/miss");
        assert_eq!(asked.headers()["host"], "x");
    });
}

#[test]
fn ends_a_session_that_node_rejects() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        let mut node = node(events).await;
        let _asked = next_request(&mut node).await;
        node.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        tokio::task::spawn_local(async move { node.accept().await.is_none() });
        response.await.expect_err("the session ends");
        let ended = async {
            loop {
                tokio::task::yield_now().await;
                send = send.ready().await?;
            }
        };
        expect_calming(ended).await;
    });
}

#[test]
fn refuses_only_requests_that_node_did_not_process() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (taken, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        let (_, mut node) = handed(events).await;
        let (untaken, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        // After the preface, read frames up to both HEADERS.
        node.read_exact(&mut [0; 24])
            .await
            .expect("the bytes arrive");
        let mut heads = 0;
        while heads < 2 {
            let mut frame = [0; 9];
            node.read_exact(&mut frame)
                .await
                .expect("a request arrives");
            let [_, high, low, kind, ..] = frame;
            let mut payload = vec![0; usize::from(u16::from_be_bytes([high, low]))];
            node.read_exact(&mut payload)
                .await
                .expect("the body is complete");
            heads += usize::from(kind == 1);
        }
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let goaway_behind_1 = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
        let said = [&settings[..], &goaway_behind_1].concat();
        node.write_all(&said).await.expect("the engine reads");
        let error = untaken.await.expect_err("the stream is refused");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        // `:status 200` and the end of the stream.
        let head = [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88];
        node.write_all(&head).await.expect("the engine reads");
        assert_eq!(
            taken.await.expect("the engine answers").status(),
            StatusCode::OK
        );
        get(&mut send, "/a").await.expect("the session continues");
    });
}

#[test]
fn closes_an_idle_session_with_node_if_descriptors_are_scarce() {
    let limits = Limits {
        checking_interval: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        let mut node = node(events).await;
        let (_, mut respond) = next_request(&mut node).await;
        respond
            .send_response(Response::new(()), true)
            .expect("the stream is open");
        let ended = tokio::task::spawn_local(async move { node.accept().await.is_none() });
        response.await.expect("the engine answers");
        while !ended.is_finished() {
            let _reservation = note_link_shortage(thread);
            tokio::time::sleep(SHORT / 5).await;
        }
        get(&mut send, "/a").await.expect("the session continues");
    });
}
