// Rev AI as its clients meet it: routes, tokens, and how it refuses. Sessions are live.ts, jobs jobs.ts.

import { Type } from '@sinclair/typebox';
import { authorizationOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator, SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type KeyFault, keyFault, keyRefusal } from '../../kit/simulator/credentials.ts';
import { fileJobsOf, ok, routed } from '../../kit/simulator/routes.ts';
import { closedAtOnce, type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { createJob, elementsOf, refusal, shown, transcriptOf } from './jobs.ts';

/** Live, what is wrong with a token is told by a close behind the upgrade. */
const KEY_CLOSES: Readonly<Record<KeyFault, readonly [code: number, reason: string]>> = {
  missing: [4001, 'Unauthorized'],
  bad: [4001, 'Unauthorized'],
  broke: [4003, 'Insufficient credits'],
  limited: [4029, 'Too many requests'],
};

export const simulator: ProviderSimulator = {
  provider: 'revai',

  quirks: {
    'late-connected': '<ms>: `connected` comes so many milliseconds after the upgrade',
    'no-worker': 'the session is closed with 4013: no worker was free in time',
    'shutting-down': '<seconds>: the session is closed with 4010 behind so much audio; 1 when no number is given',
    'out-of-credit': '<seconds>: the session is closed with 4003 behind so much audio; 1 when no number is given',
  },

  upgrade(request, tools) {
    const { pathname, searchParams } = request.url;
    if (pathname !== '/speechtotext/v1/stream') return { refuse: refusal(404) };
    const fault = keyFault(searchParams.get('access_token') ?? authorizationOf(request.headers.authorization));
    const options = optionsOf(searchParams);
    return {
      connect(peer) {
        if (fault !== undefined) return closedAtOnce(peer, ...KEY_CLOSES[fault]);
        if (tools.quirk('no-worker') !== undefined) return closedAtOnce(peer, 4013, 'No worker is available');
        if (typeof options === 'string') return closedAtOnce(peer, 4002, options);
        return new Session(peer, tools, options);
      },
    };
  },

  async http(request, tools) {
    if (!request.url.pathname.startsWith('/speechtotext/v1/')) return refusal(404);
    const refused = keyRefusal(authorizationOf(request.headers.authorization), refusal);
    if (refused !== undefined) return refused;
    const { jobs } = fileJobsOf(tools);
    const answered = await routed(request, {
      'GET /speechtotext/v1/account': () => ok({ email: 'a@example.com', balance_seconds: 3_600 }),
      'POST /speechtotext/v1/jobs': () => createJob(request, tools),
      'GET /speechtotext/v1/jobs/*': (id) => shown(jobs.get(id)),
      'GET /speechtotext/v1/jobs/*/transcript': (id) => transcriptOf(jobs.get(id), request.headers.accept),
      'DELETE /speechtotext/v1/jobs/*': (id) => jobs.take(id) && { status: 204 },
    });
    return answered ?? refusal(404);
  },

  refusal,

  failure: () => ({ messages: [], close: { code: 1011, reason: 'Internal error' } }),

  isFinal: ({ type }) => type === 'final',
};

// One session of the simulated streaming WebSocket: partials, a final for each segment, and a close behind the last.
interface Options {
  sampleRate: number;
  language: string;
  tellsSpeakers: boolean;
}

const flag = Type.Boolean();
const Query = members(
  { content_type: Type.String({ pattern: '^audio/x-raw;layout=interleaved;rate=\\d+;format=S16LE;channels=1$' }) },
  {
    ...{ access_token: Type.String(), user_agent: Type.String(), metadata: Type.String({ maxLength: 512 }) },
    language: oneOf('en', 'es', 'fr', 'de', 'it', 'ja', 'ko', 'pt', 'cmn'),
    transcriber: oneOf('machine', 'machine_v2'),
    ...{ filter_profanity: flag, remove_disfluencies: flag, detailed_partials: flag, skip_postprocessing: flag },
    enable_speaker_switch: flag,
    custom_vocabulary_id: Type.String(),
    delete_after_seconds: Type.Integer({ minimum: 0, maximum: 2_592_000 }),
    max_segment_duration_seconds: Type.Integer({ minimum: 1 }),
    max_connection_wait_seconds: Type.Integer({ minimum: 1 }),
    priority: oneOf('speed', 'accuracy'),
    start_ts: Type.Number({ minimum: 0 }),
  },
);

/** The options of a query, or what is wrong with it. */
export function optionsOf(query: URLSearchParams): Options | string {
  const values = valuesOf(query, Query);
  const wrong = wrongIn(Query, values);
  if (wrong !== undefined) return `Bad request: ${wrong}`;
  const sampleRate = Number(/rate=(\d+)/.exec(String(values.content_type))?.[1]);
  if (sampleRate < 8_000 || sampleRate > 48_000) return 'Bad request: content_type: the rate is not supported';
  const { language = 'en', enable_speaker_switch } = values;
  return { sampleRate, language: String(language), tellsSpeakers: enable_speaker_switch === true };
}

export class Session extends SimulatedSession {
  readonly #options: Options;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, options: Options) {
    super(peer, tools);
    this.#options = options;
    this.listen(options);
    this.later(this.numberOf('late-connected', 0), () =>
      this.peer.send({ type: 'connected', id: `job-${this.tools.newId()}` }),
    );
  }

  protected message(text: string): void {
    if (text !== 'EOS') this.close(4_002, 'Bad request: unknown message');
    else if (!this.closing) this.finish();
  }

  protected override audio(bytes: Uint8Array): void {
    // An empty frame ends the stream, as in other services.
    if (bytes.byteLength === 0) this.finish();
    else this.hear(bytes);
  }

  protected override progressed(): void {
    if (this.isBehind('shutting-down')) this.close(4_010, 'Server is shutting down');
    if (this.isBehind('out-of-credit')) this.close(4_003, 'Insufficient credits');
  }

  protected interim({ text, start, end }: HeardTurnText): void {
    const elements = text.split(' ').map((value) => ({ type: 'text', value }));
    this.peer.send({ type: 'partial', ts: start, end_ts: end, elements });
  }

  protected final(heard: HeardTurnText): void {
    const speaker = this.#options.tellsSpeakers ? { speaker_id: heard.turn % 2 } : {};
    this.peer.send({ type: 'final', ts: heard.start, end_ts: heard.end, ...speaker, elements: elementsOf(heard) });
  }

  protected failed(code: string): void {
    this.close(1011, code);
  }
}
