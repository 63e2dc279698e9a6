// The pace of a socket that is nobody's at first, and somebody's later.
import type { SocketPace } from '../../http/server.ts';
import type { OpenPace } from './socket-pace.ts';

export class LatePace implements SocketPace {
  #pace: OpenPace;
  #isSomebodys = false;
  /** The server has asked how large its messages may be, when nobody had a place to give. */
  #isSmall = false;

  /** @param pace of all sockets that are nobody's */
  constructor(pace: OpenPace) {
    this.#pace = pace;
  }

  /** From now on it is this one, which is released by whoever made it. */
  become(pace: OpenPace): void {
    this.release();
    this.#isSomebodys = true;
    this.#pace = pace;
    if (this.#isSmall) pace.staySmall();
  }

  take(bytes: number, isAudio: boolean, canWait: boolean): number {
    return this.#pace.take(bytes, isAudio, canWait);
  }

  fragments(count: number): number {
    return this.#pace.fragments(count);
  }

  owedMs(): number {
    return this.#pace.owedMs();
  }

  exceeded(): void {
    this.#pace.exceeded();
  }

  enter(granted: () => void): boolean {
    return this.#pace.enter(granted);
  }

  leave(): void {
    this.#pace.leave();
  }

  mayBeLarge(): boolean {
    this.#isSmall = true;
    return this.#pace.mayBeLarge();
  }

  /** It has closed, or is somebody's; nothing where it was released already. */
  release(): void {
    if (!this.#isSomebodys) this.#pace.release();
    this.#isSomebodys = true;
  }
}
