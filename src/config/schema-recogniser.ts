// The part of the declaration that is about the embedded recogniser: its threads, and what of them one organisation may have.
import { availableParallelism } from 'node:os';
import { Type } from '@sinclair/typebox';
import { integer } from './schema-types.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const workersDefault = Math.min(64, Math.max(1, availableParallelism() - 1));
export const Recogniser = Type.Object({
  workers: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: workersDefault,
    defaultText: 'one less than the cores, at least 1',
    env: 'VOXGATE_RECOGNISER_WORKERS',
    description: 'Threads of the embedded recogniser.',
  }),
  streamsMax: integer(
    'VOXGATE_RECOGNISER_STREAMS_MAX',
    1,
    100_000,
    200,
    'Concurrent streams of the embedded recogniser.',
  ),
  streamsPerOrganisationMax: integer(
    'VOXGATE_RECOGNISER_STREAMS_PER_ORGANISATION_MAX',
    1,
    100_000,
    150,
    'The same limit for one organisation; never more than three quarters of all.',
  ),
  cpuSecondsPerMinutePerOrganisationMax: Type.Integer({
    minimum: 1,
    maximum: 3_840,
    default: 30 * workersDefault,
    defaultText: '30 for each of the threads that there are by default',
    env: 'VOXGATE_RECOGNISER_CPU_SECONDS_PER_MINUTE_PER_ORGANISATION_MAX',
    description:
      'CPU time of these threads that one organisation may use per minute. Beyond it, audio ahead of real time is slowed to the pace of speech.',
  }),
  queueBytesMax: integer(
    'VOXGATE_RECOGNISER_QUEUE_BYTES_MAX',
    64 * KIB,
    256 * MIB,
    2 * MIB,
    'Audio of one stream waiting for its thread.',
  ),
});
