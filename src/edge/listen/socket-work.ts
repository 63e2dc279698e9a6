// What the messages of a socket ask for, done in their order. Where it is long it is done by steps, so that other sockets are heard
// in between: at each turn of the event loop one socket does a step.

/** Audio taken at a turn of the event loop. */
export const STEP_BYTES = 262_144;
/** What the messages of all sockets may hold while they wait; beyond it they are taken whole, as they come. */
const WAITING_BYTES_MAX = 128 * 1024 * 1024;
/** What every message counts besides its bytes. */
export const MESSAGE_BYTES = 1024;

/** Each step gives about how many bytes it has taken. */
export type Steps = Iterator<number, void>;

/** The work that waits, of all sockets of the process. */
export class WaitingWork {
  readonly #bytesMax: number;
  #bytes = 0;
  /** In the order of their turns. */
  readonly #sockets = new Set<SocketWork>();
  #turn = 0;
  #isTurning = false;

  constructor(bytesMax = WAITING_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** Which turn of the event loop it is, for whoever may do something at each. */
  get turn(): number {
    if (!this.#isTurning) setImmediate(this.#turned);
    this.#isTurning = true;
    return this.#turn;
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so many bytes more may wait. */
  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= this.#bytesMax;
  }

  /** Counts bytes that wait, or wait no longer where negative. Whether there is room for them. */
  count(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= this.#bytesMax;
  }

  /** The socket has more to do; its turn comes behind the others'. */
  line(socket: SocketWork): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    if (this.#sockets.size === 1) setImmediate(this.#next);
  }

  readonly #turned = (): void => {
    this.#turn++;
    this.#isTurning = false;
  };

  readonly #next = (): void => {
    const socket = this.#sockets.values().next().value as SocketWork;
    const isBusy = socket.step(STEP_BYTES);
    this.#sockets.delete(socket);
    if (isBusy) this.#sockets.add(socket);
    if (this.#sockets.size > 0) setImmediate(this.#next);
  };
}

interface Work {
  /** What it holds of memory. */
  bytes: number;
  steps: Steps;
}

/** The work of one socket. */
export class SocketWork {
  readonly #waiting: WaitingWork;
  readonly #onFault: (error: unknown) => void;
  readonly #works: Work[] = [];
  #bytes = 0;

  /** @param onFault hears of work that failed, and is not gone on with */
  constructor(waiting: WaitingWork, onFault: (error: unknown) => void) {
    this.#waiting = waiting;
    this.#onFault = onFault;
  }

  /** Whether a message may wait here where no more than so many bytes of this socket may. */
  hasRoomFor(bytes: number, bytesMax: number): boolean {
    return this.#bytes + bytes <= bytesMax && this.#waiting.hasRoomFor(bytes);
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
    this.#waiting.count(bytes);
  }

  /** Behind what waits, at the socket's next turn; at once where too much waits already. */
  later(steps: Steps, bytes = 0): void {
    this.#works.push({ bytes, steps });
    this.#bytes += bytes;
    if (bytes > 0 && !this.#waiting.count(bytes)) this.step(Number.POSITIVE_INFINITY);
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
    const hasRoom = this.#waiting.count(bytes);
    if (isNext || !hasRoom) this.step(hasRoom ? STEP_BYTES : Number.POSITIVE_INFINITY);
    if (this.isBusy) this.#waiting.line(this);
  }

  /** Takes so many bytes, or a few more. Whether there is more to do. */
  step(bytes: number): boolean {
    for (let left = bytes; left > 0 && this.isBusy; ) {
      const work = this.#works[0] as Work;
      const taken = this.#take(work.steps);
      if (taken === undefined) {
        this.#works.shift();
        this.#bytes -= work.bytes;
        this.#waiting.count(-work.bytes);
      } else left -= taken;
    }
    return this.isBusy;
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
