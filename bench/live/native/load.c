// The clients of the live bench: each sends its frames in real time, in a phase of its own, and notes how long after the frame
// that completes a second of audio the answer to that second comes. Prints lines of JSON: open, begin, end.
// Usage: load PORT PATH HEADERS SESSIONS FRAME_BYTES FRAME_MS WARM_SECONDS SECONDS
#include "websocket.h"

#define SECOND_BYTES 32000
/** Clients begin spread over so long, a multiple of the three seconds after which finals come: opening is measured by another bench. */
#define SPREAD_NS 9000000000LL
#define KEPT 64
#define SAMPLES_MAX 4000000

struct Client {
  int fd, isOpen, isGone;
  int64_t phaseNs, startNs;
  int64_t sentBytes, seconds, answers, answeredSecond;
  int64_t sentAtNs[KEPT];
  struct Inbox inbox;
};

static struct Client *clients;
static int count, epoll, openCount, goneCount;
static float *delaysMs;
static size_t delays;
static int isMeasuring;
static int64_t lateFrames, frames, blocked;
static char request[4096];
static int port;

static void openOne(struct Client *client) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  client->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(client->fd, (struct sockaddr *)&to, sizeof to) < 0) fail("connect");
  unblocked(client->fd);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
  epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event);
  if (write(client->fd, request, strlen(request)) < 0) fail("write");
}

static void answered(struct Client *client, const char *text, size_t length) {
  const char *mark = memmem(text, length, "answer ", 7);
  if (mark == NULL) return;
  int64_t second = atoll(mark + 7);
  // A final and the end of its turn answer the same second.
  if (second <= client->answeredSecond) return;
  client->answeredSecond = second;
  client->answers++;
  if (!isMeasuring || second > client->seconds || second <= client->seconds - KEPT) return;
  if (delays < SAMPLES_MAX) delaysMs[delays++] = (nowNs() - client->sentAtNs[second % KEPT]) / 1e6;
}

static void gone(struct Client *client) {
  if (client->isGone) return;
  client->isGone = 1;
  goneCount++;
  close(client->fd);
}

static void hear(struct Client *client) {
  if (!inboxRead(&client->inbox, client->fd)) return gone(client);
  if (!client->isOpen) {
    char *end = memmem(client->inbox.bytes, client->inbox.length, "\r\n\r\n", 4);
    if (end == NULL) return;
    // Told to come again: this is the open bench's to measure.
    if (strncmp(client->inbox.bytes, "HTTP/1.1 503", 12) == 0) {
      close(client->fd);
      inboxSkip(&client->inbox, client->inbox.length);
      usleep(20000);
      return openOne(client);
    }
    if (strncmp(client->inbox.bytes, "HTTP/1.1 101", 12) != 0) {
      fprintf(stderr, "%.*s\n", (int)client->inbox.length, client->inbox.bytes);
      exit(1);
    }
    client->isOpen = 1;
    openCount++;
    inboxSkip(&client->inbox, end + 4 - client->inbox.bytes);
  }
  size_t at = 0, size, length;
  const char *payload;
  const uint8_t *mask;
  int opcode;
  while ((size = frameAt(&client->inbox, at, &opcode, &payload, &length, &mask)) > 0) {
    if (opcode == TEXT) answered(client, payload, length);
    else if (opcode == CLOSE) {
      fprintf(stderr, "A client was closed: %.*s\n", (int)length, payload + 2);
      return gone(client);
    }
    at += size;
  }
  if (at > 0) inboxSkip(&client->inbox, at);
}

static void hearAll(int64_t waitNs) {
  struct epoll_event events[256];
  struct timespec wait = {waitNs / 1000000000LL, waitNs % 1000000000LL};
  int ready = epoll_pwait2(epoll, events, 256, &wait, NULL);
  for (int n = 0; n < ready; n++) hear(events[n].data.ptr);
}

