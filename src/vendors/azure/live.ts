// Azure's speech WebSocket, as its official client speaks it. The service makes turns of its own, called requests here: each has a
// context, counts its time from 0 and may be ended by the service, as in long silence. The next one begins with what is left of it.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { failed, Warnings } from '../kit/heard.ts';
import { fractionIn, type JsonObject, listIn, objectIn, textIn, timeIn } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { ConnectionName, LegRequest, LiveCodec, Outgoing, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { finalMissing } from '../kit/turn-text.ts';
import { TurnsFromPieces } from '../kit/turns/turns-from-pieces.ts';
import { utteranceOf, wordOf } from '../kit/words.ts';
import { api } from './api.ts';
import { failures } from './failures.ts';
import { AudioFrames, messageIn, type RequestName, textFrame } from './frames.ts';
import { localeOf } from './models.ts';
import { options } from './options.ts';

interface State {
  asked: LegRequest;
  clock: LegClock;
  tail: AudioTail;
  turns: TurnsFromPieces;
  warnings: Warnings;
  requests: number;
  /** Requests in a row that have ended and told nothing. */
  untold: number;
  request: RequestName;
  frames: AudioFrames;
  /** Where the request begins, and up to where all is told: on the service's clock. */
  fromSeconds: number;
  settledSeconds: number;
  finishing: boolean;
  /** The service has said that it has come to the end of the audio. */
  heardEnd: boolean;
}

const TICKS_PER_SECOND = 10_000_000;
const PATH = '/speech/recognition/conversation/cognitiveservices/v1';
/** With what a pause surely ends a turn. */
const MARGIN_MS = 400;
/** Audio on its way while the service ends a request. */
const TAIL_SECONDS = 2;
/** Its client sends no larger messages. */
const MESSAGE_SECONDS = 0.1;
const UNTOLD_MAX = 3;
const KEEP_ALIVE = { afterMs: 60_000, seconds: 0.1 } as const;
/** Said of audio in which no words were found. */
const WORDLESS = ['NoMatch', 'InitialSilenceTimeout', 'BabbleTimeout'];

export const live: LiveCodec<State> = {
  timing: (request) =>
    liveTiming({
      frame: { minMs: 20, idealMs: 100, maxMs: 200, tail: 'short' },
      // What its client keeps to.
      speedMax: 2,
      burstMs: 5_000,
      drainMs: 6_000,
      turnPauseMs: pauseOf(request),
      keepAliveMs: KEEP_ALIVE.afterMs,
      stallMs: 12_000,
      // Of a connection, https://docs.microsoft.com/azure/cognitive-services/speech/api-reference-rest/websocketprotocol
      sessionMaxMs: 600_000,
    }),

  open: (asked) => {
    const { access, sampleRate, connection = { id: '', wallMs: 0 } } = asked;
    const request = nameOf(connection, 1, 0);
    const state: State = {
      asked,
      clock: new LegClock(sampleRate),
      tail: new AudioTail(TAIL_SECONDS * sampleRate * BYTES_PER_SAMPLE),
      turns: new TurnsFromPieces(),
      warnings: new Warnings(),
      requests: 1,
      untold: 0,
      request,
      frames: new AudioFrames(request),
      ...{ fromSeconds: 0, settledSeconds: 0, finishing: false, heardEnd: false },
    };
    return {
      state,
      endpoint: {
        kind: 'websocket',
        url: api.websocket(access, PATH, queryOf(asked)),
        headers: { ...api.headers(access), 'X-ConnectionId': connection.id.toUpperCase() },
      },
      hello: [textFrame('speech.config', request, configOf(asked)), ...beginning(state)],
    };
  },

  // Audio may be sent at once, and nothing is said before there is some.
  opened: () => [{ type: 'ready' }],

  audio: (state, frame) => {
    state.clock.audio(frame);
    state.tail.push(frame);
    return state.frames.of(frame);
  },

  read: (state, message) => ('text' in message ? heard(state, message.text) : []),

  // An end of the audio would end the request as well, and lose what is on its way: silence ends the turn alone.
  finalize: (state) => (state.finishing ? [] : silence(state, (pauseOf(state.asked) + MARGIN_MS) / 1_000)),

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: state.frames.last() }];
  },

  keepAlive: (state) =>
    state.finishing
      ? []
      : silence(state, KEEP_ALIVE.seconds).flatMap((step) => (step.type === 'send' ? [step.frame] : [])),

  refused: (refusal) => failures.ofRefusal(refusal),

  // The end of a leg is told before.
  closed: ({ finishing }, code, reason) => failures.heardOfClose(code, reason, { finishing, open: true }),
};

/** The context of a request, and the first of its audio. */
const beginning = ({ asked, request, frames }: State): Outgoing[] => [
  textFrame('speech.context', request, contextOf(asked)),
  frames.first(asked.sampleRate),
];

function silence(state: State, seconds: number): Step[] {
  const audio = state.clock.silence(seconds);
  state.tail.push(audio);
  return sending(state, audio);
}

