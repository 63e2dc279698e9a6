// Which messages of other nodes are believed: those that open, that come in the order in which they were sealed, and whose sender
// was there when it was first heard of. No two clocks are compared: a sender that is new here is asked for a sign of life, and its
// own clock tells how long before that each of its messages was sealed.
import { randomBytes } from 'node:crypto';
import { openFrame, readHead, type SealedHead } from './frame-seal.ts';
import type { KeyRing } from './key-ring.ts';
import type { RefusalReason } from './refusals.ts';

/** Senders that are remembered; the oldest is asked again. */
const SENDERS_MAX = 4_096;
/** Senders that are asked at the same time. */
const ASKED_MAX = 1_024;
const ASK_AGAIN_MS = 250;
/** Without a sign of life for so long what it has sent is dropped. */
const ASKED_MS_MAX = 5_000;
/** How long before a sign of life, beyond the time that asking took, a message may have been sealed. */
const FRESH_MS = 2_000;
/** What waits for signs of life, of all senders. */
const HELD_MAX = 4_096;
const HELD_BYTES_MAX = 16 * 1_048_576;

/** A message that has come, before anything is known of it. */
export interface Arrived {
  subject: string;
  reply: string;
  data: Uint8Array;
}

/** Takes what was in it, and the node that has sealed it. Must not throw. */
export type Take = (plain: Buffer, node: string) => void;

interface Held {
  plain: Buffer;
  counter: number;
  sentMs: number;
  take: Take;
}

interface Sender {
  readonly node: string;
  readonly key: Uint8Array;
  /** Of the last message that was taken; undefined before its sign of life. */
  lastCounter: number | undefined;
  asked: { nonce: string; sinceMs: number; timer: NodeJS.Timeout | undefined; held: Held[] } | undefined;
}

export interface SendersOptions {
  /** This node: what it says itself does not come from outside. */
  node: string;
  ring: KeyRing;
  /** Asks a node for a sign of life. */
  challenge(node: string, nonce: string): void;
  refused(reason: RefusalReason): void;
  sendersMax?: number | undefined;
  askedMsMax?: number | undefined;
}

export class Senders {
  readonly #options: SendersOptions;
  readonly #senders = new Map<string, Sender>();
  #asked = 0;
  #held = 0;
  #heldBytes = 0;

  constructor(options: SendersOptions) {
    this.#options = options;
  }

