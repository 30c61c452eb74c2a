use super::*;

#[test]
fn resets_a_stream_without_progress() {
    let limits = Limits {
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        let mut send = connect(thread, 0).await;
        let body = get(&mut send, "/a")
            .await
            .expect("the engine answers")
            .into_body();
        let error = read(body).await.expect_err("the stream is canceled");
        assert_eq!(reason(&error), Some(Reason::CANCEL));
        let relayed = get(&mut send, "/miss");
        let answered = async {
            let mut node = node(events).await;
            let (_, mut respond) = next_request(&mut node).await;
            let mut down = respond
                .send_response(Response::new(()), false)
                .expect("the stream is open");
            down.send_data(Bytes::from_static(b"down"), true)
                .expect("the stream is open");
            tokio::task::spawn_local(async move { node.accept().await.is_none() });
        };
        let (response, ()) = tokio::join!(relayed, answered);
        let body = response.expect("the engine answers").into_body();
        let error = read(body).await.expect_err("the stream is canceled");
        assert_eq!(reason(&error), Some(Reason::CANCEL));
    });
}

#[test]
fn closes_a_connection_that_stalls_within_a_large_frame() {
    let limits = Limits {
        keep_alive: 2 * LONG,
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = http2_client(thread);
        raw.write_all(&greedy(2)).await.expect("the engine reads");
        all_closed(thread).await;
    });
}

#[test]
fn closes_a_connection_that_stalls_at_the_end() {
    let limits = Limits {
        keep_alive: 2 * LONG,
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = http2_client(thread);
        let bytes = [PREFACE, &frame(4, 0, 0, b"")].concat();
        raw.write_all(&bytes).await.expect("the engine reads");
        let mut first = [0];
        raw.read_exact(&mut first)
            .await
            .expect("the session starts");
        for connection in thread.connections.all() {
            while connection
                .stream
                .try_write(&[0; 4096])
                .expect("the connection is open")
                > 0
            {}
        }
        raw.write_all(&frame(6, 0, 0, &[0; 8]))
            .await
            .expect("the engine reads");
        raw.shutdown().await.expect("the connection is open");
        all_closed(thread).await;
    });
}

#[test]
fn ends_a_session_whose_window_stays_closed() {
    let limits = Limits {
        keep_alive: 2 * LONG,
        socket: 4 * SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        shorten_body(thread);
        let mut raw = http2_client(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        let mut bytes = vec![0; 100];
        raw.read_exact(&mut bytes)
            .await
            .expect("the engine answers");
        // SETTINGS with a window of 0 bytes.
        raw.write_all(&frame(4, 0, 0, b"\0\x04\0\0\0\0"))
            .await
            .expect("the engine reads");
        raw.read_to_end(&mut bytes).await.expect("the session ends");
        let last = frames_of(&bytes).pop().expect("frames arrive");
        assert_eq!(last.0, 7, "GOAWAY");
    });
}

#[test]
fn resets_a_request_with_too_many_fields() {
    on_thread(LIMITS, async |thread, _events| {
        let mut send = connect(thread, 65_535).await;
        let ask = |count: usize| {
            let mut request = request(Method::GET, "/a");
            for number in 0..count {
                let name: http::HeaderName =
                    format!("x{number}").parse().expect("the name is valid");
                request
                    .headers_mut()
                    .insert(name, "".parse().expect("the value is valid"));
            }
            request
        };
        let (most, _) = send
            .send_request(ask(LIMITS.fields - 4), true)
            .expect("the stream is open");
        assert_eq!(
            most.await.expect("the engine answers").status(),
            StatusCode::OK
        );
        let (more, _) = send
            .send_request(ask(LIMITS.fields - 3), true)
            .expect("the stream is open");
        let error = more.await.expect_err("the request has too many fields");
        assert_eq!(reason(&error), Some(Reason::ENHANCE_YOUR_CALM));
    });
}

#[test]
fn ends_a_session_with_too_many_refused_requests() {
    let limits = Limits {
        resets: Rate {
            burst: 5.0,
            per_second: 0.0,
        },
        maximum_streams: 1,
        ..LIMITS
    };
    let mut many_fields = request(Method::GET, "/a");
    for number in 0..LIMITS.fields {
        let name: http::HeaderName = format!("x{number}").parse().expect("the name is valid");
        let value = "".parse().expect("the value is valid");
        many_fields.headers_mut().insert(name, value);
    }
    for asked in [
        many_fields,
        request(Method::GET, "/a"),
        request(Method::GET, "/miss"),
    ] {
        on_thread(limits, async |thread, _events| {
            let mut send = connect(thread, 0).await;
            let mut taken = Vec::new();
            let ended = async {
                loop {
                    let (response, _) = send.send_request(asked.clone(), true)?;
                    if taken.len() < 2 {
                        taken.push(response);
                    } else {
                        let error = response.await.expect_err("the stream is refused");
                        assert!(error.is_reset() || error.is_go_away());
                    }
                    send = send.ready().await?;
                }
            };
            expect_calming(ended).await;
        });
    }
}

#[test]
fn ends_a_session_that_floods() {
    let limits = Limits {
        resets: Rate {
            burst: 5.0,
            per_second: 0.0,
        },
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut send = connect(thread, 0).await;
        let ended = async {
            loop {
                let (_, mut upload) = send.send_request(request(Method::GET, "/a"), false)?;
                tokio::time::sleep(SHORT / 50).await;
                upload.send_reset(Reason::CANCEL);
                tokio::time::sleep(SHORT / 50).await;
                send = send.ready().await?;
            }
        };
        expect_calming(ended).await;
    });
}

#[test]
fn ends_an_idle_session() {
    let limits = Limits {
        keep_alive: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut send = connect(thread, 65_535).await;
        get(&mut send, "/a").await.expect("the engine answers");
        while send.clone().ready().await.is_ok() {
            tokio::time::sleep(SHORT / 5).await;
        }
    });
}