function sending({ asked, frames }: State, audio: Uint8Array): Step[] {
  const size = Math.round(MESSAGE_SECONDS * asked.sampleRate) * BYTES_PER_SAMPLE;
  const steps: Step[] = [];
  for (let at = 0; at < audio.length; at += size)
    steps.push({ type: 'send', frame: frames.of(audio.subarray(at, at + size)) });
  return steps;
}

function heard(state: State, text: string): Step[] {
  const { path, requestId, body } = messageIn(text);
  // Of a request that is over.
  if (requestId !== undefined && requestId.toUpperCase() !== state.request.id) return [];
  switch (path) {
    case 'speech.startdetected':
      return [{ type: 'speech.started', start: placeIn(state, body.Offset) ?? state.settledSeconds }];
    case 'speech.hypothesis':
    case 'speech.fragment':
      return unsettled(state, body);
    case 'speech.phrase':
      return phrase(state, body);
    case 'speech.enddetected':
      state.heardEnd = state.finishing;
      return [];
    case 'turn.end':
      return requestEnded(state);
    default:
      return [];
  }
}

/** Seconds on the leg's clock of ticks since the request began. */
const placeIn = ({ clock, fromSeconds }: State, ticks: unknown): number | undefined => {
  const time = timeIn(ticks);
  return time === undefined ? undefined : clock.legSeconds(fromSeconds + time / TICKS_PER_SECOND);
};

function unsettled(state: State, { Text, Offset, Duration }: JsonObject): Step[] {
  const text = textIn(Text)?.trim();
  const start = placeIn(state, Offset);
  if (text === undefined || start === undefined) return [];
  const end = placeIn(state, Number(timeIn(Offset)) + (timeIn(Duration) ?? 0)) ?? start;
  if (end <= state.clock.legSeconds(state.settledSeconds)) return [];
  return [state.turns.partial(utteranceOf(text, start, Math.max(start, end)))];
}

function phrase(state: State, body: JsonObject): Step[] {
  const { RecognitionStatus: status, DisplayText, NBest, Offset, Duration } = body;
  if (status === 'EndOfDictation') {
    state.heardEnd = state.finishing;
    return [];
  }
  const isWordless = WORDLESS.includes(String(textIn(status)));
  if (status !== 'Success' && !isWordless) {
    const code = textIn(status);
    return code === undefined ? [] : failures.heardOfError(code);
  }
  const { turns, clock, settledSeconds, fromSeconds, warnings } = state;
  const best = objectIn(listIn(NBest)[0]);
  const text = isWordless ? '' : (textIn(best.Display) ?? textIn(DisplayText))?.trim();
  if (text === undefined) return [];
  const [offset, duration] = [timeIn(Offset), timeIn(Duration)];
  const isPlaced = offset !== undefined && duration !== undefined;
  // Phrases have no names: one at the same place with the same words is the same one.
  if (isPlaced ? turns.isRepeated(`${fromSeconds} ${offset} ${duration} ${text}`) : text === '') return [];
  const endSeconds = isPlaced ? fromSeconds + (offset + duration) / TICKS_PER_SECOND : clock.sentSeconds;
  if (text === '' && endSeconds <= settledSeconds) return [];
  const end = clock.legSeconds(endSeconds);
  const start = Math.min(
    end,
    text === '' ? clock.legSeconds(settledSeconds) : (placeIn(state, offset) ?? clock.legSeconds(settledSeconds)),
  );
  state.settledSeconds = Math.max(settledSeconds, clock.heardSeconds(endSeconds));
  state.untold = 0;
  const words = wordsIn(state, best);
  const utterance = utteranceOf(text, start, end, {
    confidence: fractionIn(best.Confidence),
    language: textIn(body.PrimaryLanguage),
    words: words.length > 0 && text !== '' ? words : undefined,
  });
  return [turns.piece(utterance), ...turns.end(), ...(isPlaced ? [] : warnings.estimated('Azure', 'Offset'))];
}

/** As they are read, where the service tells that, or else as they are spoken. */
function wordsIn(state: State, { DisplayWords, Words }: JsonObject) {
  const told = Array.isArray(DisplayWords) ? DisplayWords : listIn(Words);
  return told.map(objectIn).flatMap(({ DisplayText, Word, Offset, Duration, Confidence }) => {
    const word = textIn(DisplayText) ?? textIn(Word);
    const start = placeIn(state, Offset);
    if (word === undefined || word === '' || start === undefined) return [];
    const end = placeIn(state, Number(timeIn(Offset)) + (timeIn(Duration) ?? 0)) ?? start;
    return [wordOf(word, start, end, fractionIn(Confidence))];
  });
}

