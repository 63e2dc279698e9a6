// The part of the declaration that says how long a live session lasts, waits and tries, and what it may hold.
import { Type } from '@sinclair/typebox';
import { LATENCIES } from '../api/bounds.ts';
import { choice, integer, optionalText } from './schema-types.ts';

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
    'A session ends after this time without audio or keepalive, even if its client answers pings.',
  ),
  suspendMs: integer(
    'VOXGATE_SESSION_SUSPEND_MS',
    100,
    HOUR,
    20 * SECOND,
    'After this time without audio, the connection to the provider is closed, and reopened with the next audio. A session’s `suspend_seconds` overrides it.',
  ),
  latency: choice(
    'VOXGATE_SESSION_LATENCY',
    LATENCIES,
    'balanced',
    'Whether audio is batched into larger frames: never, when the process is busy, or always. A session’s `latency` overrides it.',
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
    'Audio ahead of real time that a session keeps in memory. Beyond it, audio goes to a spool file.',
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
    'Older audio since the last final that is kept for a failover in a spool file.',
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
    'Time for sessions to end at a turn boundary when the process is stopped.',
  ),
  upstreamRetries: integer(
    'VOXGATE_SESSION_UPSTREAM_RETRIES',
    0,
    10,
    1,
    'Minimum number of further rounds through the list of models after the first round failed.',
  ),
  retryMs: integer(
    'VOXGATE_SESSION_RETRY_MS',
    0,
    5 * MINUTE,
    15 * SECOND,
    'How long a session without a working model starts further rounds, with pauses, before it ends. Its audio is kept meanwhile.',
  ),
  backOffMs: integer(
    'VOXGATE_SESSION_BACK_OFF_MS',
    1,
    2 * SECOND,
    100,
    'Wait before a model is retried. It doubles with each failed attempt, up to 2 s. The first retry after a lost connection is immediate.',
  ),
  closeMs: integer(
    'VOXGATE_SESSION_CLOSE_MS',
    SECOND,
    5 * MINUTE,
    20 * SECOND,
    'Longest wait for a provider’s last words after the end of the audio, while its connection is alive. Never less than the provider usually needs.',
  ),
  settleMs: integer(
    'VOXGATE_SESSION_SETTLE_MS',
    1,
    5 * MINUTE,
    5 * SECOND,
    'Time for sending the last events at the end of a session.',
  ),
  lastResort: optionalText(Type.String({ pattern: '^local/[^\\s/]+$', maxLength: 128 }), {
    env: 'VOXGATE_LAST_RESORT',
    accepts: 'a model of the embedded recogniser such as `local/dictation-en`',
    description:
      'Model that continues live sessions and files when every model that the request names has failed. It is free. It is left out where it does not know the language, and where the key, a residency rule or `strict` excludes it.',
  }),
  accuracyFile: optionalText(Type.String({ minLength: 1, pattern: '^[^\\0]*$' }), {
    env: 'VOXGATE_ACCURACY_FILE',
    accepts: 'the path of a file that `voxgate accuracy --keep` wrote',
    description:
      'What you have measured of the accuracy of models, for `prefer=accuracy`. Every node that serves clients reads its own copy, and reads it again within 30 seconds of a change.',
  }),
  returnToPrimary: choice(
    'VOXGATE_SESSION_RETURN_TO_PRIMARY',
    ['on', 'off'],
    'off',
    'Whether a session that failed over returns to its first model once that works again. A session’s `return_to_primary` overrides it.',
  ),
  returnMs: integer(
    'VOXGATE_SESSION_RETURN_MS',
    SECOND,
    HOUR,
    MINUTE,
    'Minimum time between two returns of a session. The first attempt follows a sixth of it after the failover; failures double the pause, up to 15 times this.',
  ),
  hearEmptyAgain: choice(
    'VOXGATE_SESSION_HEAR_EMPTY_AGAIN',
    ['on', 'off'],
    'off',
    'Whether the next model of the session transcribes a turn again if it contains sound as loud as speech but the model returned no words.',
  ),
});