static int byPhase(const void *a, const void *b) {
  int64_t x = ((const struct Client *)a)->phaseNs, y = ((const struct Client *)b)->phaseNs;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc < 9) return 64;
  port = atoi(argv[1]);
  count = atoi(argv[4]);
  int frameBytes = atoi(argv[5]);
  int64_t periodNs = atof(argv[6]) * 1e6;
  double warm = atof(argv[7]), seconds = atof(argv[8]);
  snprintf(request, sizeof request,
    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n", argv[2], port, argv[3]);
  epoll = epoll_create1(0);
  clients = calloc(count, sizeof *clients);
  delaysMs = malloc(SAMPLES_MAX * sizeof *delaysMs);

  // One frame for all: something to be heard, masked once, behind the time at which it is sent.
  uint8_t frame[65536];
  size_t size = frameHead(frame, BINARY, frameBytes, 1);
  const uint8_t key[4] = {0x12, 0x34, 0x56, 0x78};
  memcpy(frame + size, key, 4);
  size += 4;
  for (int n = 0; n < frameBytes; n++) {
    int16_t sample = (n / 2 * 7919) % 2001 - 1000;
    frame[size + n] = ((uint8_t *)&sample)[n & 1] ^ key[n & 3];
  }
  uint8_t *stamp = frame + size;
  size += frameBytes;

  for (int n = 0; n < count; n++) {
    clients[n].startNs = SPREAD_NS / count * n;
    clients[n].phaseNs = clients[n].startNs % periodNs;
  }
  qsort(clients, count, sizeof *clients, byPhase);
  for (int n = 0; n < count; n++) {
    openOne(&clients[n]);
    while (openCount < n - 20) hearAll(1000000);
  }
  while (openCount < count) hearAll(1000000);
  printf("{\"phase\":\"open\"}\n");
  fflush(stdout);

  int64_t begin = nowNs(), measureNs = begin + warm * 1e9, endNs = measureNs + seconds * 1e9;
  int64_t answersBefore = 0, secondsBefore = 0;
  double cpuBefore = 0;
  for (int64_t round = 0, next = 0;;) {
    int64_t now = nowNs();
    if (!isMeasuring && now >= measureNs) {
      isMeasuring = 1;
      cpuBefore = cpuSeconds();
      frames = lateFrames = blocked = 0;
      for (int n = 0; n < count; n++) answersBefore += clients[n].answers, secondsBefore += clients[n].seconds;
      printf("{\"phase\":\"begin\"}\n");
      fflush(stdout);
    }
    if (now >= endNs) break;
    int64_t due = begin + round * periodNs + clients[next].phaseNs;
    if (due > now) {
      hearAll(due - now);
      continue;
    }
    struct Client *client = &clients[next];
    if (++next == count) next = 0, round++;
    if (client->isGone || due < begin + client->startNs) continue;
    if (now - due > 2000000) lateFrames++;
    client->sentBytes += frameBytes;
    if (client->sentBytes >= (client->seconds + 1) * SECOND_BYTES) client->sentAtNs[++client->seconds % KEPT] = now;
    frames++;
    for (int n = 0; n < 8; n++) stamp[n] = ((uint8_t *)&now)[n] ^ key[n & 3];
    // A frame that the socket does not take is lost here: it would be the server's fault, and is printed.
    if (write(client->fd, frame, size) != (ssize_t)size) blocked++;
    if (frames % 64 == 0) hearAll(0);
  }
  printf("{\"phase\":\"end\"}\n");
  fflush(stdout);
  double cpu = cpuSeconds() - cpuBefore;
  int64_t answers = 0, asked = 0;
  for (int n = 0; n < count; n++) answers += clients[n].answers, asked += clients[n].seconds;
  sortDelays(delaysMs, delays);
  printf("{\"phase\":\"result\",\"sessions\":%d,\"gone\":%d,\"frames\":%ld,\"lateFrames\":%ld,\"blocked\":%ld,\"answers\":%ld,"
         "\"seconds\":%ld,\"delayMs\":{\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"max\":%.3f},\"coreShare\":%.3f}\n",
    count, goneCount, frames, lateFrames, blocked, answers - answersBefore, asked - secondsBefore, delayAt(delaysMs, delays, 0.5), delayAt(delaysMs, delays, 0.9), delayAt(delaysMs, delays, 0.99), delayAt(delaysMs, delays, 1), cpu / seconds);
  return 0;
}