/** The service takes no more audio of the request. What it has not told of is sent again in the next, as its own client does. */
function requestEnded(state: State): Step[] {
  const { asked, clock, tail, turns, settledSeconds, finishing } = state;
  const bytesPerSecond = asked.sampleRate * BYTES_PER_SAMPLE;
  if (finishing && state.heardEnd) return [turns.open ? failed(finalMissing) : { type: 'finished' }];
  const settledBytes = Math.round(settledSeconds * asked.sampleRate) * BYTES_PER_SAMPLE;
  state.untold++;
  if (state.untold > UNTOLD_MAX) return failures.heardOfError('Error');
  // Words were heard in audio that is not kept any more: the session has it.
  if (turns.open && settledBytes < tail.lostBytes) return [failed(finalMissing)];
  const fromByte = Math.max(settledBytes, tail.lostBytes);
  state.requests++;
  state.request = nameOf(asked.connection ?? { id: '', wallMs: 0 }, state.requests, clock.sentSeconds);
  state.frames = new AudioFrames(state.request);
  state.fromSeconds = fromByte / bytesPerSecond;
  const begun = beginning(state).map((frame): Step => ({ type: 'send', frame }));
  const again = sending(state, tail.from(fromByte));
  return [...begun, ...again, ...(finishing ? live.finish(state) : [])];
}

export class AudioTail {
  readonly #ring: Uint8Array;
  #sentBytes = 0;

  /** @param bytes how much is kept */
  constructor(bytes: number) {
    this.#ring = new Uint8Array(bytes);
  }

  push(audio: Uint8Array): void {
    const size = this.#ring.length;
    const kept = audio.subarray(Math.max(0, audio.length - size));
    const at = (this.#sentBytes + audio.length - kept.length) % size;
    const before = Math.min(kept.length, size - at);
    this.#ring.set(kept.subarray(0, before), at);
    this.#ring.set(kept.subarray(before), 0);
    this.#sentBytes += audio.length;
  }

  /** Bytes of all audio that are kept no more. */
  get lostBytes(): number {
    return Math.max(0, this.#sentBytes - this.#ring.length);
  }

  /** All audio from this byte on, which is not one that is lost. */
  from(byte: number): Uint8Array {
    const size = this.#ring.length;
    const [length, at] = [Math.max(0, this.#sentBytes - byte), byte % size];
    const audio = new Uint8Array(length);
    const before = Math.min(length, size - at);
    audio.set(this.#ring.subarray(at, at + before));
    audio.set(this.#ring.subarray(0, length - before), before);
    return audio;
  }
}

// What a session asks of Azure: the query, who speaks, and the context of each request. The query and the context say the same, as the
// official client's do.
/** What ends a turn where nothing is requested. */
const PAUSE_MS = 650;
/** A turn that ends by its meaning may wait longer. */
const SEMANTIC_PAUSE_MS = 2_000;
const MODES = { Default: 'Normal', Time: 'Custom', Semantic: 'Semantic' } as const;

/** Silence that ends a turn. */
export function pauseOf({ model, params }: LegRequest): number {
  const { segmentation_silence_ms, segmentation_strategy } = options.honoured(params, model, 'live');
  return segmentation_silence_ms ?? (segmentation_strategy === 'Semantic' ? SEMANTIC_PAUSE_MS : PAUSE_MS);
}

/** The name of a connection's request, by its number and by what was sent before it. */
export const nameOf = ({ id, wallMs }: ConnectionName, count: number, sentSeconds: number): RequestName => ({
  id: `${id.slice(0, 24)}${count.toString(16).padStart(8, '0')}`.toUpperCase(),
  at: new Date(wallMs + sentSeconds * 1_000).toISOString(),
});

/** Who speaks, and what it is sent. */
export const configOf = ({ sampleRate: samplerate }: LegRequest) => ({
  context: {
    system: { name: 'Voxgate', version: '1', build: 'JavaScript', lang: 'JavaScript' },
    os: { platform: 'Node', name: 'Voxgate', version: '1' },
    audio: {
      source: {
        ...{ bitspersample: 16, channelcount: 1, connectivity: 'Unknown', manufacturer: 'Voxgate', model: 'Voxgate' },
        ...{ samplerate, type: 'Stream' },
      },
    },
  },
  recognition: 'conversation',
});

export function queryOf({ model, language, params, access }: LegRequest) {
  const { true_text } = options.honoured(params, model, 'live');
  return {
    language: localeOf(language) ?? 'en-US',
    format: 'detailed',
    wordLevelTimestamps: true,
    postprocessing: true_text === true ? 'TrueText' : undefined,
    cid: access.fields?.endpoint_id,
    ...options.wire(params, model, 'live'),
  };
}

/** The context of a request. */
export function contextOf({ language, model, params }: LegRequest) {
  const { phrases, segmentation_silence_ms, segmentation_strategy } = options.honoured(params, model, 'live');
  const byStrategy = MODES[segmentation_strategy ?? 'Default'];
  const segmentation =
    segmentation_silence_ms === undefined
      ? { mode: byStrategy }
      : { mode: 'Custom', segmentationSilenceTimeoutMs: segmentation_silence_ms };
  const items = phrases?.map((text) => ({ text }));
  return {
    phraseDetection: {
      language: localeOf(language) ?? 'en-US',
      mode: 'Conversation',
      conversation: { segmentation },
    },
    phraseOutput: { format: 'Detailed', detailed: { options: ['WordTimings'] } },
    ...(items === undefined ? {} : { dgi: { groups: [{ type: 'Generic', items }], bias: 1 } }),
  };
}
