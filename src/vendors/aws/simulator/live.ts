// One session of the simulated streaming WebSocket: results that grow until they are final, exceptions, and a close behind the last.

import { crc32 } from 'node:zlib';
import { Type } from '@sinclair/typebox';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { members, oneOf, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { markedWordsOf } from '../../kit/simulator/words.ts';

/** Without audio for so long a session fails; one event holds a second of audio at most. */
const IDLE_MS = 15_000;
const EVENT_SECONDS_MAX = 1;
const text = Type.String({ minLength: 1, maxLength: 200 });
const Query = members(
  {
    'media-encoding': oneOf('pcm', 'flac', 'ogg-opus'),
    'sample-rate': Type.Integer({ minimum: 8_000, maximum: 48_000 }),
  },
  {
    'language-code': Type.String({ pattern: '^[a-z]{2,3}-[A-Z]{2}$' }),
    ...{
      'identify-language': Type.Boolean(),
      'identify-multiple-languages': Type.Boolean(),
      'preferred-language': text,
    },
    'language-options': Type.String({ pattern: '^[a-z]{2,3}-[A-Z]{2}(,[a-z]{2,3}-[A-Z]{2}){1,4}$' }),
    'session-id': Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }),
    ...{ 'vocabulary-name': text, 'vocabulary-filter-name': text, 'language-model-name': text },
    'vocabulary-filter-method': oneOf('remove', 'mask', 'tag'),
    'show-speaker-label': Type.Boolean(),
    'enable-partial-results-stabilization': Type.Boolean(),
    'partial-results-stability': oneOf('low', 'medium', 'high'),
    ...{
      'content-redaction-type': oneOf('PII'),
      'content-identification-type': oneOf('PII'),
      'pii-entity-types': text,
    },
  },
);

export interface Options {
  sampleRate: number;
  language: string | undefined;
  tellsSpeakers: boolean;
}

/** The options of a query, or what is wrong with it. */
export function optionsOf(query: URLSearchParams): Options | string {
  const asked = new URLSearchParams([...query].filter(([name]) => !/^x-(?:amz|id)/i.test(name)));
  const values = valuesOf(asked, Query);
  const wrong = wrongIn(Query, values);
  if (wrong !== undefined) return wrong;
  const named = ['language-code', 'identify-language', 'identify-multiple-languages'].filter((name) => values[name]);
  if (named.length !== 1) return 'Exactly one of language-code, identify-language and identify-multiple-languages';
  if (values['language-code'] === undefined && values['language-options'] === undefined)
    return 'language-options is missing';
  if (values['partial-results-stability'] !== undefined && values['enable-partial-results-stabilization'] !== true)
    return 'partial-results-stability is for stabilization alone';
  return {
    sampleRate: Number(values['sample-rate']),
    language: values['language-code'] as string | undefined,
    tellsSpeakers: values['show-speaker-label'] === true,
  };
}

