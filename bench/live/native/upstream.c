// The provider of the live bench: takes audio at Deepgram's path, answers every second of it with an interim and every third with
// a final, in Deepgram's shape. Prints its port, and for each byte that it reads from standard input a line of JSON: its CPU seconds,
// and how long the frames that came since the line before had been under way. Without the length of a client's frame it
// reads no times. Usage: upstream [CLIENT_FRAME_BYTES]
#include "websocket.h"
#include <arpa/inet.h>

#define SECOND_BYTES 32000
#define FINAL_SECONDS 3
#define DELAYS_MAX 4000000

static int64_t frameBytes;
static float delaysMs[DELAYS_MAX];
static size_t delays;

struct Session {
  int fd, isOpen;
  int64_t bytes, seconds;
  struct Inbox inbox;
};

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static void sha1(const uint8_t *text, size_t length, uint8_t digest[20]) {
  uint32_t h[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  uint8_t padded[128] = {0};
  size_t whole = length + 9 > 64 ? 128 : 64;
  memcpy(padded, text, length);
  padded[length] = 128;
  padded[whole - 2] = length * 8 >> 8;
  padded[whole - 1] = length * 8;
  for (size_t at = 0; at < whole; at += 64) {
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int t = 0; t < 16; t++) w[t] = padded[at + t * 4] << 24 | padded[at + t * 4 + 1] << 16 | padded[at + t * 4 + 2] << 8 | padded[at + t * 4 + 3];
    for (int t = 16; t < 80; t++) w[t] = rotated(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
      uint32_t f = t < 20 ? ((b & c) | (~b & d)) + 0x5A827999 : t < 40 ? (b ^ c ^ d) + 0x6ED9EBA1 : t < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC : (b ^ c ^ d) + 0xCA62C1D6;
      uint32_t sum = rotated(a, 5) + f + e + w[t];
      e = d, d = c, c = rotated(b, 30), b = a, a = sum;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  }
  for (int n = 0; n < 20; n++) digest[n] = h[n / 4] >> (24 - n % 4 * 8);
}

static void base64(const uint8_t *from, size_t length, char *to) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t n = 0; n < length; n += 3) {
    uint32_t bits = from[n] << 16 | (n + 1 < length ? from[n + 1] << 8 : 0) | (n + 2 < length ? from[n + 2] : 0);
    *to++ = letters[bits >> 18];
    *to++ = letters[bits >> 12 & 63];
    *to++ = n + 1 < length ? letters[bits >> 6 & 63] : '=';
    *to++ = n + 2 < length ? letters[bits & 63] : '=';
  }
  *to = 0;
}

