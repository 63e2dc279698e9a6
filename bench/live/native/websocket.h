// What load and upstream of the live bench share: frames of WebSocket, the clock, and a socket that never blocks.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };

static inline int64_t nowNs(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/** Seconds of CPU that this process has used. */
static inline double cpuSeconds(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return use.ru_utime.tv_sec + use.ru_stime.tv_sec + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static inline void fail(const char *what) {
  perror(what);
  exit(1);
}

static inline void unblocked(int fd) {
  int one = 1;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

/** What was read and not understood yet. */
struct Inbox {
  char *bytes;
  size_t length, room;
};

/** Reads once. 0 when the other side has gone. */
static inline int inboxRead(struct Inbox *box, int fd) {
  if (box->room - box->length < 4096) {
    box->room = box->room == 0 ? 8192 : box->room * 2;
    box->bytes = realloc(box->bytes, box->room);
  }
  ssize_t got = read(fd, box->bytes + box->length, box->room - box->length);
  if (got > 0) box->length += got;
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static inline void inboxSkip(struct Inbox *box, size_t count) {
  memmove(box->bytes, box->bytes + count, box->length - count);
  box->length -= count;
}

/** The frame at `at`. 0 when it is not whole yet, or else its length with its header. */
static inline size_t frameAt(const struct Inbox *box, size_t at, int *opcode, const char **payload, size_t *length, const uint8_t **mask) {
  const uint8_t *head = (const uint8_t *)box->bytes + at;
  size_t there = box->length - at, size = 2;
  if (there < 2) return 0;
  *opcode = head[0] & 15;
  *length = head[1] & 127;
  if (*length == 126) size = 4;
  else if (*length == 127) size = 10;
  if (there < size) return 0;
  if (size == 4) *length = head[2] << 8 | head[3];
  else if (size == 10) *length = (size_t)head[6] << 24 | head[7] << 16 | head[8] << 8 | head[9];
  *mask = head[1] & 128 ? head + size : NULL;
  if (*mask) size += 4;
  if (there < size + *length) return 0;
  *payload = (const char *)head + size;
  return size + *length;
}

/** Writes a frame's header without a mask, and gives its length. */
static inline size_t frameHead(uint8_t *to, int opcode, size_t length, int masked) {
  to[0] = 128 | opcode;
  if (length < 126) {
    to[1] = (masked ? 128 : 0) | length;
    return 2;
  }
  to[1] = (masked ? 128 : 0) | 126;
  to[2] = length >> 8;
  to[3] = length & 255;
  return 4;
}

static inline int bySize(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static inline void sortDelays(float *delaysMs, size_t count) { qsort(delaysMs, count, sizeof *delaysMs, bySize); }

/** Of sorted delays the one that such a part of them does not exceed. */
static inline double delayAt(const float *delaysMs, size_t count, double part) {
  size_t index = count * part;
  return count == 0 ? 0 : delaysMs[index < count ? index : count - 1];
}
