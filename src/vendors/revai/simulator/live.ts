// One session of the simulated streaming WebSocket: partials, a final for each segment, and a close behind the last.
import { Type } from '@sinclair/typebox';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { elementsOf } from './jobs.ts';

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
