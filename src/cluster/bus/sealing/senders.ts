// Replay protection: a message is accepted if it can be opened, if its counter is higher than the last one of its sender, and if
// its sender is alive. A sender that is new here gets a challenge; its proof says how old each of its messages is by its own
// clock, so that clocks of two nodes are never compared.
import { randomBytes } from 'node:crypto';
import { openFrame, readHead, type SealedHead } from './frame-seal.ts';
import type { KeyRing } from './key-ring.ts';
import type { RefusalReason } from './refusals.ts';

/** Senders to remember; beyond it the oldest is forgotten and challenged again. */
const SENDERS_MAX = 4_096;
/** Senders that may be challenged at the same time. */
const ASKED_MAX = 1_024;
const ASK_AGAIN_MS = 250;
/** Messages of a sender are dropped when its proof takes longer. */
const ASKED_MS_MAX = 5_000;
/** How old a message may be at the time of the proof, beyond the duration of the challenge. */
const FRESH_MS = 2_000;
/** Bounds of the buffer for messages of unverified senders, over all senders. */
const HELD_MAX = 4_096;
const HELD_BYTES_MAX = 16 * 1_048_576;

/** A received message, not yet verified. */
export interface Arrived {
  subject: string;
  reply: string;
  data: Uint8Array;
}

/** Takes the decrypted message and the node that sealed it. Must not throw. */
type Take = (plain: Buffer, node: string) => void;

interface Held {
  plain: Buffer;
  counter: number;
  sentMs: number;
  take: Take;
}

interface Sender {
  readonly node: string;
  readonly key: Uint8Array;
  /** Of the accepted messages; undefined before the sender's proof. */
  accepted: CounterWindow | undefined;
  asked: { nonce: string; sinceMs: number; timer: NodeJS.Timeout | undefined; held: Held[] } | undefined;
}

interface SendersOptions {
  /** This node. A message from outside that claims to be from it is refused. */
  node: string;
  ring: KeyRing;
  /** Sends a challenge to a node. */
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

  /** Number of remembered senders and of buffered messages. */
  get size(): { senders: number; held: number } {
    return { senders: this.#senders.size, held: this.#held };
  }

  /** Calls `take` now, after the proof of the sender, or never. */
  receive(arrived: Arrived, take: Take): void {
    const opened = this.#open(arrived);
    if (opened === undefined) return;
    const { head, sender, plain } = opened;
    if (sender.accepted !== undefined) this.#inOrder(sender.accepted, sender, { ...head, plain, take });
    else this.#hold(sender, { counter: head.counter, sentMs: head.sentMs, plain, take });
  }

  /** Another node challenges this one. The challenge may be a replay; it only makes this node challenge its sender in turn. */
  receiveChallenge(arrived: Arrived, take: Take): void {
    const opened = this.#open(arrived);
    if (opened === undefined) return;
    const { sender, plain } = opened;
    take(plain, sender.node);
    // The sender may answer and end soon, so challenge it while it is alive.
    if (sender.accepted === undefined && this.#asked < ASKED_MAX) sender.asked ??= this.#ask(sender);
  }

  /** A proof arrived; `nonceOf` reads the nonce that it answers. Returns the node that has proved itself by it. */
  receiveProof(arrived: Arrived, nonceOf: (plain: Buffer) => unknown): string | undefined {
    const opened = this.#open(arrived);
    if (opened === undefined) return undefined;
    const { head, sender, plain } = opened;
    const { asked } = sender;
    if (asked === undefined || nonceOf(plain) !== asked.nonce) {
      // The answer to one of several challenges, a replay, or an answer that came too late.
      if (sender.accepted === undefined) this.#options.refused('stale');
      else if (head.counter <= sender.accepted.last) this.#refuseLate(sender.accepted, head.counter);
      return undefined;
    }
    const tookMs = performance.now() - asked.sinceMs;
    this.#stopAsking(sender);
    const accepted = new CounterWindow(0);
    sender.accepted = accepted;
    for (const held of asked.held) {
      if (head.sentMs - held.sentMs > tookMs + FRESH_MS) this.#options.refused('stale');
      else this.#inOrder(accepted, sender, held);
    }
    if (head.counter > accepted.last) accepted.accept(head.counter);
    return sender.node;
  }

  close(): void {
    for (const sender of this.#senders.values()) this.#stopAsking(sender);
    this.#senders.clear();
  }

  #inOrder(
    accepted: CounterWindow,
    sender: Sender,
    { counter, plain, take }: Pick<Held, 'counter' | 'plain' | 'take'>,
  ): void {
    if (counter <= accepted.last) {
      this.#refuseLate(accepted, counter);
      return;
    }
    accepted.accept(counter);
    take(plain, sender.node);
  }

  /** Held up on its way, or sent again by somebody else. */
  #refuseLate(accepted: CounterWindow, counter: number): void {
    this.#options.refused(accepted.wasAccepted(counter) ? 'replayed' : 'stale');
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
    for (const key of known === undefined ? ring.candidates(head.hint) : [known.key]) {
      const plain = openFrame(key, head, subject, reply, bytes);
      if (plain === undefined) continue;
      if (head.node !== node) return { head, sender: known ?? this.#remember(head, key), plain };
      // This node's own: a server that was frozen gives it back over another connection than it came by.
      this.#options.refused('stale');
      return undefined;
    }
    this.#options.refused('forged');
    return undefined;
  }

  #remember({ sender: id, node }: SealedHead, key: Uint8Array): Sender {
    if (this.#senders.size >= (this.#options.sendersMax ?? SENDERS_MAX)) this.#forgetOldest();
    const sender: Sender = { node, key, accepted: undefined, asked: undefined };
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
      // The NATS servers may not have propagated the other node's subscription yet.
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

/** Counters that are remembered; older ones cannot be told apart. */
const COUNTERS = 16_384;

/**
 * The counters of one sender that were accepted lately: they tell a replay from a message that was delayed, as by a frozen
 * server, and arrives after later ones.
 */
class CounterWindow {
  /** The last accepted counter. */
  last: number;
  #bits: Uint8Array | undefined;

  constructor(last: number) {
    this.last = last;
  }

  /** The counter is higher than the last one, and is the last one from now on. */
  accept(counter: number): void {
    this.#bits ??= new Uint8Array(COUNTERS / 8);
    const skipped = counter - this.last - 1;
    if (skipped >= COUNTERS) this.#bits.fill(0);
    else for (let each = this.last + 1; each < counter; each++) this.#set(each, false);
    this.#set(counter, true);
    this.last = counter;
  }

  /** Whether a message with that counter was accepted before, as far as it is remembered. */
  wasAccepted(counter: number): boolean {
    if (this.#bits === undefined || counter > this.last || counter <= this.last - COUNTERS) return false;
    const at = counter % COUNTERS;
    return ((this.#bits[at >> 3] as number) & (1 << (at & 7))) !== 0;
  }

  #set(counter: number, isAccepted: boolean): void {
    const bits = this.#bits as Uint8Array;
    const at = counter % COUNTERS;
    if (isAccepted) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
    else bits[at >> 3] = (bits[at >> 3] as number) & ~(1 << (at & 7));
  }
}
