// Where the doors differ all the same: the rows of the table in docs/operations/platforms.md. Each is a gap that the suite tries on
// the door that has it; test/docs/door-differences.test.ts holds the table to these rows.
import type { DoorGaps } from './gaps.ts';

export interface Difference {
  what: string;
  node: string;
  uws: string;
  /** The older build of uWebSockets.js, where it is not like the newest. */
  older?: string;
}

export const DIFFERENCES: Readonly<Record<keyof DoorGaps, Difference>> = {
  headInPiecesBytesMax: {
    what: 'URL and headers of more than 4 KiB that arrive in several packets',
    node: 'read, up to 8 KiB',
    uws: 'read, up to 8 KiB',
    older: 'connection closed without an answer',
  },
  http10: { what: 'HTTP/1.0', node: 'served', uws: '505', older: 'no answer' },
  unanswered: {
    what: 'a head that is not HTTP',
    node: '400 at once',
    uws: '400 or 505 at once; a bare carriage return: no answer',
    older: 'no answer',
  },
  ownPages: {
    what: 'what is said of such a head, or of two `Host` headers',
    node: 'the usual JSON',
    uws: 'a page of the library’s',
    older: 'nothing; of two `Host` headers the usual JSON',
  },
  fewHeaders: {
    what: 'more than about 100 headers',
    node: 'served, up to 8 KiB',
    uws: '431',
    older: 'no answer',
  },
  silentTimeouts: {
    what: 'a head or body that stops for 10 s',
    node: '408',
    uws: 'connection closed without an answer',
  },
  pipelining: {
    what: 'a second request before the first is answered',
    node: 'answered in turn',
    uws: 'connection closed',
  },
  readsOn: {
    what: 'a socket that sends faster than its limits',
    node: 'waits unread',
    uws: 'read all the same; more than a million frames below 128 bytes at full speed close it with 4100',
  },
  gathersAll: {
    what: 'messages over 1 MiB, many at a time',
    node: '`VOXGATE_LARGE_MESSAGES_MAX` are gathered at a time, half of them for one organisation; others wait unread',
    uws: '`VOXGATE_LARGE_MESSAGE_SOCKETS_MAX` open sockets may send them, half of them of one organisation; others take 1 MiB, as `session_started` says, and are cut off beyond 2 MiB',
  },
  cutsHuge: {
    what: 'a message over twice `VOXGATE_BINARY_FRAME_BYTES_MAX`',
    node: '`error` event, then 1009',
    uws: 'connection closed (1006)',
  },
  framesLetPass: { what: 'a frame without a mask', node: 'connection closed', uws: 'taken' },
};
