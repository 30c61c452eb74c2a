use super::*;

#[test]
fn shares_the_quota_between_sessions() {
    let limits = Limits {
        checking_interval: SHORT,
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut greedy = connect(thread, 0).await;
        let mut bodies = Vec::new();
        for _ in 0..4 {
            let response = get(&mut greedy, "/a").await.expect("the engine answers");
            bodies.push(response.into_body());
        }
        let error = get(&mut greedy, "/a")
            .await
            .expect_err("the quota is exceeded");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        let mut modest = connect(thread, 0).await;
        let mut others = Vec::new();
        for _ in 0..2 {
            let response = get(&mut modest, "/a").await.expect("the engine answers");
            others.push(response.into_body());
        }
        let error = get(&mut modest, "/a")
            .await
            .expect_err("the session has used its share");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        for body in bodies.split_off(2) {
            let error = read(body).await.expect_err("the stream is canceled");
            assert_eq!(reason(&error), Some(Reason::CANCEL));
        }
        assert!(!thread.http2.stream_quota.is_exceeded());
        // The whole quota is available to the other client.
        drop((bodies, greedy));
        while thread.connections.all().len() > 1 {
            tokio::task::yield_now().await;
        }
        get(&mut modest, "/a").await.expect("the engine answers");
        drop(others);
    });
}

#[test]
fn releases_the_quota_of_a_canceled_answer() {
    let limits = Limits {
        maximum_streams: 1,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut send = connect(thread, 0).await;
        let waiting = get(&mut send, "/a").await.expect("the engine answers");
        assert!(thread.http2.stream_quota.refuses(1));
        drop(waiting);
        while thread.http2.stream_quota.refuses(1) {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn refuses_streams_above_the_quota_of_node() {
    let limits = Limits {
        maximum_streams: 1,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut greedy = connect(thread, 65_535).await;
        let ask = |send: &mut SendRequest<Bytes>| {
            let asked = send.send_request(request(Method::GET, "/miss"), true);
            asked.expect("the stream is open").0
        };
        let taken = [ask(&mut greedy), ask(&mut greedy)];
        let error = ask(&mut greedy).await.expect_err("the quota is exceeded");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        let mut modest = connect(thread, 65_535).await;
        let other = ask(&mut modest);
        let error = ask(&mut modest)
            .await
            .expect_err("the session has used its share");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        drop((taken, greedy));
        while thread.connections.all().len() > 1 {
            tokio::task::yield_now().await;
        }
        let one_more = ask(&mut modest);
        while !thread.shared.relayed_streams.refuses(2) {
            tokio::task::yield_now().await;
        }
        drop((other, one_more, modest));
        all_closed(thread).await;
        assert!(!thread.shared.relayed_streams.refuses(2));
    });
}

#[test]
fn counts_answers_in_h2_as_pending() {
    let limits = Limits {
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        shorten_body(thread);
        let mut raw = http2_client(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        while !thread.http2.stream_quota.refuses(4) {
            tokio::task::yield_now().await;
        }
        let mut bytes = Vec::new();
        while count_of(3, &bytes) == 0 {
            raw.read_buf(&mut bytes)
                .await
                .expect("the stream is refused");
        }
        while thread.http2.stream_quota.refuses(4) {
            raw.read_buf(&mut bytes).await.expect("the engine answers");
        }
    });
}

#[test]
fn counts_unsent_heads_as_pending() {
    let limits = Limits {
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = http2_client(thread);
        raw.write_all(&greedy(1)).await.expect("the engine reads");
        let mut bytes = vec![0; SHORTER];
        raw.read_exact(&mut bytes)
            .await
            .expect("the engine answers");
        for number in 1..8 {
            let head = frame(1, 5, 2 * number + 1, b"\x02\x04HEAD\x87\x04\x02/a\x01\x01x");
            raw.write_all(&head).await.expect("the engine reads");
        }
        // The end of each waiting stream is a separate frame.
        let ends = |bytes: &[u8]| {
            frames_of(bytes)
                .iter()
                .filter(|&&each| each == (0, 0))
                .count()
        };
        while count_of(3, &bytes) < 4 || ends(&bytes) < 3 {
            raw.read_buf(&mut bytes)
                .await
                .expect("the stream is refused");
        }
        assert_eq!((count_of(3, &bytes), ends(&bytes)), (4, 3));
    });
}

#[test]
fn ends_a_stalled_session_if_others_need_its_share() {
    let limits = Limits {
        checking_interval: SHORT,
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        shorten_body(thread);
        let mut raw = http2_client(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        while !thread.http2.stream_quota.refuses(4) {
            tokio::task::yield_now().await;
        }
        let mut modest = connect(thread, 0).await;
        let response = get(&mut modest, "/a").await.expect("the engine answers");
        while thread.connections.all().len() > 1 {
            tokio::task::yield_now().await;
        }
        assert!(!thread.http2.stream_quota.is_exceeded());
        drop(response);
    });
}

#[test]
fn serves_other_clients_during_a_fast_download() {
    on_thread(LIMITS, async |thread, _events| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("the socket listens");
        let mut theirs = TcpStream::connect(address).expect("the socket listens");
        let (ours, _) = listener.accept().expect("a connection is queued");
        ours.set_nonblocking(true)
            .expect("the descriptor is a socket");
        serve_http2(
            thread,
            Stream::new(ours.into()).expect("epoll can watch the socket"),
        );
        let reader = std::thread::spawn(move || {
            theirs.write_all(&greedy(8)).expect("the engine reads");
            let mut come = 0;
            let mut buffer = vec![0; 256 * 1024];
            while come < 8 * BODY {
                come += theirs.read(&mut buffer).expect("the connection is open");
            }
        });
        let longest = Rc::new(Cell::new(0));
        let (watched, noted) = (thread.clone(), longest.clone());
        let mut before = 0;
        let other = tokio::task::spawn_local(poll_fn(move |cx| {
            for connection in watched.connections.all() {
                let taken = connection.stream.sent_bytes();
                noted.set(noted.get().max(taken - before));
                before = taken;
            }
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        all_closed(thread).await;
        other.abort();
        reader.join().expect("the task completes");
        let longest = longest.get();
        assert!(
            longest <= (TURN_BYTES + 2 * MAX_SEND_BUFFER) as u64,
            "{longest}"
        );
    });
}
