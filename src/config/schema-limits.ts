// The part of the declaration that bounds what clients may ask for: sizes, times, and how much of each.
import { totalmem } from 'node:os';
import { Type } from '@sinclair/typebox';
import { integer } from './schema-types.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What a socket may make the library hold: twice the largest message, by default. */
const LARGE_SOCKET_BYTES = 128 * MIB;
/** Where nothing constrains the process, the system tells a figure beyond all memory. */
const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || totalmem());
const largeSocketsDefault = Math.min(100_000, Math.max(4, Math.floor(memoryBytes / 4 / LARGE_SOCKET_BYTES)));

export const Limits = Type.Object({
  headerBytesMax: integer('VOXGATE_HEADER_BYTES_MAX', KIB, 16 * KIB, 8 * KIB, 'URL and headers of a request together.'),
  jsonBodyBytesMax: integer('VOXGATE_JSON_BODY_BYTES_MAX', KIB, 16 * MIB, 64 * KIB, 'Body of a JSON request.'),
  fileBytesMax: integer('VOXGATE_FILE_BYTES_MAX', KIB, 64 * GIB, GIB, 'Uploaded audio file.'),
  textFrameBytesMax: integer('VOXGATE_TEXT_FRAME_BYTES_MAX', KIB, MIB, 64 * KIB, 'WebSocket text frame.'),
  startMessageBytesMax: integer(
    'VOXGATE_START_MESSAGE_BYTES_MAX',
    KIB,
    MIB,
    256 * KIB,
    'First text frame of a session whose parameters come in a message (`start=message`).',
  ),
  binaryFrameBytesMax: integer(
    'VOXGATE_BINARY_FRAME_BYTES_MAX',
    KIB,
    GIB,
    64 * MIB,
    'WebSocket binary message: a whole file may be one.',
  ),
  largeMessagesMax: integer(
    'VOXGATE_LARGE_MESSAGES_MAX',
    1,
    10_000,
    8,
    'Concurrent WebSocket messages over 1 MiB of a process, half of them for one organisation, with the adapter `node`. Others wait unread.',
  ),
  largeMessageSocketsMax: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: largeSocketsDefault,
    defaultText: 'as many as fill a quarter of the memory with messages of 128 MiB, at least 4',
    env: 'VOXGATE_LARGE_MESSAGE_SOCKETS_MAX',
    description:
      'Open WebSockets of a process that may send messages over 1 MiB, half of them of one organisation, with the adapter `uws`, which buffers whole messages. Others accept 1 MiB, and `session_started` says so. Lower it if you raise VOXGATE_BINARY_FRAME_BYTES_MAX.',
  }),
  handshakeTimeoutMs: integer(
    'VOXGATE_HANDSHAKE_TIMEOUT_MS',
    100,
    MINUTE,
    10 * SECOND,
    'Time for a handshake or request header to arrive.',
  ),
  sessionsPerKeyMax: integer('VOXGATE_SESSIONS_PER_KEY_MAX', 1, 1_000_000, 100, 'Concurrent live sessions of one key.'),
  sessionsPerOrganisationMax: integer(
    'VOXGATE_SESSIONS_PER_ORGANISATION_MAX',
    1,
    1_000_000,
    1_000,
    'Concurrent live sessions of all keys of one organisation.',
  ),
  filesPerKeyMax: integer(
    'VOXGATE_FILES_PER_KEY_MAX',
    1,
    1_000_000,
    100,
    'Concurrent files of one key. A key’s own limit of sessions also applies to its files.',
  ),
  filesPerOrganisationMax: integer(
    'VOXGATE_FILES_PER_ORGANISATION_MAX',
    1,
    1_000_000,
    1_000,
    'Concurrent files of all keys of one organisation.',
  ),
  requestsPerMinutePerKeyMax: integer(
    'VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX',
    1,
    1_000_000,
    600,
    'Requests of one key per minute.',
  ),
  tokensPerMinutePerKeyMax: integer(
    'VOXGATE_TOKENS_PER_MINUTE_PER_KEY_MAX',
    1,
    1_000_000,
    60,
    'Client tokens that one key may create per minute.',
  ),
  failedAuthenticationsPerMinuteMax: integer(
    'VOXGATE_FAILED_AUTHENTICATIONS_PER_MINUTE_MAX',
    1,
    1_000_000,
    20,
    'Refused credentials per minute and client address (IPv6: /64). Beyond it, requests of this address are refused without a check.',
  ),
  socketFramesPerSecondMax: integer(
    'VOXGATE_SOCKET_FRAMES_PER_SECOND_MAX',
    10,
    1_000_000,
    50_000,
    'WebSocket frames of one socket per second, with a burst of four seconds’ worth. Beyond it, reading pauses.',
  ),
  socketBytesPerSecondMax: integer(
    'VOXGATE_SOCKET_BYTES_PER_SECOND_MAX',
    64 * KIB,
    GIB,
    4 * MIB,
    'Bytes of one socket per second, with a burst of four seconds’ worth. Beyond it, reading pauses.',
  ),
  socketMessagesPerSecondMax: integer(
    'VOXGATE_SOCKET_MESSAGES_PER_SECOND_MAX',
    1,
    1_000_000,
    50,
    'Text frames and pings of one socket per second, with a burst of ten seconds’ worth. Beyond it, the socket is closed.',
  ),
  organisationFramesPerSecondMax: integer(
    'VOXGATE_ORGANISATION_FRAMES_PER_SECOND_MAX',
    10,
    100_000_000,
    100_000,
    'WebSocket frames of all sockets of an organisation per second and process. Beyond it, reading pauses.',
  ),
  organisationMessagesPerSecondMax: integer(
    'VOXGATE_ORGANISATION_MESSAGES_PER_SECOND_MAX',
    1,
    100_000_000,
    2_000,
    'Text frames and pings of all sockets of an organisation per second and process. Beyond it, reading pauses.',
  ),
  handshakesMax: integer(
    'VOXGATE_HANDSHAKES_MAX',
    1,
    100_000,
    1_000,
    'Concurrent WebSocket handshakes whose credentials are being checked.',
  ),
  handshakesPerAddressMax: integer(
    'VOXGATE_HANDSHAKES_PER_ADDRESS_MAX',
    1,
    100_000,
    256,
    'The same limit for one client address.',
  ),
  sessionsPerNodeMax: integer(
    'VOXGATE_SESSIONS_PER_NODE_MAX',
    1,
    1_000_000,
    10_000,
    'Concurrent live sessions of this process.',
  ),
  legsPerNodeMax: integer(
    'VOXGATE_LEGS_PER_NODE_MAX',
    1,
    1_000_000,
    10_000,
    'Concurrent connections of this process to live models. Beyond it, sessions of other nodes connect through other nodes.',
  ),
  lagMsMax: integer(
    'VOXGATE_LAG_MS_MAX',
    10,
    MINUTE,
    200,
    'Average event-loop lag beyond which the node accepts no new sessions, and no connections for sessions of other nodes.',
  ),
});
