// Calls of Genesys Cloud, by AudioHook: an open transaction, samples in binary messages, and transcripts as events.
// https://developer.genesys.cloud/devapps/audiohook/session-walkthrough
import type { ApiError } from '../../api/errors.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../api/listen-events.ts';
import type { Conversation, Ending, Step } from '../compat/dialect.ts';
import { confidenceOf, wordsOf } from '../compat/transcript.ts';
import { type JsonObject, jsonOf, listIn, objectIn, objectOf, textIn } from '../kit/json.ts';
import { callStep, TEXT_BYTES_MAX, unsupported } from './call-start.ts';
import { telephone } from './carriers.ts';

/** Of a connection that only tries whether somebody answers. */
const NOBODY = '00000000-0000-0000-0000-000000000000';
const KNOWN = ['error', 'paused', 'resumed', 'discarded', 'update', 'dtmf', 'playback_started', 'playback_completed'];
const SHAPE =
  'A text message is one of AudioHook, version 2, with `type`: "open" first, then "ping", "close" and others; audio comes in binary messages.';

class AudioHookCall implements Conversation {
  readonly textBytesMax = TEXT_BYTES_MAX;
  readonly #query: URLSearchParams;
  #id = NOBODY;
  /** The format that was chosen of those offered. */
  #media: JsonObject = {};
  #state: 'new' | 'probe' | 'open' = 'new';
  #isClosing = false;
  #seq = 0;
  #clientSeq = 0;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  *text(text: string): Iterable<Step> {
    const { type, id, seq, parameters } = objectOf(text);
    if (typeof seq === 'number') this.#clientSeq = seq;
    if (type === 'open' && this.#state === 'new') {
      this.#id = textIn(id) ?? NOBODY;
      yield this.#open(objectIn(parameters));
    } else if (type === 'ping') yield this.#say('pong', {});
    else if (type === 'close') yield this.#close();
    else if (!KNOWN.includes(type as string)) yield { type: 'fault', message: SHAPE };
  }

  *binary(bytes: Uint8Array): Iterable<Step> {
    yield { type: 'audio', bytes };
  }

  encode(event: OutgoingEvent): readonly string[] {
    if (event.type === 'session_started') return [this.#opened()];
    if (event.type === 'transcript') return [this.#transcript(event)];
    if (event.type !== 'session_ended') return [];
    return [this.#isClosing ? this.#message('closed', {}) : this.#disconnect(event.reason)];
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return { code: reason === '' ? 1000 : code, reason };
  }

  refused({ closeCode, code, message }: ApiError): Ending {
    return { messages: [this.#disconnect(code, message)], code: closeCode, reason: code };
  }

  #open({ conversationId, media, language, customConfig }: JsonObject): Step {
    const offered = listIn(media)
      .map(objectIn)
      .filter(({ format, rate }) => format === 'PCMU' && rate === 8000);
    this.#media = offered.find(({ channels }) => listIn(channels).length === 2) ?? offered[0] ?? {};
    const channels = listIn(this.#media.channels).length;
    const isTaken = channels === 1 || channels === 2;
    if (conversationId === NOBODY && isTaken) {
      this.#state = 'probe';
      return { type: 'say', text: this.#opened() };
    }
    this.#state = 'open';
    const config = objectIn(typeof customConfig === 'string' ? jsonOf(customConfig) : customConfig);
    const asked = new Map<string, unknown>([...this.#query, ...Object.entries(config)]);
    if (typeof language === 'string' && !asked.has('language')) asked.set('language', language);
    return callStep({ carrier: 'audiohook', ids: [conversationId, this.#id] }, asked, () => {
      if (!isTaken) throw unsupported('not among the media that are offered', 'PCMU at 8000');
      return { encoding: 'mulaw', sampleRate: 8000, channels };
    });
  }

  /** The client waits for `closed`, which comes after the last final. */
  #close(): Step {
    this.#isClosing = true;
    return this.#state === 'open' ? { type: 'tell', message: { type: 'close' } } : this.#say('closed', {});
  }

  #transcript(heard: TranscriptEvent): string {
    const { text, start, end, is_final, turn, channel = 0 } = heard;
    const tokens = wordsOf(heard).map(({ word, start: from, end: to, confidence = 1 }) => ({
      ...{ type: 'word', value: word, confidence },
      ...{ offset: durationOf(from), duration: durationOf(to - from) },
    }));
    const interpretations = [{ type: 'display', transcript: text, tokens }];
    const data = {
      ...{ id: this.#transcriptId(turn, channel), channelId: channel, isFinal: is_final },
      ...{ offset: durationOf(start), duration: durationOf(end - start) },
      alternatives: [{ confidence: confidenceOf(heard), interpretations }],
    };
    return this.#message('event', { entities: [{ type: 'transcript', data }] });
  }

  /** The same for all that is told of one turn. */
  #transcriptId(turn: number, channel: number): string {
    const own = channel.toString(16).padStart(2, '0') + turn.toString(16).padStart(10, '0');
    return this.#id.slice(0, -own.length) + own;
  }

  #opened(): string {
    return this.#message('opened', { startPaused: false, media: [this.#media] });
  }

  #disconnect(reason: string, info = reason): string {
    const isOver = ['client_closed', 'completed'].includes(reason);
    return this.#message('disconnect', { reason: isOver ? 'completed' : 'error', info });
  }

  #say(type: string, parameters: object): Step {
    return { type: 'say', text: this.#message(type, parameters) };
  }

  #message(type: string, parameters: object): string {
    this.#seq++;
    const numbers = { seq: this.#seq, clientseq: this.#clientSeq };
    return JSON.stringify({ version: '2', type, ...numbers, id: this.#id, parameters });
  }
}

const durationOf = (seconds: number): string => `PT${Math.max(0, Math.round(seconds * 1000) / 1000)}S`;

export const audiohook = telephone('audiohook', 'Genesys AudioHook', {
  '/media': { open: ({ query }) => new AudioHookCall(query) },
});
