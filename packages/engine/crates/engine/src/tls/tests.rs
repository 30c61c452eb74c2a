use std::future::poll_fn;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::credentials::read_credentials;
use crate::stream::Stream;
use crate::testing::{LIMITS, SHORT, on_thread};

/// A self-signed certificate for `localhost` and its key.
const PAIR: &[u8] = include_bytes!("testing.pem");

type Client = StreamOwned<ClientConnection, UnixStream>;

/// Runs a test on the server side after the handshake. The client runs on another thread.
fn with_client<Seen: Send + 'static>(
    client: impl FnOnce(&mut Client) -> Seen + Send + 'static,
    test: impl AsyncFnOnce(Stream, JoinHandle<Seen>),
) {
    on_thread(LIMITS, async |_, _| {
        let (theirs, ours) = UnixStream::pair().expect("descriptors are available");
        ours.set_nonblocking(true)
            .expect("the descriptor is a socket");
        let config =
            read_credentials(PAIR, PAIR, Vec::new()).expect("the certificate matches the key");
        let stream = Stream::encrypted(ours.into(), config).expect("the session starts");
        let client = std::thread::spawn(move || client(&mut connect(theirs)));
        poll_fn(|cx| stream.poll_handshake(cx))
            .await
            .expect("the handshake succeeds");
        test(stream, client).await;
    });
}

fn connect(socket: UnixStream) -> Client {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(PAIR).expect("the certificate is valid");
    roots.add(certificate).expect("the certificate is valid");
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the key is valid")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().expect("the name is valid");
    let connection =
        ClientConnection::new(Arc::new(config), name).expect("the configuration is complete");
    let mut client = StreamOwned::new(connection, socket);
    client.flush().expect("the handshake succeeds");
    client
}

/// Returns all received bytes and whether `close_notify` arrived.
fn read_all(client: &mut Client) -> (Vec<u8>, bool) {
    let mut all = Vec::new();
    match client.read_to_end(&mut all) {
        Ok(_) => (all, true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => (all, false),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn counts_accepted_bytes_and_loses_none_on_close() {
    let body: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let read_late = |client: &mut Client| {
        std::thread::sleep(SHORT);
        read_all(client)
    };
    with_client(read_late, async |stream, client| {
        let mut taken = stream
            .try_write_both(&body[..10], &body[10..])
            .expect("the connection is open");
        assert!(taken < body.len(), "the client does not read yet");
        assert_eq!(
            stream
                .try_write(&body[taken..])
                .expect("the connection is open"),
            0
        );
        while taken < body.len() {
            // Write sizes are arbitrary, as long as each write continues after the accepted bytes.
            let piece = &body[taken..body.len().min(taken + 70_001)];
            taken += poll_fn(|cx| stream.poll_write(cx, piece))
                .await
                .expect("the connection is open");
        }
        stream.end();
        // The end is also sent only while the client reads. Then the client closes.
        let _ = poll_fn(|cx| stream.poll_read(cx, &mut [0])).await;
        drop(stream);
        let (all, is_whole) = client.join().expect("the client completes");
        assert!(is_whole && all == body);
    });
}

#[test]
fn sends_no_close_notify_after_cut_off() {
    with_client(read_all, async |stream, client| {
        assert_eq!(
            stream.try_write(b"a part").expect("the connection is open"),
            6
        );
        stream.cut_off_at_close();
        stream.end_at_close();
        drop(stream);
        let (all, is_whole) = client.join().expect("the client completes");
        assert_eq!((all.as_slice(), is_whole), (&b"a part"[..], false));
    });
}

#[test]
fn has_no_input_before_the_client_sends_and_accepts_a_missing_close_notify() {
    let send = |client: &mut Client| {
        std::thread::sleep(SHORT);
        client
            .write_all(b"two words")
            .expect("the connection is open");
        client
            .sock
            .shutdown(Shutdown::Write)
            .expect("the other half is open");
        read_all(client);
    };
    with_client(send, async |stream, client| {
        assert!(stream.has_no_input());
        let mut buffer = [0; 3];
        let read = poll_fn(|cx| stream.poll_read(cx, &mut buffer)).await;
        assert_eq!(read.expect("the connection is open"), 3);
        assert!(!stream.has_no_input(), "the rest is decrypted already");
        let mut buffer = [0; 100];
        for expected in [6, 0, 0] {
            let read = poll_fn(|cx| stream.poll_read(cx, &mut buffer)).await;
            assert_eq!(read.expect("a missing close_notify is an end"), expected);
        }
        drop(stream);
        client.join().expect("the client completes");
    });
}
