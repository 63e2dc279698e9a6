// A Vosk server as its clients meet it: one path, and no requests except for the upgrade. It asks for no key; a proxy in front of it
// looks at one that is shown. Sessions are live.ts.

import { Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import { authorizationOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, members } from '../../kit/simulator/checks.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';

export const simulator: ProviderSimulator = {
  provider: 'vosk',

  quirks: {
    'in-c++': 'the server in C++: the configuration is audio with an answer, the end waits for one more message',
    'no-words': 'results have no words, as those of a server that was not told to give them',
    alternatives: 'results are a list of alternatives',
    speed: '<n>: audio is taken up no faster than n times real time; what comes faster waits, without an answer',
  },

  upgrade(request, tools) {
    if (request.url.pathname !== '/') return { refuse: refusal(404) };
    const refused = keyRefusal(authorizationOf(request.headers.authorization) ?? 'none', refusal, 402);
    if (refused !== undefined) return { refuse: refused };
    return { connect: (peer) => new Session(peer, tools) };
  },

  http: async () => refusal(404),

  refusal,

  failure: () => ({ messages: [], close: { code: 1011, reason: '' } }),

  isFinal: (message) => 'text' in message || 'alternatives' in message,
};

/** What the WebSocket library of the server says. */
function refusal(status: number): SimulatedAnswer {
  const body = `Failed to open a WebSocket connection: ${status}.\n`;
  return { status, headers: { 'content-type': 'text/plain' }, body };
}

const MESSAGE_BYTES_MAX = 1_048_576;
/** What is decoded of a message is heard of so much later. */
const DECODING_MS = 5;

const Config = members(
  {},
  {
    sample_rate: Type.Number({ minimum: 1 }),
    words: Type.Boolean(),
    max_alternatives: Type.Integer({ minimum: 0 }),
    phrase_list: Type.Array(Type.String()),
    model: Type.String(),
  },
  'ignored',
);

export class Session extends SimulatedSession {
  #sampleRate = 8_000;
  #hasWords = true;
  #partial = '';
  /** Turns that have ended and were not told. */
  #results: HeardText[] = [];

  constructor(peer: SimulatedPeer, tools: SimulatorTools) {
    super(peer, tools);
    this.#hasWords = !this.has('no-words');
  }

  protected message(text: string): void {
    if (text.includes('config')) this.#configure(text);
    else if (this.closing) this.close(1000);
    else if (text === '{"eof" : 1}') {
      this.#begin();
      this.finish();
    } else if (text === '{"reset" : 1}') {
      this.#begin();
      this.finalize();
      this.#answerSoon();
    } else this.close(1011);
  }

  #configure(text: string): void {
    const { config } = objectIn(jsonOf(text));
    if (config === undefined || faultIn(Config, config) !== undefined) {
      this.close(1011);
      return;
    }
    const { sample_rate: rate, words } = objectIn(config);
    if (typeof rate === 'number' && !this.isListening) this.#sampleRate = rate;
    if (this.has('in-c++')) this.#answerSoon();
    else if (typeof words === 'boolean') this.#hasWords = words;
  }

  protected override audio(bytes: Uint8Array): void {
    if (bytes.byteLength > MESSAGE_BYTES_MAX) {
      this.close(1009, 'Message too big');
      return;
    }
    this.#begin();
    this.hear(bytes);
    this.inTurn(() => this.#answerSoon());
  }

  /** What is recognised with is made at the first audio. */
  #begin(): void {
    if (this.isListening) return;
    const speed = this.numberOf('speed', 0);
    const hearing = { sampleRate: this.#sampleRate, language: undefined };
    this.listen(speed > 0 ? { ...hearing, speedMax: speed } : hearing);
  }

  #answerSoon(): void {
    this.later(DECODING_MS, () => {
      const result = this.#results.shift();
      this.peer.send(result === undefined ? { partial: this.#partial } : this.#resultOf([result]));
    });
  }

  protected interim({ text }: HeardTurnText): void {
    this.#partial = text;
  }

  protected final(heard: HeardTurnText): void {
    this.#partial = '';
    this.#results.push(heard);
  }

  protected override finished(): void {
    // Behind the answers to all audio.
    this.later(2 * DECODING_MS, () => {
      this.peer.send(this.#resultOf(this.#results));
      if (!this.has('in-c++')) this.close(1000);
    });
  }

  protected failed(): void {
    this.close(1011);
  }

  #resultOf(turns: readonly HeardText[]) {
    const text = turns.map((turn) => turn.text).join(' ');
    const result = turns.flatMap(wordsOf).map(({ word, start, end }) => ({ conf: 0.9, end, start, word }));
    if (this.has('alternatives')) return { alternatives: [{ confidence: 210.5, text: ` ${text}`, result }] };
    return this.#hasWords && result.length > 0 ? { result, text } : { text };
  }
}
