// What the tests of Deepgram's folder share: a leg without sockets, messages as the provider writes them, and a quick clock.
import type { Clock } from '../../../machines/clock.ts';
import { live } from '../../../src/providers/deepgram/live.ts';
import type { LegRequest, Step } from '../../../src/providers/provider.ts';

export const RATE = 16_000;

export const legRequest = (model: string, more: Partial<LegRequest> = {}): LegRequest => ({
  model,
  sampleRate: RATE,
  language: undefined,
  interimResults: true,
  diarization: false,
  params: {},
  access: { baseUrl: undefined, credential: 'key-of-the-test' },
  ...more,
});

/** A leg that was sent so many seconds of audio, in one frame. */
export function legWith(model: string, seconds: number, more: Partial<LegRequest> = {}) {
  const { state } = live.open(legRequest(model, more));
  if (seconds > 0) live.audio(state, new Uint8Array(2 * seconds * RATE));
  return state;
}

export type Leg = ReturnType<typeof legWith>;

export const read = (leg: Leg, json: unknown): Step[] => live.read(leg, { json });

/** A `Results` of v1. Flags: `f` is_final, `s` speech_final, `z` from_finalize. */
export const results = (text: string, start: number, end: number, flags = '', words?: object[]) => ({
  type: 'Results',
  channel_index: [0, 1],
  start,
  duration: end - start,
  is_final: flags.includes('f'),
  speech_final: flags.includes('s'),
  from_finalize: flags.includes('z'),
  channel: { alternatives: [{ transcript: text, confidence: 0.9, ...(words === undefined ? {} : { words }) }] },
});

/** A `TurnInfo` of Flux. */
export const turnInfo = (event: string, index: number, text: string, end: number, more: object = {}) => ({
  type: 'TurnInfo',
  event,
  turn_index: index,
  audio_window_start: 0,
  audio_window_end: end,
  transcript: text,
  words: [],
  ...more,
});

/** Steps as short texts, one for each: what tells them apart. */
export function shown(steps: readonly Step[]): string[] {
  return steps.map((step) => {
    if (step.type === 'partial' || step.type === 'piece' || step.type === 'turn.ended') {
      const { type, turnId, utterance } = step;
      const said = utterance === undefined ? 'joined' : `"${utterance.text}" ${utterance.start}-${utterance.end}`;
      return `${type} ${turnId} ${said}`;
    }
    if (step.type === 'send')
      return step.frame instanceof Uint8Array
        ? `send ${step.frame.length} bytes`
        : `send ${JSON.stringify(step.frame)}`;
    if (step.type === 'wake') return `wake ${step.afterMs}`;
    if (step.type === 'speech.started') return `speech ${step.start}`;
    if (step.type === 'failed') return `failed ${step.failure.kind} ${step.failure.code}`;
    return step.type;
  });
}

/** The system's clock, so many times faster. */
export function quickClock(speed: number): Clock {
  return {
    now: () => performance.now() * speed,
    setTimeout: (callback, delayMs) => setTimeout(callback, delayMs / speed),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout | undefined),
  };
}
