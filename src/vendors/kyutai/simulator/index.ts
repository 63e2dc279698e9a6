// A moshi-server as its clients meet it: one path, ids in a header or the query, and MessagePack. Sessions are live.ts.
import { decode, encode } from '@msgpack/msgpack';
import { type JsonObject, objectIn } from '../../kit/json.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { RequestedEnds } from '../../kit/simulator/requested-ends.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { wordsOf } from '../../kit/simulator/words.ts';

export const simulator: ProviderSimulator = {
  provider: 'kyutai',

  quirks: {
    settles: 'words of a turn are told while it goes on, so many seconds after they were spoken; 1 without a number',
    'no-free-channels': 'every place is taken: an error and a close behind the upgrade',
    speed: '<n>: the model steps no faster than n times real time; audio that comes faster waits',
  },

  upgrade(request, tools) {
    if (request.url.pathname !== '/api/asr-streaming') return { refuse: refusal(404) };
    const { searchParams } = request.url;
    const key = request.headers['kyutai-api-key'] ?? searchParams.get('auth_id') ?? undefined;
    // It knows ids or does not; the others are what a proxy in front of it says.
    const refused = keyRefusal(key, refusal, 402);
    if (refused !== undefined) return { refuse: refused };
    return { connect: (peer) => new Session(peer, tools) };
  },

  http: async () => refusal(404),

  refusal,

  failure: () => ({ messages: [{ type: 'Error', message: 'internal error' }], close: { code: 1011, reason: '' } }),

  // Words stay, whatever follows; what ends a turn is a marker, or a likely pause.
  isFinal: ({ type, prs }) => type === 'Marker' || prs === PAUSING,

  encode: (message) => encode(message),
};

function refusal(status: number): SimulatedAnswer {
  return { status, headers: { 'content-type': 'text/plain' }, body: `status ${status}` };
}

const SAMPLE_RATE = 24_000;
const STEP_SECONDS = 0.08;
const DELAY_SECONDS = 0.5;
const STEPPING_MS = 5;
const ROUNDING_SECONDS = 1e-6;
const SPEAKING = [0.02, 0.02, 0.01, 0.01];
export const PAUSING = [0.97, 0.95, 0.9, 0.4];

interface Told {
  dueSeconds: number;
  messages: readonly JsonObject[];
}

export class Session extends SimulatedSession {
  readonly #ends = new RequestedEnds(
    (delayMs, work) => this.later(delayMs, work),
    (endSeconds) => this.#tellBehind(endSeconds, [{ type: 'Marker', id: this.#markers.shift()?.id }]),
  );
  readonly #markers: { id: unknown; atSeconds: number }[] = [];
  readonly #untold: Told[] = [];
  /** Where turns have ended, until that is told. */
  readonly #pauses: number[] = [];
  /** The words that were told of a turn. */
  #told = { turn: -1, words: 0 };
  #step = 0;
  /** Up to where the model has stepped: a little behind the ear. */
  #steppedSeconds = 0;

  constructor(peer: SimulatedPeer, tools: SimulatorTools) {
    super(peer, tools);
    if (this.has('no-free-channels')) {
      this.peer.send({ type: 'Error', message: 'no free channels' });
      this.close();
      return;
    }
    const speedMax = this.numberOf('speed', 0);
    const hearing = { sampleRate: SAMPLE_RATE, language: undefined, stepSeconds: STEP_SECONDS };
    this.listen(speedMax > 0 ? { ...hearing, speedMax } : hearing);
    this.peer.send({ type: 'Ready' });
  }

  /** Texts are ignored. */
  protected message(): void {}

  protected override audio(bytes: Uint8Array): void {
    let message: JsonObject;
    try {
      message = objectIn(decode(bytes));
    } catch {
      this.close();
      return;
    }
    if (message.type === 'Marker') this.inTurn(() => this.#mark(message.id));
    else if (message.type === 'Audio' && Array.isArray(message.pcm)) this.hear(linear16Of(message.pcm));
    else if (message.type !== 'Init') this.close();
  }

  #mark(id: unknown): void {
    this.#markers.push({ id, atSeconds: this.seconds });
    this.finalize();
    this.#ends.ask(this.seconds);
  }

  protected override progressed(): void {
    const atSeconds = this.seconds;
    this.later(STEPPING_MS, () => this.#stepTo(atSeconds));
  }

  #stepTo(atSeconds: number): void {
    this.#steppedSeconds = atSeconds;
    const [next] = this.#pauses;
    const pauses = next !== undefined && next <= atSeconds;
    if (pauses) this.#pauses.shift();
    this.peer.send({ type: 'Step', step_idx: this.#step++, prs: pauses ? PAUSING : SPEAKING, buffered_pcm: 0 });
    this.#tellDue();
  }

  protected override speechStarted(): void {
    this.#ends.hearing();
  }

  protected interim(heard: HeardTurnText): void {
    this.#ends.hearing();
    if (this.has('settles')) this.#tellWords(heard, heard.end - this.numberOf('settles', 1));
  }

  protected final(heard: HeardTurnText): void {
    this.#tellWords(heard);
    const [asked] = this.#markers;
    if (asked === undefined || heard.end + ROUNDING_SECONDS < asked.atSeconds) this.#pauses.push(heard.end);
    this.#ends.heard(heard);
  }

  /** Words of the turn that were not told yet: all, or those up to there. */
  #tellWords(heard: HeardTurnText, untilSeconds = Number.POSITIVE_INFINITY): void {
    const all = wordsOf(heard);
    const from = this.#told.turn === heard.turn ? this.#told.words : 0;
    const words = all.slice(from).filter(({ end }) => end <= untilSeconds);
    this.#told = { turn: heard.turn, words: from + words.length };
    const messages = words.flatMap(({ word, start, end }) => [
      { type: 'Word', text: word, start_time: start },
      { type: 'EndWord', stop_time: end },
    ]);
    this.#tellBehind(Math.min(heard.end, untilSeconds), messages);
  }

  #tellBehind(endSeconds: number, messages: readonly JsonObject[]): void {
    this.#untold.push({ dueSeconds: endSeconds + DELAY_SECONDS, messages });
    this.#tellDue();
  }

  #tellDue(): void {
    for (let next = this.#untold[0]; next !== undefined; next = this.#untold[0]) {
      if (this.#steppedSeconds + ROUNDING_SECONDS < next.dueSeconds) return;
      this.#untold.shift();
      for (const message of next.messages) this.peer.send(message);
    }
  }

  protected failed(code: string): void {
    this.peer.send({ type: 'Error', message: code });
    this.close(1011);
  }
}

function linear16Of(floats: readonly unknown[]): Uint8Array {
  const samples = Int16Array.from(floats, (float) =>
    Math.max(-32_768, Math.min(32_767, Math.round(Number(float) * 32_768))),
  );
  return new Uint8Array(samples.buffer);
}
