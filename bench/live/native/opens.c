// The clients of the bench of openings: each opens a session at its time, sends one frame once it has begun, closes it a while later,
// and waits for its end. Prints a line when the first begins, one when all are over, and then what came of them.
// Usage: opens PORT PATH HEADERS SESSIONS PER_SECOND(0: all at once) HELD_MS SECONDS_MAX
#include "websocket.h"

#define FRAME_BYTES 640

enum State { WAITING, CONNECTING, ASKING, OPEN, STARTED, CLOSING, OVER };
enum Outcome { NONE, SERVED, TOLD_OFF, LOST };

struct Client {
  int fd;
  enum State state;
  enum Outcome outcome;
  int64_t dueNs, startedNs;
  struct Inbox inbox;
};

static struct Client *clients;
static int count, epoll, port, over, inOrder;
static char request[4096];
static uint8_t frame[FRAME_BYTES + 16];
static size_t frameSize;
static int64_t heldNs;
/** Clients by the time of their start, which is that of their close. */
static int *started, startedCount;

static void finish(struct Client *client, enum Outcome outcome) {
  if (client->state == OVER) return;
  if (client->outcome == NONE) client->outcome = outcome;
  client->state = OVER;
  over++;
  close(client->fd);
  free(client->inbox.bytes);
  client->inbox.bytes = NULL;
}

static void openOne(struct Client *client) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  client->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (client->fd < 0) fail("socket");
  unblocked(client->fd);
  client->state = CONNECTING;
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = client};
  epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event);
  if (connect(client->fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) finish(client, LOST);
}

static void ask(struct Client *client) {
  client->state = ASKING;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
  epoll_ctl(epoll, EPOLL_CTL_MOD, client->fd, &event);
  if (write(client->fd, request, strlen(request)) < 0) finish(client, LOST);
}

static void answered(struct Client *client) {
  char *end = memmem(client->inbox.bytes, client->inbox.length, "\r\n\r\n", 4);
  if (end == NULL) return;
  if (strncmp(client->inbox.bytes, "HTTP/1.1 101", 12) == 0) {
    client->state = OPEN;
    inboxSkip(&client->inbox, end + 4 - client->inbox.bytes);
    return;
  }
  // Told when to come again: not served, and not lost either.
  *end = 0;
  finish(client, strcasestr(client->inbox.bytes, "retry-after:") != NULL ? TOLD_OFF : LOST);
}

static void begun(struct Client *client) {
  client->state = STARTED;
  client->startedNs = nowNs();
  client->outcome = SERVED;
  started[startedCount++] = client - clients;
  if (write(client->fd, frame, frameSize) != (ssize_t)frameSize) finish(client, LOST);
}

static void hear(struct Client *client) {
  if (!inboxRead(&client->inbox, client->fd)) return finish(client, LOST);
  if (client->state == ASKING) answered(client);
  if (client->state == OVER || client->state < OPEN) return;
  size_t at = 0, size, length;
  const char *payload;
  const uint8_t *mask;
  int opcode;
  while ((size = frameAt(&client->inbox, at, &opcode, &payload, &length, &mask)) > 0) {
    if (client->state == OPEN && opcode == TEXT && memmem(payload, length, "session_started", 15) != NULL) begun(client);
    else if (opcode == CLOSE) {
      if (length >= 2 && (uint8_t)payload[0] == 3 && (uint8_t)payload[1] == 232) inOrder++;
      return finish(client, LOST);
    }
    if (client->state == OVER) return;
    at += size;
  }
  if (at > 0) inboxSkip(&client->inbox, at);
}

static void sayClose(struct Client *client) {
  static const uint8_t close[] = {129, 128 | 16, 0, 0, 0, 0, '{', '"', 't', 'y', 'p', 'e', '"', ':', '"', 'c', 'l', 'o', 's', 'e', '"', '}'};
  client->state = CLOSING;
  if (write(client->fd, close, sizeof close) != sizeof close) finish(client, LOST);
}

