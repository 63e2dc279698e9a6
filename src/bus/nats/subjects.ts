// The subjects of the bus on NATS, and which names can be part of one. What is said under them is not known here.

/** Parts of small words: no wildcard, no space and no end of line can be in a subject. */
const SAFE_NAME = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
const SAFE_NODE = /^[A-Za-z0-9_-]{1,32}$/;
const NAME_CHARACTERS_MAX = 128;
const SUBJECT_CHARACTERS_MAX = 512;

/** Whether it can name an actor, a service or a topic. */
export const isSafeName = (name: string): boolean => name.length <= NAME_CHARACTERS_MAX && SAFE_NAME.test(name);
export const isSafeSubject = (subject: string): boolean =>
  subject.length <= SUBJECT_CHARACTERS_MAX && SAFE_NAME.test(subject);
export const isSafeNode = (node: string): boolean => SAFE_NODE.test(node);

/** What the token behind a node says of the message. */
export const MESSAGE = 'a';
export const REQUEST = 's';
export const ANSWER = 'r';
export const UNDELIVERED = 'u';
/** Asks for a sign of life, and gives one. */
export const CHALLENGE = 'c';
export const PROOF = 'p';

/** The nodes that serve something share its requests. */
export const SERVICE_QUEUE = 'nodes';

export class Subjects {
  readonly #root: string;

  constructor(prefix: string) {
    this.#root = `${prefix}.v1`;
  }

  /** Everything that is meant for one node begins so. */
  ofNode(node: string): string {
    return `${this.#root}.n.${node}.`;
  }

  service(service: string): string {
    return `${this.#root}.s.${service}`;
  }

  topic(topic: string): string {
    return `${this.#root}.t.${topic}`;
  }

  /** Where JetStream answers a node. */
  inbox(node: string): string {
    return `${this.#root}.i.${node}`;
  }

  /** What is in the usage stream. */
  usage(shard: string): string {
    return `${this.#root}.usage.${shard}`;
  }

  /** What the ledger can never take. */
  refusedUsage(shard: string): string {
    return `${this.#root}.usage-refused.${shard}`;
  }
}