static void greet(struct Session *session) {
  char *box = session->inbox.bytes, *end = memmem(box, session->inbox.length, "\r\n\r\n", 4);
  if (end == NULL) return;
  *end = 0;
  char *key = strcasestr(box, "sec-websocket-key: "), joined[128], accept[32], answer[512];
  if (key == NULL) exit(1);
  uint8_t digest[20];
  int length = snprintf(joined, sizeof joined, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key + 19);
  sha1((uint8_t *)joined, length, digest);
  base64(digest, 20, accept);
  length = snprintf(answer, sizeof answer, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\ndg-request-id: bench\r\n\r\n", accept);
  if (write(session->fd, answer, length) < 0) fail("write");
  session->isOpen = 1;
  inboxSkip(&session->inbox, end + 4 - box);
}

static void say(struct Session *session, const char *text, int length) {
  uint8_t frame[2048];
  size_t head = frameHead(frame, TEXT, length, 0);
  memcpy(frame + head, text, length);
  if (write(session->fd, frame, head + length) < 0 && errno != EAGAIN) return;
}

static void answer(struct Session *session) {
  int64_t second = session->seconds;
  int isFinal = second % FINAL_SECONDS == 0;
  int64_t start = (second - 1) / FINAL_SECONDS * FINAL_SECONDS;
  char text[2048];
  int length = snprintf(text, sizeof text,
    "{\"type\":\"Results\",\"channel_index\":[0,1],\"duration\":%ld.0,\"start\":%ld.0,\"is_final\":%s,\"speech_final\":%s,"
    "\"channel\":{\"alternatives\":[{\"transcript\":\"answer %ld of the bench\",\"confidence\":0.98,\"words\":["
    "{\"word\":\"answer\",\"start\":%ld.1,\"end\":%ld.2,\"confidence\":0.99},{\"word\":\"%ld\",\"start\":%ld.3,\"end\":%ld.4,\"confidence\":0.97},"
    "{\"word\":\"of\",\"start\":%ld.5,\"end\":%ld.6,\"confidence\":0.99},{\"word\":\"the\",\"start\":%ld.6,\"end\":%ld.7,\"confidence\":0.99},"
    "{\"word\":\"bench\",\"start\":%ld.7,\"end\":%ld.9,\"confidence\":0.99}]}]},"
    "\"metadata\":{\"request_id\":\"bench\",\"model_info\":{\"name\":\"general-nova-3\",\"version\":\"1\",\"arch\":\"nova-3\"}},\"from_finalize\":false}",
    second - start, start, isFinal ? "true" : "false", isFinal ? "true" : "false", second, start, start, second, start, start, start, start, start, start, start, start);
  say(session, text, length);
}

/** Every frame of a client begins with the time at which it was sent, which stays there however frames are joined or cut. */
static void stamped(const struct Session *session, const char *payload, const uint8_t *mask, size_t length) {
  int64_t now = nowNs();
  int64_t at = (frameBytes - session->bytes % frameBytes) % frameBytes;
  for (; mask != NULL && at + 8 <= (int64_t)length && delays < DELAYS_MAX; at += frameBytes) {
    int64_t sentNs;
    for (int n = 0; n < 8; n++) ((uint8_t *)&sentNs)[n] = payload[at + n] ^ mask[(at + n) & 3];
    delaysMs[delays++] = (now - sentNs) / 1e6;
  }
}

static void tell(void) {
  sortDelays(delaysMs, delays);
  printf("{\"cpuSeconds\":%.6f,\"p50\":%.3f,\"p99\":%.3f}\n", cpuSeconds(), delayAt(delaysMs, delays, 0.5), delayAt(delaysMs, delays, 0.99));
  fflush(stdout);
  delays = 0;
}

static void end(struct Session *session) {
  close(session->fd);
  free(session->inbox.bytes);
  free(session);
}

static void hear(struct Session *session) {
  if (!inboxRead(&session->inbox, session->fd)) return end(session);
  if (!session->isOpen) greet(session);
  if (!session->isOpen) return;
  size_t at = 0, size, length;
  const char *payload;
  const uint8_t *mask;
  int opcode, isOver = 0;
  while ((size = frameAt(&session->inbox, at, &opcode, &payload, &length, &mask)) > 0) {
    if (opcode == BINARY) {
      if (frameBytes > 0) stamped(session, payload, mask, length);
      session->bytes += length;
      while (session->bytes >= (session->seconds + 1) * SECOND_BYTES) session->seconds++, answer(session);
    } else if (opcode == PING) {
      uint8_t pong[2] = {128 | PONG, 0};
      if (write(session->fd, pong, 2) < 0) isOver = 1;
    } else if (opcode == CLOSE) isOver = 1;
    else if (opcode == TEXT && mask != NULL) {
      // {"type":"CloseStream"} against {"type":"KeepAlive"} and {"type":"Finalize"}: told apart by one letter.
      if (length > 9 && (uint8_t)(payload[9] ^ mask[9 & 3]) == 'C') {
        static const char last[] = "{\"type\":\"Metadata\",\"request_id\":\"bench\",\"duration\":0,\"channels\":1}";
        static const uint8_t closing[4] = {128 | CLOSE, 2, 3, 232};
        say(session, last, sizeof last - 1);
        if (write(session->fd, closing, 4) < 0) isOver = 1;
      }
    }
    at += size;
  }
  if (isOver) return end(session);
  if (at > 0) inboxSkip(&session->inbox, at);
}

int main(int argc, char **argv) {
  if (argc > 1) frameBytes = atol(argv[1]);
  int epoll = epoll_create1(0), server = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(server, (struct sockaddr *)&here, sizeof here) < 0 || listen(server, 4096) < 0) fail("listen");
  getsockname(server, (struct sockaddr *)&here, &size);
  printf("%d\n", ntohs(here.sin_port));
  fflush(stdout);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(epoll, EPOLL_CTL_ADD, server, &event);
  event.data.ptr = &one;
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
  for (;;) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int n = 0; n < ready; n++) {
      void *whose = events[n].data.ptr;
      if (whose == &one) {
        char byte;
        if (read(0, &byte, 1) <= 0) return 0;
        tell();
      } else if (whose == NULL) {
        struct Session *session = calloc(1, sizeof *session);
        session->fd = accept(server, NULL, NULL);
        if (session->fd < 0) fail("accept");
        unblocked(session->fd);
        event.data.ptr = session;
        epoll_ctl(epoll, EPOLL_CTL_ADD, session->fd, &event);
      } else hear(whose);
    }
  }
}
