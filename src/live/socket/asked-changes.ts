// What another vendor's client changes in mid-session: each change is decided behind those before it, and answered once, in their
// order, however many of them the session turns to together.
import { ApiError, apiError } from '../../api/errors.ts';
import type { Configure } from '../../api/listen.ts';
import type { EventEncoder, EventStamp, OutgoingEvent } from '../../api/listen-events.ts';
import type { Change, ClientRequest, Conversation } from '../../vendors/compat/dialect.ts';
import type { SessionOpening } from '../session/session-opening.ts';
import { CHANGEABLE } from './client-message.ts';

/** Changes that may wait for their answers; one more is refused at once. */
export const CHANGES_WAITING_MAX = 50;

interface Asked {
  change: Change;
  state: 'undecided' | 'taken' | 'in force' | ApiError;
}

export interface AskedChangesParts {
  conversation: Conversation;
  parametersOf(clientRequest: ClientRequest): ReadonlyMap<string, string>;
  onRefused(refusal: ApiError): void;
  /** Every event that the client is sent. */
  onEvent?(event: OutgoingEvent): void;
}

export class AskedChanges implements EventEncoder {
  readonly #parts: AskedChangesParts;
  #waiting: Asked[] = [];
  /** What is requested of the session by now. */
  #current = '';
  #say: (text: string) => void = () => {};
  /** The client was told that its session has begun: nothing is answered before. */
  #hasBegun = false;

  constructor(parts: AskedChangesParts) {
    this.#parts = parts;
  }

  /** The socket is open. */
  open(say: (text: string) => void): void {
    this.#say = say;
  }

  /** The session is requested. */
  begin(parameters: ReadonlyMap<string, string>): void {
    this.#current = JSON.stringify(configureOf(parameters));
  }

  /** Gives whether the session has to be told that there is a change. */
  add(change: Change): boolean {
    if (this.#waiting.length >= CHANGES_WAITING_MAX) {
      this.#refuse(change, apiError('rate_limit_exceeded', TOO_MANY));
      return false;
    }
    const asked: Asked = { change, state: 'undecided' };
    const isBehind = this.#waiting.some(({ state }) => state === 'undecided');
    this.#waiting.push(asked);
    if (!isBehind) {
      try {
        if (JSON.stringify(this.#configureOf(change.request())) === this.#current) {
          change.taken();
          asked.state = 'in force';
        }
      } catch (error) {
        asked.state = toApiError(error);
      }
    }
    this.#answer();
    return asked.state === 'undecided';
  }

  /** What a session is opened with that may be changed. */
  partsOf({ configure }: SessionOpening): Pick<SessionOpening, 'encoder' | 'configure' | 'notConfigured'> {
    return {
      encoder: this,
      // What a dialect says to the session itself is as it says it.
      ...(configure && {
        configure: (asked) => (Object.keys(asked).length > 1 ? configure(asked) : this.#decide(configure)),
      }),
      notConfigured: (refusal) => this.#refuseAll(refusal),
    };
  }

  encode(event: OutgoingEvent, stamp: EventStamp): readonly string[] {
    this.#parts.onEvent?.(event);
    const told = this.#parts.conversation.encode(event, stamp);
    if (event.type === 'session_started') this.#hasBegun = true;
    if (this.#waiting.length === 0) return told;
    if (event.type === 'configured') {
      for (const asked of this.#waiting) if (asked.state === 'taken') asked.state = 'in force';
      return [...told, ...this.#answers()];
    }
    if (event.type === 'session_started') return [...told, ...this.#answers()];
    if (event.type !== 'session_ended') return told;
    const refusal = apiError('invalid_request', OVER);
    for (const asked of this.#waiting) if (asked.state !== 'in force') asked.state = refusal;
    return [...this.#answers(), ...told];
  }

  close(code: number, reason: string): { code: number; reason: string } {
    return this.#parts.conversation.close(code, reason);
  }

  /** Those that are requested by now; gives the last that is taken. */
  async #decide(configure: NonNullable<SessionOpening['configure']>): ReturnType<typeof configure> {
    const taken: Asked[] = [];
    let configuration: Awaited<ReturnType<typeof configure>>;
    for (const asked of this.#waiting.filter(({ state }) => state === 'undecided')) {
      try {
        const message = this.#configureOf(asked.change.request());
        const text = JSON.stringify(message);
        if (text !== this.#current) configuration = await configure(message);
        this.#current = text;
        asked.change.taken();
        taken.push(asked);
      } catch (error) {
        asked.state = toApiError(error);
      }
    }
    for (const asked of taken) asked.state = configuration === undefined ? 'in force' : 'taken';
    this.#answer();
    return configuration;
  }

  #refuseAll(refusal: ApiError): boolean {
    const undecided = this.#waiting.filter(({ state }) => state === 'undecided');
    for (const asked of undecided) asked.state = refusal;
    this.#answer();
    return undecided.length > 0;
  }

  #answer(): void {
    for (const text of this.#answers()) this.#say(text);
  }

  /** Of all up to the first that is not in force yet. */
  #answers(): string[] {
    const told: string[] = [];
    if (!this.#hasBegun) return told;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const { change, state } = first;
      if (state === 'undecided' || state === 'taken') break;
      this.#waiting.shift();
      told.push(...(state === 'in force' ? change.inForce() : this.#refusalOf(change, state)));
    }
    return told;
  }

  #refuse(change: Change, refusal: ApiError): void {
    for (const text of this.#refusalOf(change, refusal)) this.#say(text);
  }

  #refusalOf(change: Change, refusal: ApiError): readonly string[] {
    this.#parts.onRefused(refusal);
    return change.refused(refusal);
  }

  #configureOf(clientRequest: ClientRequest): Configure {
    return configureOf(this.#parts.parametersOf(clientRequest));
  }
}

/** All that can be changed, as it is requested now: what was requested before, and is not there, is taken back. */
function configureOf(parameters: ReadonlyMap<string, string>): Configure {
  const entries = CHANGEABLE.flatMap((name): [string, string | null][] => {
    const text = parameters.get(name) ?? null;
    return name === 'model' && text === null ? [] : [[name, text]];
  });
  return { type: 'configure', ...Object.fromEntries(entries) } as Configure;
}

/** What a change fails at is that change: whatever its client has sent. */
const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : apiError('invalid_request', 'The change cannot be read. Nothing was changed.');

const TOO_MANY = `More than ${CHANGES_WAITING_MAX} changes wait for their answers. Wait for them.`;
const OVER = 'The session has ended before the change was in force.';
