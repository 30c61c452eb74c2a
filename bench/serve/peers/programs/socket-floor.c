// Measures the system's own cost of an answer: waits, receives and sends. It searches requests only for a condition.
// socket-floor PORT ANSWER ANSWER-TO-A-CONDITION
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { most_connections = 65536, most_events = 512, most_octets = 64 << 20 };

struct answer {
  char *octets;
  size_t length;
};

static struct answer plain, conditional;
/** The unsent bytes of each connection, by descriptor. */
static struct answer rest[most_connections];
static char request[65536];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct answer read_answer(const char *path) {
  struct answer answer = {malloc(most_octets), 0};
  FILE *file = fopen(path, "rb");
  if (file == NULL || answer.octets == NULL) fail(path);
  answer.length = fread(answer.octets, 1, most_octets, file);
  fclose(file);
  return answer;
}

static int listen_on(int port) {
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  if (bind(listener, (const struct sockaddr *)&address, sizeof address) < 0) fail("bind");
  if (listen(listener, 4096) < 0) fail("listen");
  return listener;
}

/** Accepts one connection. If more wait, epoll reports the level-triggered listener again. */
static void take_connection(int poll, int listener) {
  const int connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  if (connection < 0) return;
  if (connection >= most_connections) {
    close(connection);
    return;
  }
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  rest[connection].length = 0;
  struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {.fd = connection}};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, connection, &event) < 0) fail("epoll_ctl");
}

/** Sends until the socket is full; a later event sends the rest. Returns 0 if the connection failed. */
static int send_rest(int connection) {
  struct answer *answer = &rest[connection];
  while (answer->length > 0) {
    const ssize_t sent = send(connection, answer->octets, answer->length, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN;
    answer->octets += sent;
    answer->length -= sent;
  }
  return 1;
}

/** Each request arrives in one read, and the next one after its answer. */
static void serve(int connection) {
  if (rest[connection].length == 0) {
    const ssize_t length = recv(connection, request, sizeof request, 0);
    if (length < 0 && errno == EAGAIN) return;
    if (length <= 0) {
      close(connection);
      return;
    }
    const int has_condition = memmem(request, length, "If-None-Match", 13) != NULL;
    rest[connection] = has_condition ? conditional : plain;
  }
  if (!send_rest(connection)) close(connection);
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  plain = read_answer(arguments[2]);
  conditional = read_answer(arguments[3]);
  const int listener = listen_on(atoi(arguments[1]));
  const int poll = epoll_create1(0);
  struct epoll_event event = {EPOLLIN, {.fd = listener}};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event) < 0) fail("epoll_ctl");
  struct epoll_event events[most_events];
  for (;;) {
    const int ready = epoll_wait(poll, events, most_events, -1);
    for (int index = 0; index < ready; index++) {
      const int descriptor = events[index].data.fd;
      if (descriptor == listener) take_connection(poll, listener);
      else serve(descriptor);
    }
  }
}
