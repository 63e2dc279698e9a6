// One connection of the simulated Realtime API: which events a client may send, in which order, and what is refused.
import type { Ear, EarMessage, SimulatedConnection, SimulatedPeer, SimulatorTools } from '../../simulation.ts';
import { LIVE_RATE } from '../models.ts';
import { COMMIT_SAMPLES_MIN, SimulatedItems } from './items.ts';
import { freshSettings, type SessionFault, type SessionSettings, updated } from './session.ts';

/** How a session begins. */
export interface SessionStart {
  /** With a model in the URL the server opens a conversation, which transcribes nothing here. */
  conversation: boolean;
  /** From a client secret: configured from the beginning. */
  preset: SessionSettings | undefined;
}

type Members = Readonly<Record<string, unknown>>;

const APPEND_CHARS_MAX = 15 * 1024 * 1024;
const SESSION_MS = 3_600_000;

/** Serves one client until it or its hour is gone. */
export function openSession(peer: SimulatedPeer, tools: SimulatorTools, start: SessionStart): SimulatedConnection {
  return new RealtimeSession(peer, tools, start);
}

class RealtimeSession implements SimulatedConnection {
  private readonly peer: SimulatedPeer;
  private readonly tools: SimulatorTools;
  private readonly conversation: boolean;
  private readonly items: SimulatedItems;
  private settings: SessionSettings;
  private configured: boolean;
  private ear: Ear | undefined;
  private bytesHeard = 0;

  constructor(peer: SimulatedPeer, tools: SimulatorTools, { conversation, preset }: SessionStart) {
    this.peer = peer;
    this.tools = tools;
    this.conversation = conversation;
    this.settings = preset ?? freshSettings(tools.newId());
    this.configured = preset !== undefined;
    this.items = new SimulatedItems(
      tools,
      (type, members) => this.say(type, members),
      () => this.settings,
    );
    const { session } = this.settings;
    this.say('session.created', { session: conversation ? { ...session, type: 'realtime' } : session });
    this.items.later(Number(tools.quirk('expire-after') ?? SESSION_MS), () => this.expire());
  }

  text(text: string): void {
    const event = eventOf(text);
    if (event === undefined) {
      this.refuse({}, fault('invalid_json', null, 'The event is not a JSON object.'));
      return;
    }
    const refused = this.take(event);
    if (refused !== undefined) this.refuse(event, refused);
  }

  bytes(): void {
    this.refuse({}, fault('invalid_value', null, 'Events are text frames; audio travels in them as base64.'));
  }

  gone(): void {
    this.items.close();
    this.ear?.close();
    this.ear = undefined;
  }

  private take(event: Members): SessionFault | undefined {
    switch (event.type) {
      case 'session.update':
        return this.update(event.session);
      case 'input_audio_buffer.append':
        return this.append(event.audio);
      case 'input_audio_buffer.commit':
        return this.commit(event);
      case 'input_audio_buffer.clear':
        this.ear?.finalize();
        this.items.clear(this.samples);
        this.say('input_audio_buffer.cleared', {});
        return undefined;
      default:
        return fault('invalid_value', 'type', `Invalid value: '${String(event.type)}'.`);
    }
  }

  private get samples(): number {
    return this.bytesHeard / 2;
  }

  private update(session: unknown): SessionFault | undefined {
    if (this.conversation) {
      const message = 'Passing a transcription session update event to a realtime session is not allowed.';
      return fault('invalid_parameter', 'session.type', message);
    }
    const result = updated(this.settings, session);
    if ('fault' in result) return result.fault;
    if (result.turnDetection === null && this.settings.turnDetection !== null) this.items.detectionEnds(this.samples);
    this.settings = result;
    this.configured = true;
    this.say('session.updated', { session: result.session });
    return undefined;
  }

  private append(audio: unknown): SessionFault | undefined {
    if (!this.configured && this.tools.quirk('strict-order') !== undefined) {
      return fault('invalid_value', 'type', 'Audio came before the session was updated.');
    }
    if (typeof audio !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(audio)) {
      return fault('invalid_value', 'audio', 'Invalid value for audio: expected base64.');
    }
    if (audio.length > APPEND_CHARS_MAX) {
      return fault('string_above_max_length', 'audio', `Invalid 'audio': at most ${APPEND_CHARS_MAX} characters.`);
    }
    this.ear ??= this.tools.openEar({ sampleRate: LIVE_RATE, language: this.settings.language }, (message) =>
      this.hear(message),
    );
    const bytes = Buffer.from(audio, 'base64');
    this.bytesHeard += bytes.byteLength;
    this.ear.audio(bytes);
    return undefined;
  }

  private commit(event: Members): SessionFault | undefined {
    const waiting = this.items.uncommitted(this.samples);
    if (waiting < COMMIT_SAMPLES_MIN) return tooShort(waiting);
    this.items.commit(this.samples, (samples) => this.refuse(event, tooShort(samples)));
    this.ear?.finalize();
    return undefined;
  }

  private hear(message: EarMessage): void {
    if (message.type !== 'error') {
      this.items.hear(message);
      return;
    }
    this.say('error', {
      error: { type: 'server_error', code: null, message: 'The server had an error.', param: null },
    });
    this.peer.close(1011, 'server_error');
  }

  private expire(): void {
    this.refuse({}, fault('session_expired', null, 'Your session hit the maximum duration of 60 minutes.'));
    this.peer.close(1001, 'session_expired');
  }

  private refuse({ event_id: eventId }: Members, refused: SessionFault): void {
    this.say('error', { error: { ...refused, event_id: typeof eventId === 'string' ? eventId : null } });
  }

  private say(type: string, members: Members): void {
    this.peer.send({ type, event_id: `event_${this.tools.newId()}`, ...members });
  }
}

const fault = (code: string, param: string | null, message: string): SessionFault => ({
  type: 'invalid_request_error',
  code,
  message,
  param,
});

const tooShort = (samples: number): SessionFault =>
  fault(
    'input_audio_buffer_commit_empty',
    null,
    `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${((samples * 1000) / LIVE_RATE).toFixed(2)}ms of audio.`,
  );

function eventOf(text: string): Members | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Members) : undefined;
  } catch {
    return undefined;
  }
}
