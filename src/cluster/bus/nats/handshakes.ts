// Opens sealed messages of other nodes, and exchanges the challenges and proofs that show that a sender is alive.
// sealing/senders.ts decides which messages to accept; inbound.ts handles them.
import type { Msg } from '@nats-io/transport-node';
import type { Address, BusBody } from '../bus.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { RefusalReason } from '../sealing/refusals.ts';
import { type Arrived, Senders } from '../sealing/senders.ts';
import { decodeFrame } from './frames.ts';
import { CHALLENGE, isSafeNode, PROOF, type Subjects } from './subjects.ts';

const NONCE_CHARACTERS_MAX = 64;

/** The form of batches that this version sends, and takes. Earlier versions know of none. */
const BATCHES = 1;

/** A challenge, or a proof, which repeats the nonce of its challenge and says which form of batches the node takes. */
interface HandshakeBody extends BusBody {
  type: 'bus.greeting';
  nonce: string;
  batches?: number;
}

export interface HandshakeParts {
  node: string;
  subjects: Subjects;
  ring: KeyRing;
  /** Called for each refused message. */
  refused(reason: RefusalReason): void;
  /** A node has proved itself that takes batches. */
  takesBatches(node: string): void;
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

  /** `take` gets what was sealed, the node that sealed it, and its reply subject. */
  receive(message: Msg, take: (plain: Buffer, node: string, reply: string) => void): void {
    const came = arrived(message);
    this.#senders.receive(came, (plain, node) => take(plain, node, came.reply));
  }

  /** A node challenges this one. The proof is for that node only, and this node learns nothing from the challenge. */
  challenged(message: Msg): void {
    this.#senders.receiveChallenge(arrived(message), (plain, node) => {
      const nonce = greetingOf(plain)?.nonce;
      if (nonce !== undefined) this.#sendNonce(node, PROOF, nonce, { batches: BATCHES });
    });
  }

  proved(message: Msg): void {
    let greeting: HandshakeBody | undefined;
    const node = this.#senders.receiveProof(arrived(message), (plain) => {
      greeting = greetingOf(plain);
      return greeting?.nonce;
    });
    // A later version that sends another form says that it takes this one, too.
    if (node !== undefined && Number(greeting?.batches) >= BATCHES) this.#parts.takesBatches(node);
  }

  /** Drops the messages that wait for a proof. */
  close(): void {
    this.#senders.close();
  }

  #sendNonce(other: string, kind: string, nonce: string, more: Pick<HandshakeBody, 'batches'> = {}): void {
    const { node, subjects, sendOut } = this.#parts;
    const message: HandshakeBody = { type: 'bus.greeting', nonce, ...more };
    if (isSafeNode(other)) sendOut(`${subjects.ofNode(other)}${kind}.${node}`, `${node}/bus`, message);
  }
}

/** The bytes belong to the connection. */
const arrived = ({ subject, reply = '', data }: Msg): Arrived => ({ subject, reply, data });

function greetingOf(plain: Buffer): HandshakeBody | undefined {
  const body = decodeFrame(plain)?.body as HandshakeBody | undefined;
  if (body?.type !== 'bus.greeting' || typeof body.nonce !== 'string') return undefined;
  return body.nonce.length <= NONCE_CHARACTERS_MAX ? body : undefined;
}
