// A client of OpenAI's Realtime API that transcribes, in the current shape of the protocol or in that of its beta: what it says, and
// what it is told. Its items are in items.ts, its settings in settings.ts.
import { type ApiError, apiError } from '../../../api/errors.ts';
import type { EventStamp, OutgoingEvent } from '../../../api/listen-events.ts';
import type { Change, Conversation, Handshake, Step } from '../../compat/dialect.ts';
import { Poller } from '../../compat/live.ts';
import { type JsonObject, objectOf, textIn } from '../../kit/json.ts';
import { subprotocolsOf } from '../../kit/offered-keys.ts';
import { audioIn } from '../../kit/simulator/checks.ts';
import { errorOf, invalid, type Refusal as Told } from '../../kit/simulator/openai-answers.ts';
import { settingsOf } from './client-secrets.ts';
import { closeOf, toldError } from './errors.ts';
import { Items } from './items.ts';
import { SendingPace } from './patience.ts';
import {
  bytesPerSecond,
  changedSettings,
  freshSettings,
  requestOf,
  type Settings,
  toldSession,
  updated,
} from './settings.ts';

const UPDATES = ['session.update', 'transcription_session.update'];
const KNOWN = [...UPDATES, ...['append', 'commit', 'clear'].map((what) => `input_audio_buffer.${what}`)].join(', ');
const BETA = 'openai-beta.realtime-v1';

/** What each refused commit is told. */
const COMMITS: Readonly<Record<'empty' | 'many', Told>> = {
  empty: {
    code: 'input_audio_buffer_commit_empty',
    message:
      'Error committing input audio buffer: there are less than 100 ms of audio that were not committed. Send more.',
  },
  many: {
    code: 'rate_limit_exceeded',
    type: 'rate_limit_error',
    message: 'More commits wait for their words than are taken. Wait for their transcriptions.',
  },
};

export class RealtimeConversation implements Conversation {
  readonly greeting: readonly string[];
  readonly textBytesMax = 16 * 1024 * 1024;
  readonly #query: URLSearchParams;
  /** Of the handshake, behind which every id of the session is made. */
  readonly #name: string;
  readonly #requestId: string;
  /** As the handshake requested, and later as the last update was. */
  #isBeta: boolean;
  readonly #fresh: Settings;
  #settings: Settings;
  readonly #items: Items;
  readonly #pace: SendingPace | undefined;
  #events = 0;
  #itemCount = 0;
  #isStarted = false;
  #audioBytes = 0;
  /** Seconds of the last piece. */
  #piece = 0;
  /** The id of the update that the session is requested with. */
  #startId: string | null = null;
  /** The session has begun with an update, which is answered when it is open. */
  #owesUpdated = false;
  readonly #poller: Poller;

