"""A client that sends octets as they are and believes only what h11, a strict parser, reads."""

import socket

import h11

PATIENCE = 20.0


class Response:
    """One response as h11 read it, with the interim ones before it."""

    def __init__(self, head, body, interim):
        self.status = head.status_code
        self.reason = head.reason
        self.fields = [(bytes(name), bytes(value)) for name, value in head.headers.raw_items()]
        self.body = body
        self.interim = interim

    def values(self, name):
        return [value for given, value in self.fields if given.lower() == name]


def exchange(port, octets, chunks=1):
    """Sends octets, closes our half, and returns everything that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        received = b""
        try:
            size = max(1, -(-len(octets) // chunks))
            for start in range(0, len(octets), size):
                connection.sendall(octets[start : start + size])
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # A server that has refused does not wait for the rest.
        while True:
            try:
                data = connection.recv(65536)
            except ConnectionResetError:
                return received
            if not data:
                return received
            received += data


def read_responses(octets, methods):
    """Splits what came back into responses; `methods` are those of the requests, in their order.

    Raises h11.RemoteProtocolError where it is no HTTP, or breaks off.
    """
    responses = []
    rest = octets
    while rest:
        method = methods[len(responses)] if len(responses) < len(methods) else b"GET"
        client = h11.Connection(our_role=h11.CLIENT)
        client.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
        client.send(h11.EndOfMessage())
        client.receive_data(rest)
        client.receive_data(b"")
        interim, head, body = [], None, b""
        while True:
            event = client.next_event()
            if isinstance(event, h11.InformationalResponse):
                interim.append(event.status_code)
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                raise h11.RemoteProtocolError(f"unexpected {event!r} after {octets[:200]!r}")
        responses.append(Response(head, body, interim))
        rest = client.trailing_data[0]
    return responses