  /** Senders that are remembered, and messages that wait for a sign of life. */
  get size(): { senders: number; held: number } {
    return { senders: this.#senders.size, held: this.#held };
  }

  /** Takes it now, after a sign of life of its sender, or never. */
  receive(arrived: Arrived, take: Take): void {
    const opened = this.#open(arrived);
    if (opened === undefined) return;
    const { head, sender, plain } = opened;
    if (sender.lastCounter !== undefined) this.#inOrder(sender, { ...head, plain, take });
    else this.#hold(sender, { counter: head.counter, sentMs: head.sentMs, plain, take });
  }

  /** Somebody asks this node for a sign of life. It may come again: nothing follows from it but such questions. */
  receiveChallenge(arrived: Arrived, take: Take): void {
    const opened = this.#open(arrived);
    if (opened === undefined) return;
    const { sender, plain } = opened;
    take(plain, sender.node);
    // It may answer something soon, and end then: it is asked while it is there.
    if (sender.lastCounter === undefined && this.#asked < ASKED_MAX) sender.asked ??= this.#ask(sender);
  }

  /** A sign of life; `nonceOf` reads what it answers. */
  receiveProof(arrived: Arrived, nonceOf: (plain: Buffer) => unknown): void {
    const opened = this.#open(arrived);
    if (opened === undefined) return;
    const { head, sender, plain } = opened;
    const { asked } = sender;
    if (asked === undefined || nonceOf(plain) !== asked.nonce) {
      // An answer to each of several questions; or an old one, or one that came too late.
      if (sender.lastCounter === undefined) this.#options.refused('stale');
      else if (head.counter <= sender.lastCounter) this.#options.refused('replayed');
      return;
    }
    const tookMs = performance.now() - asked.sinceMs;
    this.#stopAsking(sender);
    sender.lastCounter = 0;
    for (const held of asked.held) {
      if (head.sentMs - held.sentMs > tookMs + FRESH_MS) this.#options.refused('stale');
      else this.#inOrder(sender, held);
    }
    sender.lastCounter = Math.max(sender.lastCounter, head.counter);
  }

  close(): void {
    for (const sender of this.#senders.values()) this.#stopAsking(sender);
    this.#senders.clear();
  }

  #inOrder(sender: Sender, { counter, plain, take }: Pick<Held, 'counter' | 'plain' | 'take'>): void {
    if (counter <= (sender.lastCounter as number)) {
      this.#options.refused('replayed');
      return;
    }
    sender.lastCounter = counter;
    take(plain, sender.node);
  }

  #open({ subject, reply, data }: Arrived): { head: SealedHead; sender: Sender; plain: Buffer } | undefined {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const head = readHead(bytes);
    if (head === undefined || head === 'version') {
      this.#options.refused(head ?? 'unsealed');
      return undefined;
    }
    const { node, ring } = this.#options;
    const known = this.#senders.get(head.sender);
    const keys = head.node === node ? [] : known === undefined ? ring.candidates(head.hint) : [known.key];
    for (const key of keys) {
      const plain = openFrame(key, head, subject, reply, bytes);
      if (plain !== undefined) return { head, sender: known ?? this.#remember(head, key), plain };
    }
    this.#options.refused('forged');
    return undefined;
  }

  #remember({ sender: id, node }: SealedHead, key: Uint8Array): Sender {
    if (this.#senders.size >= (this.#options.sendersMax ?? SENDERS_MAX)) this.#forgetOldest();
    const sender: Sender = { node, key, lastCounter: undefined, asked: undefined };
    this.#senders.set(id, sender);
    return sender;
  }

  #forgetOldest(): void {
    for (const [id, sender] of this.#senders) {
      this.#giveUp(sender);
      this.#senders.delete(id);
      return;
    }
  }

  #hold(sender: Sender, held: Held): void {
    const isFull = this.#held >= HELD_MAX || this.#heldBytes + held.plain.length > HELD_BYTES_MAX;
    if (isFull || (sender.asked === undefined && this.#asked >= ASKED_MAX)) {
      this.#options.refused('overflow');
      return;
    }
    sender.asked ??= this.#ask(sender);
    sender.asked.held.push(held);
    this.#held++;
    this.#heldBytes += held.plain.length;
  }

  #ask(sender: Sender): NonNullable<Sender['asked']> {
    const nonce = randomBytes(16).toString('base64url');
    const asked: NonNullable<Sender['asked']> = { nonce, sinceMs: performance.now(), timer: undefined, held: [] };
    this.#asked++;
    const ask = () => {
      this.#options.challenge(sender.node, nonce);
      // The servers between the two may not know yet where the other one listens.
      asked.timer = setTimeout(again, ASK_AGAIN_MS).unref();
    };
    const again = () => {
      const { askedMsMax = ASKED_MS_MAX } = this.#options;
      if (performance.now() - asked.sinceMs >= askedMsMax) this.#giveUp(sender);
      else ask();
    };
    ask();
    return asked;
  }

  #giveUp(sender: Sender): void {
    for (const _ of sender.asked?.held ?? []) this.#options.refused('stale');
    this.#stopAsking(sender);
  }

  #stopAsking(sender: Sender): void {
    const { asked } = sender;
    if (asked === undefined) return;
    clearTimeout(asked.timer);
    this.#asked--;
    this.#held -= asked.held.length;
    for (const { plain } of asked.held) this.#heldBytes -= plain.length;
    sender.asked = undefined;
  }
}