static void hearAll(int64_t waitNs) {
  struct epoll_event events[256];
  struct timespec wait = {waitNs / 1000000000LL, waitNs % 1000000000LL};
  int ready = epoll_pwait2(epoll, events, 256, &wait, NULL);
  for (int n = 0; n < ready; n++) {
    struct Client *client = events[n].data.ptr;
    if (client->state == OVER) continue;
    if (client->state != CONNECTING) hear(client);
    else if (events[n].events & (EPOLLERR | EPOLLHUP)) finish(client, LOST);
    else if (events[n].events & EPOLLOUT) ask(client);
  }
}

static int byMs(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc < 8) return 64;
  port = atoi(argv[1]);
  count = atoi(argv[4]);
  double perSecond = atof(argv[5]), secondsMax = atof(argv[7]);
  heldNs = atof(argv[6]) * 1e6;
  snprintf(request, sizeof request,
    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n", argv[2], port, argv[3]);
  epoll = epoll_create1(0);
  clients = calloc(count, sizeof *clients);
  started = calloc(count, sizeof *started);
  frameSize = frameHead(frame, BINARY, FRAME_BYTES, 1) + 4;
  for (int n = 0; n < FRAME_BYTES; n++) frame[frameSize++] = n * 31;

  printf("{\"phase\":\"begin\"}\n");
  fflush(stdout);
  double cpuBefore = cpuSeconds();
  int64_t begin = nowNs(), endNs = begin + secondsMax * 1e9, lateNs = 0;
  for (int n = 0; n < count; n++) clients[n].dueNs = begin + (perSecond > 0 ? n / perSecond * 1e9 : 0);
  for (int opened = 0, closed = 0; over < count;) {
    int64_t now = nowNs();
    if (now >= endNs) break;
    int64_t nextNs = endNs;
    if (opened < count) {
      if (clients[opened].dueNs <= now) {
        if (now - clients[opened].dueNs > lateNs) lateNs = now - clients[opened].dueNs;
        openOne(&clients[opened++]);
        if (opened % 16 != 0) continue;
      } else nextNs = clients[opened].dueNs;
    }
    while (closed < startedCount && clients[started[closed]].startedNs + heldNs <= now) {
      struct Client *client = &clients[started[closed++]];
      if (client->state == STARTED) sayClose(client);
    }
    if (closed < startedCount && clients[started[closed]].startedNs + heldNs < nextNs) nextNs = clients[started[closed]].startedNs + heldNs;
    hearAll(nextNs > now ? nextNs - now : 0);
  }
  double seconds = (nowNs() - begin) / 1e9, cpu = cpuSeconds() - cpuBefore;
  printf("{\"phase\":\"end\"}\n");
  fflush(stdout);

  double *ms = malloc((count + 1) * sizeof *ms);
  int served = 0, toldOff = 0, unended = 0;
  int64_t lastNs = begin;
  for (int n = 0; n < count; n++) {
    if (clients[n].outcome == TOLD_OFF) toldOff++;
    if (clients[n].outcome != SERVED) continue;
    ms[served++] = (clients[n].startedNs - clients[n].dueNs) / 1e6;
    if (clients[n].startedNs > lastNs) lastNs = clients[n].startedNs;
    if (clients[n].state != OVER) unended++;
  }
  qsort(ms, served, sizeof *ms, byMs);
#define AT(part) (served == 0 ? 0 : ms[(int)(served * (part)) < served ? (int)(served * (part)) : served - 1])
  printf("{\"phase\":\"result\",\"sessions\":%d,\"served\":%d,\"toldOff\":%d,\"lost\":%d,\"endedInOrder\":%d,\"unended\":%d,"
         "\"startedMs\":{\"p50\":%.2f,\"p99\":%.2f,\"max\":%.2f},\"allStartedMs\":%.0f,\"lateMs\":%.2f,\"coreShare\":%.3f}\n",
    count, served, toldOff, count - served - toldOff, inOrder, unended, AT(0.5), AT(0.99), AT(1), (lastNs - begin) / 1e6, lateNs / 1e6, cpu / seconds);
  return 0;
}
