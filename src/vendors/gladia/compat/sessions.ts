// Live sessions of Gladia's clients, requested after their end. https://docs.gladia.io/api-reference/v2/live/get

import type { SessionEndpoints, ShownSession } from '../../compat/jobs.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { toMilliseconds } from '../../compat/transcript.ts';
import { countIn, type JsonObject } from '../../kit/json.ts';
import { listed } from './listed.ts';
import { utteranceOf } from './utterances.ts';

const PATH = '/v2/live';

const channelsOf = ({ asked }: ShownSession): number => countIn(asked.channels) ?? 1;

const statusOf = ({ endedAt, failure }: ShownSession) =>
  endedAt === undefined ? 'processing' : failure === undefined ? 'done' : 'error';

/** Without the transcript: of many sessions that is too much. */
function summaryOf(session: ShownSession): JsonObject {
  const { id, asked, createdAt, endedAt, failure } = session;
  return {
    ...{ id, request_id: id, version: 2, kind: 'live', status: statusOf(session) },
    ...{ created_at: createdAt.toISOString(), completed_at: endedAt?.toISOString() ?? null, request_params: asked },
    // The audio is not kept.
    file: null,
    error_code: failure?.status ?? null,
    ...(failure === undefined ? {} : { error_message: failure.message }),
    result: null,
  };
}

/** A session that failed has what was heard until then. */
function resultOf(session: ShownSession): JsonObject {
  const { seconds, createdAt } = session;
  const utterances = session.turns().map((turn) => utteranceOf(turn, ''));
  return {
    metadata: {
      ...{ audio_duration: seconds, number_of_distinct_channels: channelsOf(session) },
      billing_time: toMilliseconds(seconds * channelsOf(session)),
      transcription_time: ((session.endedAt ?? createdAt).getTime() - createdAt.getTime()) / 1_000,
    },
    transcription: {
      full_transcript: utterances.map(({ text }) => text).join(' '),
      languages: [...new Set(utterances.map(({ language }) => language))].filter((each) => each !== ''),
      utterances,
    },
  };
}

export const sessions: SessionEndpoints = {
  [`GET ${PATH}`]: {
    does: 'list',
    answer: (all, means) => listed(PATH, all, means, summaryOf),
  },
  [`GET ${PATH}/:id`]: {
    does: 'show',
    answer: (session) =>
      jsonAnswer({ ...summaryOf(session), result: session.endedAt === undefined ? null : resultOf(session) }),
  },
  [`DELETE ${PATH}/:id`]: { does: 'remove', answer: ({ id }) => jsonAnswer({ id }, 202) },
};