  constructor(handshake: Handshake) {
    const { query, headers, requestId, nowMs } = handshake;
    this.#query = query;
    this.#requestId = requestId;
    this.#name = requestId.replace(/^req_/, '');
    this.#isBeta =
      headers.get('openai-beta')?.includes('realtime=v1') === true ||
      subprotocolsOf(headers.get('sec-websocket-protocol')).includes(BETA);
    this.#fresh = freshSettings(query);
    this.#settings = settingsOf(handshake, this.#fresh);
    this.#items = new Items({
      say: (type, members) => this.#event(type, members),
      newId: () => `item_${this.#name}_${++this.#itemCount}`,
      received: () => this.#received,
      piece: () => this.#piece,
    });
    this.#pace = nowMs && new SendingPace(nowMs);
    this.#poller = new Poller(this.#items);
    this.#take(this.#settings, this.#isBeta);
    this.greeting = [this.#tellSession('created')];
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    switch (message.type) {
      case 'session.update':
      case 'transcription_session.update':
        yield* this.#update(message);
        return;
      case 'input_audio_buffer.append':
        yield* this.#append(message);
        return;
      case 'input_audio_buffer.commit':
        yield* this.#commit(message);
        return;
      case 'input_audio_buffer.clear':
        // A turn of what was cleared and of what comes now would be kept, or lost, as a whole.
        if (this.#isStarted) yield { type: 'tell', message: { type: 'finalize' } };
        this.#items.clear();
        yield this.#say('input_audio_buffer.cleared', {});
        return;
      default:
        yield this.#fault(invalid('type', `This session transcribes: its events are ${KNOWN}.`), message);
    }
  }

  *binary(): Iterable<Step> {
    const message = 'Events are text messages; audio is base64 in those of `input_audio_buffer.append`.';
    yield this.#fault({ code: 'invalid_value', message });
  }

  encode(event: OutgoingEvent, _stamp: EventStamp): readonly string[] {
    switch (event.type) {
      case 'session_started':
        return this.#owesUpdated ? [this.#tellSession('updated')] : [];
      case 'speech_started':
        return this.#items.speechStarted(event.start);
      case 'transcript':
        return event.is_final ? this.#items.final(event) : this.#items.interim(event);
      case 'discontinuity': {
        const message = `There is no transcription from ${event.from} s to ${event.to} s.`;
        return this.#items.failed(event.to, errorOf({ type: 'transcription_error', code: event.reason, message }));
      }
      case 'error':
        return [this.#event('error', { error: toldError(event.error) })];
      case 'session_ended':
        return this.#items.end();
      default:
        return [];
    }
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return closeOf(code, reason);
  }

  refused(refusal: ApiError): { messages: readonly string[]; code: number; reason: string } {
    const error = { ...toldError(refusal.body(this.#requestId)), event_id: this.#startId };
    return { messages: [this.#event('error', { error })], ...closeOf(refusal.closeCode, refusal.code) };
  }

  get #received(): number {
    return this.#audioBytes / bytesPerSecond(this.#settings);
  }

  *#update(message: JsonObject): Iterable<Step> {
    if (this.#isStarted) {
      yield { type: 'change', change: this.#change(message) };
      return;
    }
    const after = updated(this.#settings, message.session);
    if ('code' in after) {
      yield this.#fault(after, message);
      return;
    }
    this.#take(after, isOfBeta(message));
    if (textIn(after.transcription.model) === undefined) yield { type: 'say', text: this.#tellSession('updated') };
    else {
      this.#owesUpdated = true;
      this.#startId = eventIdOf(message);
      yield this.#start();
    }
  }

  #take(settings: Settings, isBeta: boolean): void {
    this.#settings = settings;
    this.#isBeta = isBeta;
    this.#items.isBeta = isBeta;
    this.#items.detects = settings.turn_detection !== null;
  }

  #change(message: JsonObject): Change {
    const event_id = eventIdOf(message);
    const isBeta = isOfBeta(message);
    let after = this.#settings;
    let fault: Told | undefined;
    return {
      request: () => {
        const changed = changedSettings(this.#settings, message.session);
        fault = 'code' in changed ? changed : undefined;
        if ('code' in changed) throw apiError('invalid_request', changed.message);
        after = changed;
        return requestOf(after, this.#query, this.#fresh);
      },
      taken: () => this.#take(after, isBeta),
      inForce: () => [this.#tellSession('updated', after, isBeta)],
      refused: (refusal) => {
        const error = fault === undefined ? toldError(refusal.body(this.#requestId)) : errorOf(fault);
        return [this.#event('error', { error: { ...error, event_id } })];
      },
    };
  }

  #start(): Step {
    this.#isStarted = true;
    return { type: 'start', request: requestOf(this.#settings, this.#query, this.#fresh) };
  }

  *#append(message: JsonObject): Iterable<Step> {
    const bytes = audioIn(message.audio);
    if (bytes === undefined) {
      yield this.#fault(invalid('audio', 'Invalid value for `audio`: it is base64.'), message);
      return;
    }
    if (!this.#isStarted) yield this.#start();
    this.#audioBytes += bytes.byteLength;
    this.#piece = bytes.byteLength / bytesPerSecond(this.#settings);
    this.#pace?.sent(this.#piece);
    yield { type: 'audio', bytes };
  }

  *#commit(message: JsonObject): Iterable<Step> {
    const told = this.#items.commit(this.#pace?.ahead);
    if (typeof told === 'string') {
      yield this.#fault(COMMITS[told], message);
      return;
    }
    yield { type: 'tell', message: { type: 'finalize' } };
    for (const text of told) yield { type: 'say', text };
    yield* this.#poller.begin();
  }

  #tellSession(what: 'created' | 'updated', settings = this.#settings, isBeta = this.#isBeta): string {
    const session = toldSession(settings, `sess_${this.#name}`, isBeta);
    return this.#event(`${isBeta ? 'transcription_session' : 'session'}.${what}`, { session });
  }

  /** @param message whose id is quoted, where it has one */
  #fault(told: Told, message: JsonObject = {}): Step {
    return this.#say('error', { error: { ...errorOf(told), event_id: eventIdOf(message) } });
  }

  #say(type: string, members: object): Step {
    return { type: 'say', text: this.#event(type, members) };
  }

  #event(type: string, members: object): string {
    return JSON.stringify({ type, event_id: `event_${this.#name}_${++this.#events}`, ...members });
  }
}

const isOfBeta = ({ type }: JsonObject): boolean => type === 'transcription_session.update';
const eventIdOf = ({ event_id }: JsonObject): string | null => textIn(event_id)?.slice(0, 512) ?? null;
