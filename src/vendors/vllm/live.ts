// Live by vLLM's own WebSocket, which shares path and names with OpenAI's and not the meaning: a commit begins a generation, and
// another ends it; its text only grows. While the end of one is awaited the server throws audio away, so that it waits here.
import { modelAt } from '../kit/api.ts';
import { failed } from '../kit/heard.ts';
import { type JsonObject, objectIn, textIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import { GrowingText } from '../kit/openai-shaped/growing-text.ts';
import { appendOf } from '../kit/openai-shaped/live.ts';
import type { LiveCodec, Outgoing, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { failures } from './failures.ts';
import { api, LIVE_RATE, nameOf } from './models.ts';

interface State {
  model: string;
  ready: boolean;
  clock: LegClock;
  text: GrowingText;
  /** Where the generation ends whose end is awaited; and the last that was requested. */
  ending: number | undefined;
  askedSeconds: number;
  /** Where the audio ends that this generation was sent. */
  sentSeconds: number;
  /** Audio behind the end that is awaited, and further ends in it. */
  held: (string | { end: number })[];
  /** The text of the last turn, which may be said twice. */
  before: string | undefined;
  /** The server tells words before the end of their turn. */
  hasDeltas: boolean;
  finishing: boolean;
  finished: boolean;
}

const BEGIN = { type: 'input_audio_buffer.commit', final: false };
const END = { type: 'input_audio_buffer.commit', final: true };

const TIMING = liveTiming({
  // There is no limit; files are sent at once.
  speedMax: 8,
  drainMs: 15_000,
  stallMs: 40_000,
  // A long turn meets the limit of the model's context.
  endpointing: { silenceMs: 500, longestMs: 30_000 },
  unconfirmedMax: 50,
});

export const live: LiveCodec<State> = {
  timing: () => TIMING,

  open: (request) => ({
    state: {
      model: modelAt({ ...request, model: nameOf(request.model) }),
      ready: false,
      clock: new LegClock(LIVE_RATE),
      text: new GrowingText('The vLLM server'),
      ending: undefined,
      askedSeconds: 0,
      sentSeconds: 0,
      held: [],
      before: undefined,
      hasDeltas: false,
      finishing: false,
      finished: false,
    },
    endpoint: {
      kind: 'websocket',
      url: api.websocket(request.access, '/realtime'),
      headers: api.headers(request.access),
    },
    hello: [],
  }),

  audio: (state, frame) => {
    const { clock, held, ending } = state;
    clock.audio(frame);
    if (ending === undefined) {
      state.sentSeconds = clock.sentSeconds;
      return appendOf(frame);
    }
    held.push(appendOf(frame));
    return undefined;
  },

  unconfirmed: ({ held }) => held.length,

  read: (state, message) => ('json' in message ? heard(state, objectIn(message.json)) : []),

  finalize: askForEnd,

  finish: (state) => {
    const steps = askForEnd(state);
    state.finishing = true;
    return state.ending === undefined ? [...steps, ...finished(state)] : steps;
  },

  keepAlive: () => [],

  refused: (refusal) => failures.ofRefusal(refusal),

  closed: ({ finishing, text, ending }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: text.open || ending !== undefined }),
};

const send = (frame: Outgoing): Step => ({ type: 'send', frame });

/** Asks for the end of the audio so far, where some came since the last one. */
function askForEnd(state: State): Step[] {
  const { clock, askedSeconds, finishing, held, ending } = state;
  if (finishing || clock.sentSeconds <= askedSeconds) return [];
  state.askedSeconds = clock.sentSeconds;
  if (ending !== undefined) {
    held.push({ end: clock.sentSeconds });
    return [];
  }
  state.ending = clock.sentSeconds;
  return [send(END)];
}

function heard(state: State, message: JsonObject): Step[] {
  const { clock, text } = state;
  switch (message.type) {
    case 'session.created':
      if (state.ready) return [];
      state.ready = true;
      // Of these nothing is told but what is wrong.
      return [send({ type: 'session.update', model: state.model }), send(BEGIN), { type: 'ready' }];
    case 'transcription.delta':
      state.hasDeltas = true;
      return text.delta(textIn(message.delta) ?? '', clock.legSeconds(state.ending ?? state.sentSeconds));
    case 'transcription.done':
      return done(state, textIn(message.text)?.trim());
    case 'error': {
      const told = objectIn(message.error);
      return failures.heardOfError(textIn(message.code ?? told.code), textIn(message.error) ?? textIn(told.message));
    }
    default:
      return [];
  }
}

function done(state: State, said: string | undefined): Step[] {
  const { ending, text, clock, before } = state;
  if (ending === undefined) {
    const isAgain = !text.open && (said === undefined || said === before);
    // The model ended on its own, and the server has thrown audio away.
    return isAgain ? [] : [failed(finalMissing)];
  }
  // The last turn said again: the words of this one came one by one, and they are others.
  const isAgain = said !== '' && said === before && text.text.trim() !== said;
  if (isAgain && state.hasDeltas) return [];
  state.ending = undefined;
  state.before = said;
  const steps: Step[] = [text.end(clock.legSeconds(ending), said)];
  if (state.finishing && state.held.length === 0) return [...steps, ...finished(state)];
  return [...steps, send(BEGIN), ...released(state)];
}

/** What was held back, up to the next end in it. */
function released(state: State): Step[] {
  const steps: Step[] = [];
  while (state.held.length > 0 && state.ending === undefined) {
    const next = state.held.shift() as State['held'][number];
    if (typeof next !== 'string') state.ending = next.end;
    steps.push(send(typeof next === 'string' ? next : END));
  }
  state.sentSeconds = state.ending ?? state.clock.sentSeconds;
  return [...steps, { type: 'confirmed' }];
}

function finished(state: State): Step[] {
  if (state.finished) return [];
  state.finished = true;
  return [{ type: 'finished' }];
}
