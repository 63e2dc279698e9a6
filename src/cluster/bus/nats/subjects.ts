// The NATS subjects of the bus, and which names can be part of one.

/** Excludes wildcards, spaces and line ends. */
const SAFE_NAME = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
const SAFE_NODE = /^[A-Za-z0-9_-]{1,32}$/;
const NAME_CHARACTERS_MAX = 128;
const SUBJECT_CHARACTERS_MAX = 512;

/** Whether it can name an actor, a service or a topic. */
export const isSafeName = (name: string): boolean => name.length <= NAME_CHARACTERS_MAX && SAFE_NAME.test(name);
export const isSafeSubject = (subject: string): boolean =>
  subject.length <= SUBJECT_CHARACTERS_MAX && SAFE_NAME.test(subject);
export const isSafeNode = (node: string): boolean => SAFE_NODE.test(node);

/** The kind of a message: the token behind the node's name. */
export const MESSAGE = 'a';
export const REQUEST = 's';
export const ANSWER = 'r';
export const UNDELIVERED = 'u';
/** Several messages in one, and the report that the node of such a one is not there. */
export const BATCH = 'b';
export const BATCH_UNDELIVERED = 'l';
/** Asks a node for a proof that it is alive, and the proof. */
export const CHALLENGE = 'c';
export const PROOF = 'p';

/** The queue group: the nodes that offer a service share its requests. */
export const SERVICE_QUEUE = 'nodes';

export class Subjects {
  readonly #root: string;

  constructor(prefix: string) {
    this.#root = `${prefix}.v1`;
  }

  /** The prefix of all subjects of one node. */
  ofNode(node: string): string {
    return `${this.#root}.n.${node}.`;
  }

  service(service: string): string {
    return `${this.#root}.s.${service}`;
  }

  topic(topic: string): string {
    return `${this.#root}.t.${topic}`;
  }

  /** Where JetStream sends its answers to a node. */
  inbox(node: string): string {
    return `${this.#root}.i.${node}`;
  }

  /** The usage messages of a shard. */
  usage(shard: string): string {
    return `${this.#root}.usage.${shard}`;
  }

  /** What was written to the accounts of a shard. */
  accountsLog(shard: string): string {
    return `${this.#root}.accounts.${shard}`;
  }

  /** A piece of the audio of a job. */
  jobAudio(name: string, piece: string): string {
    return `${this.#root}.job-audio.${name}.${piece}`;
  }

  /** Usage messages that the ledger refused for good. */
  refusedUsage(shard: string): string {
    return `${this.#root}.usage-refused.${shard}`;
  }
}
