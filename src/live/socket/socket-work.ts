// What the messages of a socket ask for, done in their order. Where it is long it is done by steps, so that other sockets are heard
// in between: at each turn of the event loop the sockets of one organisation do a step.
import { Quota, type Shortage } from '../../runtime/limits/quota.ts';

/** Audio taken at a turn of the event loop. */
export const STEP_BYTES = 262_144;
/** What the messages of all sockets may hold while they wait, half of it of one organisation; beyond it they are taken whole, as they come. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024;
/** Sound that the sockets of an organisation may decode in one turn of the event loop, about 5 ms of CPU. */
export const ORGANISATION_SOUND_MS = 2_000;
/** What every message counts besides its bytes. */
export const MESSAGE_BYTES = 1024;

/** Each step gives about how many bytes it has taken. */
export type Steps = Iterator<number, void>;

/** The work that waits, of all sockets of the process. */
export class WaitingWork {
  readonly #quota: Quota;
  /** By organisation, in the order of their turns. */
  readonly #lines = new Map<string, Set<SocketWork>>();
  /** Sound that was decoded in this turn, by organisation. */
  readonly #decodedMs = new Map<string, number>();
  #turn = 0;
  #isTurning = false;

  constructor(bytesMax = WAITING_BYTES_MAX) {
    this.#quota = new Quota(bytesMax);
  }

  /** Which turn of the event loop it is, for whoever may do something at each. */
  get turn(): number {
    if (!this.#isTurning) setImmediate(this.#turned);
    this.#isTurning = true;
    return this.#turn;
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#quota.used;
  }

  /** Why the organisation may not let so many bytes more wait; undefined where it may. */
  shortage(organisationId: string, bytes: number): Shortage | undefined {
    return this.#quota.shortage(organisationId, bytes);
  }

  /** Counts bytes that wait, or no longer wait where negative. Whether there is room for them. */
  count(bytes: number, organisationId = ''): boolean {
    this.#quota.count(organisationId, bytes);
    return this.#quota.shortage(organisationId, 0) === undefined;
  }

  /** Whether the organisation may decode sound in this turn. */
  mayDecode(organisationId: string): boolean {
    return (this.#decodedMs.get(organisationId) ?? 0) < ORGANISATION_SOUND_MS;
  }

  decoded(organisationId: string, ms: number): void {
    // The turn that counts it has to end.
    if (this.turn >= 0) this.#decodedMs.set(organisationId, (this.#decodedMs.get(organisationId) ?? 0) + ms);
  }

  /** The socket has more to do; its turn comes after the others of its organisation. */
  line(socket: SocketWork): void {
    const { organisationId } = socket;
    const sockets = this.#lines.get(organisationId);
    if (sockets !== undefined) sockets.add(socket);
    else {
      this.#lines.set(organisationId, new Set([socket]));
      if (this.#lines.size === 1) setImmediate(this.#next);
    }
  }

  readonly #turned = (): void => {
    this.#turn++;
    this.#isTurning = false;
    this.#decodedMs.clear();
  };

  readonly #next = (): void => {
    const [organisationId, sockets] = this.#lines.entries().next().value as [string, Set<SocketWork>];
    let left = STEP_BYTES;
    for (let [socket] = sockets; socket !== undefined && left > 0; [socket] = sockets) {
      left = socket.step(left);
      sockets.delete(socket);
      if (socket.isBusy) sockets.add(socket);
    }
    this.#lines.delete(organisationId);
    if (sockets.size > 0) this.#lines.set(organisationId, sockets);
    if (this.#lines.size > 0) setImmediate(this.#next);
  };
}

interface Work {
  /** What it holds of memory. */
  bytes: number;
  steps: Steps;
}

/** The work of one socket. */
export class SocketWork {
  readonly organisationId: string;
  readonly #waiting: WaitingWork;
  readonly #onFault: (error: unknown) => void;
  readonly #works: Work[] = [];
  #bytes = 0;

  /** @param onFault hears of work that failed, and is not continued */
  constructor(waiting: WaitingWork, organisationId: string, onFault: (error: unknown) => void) {
    this.organisationId = organisationId;
    this.#waiting = waiting;
    this.#onFault = onFault;
  }

  /** Why a message may not wait here, where no more than so many bytes of this socket may; undefined where it may. */
  shortage(bytes: number, bytesMax: number): 'socket' | Shortage | undefined {
    if (this.#bytes + bytes > bytesMax) return 'socket';
    return this.#waiting.shortage(this.organisationId, bytes);
  }

  /** Whether sound may be decoded in this turn of the event loop, as far as the organisation's other sockets left some of it. */
  get mayDecode(): boolean {
    return this.#waiting.mayDecode(this.organisationId);
  }

  decoded(ms: number): void {
    this.#waiting.decoded(this.organisationId, ms);
  }

  /** What comes now has to wait. */
  get isBusy(): boolean {
    return this.#works.length > 0;
  }

  /** What waits last. */
  get last(): Steps | undefined {
    return this.#works.at(-1)?.steps;
  }

  /** Counts bytes that wait besides, or wait no longer where negative. */
  hold(bytes: number): void {
    this.#bytes += bytes;
    this.#waiting.count(bytes, this.organisationId);
  }

  /** Behind what waits, at the socket's next turn; at once where too much waits already. */
  later(steps: Steps, bytes = 0): void {
    this.#works.push({ bytes, steps });
    this.#bytes += bytes;
    if (bytes > 0 && !this.#waiting.count(bytes, this.organisationId)) this.step(Number.POSITIVE_INFINITY);
    if (this.isBusy) this.#waiting.line(this);
  }

  /** Behind what waits: begins at once where nothing does. */
  add(bytes: number, steps: Steps): void {
    this.#begin(this.#works.push({ bytes, steps }) === 1, bytes);
  }

  /** Before what waits. */
  addFirst(steps: Steps): void {
    this.#works.unshift({ bytes: 0, steps });
    this.#begin(true, 0);
  }

  #begin(isNext: boolean, bytes: number): void {
    this.#bytes += bytes;
    const hasRoom = this.#waiting.count(bytes, this.organisationId);
    if (isNext || !hasRoom) this.step(hasRoom ? STEP_BYTES : Number.POSITIVE_INFINITY);
    if (this.isBusy) this.#waiting.line(this);
  }

  /** Takes so many bytes, or a few more. Returns how many it did not need: above 0 where nothing is left to do. */
  step(bytes: number): number {
    let left = bytes;
    while (left > 0 && this.isBusy) {
      const work = this.#works[0] as Work;
      const taken = this.#take(work.steps);
      if (taken === undefined) {
        this.#works.shift();
        this.#bytes -= work.bytes;
        this.#waiting.count(-work.bytes, this.organisationId);
      } else left -= taken;
    }
    return left;
  }

  #take(steps: Steps): number | undefined {
    try {
      return steps.next().value ?? undefined;
    } catch (error) {
      this.#onFault(error);
      return undefined;
    }
  }
}
