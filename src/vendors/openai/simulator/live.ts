// One connection of the simulated Realtime API: which events a client may send, in which order, and what is refused.
import { type JsonObject, jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedPeer, SimulatorTools } from '../../kit/simulation.ts';
import { audioIn } from '../../kit/simulator/checks.ts';
import { errorOf, invalid, type Refusal } from '../../kit/simulator/openai-answers.ts';
import { type HeardTurnText, SimulatedSession } from '../../kit/simulator/session.ts';
import { LIVE_RATE } from '../models.ts';
import { COMMIT_SAMPLES_MIN, SimulatedItems } from './items.ts';
import { freshSettings, type SessionSettings, updated } from './session.ts';

/** How a session begins. */
export interface SessionStart {
  /** With a model in the URL the server opens a conversation, which transcribes nothing here. */
  conversation: boolean;
  /** From a client secret: configured from the beginning. */
  preset: SessionSettings | undefined;
}

const APPEND_CHARS_MAX = 15 * 1024 * 1024;
const SESSION_MS = 3_600_000;
/** A commit that is refused is so after a while. */
const COMMIT_REFUSED_MS = 800;
const LIMIT = 'Your session hit the maximum duration of 60 minutes.';
const SERVER_ERROR: Refusal = { type: 'server_error', code: null, message: 'The server had an error.' };

export class RealtimeSession extends SimulatedSession {
  readonly #conversation: boolean;
  readonly #items: SimulatedItems;
  #settings: SessionSettings;
  #configured: boolean;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, { conversation, preset }: SessionStart) {
    super(peer, tools);
    this.#conversation = conversation;
    this.#settings = preset ?? freshSettings(tools.newId());
    this.#configured = preset !== undefined;
    this.#items = new SimulatedItems(tools, {
      say: (type, members) => this.#say(type, members),
      settings: () => this.#settings,
      later: (delayMs, work) => this.later(delayMs, work),
      cancel: (timer) => this.cancel(timer),
    });
    const { session } = this.#settings;
    this.#say('session.created', { session: conversation ? { ...session, type: 'realtime' } : session });
    this.later(this.numberOf('expire-after', SESSION_MS), () => this.#expire());
  }

  protected message(text: string): void {
    const json = jsonOf(text);
    const event = objectIn(json);
    const refused =
      event === json ? this.#take(event) : { code: 'invalid_json', message: 'The event is not a JSON object.' };
    if (refused !== undefined) this.#refuse(refused, event);
  }

  protected override audio(): void {
    this.#refuse({ code: 'invalid_value', message: 'Events are text frames; audio travels in them as base64.' });
  }

  #take(event: JsonObject): Refusal | undefined {
    switch (event.type) {
      case 'session.update':
        return this.#update(event);
      case 'input_audio_buffer.append':
        return this.#append(event.audio);
      case 'input_audio_buffer.commit':
        this.#commit(event);
        return undefined;
      case 'input_audio_buffer.clear':
        this.finalize();
        this.#items.clear(this.samples);
        this.#say('input_audio_buffer.cleared', {});
        return undefined;
      default:
        return invalid('type', `Invalid value: '${String(event.type)}'.`);
    }
  }

  #update(event: JsonObject): Refusal | undefined {
    if (this.#conversation) {
      const message = 'Passing a transcription session update event to a realtime session is not allowed.';
      return invalid('session.type', message, 'invalid_parameter');
    }
    const result = updated(this.#settings, event.session);
    if ('code' in result) {
      if (result.code !== 'invalid_model') return result;
      this.#refuse(result, event);
      this.close(4000, 'invalid_request_error.invalid_model');
      return undefined;
    }
    if (result.turnDetection === null && this.#settings.turnDetection !== null) this.#items.detectionEnds(this.samples);
    this.#settings = result;
    this.#configured = true;
    this.#say('session.updated', { session: result.session });
    return undefined;
  }

  #append(audio: unknown): Refusal | undefined {
    if (!this.#configured && this.has('strict-order'))
      return invalid('type', 'Audio came before the session was updated.');
    const bytes = audioIn(audio);
    if (bytes === undefined) return invalid('audio', 'Invalid value for audio: expected base64.');
    if ((audio as string).length > APPEND_CHARS_MAX) {
      const message = `Invalid 'audio': at most ${APPEND_CHARS_MAX} characters.`;
      return invalid('audio', message, 'string_above_max_length');
    }
    if (!this.isListening) this.listen({ sampleRate: LIVE_RATE, language: this.#settings.language });
    this.hear(bytes);
    return undefined;
  }

  #commit(event: JsonObject): void {
    const waiting = this.#items.uncommitted(this.samples);
    const tooFew = (samples: number) => this.later(COMMIT_REFUSED_MS, () => this.#refuse(tooShort(samples), event));
    if (waiting < COMMIT_SAMPLES_MIN) {
      tooFew(waiting);
      return;
    }
    this.#items.commit(this.samples, tooFew);
    this.finalize();
  }

  protected override speechStarted(start: number): void {
    this.#items.speechStarted(start);
  }

  protected interim(heard: HeardTurnText): void {
    this.#items.interim(heard);
  }

  protected final(heard: HeardTurnText): void {
    this.#items.turnEnded(heard);
  }

  protected failed(): void {
    this.#say('error', { error: errorOf(SERVER_ERROR) });
    this.close(1011, 'server_error');
  }

  #expire(): void {
    this.#refuse({ code: 'session_expired', message: LIMIT });
    this.close(1001, LIMIT);
  }

  #refuse(refused: Refusal, { event_id: id }: JsonObject = {}): void {
    this.#say('error', { error: { ...errorOf(refused), event_id: typeof id === 'string' ? id : null } });
  }

  #say(type: string, members: JsonObject): void {
    this.peer.send({ type, event_id: `event_${this.tools.newId()}`, ...members });
  }
}

function tooShort(samples: number): Refusal {
  const there = `${((samples * 1000) / LIVE_RATE).toFixed(2)}ms`;
  const message = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${there} of audio.`;
  return { code: 'input_audio_buffer_commit_empty', message };
}
