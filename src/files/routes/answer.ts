// A transcription as it is answered by HTTP, whole: the type and the headers of each format, or server-sent events where a stream
// was requested.

import type { Utterance } from '../../../machines/events.ts';
import type { TranscriptEvent, TranscriptionRequest } from '../../api/transcriptions.ts';
import { json, toApiError } from '../../http/router.ts';
import type { Reply, WholeReply } from '../../http/server.ts';
import { EVENT_STREAM, TextQueue } from '../../http/text-queue.ts';
import type { Degradation } from '../../live/failover/chain.ts';
import {
  diarizedSegmentOf,
  diarizedTranscriptionOf,
  logprobsOf,
  noSpeechIn,
  redactionsIn,
  segmentIdOf,
  subtitlesOf,
  textOf,
  transcriptionOf,
  usageOf,
  verboseTranscriptionOf,
  warningsOf,
} from '../answers.ts';
import type { FileResult } from '../job.ts';
import { srtOf, vttOf } from '../subtitles.ts';
import type { EarlyAnswer } from '../upload.ts';

export function answerOf(result: FileResult, requestId: string): WholeReply {
  const { request, outcome, warnings } = result;
  if (request.stream) return { status: 200, headers: streamHeaders(warnings), body: eventsOf(result) };
  const headers = warningHeader(warnings);
  const inText = (type: string, body: string): WholeReply => ({
    status: 200,
    headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` },
    body,
  });
  switch (request.responseFormat) {
    case 'text':
      return inText('text/plain', `${textOf(outcome)}\n`);
    case 'json':
      return json(200, transcriptionOf(result), headers);
    case 'verbose_json':
      return json(200, verboseTranscriptionOf(result, requestId), headers);
    case 'diarized_json':
      return json(200, diarizedTranscriptionOf(result), headers);
    // Nobody has registered a type for SubRip; OpenAI sends it as plain text, and WebVTT has a type that players ask for.
    case 'srt':
      return inText('text/plain', srtOf(subtitlesOf(result)));
    case 'vtt':
      return inText('text/vtt', vttOf(subtitlesOf(result)));
  }
}

function eventsOf(result: FileResult): string {
  const { request, outcome, warnings } = result;
  const events = new TranscriptEvents(request);
  const heard = outcome.utterances.map((utterance) => events.utterance(utterance)).join('');
  return (
    heard +
    events.done(textOf(outcome), {
      ...noSpeechIn(outcome),
      ...redactionsIn(outcome),
      ...logprobsOf(result),
      usage: usageOf(result),
      ...warningsOf(warnings),
    })
  );
}

/**
 * The streamed answer of a transcription: what was heard goes out while the work continues. The answer begins with the first text,
 * so that everything before it is refused as ever; and its bytes are a beginning of the whole answer, which is kept for those who
 * ask again under the same key.
 */
const streamHeaders = (warnings: readonly Degradation[]): Record<string, string> => ({
  ...warningHeader(warnings),
  ...EVENT_STREAM,
});

export class AnswerStream implements EarlyAnswer {
  readonly #requestId: string;
  readonly #ownWarnings: () => readonly Degradation[];
  readonly #pieces = new TextQueue();
  #events: TranscriptEvents | undefined;
  #sent = '';
  #warnings: readonly Degradation[] = [];
  #open: (reply: Reply) => void = () => {};
  readonly #opened = new Promise<Reply>((resolve) => {
    this.#open = resolve;
  });

  /** @param ownWarnings what else was not honoured, known with the first utterance */
  constructor(requestId: string, ownWarnings: () => readonly Degradation[] = () => []) {
    this.#requestId = requestId;
    this.#ownWarnings = ownWarnings;
  }

  /** An utterance that stays as it is, and what is known by then of things that were not honoured. */
  heard(utterance: Utterance, request: TranscriptionRequest, warnings: () => readonly Degradation[]): void {
    if (this.#events === undefined) {
      this.#events = new TranscriptEvents(request);
      this.#warnings = [...this.#ownWarnings(), ...warnings()];
    }
    const text = this.#events.utterance(utterance);
    this.#sent += text;
    this.#pieces.add(text);
    if (this.#sent !== '') this.#open({ status: 200, headers: streamHeaders(this.#warnings), body: this.#pieces });
  }

  /** Whether something of the answer is on its way to the client. */
  get isBegun(): boolean {
    return this.#sent !== '';
  }

  /** The answer: as soon as there is something of it, or as the work ended before that. Rejects as the work does until then. */
  answer(work: Promise<WholeReply>): Promise<Reply> {
    work.then(
      (reply) => this.#finish(reply),
      (error: unknown) => this.#fail(error),
    );
    return Promise.race([this.#opened, work]);
  }

  #finish({ body }: WholeReply): void {
    const whole = String(body);
    if (!whole.startsWith(this.#sent)) {
      this.#fail(new Error('A streamed answer is not a beginning of the whole one.'));
      return;
    }
    this.#pieces.add(whole.slice(this.#sent.length));
    this.#pieces.end();
  }

  #fail(error: unknown): void {
    this.#pieces.add(errorEvent(toApiError(error).body(this.#requestId)));
    this.#pieces.fail(error);
  }
}

type Done = Omit<Extract<TranscriptEvent, { type: 'transcript.text.done' }>, 'type' | 'text'>;

/** The events of one answer, in order. The deltas joined are `textOf` of the utterances. */
class TranscriptEvents {
  readonly #request: Pick<TranscriptionRequest, 'diarization' | 'responseFormat'>;
  #count = 0;

  constructor(request: Pick<TranscriptionRequest, 'diarization' | 'responseFormat'>) {
    this.#request = request;
  }

  utterance(utterance: Utterance): string {
    const index = this.#count++;
    const delta = index === 0 ? utterance.text : ` ${utterance.text}`;
    const segment = this.#segmentOf(utterance, index);
    const own = { delta, ...noSpeechIn(utterance) };
    if (segment === undefined) return eventOf({ type: 'transcript.text.delta', ...own });
    return eventOf({ type: 'transcript.text.delta', ...own, segment_id: segmentIdOf(index) }) + eventOf(segment);
  }

  #segmentOf(utterance: Utterance, index: number): TranscriptEvent | undefined {
    const { diarization, responseFormat } = this.#request;
    const { speaker } = utterance;
    if (responseFormat === 'diarized_json') return diarizedSegmentOf(utterance, index);
    return diarization && speaker !== undefined ? { ...diarizedSegmentOf(utterance, index), speaker } : undefined;
  }

  done(text: string, more: Done): string {
    return eventOf({ type: 'transcript.text.done', text, ...more });
  }
}

/** What is sent in place of the rest when the work fails behind the head: the body of every refusal. */
const errorEvent = (error: unknown): string => `event: error\ndata: ${JSON.stringify({ error })}\n\n`;

const eventOf = (event: TranscriptEvent): string => `data: ${JSON.stringify(event)}\n\n`;

/** Some proxies refuse answers whose headers are longer than a few of these. */
const HEADER_BYTES_MAX = 1_024;
/** Stands for those that there was no room for. */
const MORE = 'more_warnings';
/** What needs no quotes in a structured field (RFC 9651). */
const TOKEN = /^[A-Za-z][\w.-]*$/;

/**
 * `Voxgate-Warning`, a list of a structured field: the codes in their order, each with the parameter that it is about. Codes and names
 * of providers may have any text, and become safe to send.
 */
export function warningHeader(warnings: readonly Pick<Degradation, 'code' | 'param'>[]): Record<string, string> {
  const entries = warnings.map(entryOf).filter((entry) => entry !== '');
  if (entries.length === 0) return {};
  const value = entries.join(', ');
  if (value.length <= HEADER_BYTES_MAX) return { 'Voxgate-Warning': value };
  const distinct = [...new Set(entries)];
  while ([...distinct, MORE].join(', ').length > HEADER_BYTES_MAX) distinct.pop();
  return { 'Voxgate-Warning': [...distinct, MORE].join(', ') };
}

function entryOf({ code, param }: Pick<Degradation, 'code' | 'param'>): string {
  const safeCode = code.replace(/[^\w.-]/g, '_').slice(0, 64);
  const name = param?.replace(/[^\w.[\]-]/g, '_').slice(0, 64) ?? '';
  if (safeCode === '' || name === '') return safeCode;
  return `${safeCode};param=${TOKEN.test(name) ? name : `"${name}"`}`;
}
