// Amazon Transcribe's streaming WebSocket: everything is requested on a signed URL, audio and results are events in binary frames. A
// result is a turn under its name, told as a whole each time. https://docs.aws.amazon.com/transcribe/latest/dg/streaming.html

import { EventStreamCodec } from '@smithy/core/event-streams';
import type { Word } from '../../../machines/events.ts';
import { ended, partial, Warnings } from '../kit/heard.ts';
import { fractionIn, type JsonObject, listIn, objectIn, objectOf, textIn, timeIn, timeOr } from '../kit/json.ts';
import { LegClock } from '../kit/leg-clock.ts';
import type { LegRequest, LiveCodec, Step } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { meanConfidence, oneSpeaker, Speakers, utteranceOf, wordOf } from '../kit/words.ts';
import { socketAt } from './api.ts';
import { failures } from './failures.ts';
import { localeOf, USUAL } from './models.ts';
import { options } from './options.ts';

interface State {
  clock: LegClock;
  speakers: Speakers;
  warnings: Warnings;
  /** Results of which words were heard and no end, and those that have ended. */
  open: Set<string>;
  ended: string[];
  settledSeconds: number;
  finishing: boolean;
}

const NO_AUDIO = new Uint8Array(0);
/** What surely ends a result. */
const FINALIZE_SECONDS = 1;
/** Without audio for some 15 s a session fails. What is sent in the meantime is billed. */
const KEEP_ALIVE = { afterMs: 8_000, seconds: 0.1 } as const;
const RESULTS_MAX = 64;

const TIMING = liveTiming({
  // https://docs.aws.amazon.com/transcribe/latest/dg/streaming.html: 50 to 200 ms, a second at most.
  frame: { minMs: 50, idealMs: 100, maxMs: 200, tail: 'short' },
  // As it is spoken; what comes faster is answered later.
  speedMax: 1.5,
  drainMs: 8_000,
  turnPauseMs: FINALIZE_SECONDS * 1_000,
  keepAliveMs: KEEP_ALIVE.afterMs,
  stallMs: 12_000,
  // https://docs.aws.amazon.com/transcribe/latest/dg/limits-guidelines.html: four hours.
  sessionMaxMs: 14_400_000,
});

export const live: LiveCodec<State> = {
  timing: () => TIMING,

  open: (request) => ({
    state: {
      clock: new LegClock(request.sampleRate),
      speakers: new Speakers(),
      warnings: new Warnings(),
      open: new Set(),
      ended: [],
      settledSeconds: 0,
      finishing: false,
    },
    endpoint: socketAt(request.access, queryOf(request), request.connection?.wallMs ?? 0),
    hello: [],
  }),

  // Audio may be sent at once.
  opened: () => [{ type: 'ready' }],

  audio: ({ clock }, frame) => {
    clock.audio(frame);
    return audioEvent(frame);
  },

  read: (state, message) => ('bytes' in message ? heard(state, message.bytes) : []),

  // There is no message that ends a result: silence does.
  finalize: ({ clock, finishing }) =>
    finishing ? [] : [{ type: 'send', frame: audioEvent(clock.silence(FINALIZE_SECONDS)) }],

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: audioEvent(NO_AUDIO) }];
  },

  keepAlive: ({ clock, finishing }) => (finishing ? [] : [audioEvent(clock.silence(KEEP_ALIVE.seconds))]),

  refused: (refusal) => failures.ofRefusal(refusal),

  // Nothing else says that everything was told.
  closed: ({ finishing, open }, code, reason) =>
    failures.heardOfClose(code, reason, { finishing, open: open.size > 0, orderly: [1000, 1005] }),
};

function queryOf({ model, sampleRate, language, diarization, params, connection }: LegRequest) {
  const asked = options.honoured(params, model, 'live');
  const kinds = asked.pii_entity_types?.join(',');
  return {
    ...(language === 'auto' || (language === undefined && asked.language_options !== undefined)
      ? { 'identify-language': true, 'language-options': (asked.language_options ?? USUAL).join(',') }
      : { 'language-code': localeOf(language ?? 'en-US') }),
    'media-encoding': 'pcm',
    'sample-rate': sampleRate,
    'session-id': connection?.id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    'show-speaker-label': diarization || undefined,
    'enable-partial-results-stabilization': asked.partial_results_stability === undefined ? undefined : true,
    'content-redaction-type': asked.content_redaction === true || kinds !== undefined ? 'PII' : undefined,
    'pii-entity-types': kinds,
    ...options.wire(params, model, 'live'),
  };
}

