// What other nodes have sealed, opened: messages whose sender has given a sign of life; and the questions for that, and this
// node's own signs. Which messages are believed is sealing/senders.ts; what follows from them, nats-inbound.ts.
import type { Msg } from 'nats';
import type { Address, BusBody } from '../../bus.ts';
import type { KeyRing } from '../../sealing/key-ring.ts';
import type { RefusalReason } from '../../sealing/refusals.ts';
import { type Arrived, Senders } from '../../sealing/senders.ts';
import { decodeFrame, type Frame } from '../frames.ts';
import { CHALLENGE, isSafeNode, PROOF, type Subjects } from '../subjects.ts';

const NONCE_CHARACTERS_MAX = 64;

/** A sign of life has the nonce of what has asked for it. */
interface HandshakeBody extends BusBody {
  type: 'bus.greeting';
  nonce: string;
}

export interface HandshakeParts {
  node: string;
  subjects: Subjects;
  ring: KeyRing;
  /** A message was not believed. */
  refused(reason: RefusalReason): void;
  sendOut(subject: string, from: Address, body: BusBody): unknown;
}

export class Handshakes {
  readonly #parts: HandshakeParts;
  readonly #senders: Senders;

  constructor(parts: HandshakeParts) {
    this.#parts = parts;
    const { node, ring, refused } = parts;
    this.#senders = new Senders({
      node,
      ring,
      refused,
      challenge: (other, nonce) => this.#sendNonce(other, CHALLENGE, nonce),
    });
  }

  /** `take` has what was in it, undefined where that is no frame, the node that has sealed it, and where its answer goes. */
  receive(message: Msg, take: (frame: Frame | undefined, node: string, reply: string) => void): void {
    const came = arrived(message);
    this.#senders.receive(came, (plain, node) => take(decodeFrame(plain), node, came.reply));
  }

  /** Somebody hears of this node for the first time. What it proves is for that node alone, and nothing follows from it here. */
  challenged(message: Msg): void {
    this.#senders.receiveChallenge(arrived(message), (plain, node) => {
      const nonce = nonceOf(plain);
      if (nonce !== undefined) this.#sendNonce(node, PROOF, nonce);
    });
  }

  proved(message: Msg): void {
    this.#senders.receiveProof(arrived(message), nonceOf);
  }

  /** What waits for signs of life is dropped. */
  close(): void {
    this.#senders.close();
  }

  #sendNonce(other: string, kind: string, nonce: string): void {
    const { node, subjects, sendOut } = this.#parts;
    const message: HandshakeBody = { type: 'bus.greeting', nonce };
    if (isSafeNode(other)) sendOut(`${subjects.ofNode(other)}${kind}.${node}`, `${node}/bus`, message);
  }
}

/** The bytes are the connection's. */
const arrived = ({ subject, reply = '', data }: Msg): Arrived => ({ subject, reply, data });

function nonceOf(plain: Buffer): string | undefined {
  const { type, nonce } = (decodeFrame(plain)?.body ?? {}) as Partial<HandshakeBody>;
  return type === 'bus.greeting' && typeof nonce === 'string' && nonce.length <= NONCE_CHARACTERS_MAX
    ? nonce
    : undefined;
}