export class Session extends SimulatedSession {
  readonly #options: Options;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, options: Options | string) {
    super(peer, tools);
    const isRefused = typeof options === 'string';
    this.#options = isRefused ? { sampleRate: 16_000, language: undefined, tellsSpeakers: false } : options;
    if (isRefused) this.later(1, () => this.#fail('BadRequestException', options));
    this.listen(this.#options);
    this.#waitForAudio();
    const asked = tools.quirk('exception');
    if (asked !== undefined) this.later(1, () => this.#fail(asked || 'InternalFailureException', 'It was asked for.'));
  }

  protected message(): void {
    this.#fail('BadRequestException', 'A text is no event.');
  }

  protected override audio(frame: Uint8Array): void {
    // The official client ends with a frame in which there is not even an event.
    const audio = frame.length === 0 ? frame : audioOf(frame);
    if (audio === undefined) this.#fail('BadRequestException', 'Could not decode the audio stream that you provided.');
    else if (audio.length === 0) this.finish();
    else if (audio.length > 2 * this.#options.sampleRate * EVENT_SECONDS_MAX || audio.length % 2 === 1)
      this.#fail('BadRequestException', 'An event holds whole samples, of a second at most.');
    else {
      this.#waitForAudio();
      this.hear(audio);
    }
  }

  protected interim(heard: HeardTurnText): void {
    this.#result(heard, true);
  }

  protected final(heard: HeardTurnText): void {
    this.#result(heard, false);
  }

  protected override noMatch(): void {
    this.peer.send({ TranscriptEvent: { Transcript: { Results: [] } } });
  }

  protected failed(code: string): void {
    this.#fail('InternalFailureException', code);
  }

  #waitForAudio(): void {
    this.expectMore(IDLE_MS, () =>
      this.#fail('BadRequestException', 'Your request timed out because no new audio was received for 15 seconds.'),
    );
  }

  #fail(exception: string, Message: string): void {
    this.peer.send({ [exception]: { Message } });
    this.close(1000);
  }

  #result(heard: HeardTurnText, IsPartial: boolean): void {
    const Speaker = this.#options.tellsSpeakers ? { Speaker: String(heard.turn % 2) } : {};
    const Items = markedWordsOf(heard).flatMap(({ word, mark, start: StartTime, end: EndTime }) => {
      const marks = mark === undefined ? [] : [{ Content: mark, Type: 'punctuation', StartTime: EndTime, EndTime }];
      return [{ Content: word, Type: 'pronunciation', StartTime, EndTime, Confidence: 0.9, ...Speaker }, ...marks];
    });
    const { start: StartTime, end: EndTime, text: Transcript, turn } = heard;
    const Alternatives = [{ Transcript, Items }];
    const Results = [{ ResultId: `result-${turn}`, StartTime, EndTime, IsPartial, Alternatives }];
    this.peer.send({ TranscriptEvent: { Transcript: { Results } } });
  }
}

const PRELUDE_BYTES = 12;
const CHECK_BYTES = 4;
const TEXT = 7;

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function headerOf(name: string, value: string): Buffer {
  const text = Buffer.from(value);
  return Buffer.concat([
    ...[Buffer.of(name.length), Buffer.from(name), Buffer.of(TEXT)],
    ...[Buffer.of(text.length >> 8, text.length & 0xff), text],
  ]);
}

/** A message under the name of its event; names of exceptions say so. */
export function framed(message: Readonly<Record<string, unknown>>): Uint8Array {
  const [name = 'none', body] = Object.entries(message)[0] ?? [];
  const kind = name.endsWith('Exception') ? 'exception' : 'event';
  const headers = Buffer.concat([
    headerOf(':message-type', kind),
    headerOf(`:${kind}-type`, name),
    headerOf(':content-type', 'application/json'),
  ]);
  const payload = Buffer.from(JSON.stringify(body) ?? '{}');
  const total = PRELUDE_BYTES + headers.length + payload.length + CHECK_BYTES;
  const prelude = Buffer.concat([number(total), number(headers.length)]);
  const checked = Buffer.concat([prelude, number(crc32(prelude)), headers, payload]);
  return Buffer.concat([checked, number(crc32(checked))]);
}

/** The payload of an audio event; undefined for what is none. */
export function audioOf(frame: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes.length < PRELUDE_BYTES + CHECK_BYTES || bytes.readUInt32BE(0) !== bytes.length) return undefined;
  const headersEnd = PRELUDE_BYTES + bytes.readUInt32BE(4);
  const payloadEnd = bytes.length - CHECK_BYTES;
  if (headersEnd > payloadEnd || bytes.readUInt32BE(8) !== crc32(bytes.subarray(0, 8))) return undefined;
  if (bytes.readUInt32BE(payloadEnd) !== crc32(bytes.subarray(0, payloadEnd))) return undefined;
  const headers = bytes.toString('latin1', PRELUDE_BYTES, headersEnd);
  return headers.includes('AudioEvent') ? bytes.subarray(headersEnd, payloadEnd) : undefined;
}
