// What the tests of AssemblyAI share: messages as it writes them, and a live codec with its state.

import { live } from '../../../src/providers/assemblyai/live.ts';
import type { LegRequest, Step } from '../../../src/providers/provider.ts';

export const RATE = 16_000;

export function legRequest(changes: Partial<LegRequest> = {}): LegRequest {
  return {
    model: 'universal-streaming-english',
    sampleRate: RATE,
    language: undefined,
    interimResults: true,
    diarization: false,
    params: {},
    access: { baseUrl: undefined, credential: 'key-1' },
    ...changes,
  };
}

/** A leg's codec: the URL it asks for, and what it makes of messages. */
export class Codec {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly state: ReturnType<typeof live.open>['state'];

  /** @param seconds audio sent before the first message */
  constructor(changes: Partial<LegRequest> = {}, seconds = 60) {
    const { state, endpoint } = live.open(legRequest(changes));
    if (endpoint.kind !== 'websocket') throw new Error('AssemblyAI is reached by WebSocket.');
    this.url = new URL(endpoint.url);
    this.headers = endpoint.headers;
    this.state = state;
    if (seconds > 0) live.audio(state, new Uint8Array(seconds * 2 * RATE));
  }

  hear(...messages: unknown[]): Step[] {
    return messages.flatMap((json) => live.read(this.state, { json }));
  }

  close(code: number, reason = '') {
    return live.closed(this.state, code, reason);
  }
}

/** [text, start ms, end ms], and whether the word is settled (so it is, where nothing is said). */
export type WordRow = readonly [text: string, start: number, end: number, settled?: boolean];

export const words = (...rows: readonly WordRow[]) =>
  rows.map(([text, start, end, settled = true]) => ({ text, start, end, confidence: 0.5, word_is_final: settled }));

/** A `Turn`; an interim of turn 0 without words unless told otherwise. */
export const turn = (changes: Record<string, unknown> = {}) => ({
  type: 'Turn',
  turn_order: 0,
  turn_is_formatted: false,
  end_of_turn: false,
  transcript: '',
  utterance: '',
  end_of_turn_confidence: 0.1,
  words: [],
  ...changes,
});
