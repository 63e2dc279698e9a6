// The part of the declaration that says how long a live session lasts, waits and tries, and what it may hold.
import { Type } from '@sinclair/typebox';
import { LATENCIES } from '../api/listen/latency.ts';
import { choice, integer } from './schema-types.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const Session = Type.Object({
  idleMs: integer(
    'VOXGATE_SESSION_IDLE_MS',
    100,
    HOUR,
    10 * MINUTE,
    'A session without audio or keepalive ends after this time, although its client answers pings.',
  ),
  suspendMs: integer(
    'VOXGATE_SESSION_SUSPEND_MS',
    100,
    HOUR,
    20 * SECOND,
    'Without audio for this time, the connection to the provider is let go of in order, and made again with the next audio; a session’s `suspend_seconds` goes before it.',
  ),
  latency: choice(
    'VOXGATE_SESSION_LATENCY',
    LATENCIES,
    'balanced',
    'Whether audio is gathered into larger frames before it is sent on: never, when the process is busy, or always; a session’s `latency` goes before it.',
  ),
  longestMs: integer('VOXGATE_SESSION_LONGEST_MS', SECOND, 24 * HOUR, 4 * HOUR, 'Longest duration of a session.'),
  resumeMs: integer(
    'VOXGATE_SESSION_RESUME_MS',
    100,
    10 * MINUTE,
    MINUTE,
    'How long a session opened with `resume=on` waits for its client when the socket breaks.',
  ),
  pingMs: integer('VOXGATE_SESSION_PING_MS', 100, 5 * MINUTE, 15 * SECOND, 'Time between pings to the client.'),
  pongMs: integer('VOXGATE_SESSION_PONG_MS', 100, 5 * MINUTE, 10 * SECOND, 'Time for the client to answer a ping.'),
  memoryBytesMax: integer(
    'VOXGATE_SESSION_MEMORY_BYTES_MAX',
    64 * KIB,
    256 * MIB,
    2 * MIB,
    'Audio of one session kept in memory ahead of real time; what is beyond goes to a spool file.',
  ),
  replayMs: integer(
    'VOXGATE_SESSION_REPLAY_MS',
    SECOND,
    10 * MINUTE,
    MINUTE,
    'Audio since the last final that is kept in memory for a failover.',
  ),
  replaySpoolMs: integer(
    'VOXGATE_SESSION_REPLAY_SPOOL_MS',
    0,
    24 * HOUR,
    30 * MINUTE,
    'Audio since the last final that is kept for a failover beyond that, in a spool file.',
  ),
  spoolNodeBytesMax: integer(
    'VOXGATE_SESSION_SPOOL_NODE_BYTES_MAX',
    0,
    1024 * GIB,
    8 * GIB,
    'Spool files of all sessions of this process together, half of them of one organisation; the same again for uploads.',
  ),
  unreadBytesMax: integer(
    'VOXGATE_SESSION_UNREAD_BYTES_MAX',
    KIB,
    16 * MIB,
    64 * KIB,
    'Events in the socket that the client has not read.',
  ),
  unreadEventsMax: integer(
    'VOXGATE_SESSION_UNREAD_EVENTS_MAX',
    1,
    65536,
    256,
    'Events waiting for room in the socket.',
  ),
  drainMs: integer(
    'VOXGATE_SESSION_DRAIN_MS',
    0,
    HOUR,
    MINUTE,
    'Time for sessions to end by themselves when the process is stopped.',
  ),
  upstreamRetries: integer(
    'VOXGATE_SESSION_UPSTREAM_RETRIES',
    0,
    10,
    1,
    'Rounds through the list of models after the first one failed, however long they take.',
  ),
  retryMs: integer(
    'VOXGATE_SESSION_RETRY_MS',
    0,
    5 * MINUTE,
    15 * SECOND,
    'How long a session that no model answers begins further rounds, with pauses, before it ends. Its audio is kept meanwhile.',
  ),
  backOffMs: integer(
    'VOXGATE_SESSION_BACK_OFF_MS',
    1,
    2 * SECOND,
    100,
    'Wait before a model is tried again; doubles with each failed attempt, up to 2 s. One that had the audio and has lost its connection is tried again at once, the first time.',
  ),
  closeMs: integer(
    'VOXGATE_SESSION_CLOSE_MS',
    SECOND,
    5 * MINUTE,
    20 * SECOND,
    'Longest wait for a provider’s last words after the end of the audio, as long as its connection is alive; never less than the provider needs as a rule.',
  ),
  settleMs: integer(
    'VOXGATE_SESSION_SETTLE_MS',
    1,
    5 * MINUTE,
    5 * SECOND,
    'Time for the last events to leave at the end of a session.',
  ),
  hearEmptyAgain: choice(
    'VOXGATE_SESSION_HEAR_EMPTY_AGAIN',
    ['on', 'off'],
    'off',
    'A turn with sound in it as loud as speech, of which a model makes no words, is heard once more, by the next model of the session.',
  ),
});
