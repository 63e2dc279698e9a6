// Opens sealed messages of other nodes, and exchanges the challenges and proofs that show that a sender is alive.
// sealing/senders.ts decides which messages to accept; inbound.ts handles them.
import type { Msg } from 'nats';
import type { Address, BusBody } from '../../bus.ts';
import type { KeyRing } from '../../sealing/key-ring.ts';
import type { RefusalReason } from '../../sealing/refusals.ts';
import { type Arrived, Senders } from '../../sealing/senders.ts';
import { decodeFrame, type Frame } from '../frames.ts';
import { CHALLENGE, isSafeNode, PROOF, type Subjects } from '../subjects.ts';

const NONCE_CHARACTERS_MAX = 64;

/** A challenge, or a proof, which repeats the nonce of its challenge. */
interface HandshakeBody extends BusBody {
  type: 'bus.greeting';
  nonce: string;
}

export interface HandshakeParts {
  node: string;
  subjects: Subjects;
  ring: KeyRing;
  /** Called for each refused message. */
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

  /** `take` gets the opened frame (undefined when it is malformed), the node that sealed it, and its reply subject. */
  receive(message: Msg, take: (frame: Frame | undefined, node: string, reply: string) => void): void {
    const came = arrived(message);
    this.#senders.receive(came, (plain, node) => take(decodeFrame(plain), node, came.reply));
  }

  /** A node challenges this one. The proof is for that node only, and this node learns nothing from the challenge. */
  challenged(message: Msg): void {
    this.#senders.receiveChallenge(arrived(message), (plain, node) => {
      const nonce = nonceOf(plain);
      if (nonce !== undefined) this.#sendNonce(node, PROOF, nonce);
    });
  }

  proved(message: Msg): void {
    this.#senders.receiveProof(arrived(message), nonceOf);
  }

  /** Drops the messages that wait for a proof. */
  close(): void {
    this.#senders.close();
  }

  #sendNonce(other: string, kind: string, nonce: string): void {
    const { node, subjects, sendOut } = this.#parts;
    const message: HandshakeBody = { type: 'bus.greeting', nonce };
    if (isSafeNode(other)) sendOut(`${subjects.ofNode(other)}${kind}.${node}`, `${node}/bus`, message);
  }
}

/** The bytes belong to the connection. */
const arrived = ({ subject, reply = '', data }: Msg): Arrived => ({ subject, reply, data });

function nonceOf(plain: Buffer): string | undefined {
  const { type, nonce } = (decodeFrame(plain)?.body ?? {}) as Partial<HandshakeBody>;
  return type === 'bus.greeting' && typeof nonce === 'string' && nonce.length <= NONCE_CHARACTERS_MAX
    ? nonce
    : undefined;
}