function heard(state: State, bytes: Uint8Array): Step[] {
  const event = eventIn(bytes);
  if (event === undefined) return [];
  const { type, isException, body } = event;
  if (isException) return failures.heardOfError(type, textIn(body.Message) ?? textIn(body.message));
  if (type !== 'TranscriptEvent') return [];
  return listIn(objectIn(body.Transcript).Results).flatMap((each) => result(state, objectIn(each)));
}

/** The whole of a result each time, under its name; the last time with the words that stay. */
function result(
  state: State,
  { ResultId, StartTime, EndTime, IsPartial, Alternatives, LanguageCode }: JsonObject,
): Step[] {
  const { clock, open, settledSeconds, warnings } = state;
  const best = objectIn(listIn(Alternatives)[0]);
  const text = textIn(best.Transcript)?.trim();
  if (typeof ResultId !== 'string' || text === undefined || state.ended.includes(ResultId)) return [];
  const words = wordsIn(state, best.Items);
  const [from, to] = [timeIn(StartTime), timeIn(EndTime)];
  const end = to === undefined ? (words.at(-1)?.end ?? clock.legSeconds(clock.sentSeconds)) : clock.legSeconds(to);
  const start = Math.min(end, from === undefined ? (words[0]?.start ?? settledSeconds) : clock.legSeconds(from));
  const utterance = utteranceOf(text, start, end, {
    confidence: meanConfidence(words),
    speaker: oneSpeaker(words),
    language: textIn(LanguageCode),
    words: words.length > 0 ? words : undefined,
  });
  if (IsPartial === true) {
    if (end <= settledSeconds) return [];
    open.add(ResultId);
    return [partial(ResultId, utterance)];
  }
  if (IsPartial !== false) return [];
  open.delete(ResultId);
  // One without words may have another end.
  if (text !== '') state.ended.push(ResultId);
  if (state.ended.length > RESULTS_MAX) state.ended.shift();
  state.settledSeconds = Math.max(settledSeconds, end);
  const isPlaced = from !== undefined && to !== undefined;
  return [ended(ResultId, utterance), ...(isPlaced ? [] : warnings.estimated('Amazon Transcribe', 'EndTime'))];
}

/** Words with the marks behind each. */
function wordsIn({ clock, speakers }: State, items: unknown): Word[] {
  const words: Word[] = [];
  let lastEnd = 0;
  for (const { Content, Type, StartTime, EndTime, Confidence, Speaker } of listIn(items).map(objectIn)) {
    const [content, last] = [textIn(Content), words.at(-1)];
    if (content === undefined || content === '') continue;
    if (Type === 'punctuation') {
      if (last !== undefined) last.word += content;
      continue;
    }
    const start = timeOr(StartTime, lastEnd) ?? lastEnd;
    lastEnd = Math.max(start, timeOr(EndTime, start) ?? start);
    const place = [clock.legSeconds(start), clock.legSeconds(lastEnd)] as const;
    words.push(wordOf(content, ...place, fractionIn(Confidence), speakers.numberOf(Speaker)));
  }
  return words;
}

const codec = new EventStreamCodec(
  (bytes) =>
    typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
  (text) => Buffer.from(text),
);

const AUDIO_HEADERS = {
  ':content-type': { type: 'string', value: 'application/octet-stream' },
  ':event-type': { type: 'string', value: 'AudioEvent' },
  ':message-type': { type: 'string', value: 'event' },
} as const;

/** Audio for the service; without any, its end. */
export const audioEvent = (audio: Uint8Array): Uint8Array => codec.encode({ headers: AUDIO_HEADERS, body: audio });

/** An event of the service, or an exception; undefined for bytes that are neither. */
export function eventIn(bytes: Uint8Array): { type: string; isException: boolean; body: JsonObject } | undefined {
  try {
    const { headers, body } = codec.decode(bytes);
    const textOf = (name: string): string => String(headers[name]?.value ?? '');
    const isException = textOf(':message-type') !== 'event';
    const type = isException ? textOf(':exception-type') || textOf(':error-code') : textOf(':event-type');
    return { type, isException, body: objectIn(objectOf(Buffer.from(body).toString())) };
  } catch {
    return undefined;
  }
}
