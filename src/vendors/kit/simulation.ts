// The contract between a provider's simulator and whoever hosts it (src/vendors/simulation: sockets, faults, ears). A simulator speaks
// the provider's wire protocol and keeps its rules; what is heard comes from an ear, what goes wrong from the host's faults.
import type { Clock } from '../../../machines/clock.ts';
import type { Word } from '../../../machines/events.ts';
import type { GrpcMethod } from './provider.ts';

/** What an ear says. Times are seconds of the audio it was given; `turn` counts from 0. Never said inside a call of the ear. */
export type EarMessage =
  | { type: 'ready' }
  | { type: 'speech_started'; start: number }
  | { type: 'interim'; turn: number; text: string; start: number; end: number; words?: Word[] }
  | { type: 'final'; turn: number; text: string; start: number; end: number; words?: Word[]; confidence?: number }
  /** A turn in which nothing was understood. */
  | { type: 'no_match'; turn: number; start: number; end: number }
  | { type: 'finished' }
  | { type: 'error'; code: string };

/** Hears linear16 in place of the provider's models: a script, numbered audio, or the embedded recogniser. */
export interface Ear {
  /** The bytes are copied before it returns. */
  audio(bytes: Uint8Array): void;
  /** Ends the current turn: its `final` or `no_match` follows, when there was any audio. */
  finalize(): void;
  /** Ends the current turn; `finished` follows the last final. */
  finish(): void;
  close(): void;
}

export interface EarRequest {
  /** Hertz of the linear16 it will be given. */
  sampleRate: number;
  language: string | undefined;
}

/** What the host gives a simulator. */
export interface SimulatorTools {
  clock: Clock;
  openEar(request: EarRequest, listener: (message: EarMessage) => void): Ear;
  /** Transcribes a whole file. Rejects when it is no audio that the ear can read. */
  transcribe(file: Uint8Array, language: string | undefined): Promise<{ seconds: number; turns: HeardTurn[] }>;
  /** Whether one of the simulator's own quirks was requested, with its value ('' where it has none). */
  quirk(name: string): string | undefined;
  /** An id that no other thing of this simulator has; the same in each run. */
  newId(): string;
  /** What the simulator keeps from one request to the next: made when it is first requested, and the same from then on. */
  shared<Kept>(make: () => Kept): Kept;
}

/** One turn of a file. */
export interface HeardTurn {
  text: string;
  start: number;
  end: number;
  words: Word[];
  confidence: number;
}

/** A request as it came. Header names in lower case. */
export interface SimulatedRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string | undefined>>;
  /** The body, for requests that have one. */
  body: Uint8Array;
}

export interface SimulatedAnswer {
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: string | Readonly<Record<string, unknown>> | readonly unknown[];
}

/** The client's end of one connection. Every method is safe at any time. */
export interface SimulatedPeer {
  /** A text frame; an object as `encode` of the simulator writes it, or else as JSON. */
  send(message: string | Readonly<Record<string, unknown>>): void;
  close(code?: number, reason?: string): void;
}

/** One connection of a client, driven frame by frame. */
export interface SimulatedConnection {
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  /** The connection is over, whoever ended it: nothing more may be said. */
  gone(): void;
}

export type SimulatedUpgrade =
  | { refuse: SimulatedAnswer }
  | { subprotocol?: string; connect(peer: SimulatedPeer): SimulatedConnection };

/** How a provider refuses or fails, in its own words. The host plays these when a fault asks for them. */
export interface SimulatedFailures {
  /** The answer to an upgrade or a request that is refused with this status. */
  refusal(status: number): SimulatedAnswer;
  /** What is said, and how the connection is closed, when the provider fails in the middle. */
  failure(): { messages: Readonly<Record<string, unknown>>[]; close: { code: number; reason: string } };
}

/** A provider's simulator. One object for each provider; everything that has state belongs to its connections. */
export interface ProviderSimulator extends SimulatedFailures {
  provider: string;
  /** Misbehaviours of this provider alone: name and one line each. `--fault <name>` or `--fault <name>=<value>`. */
  quirks: Readonly<Record<string, string>>;
  upgrade(request: SimulatedRequest, tools: SimulatorTools): SimulatedUpgrade;
  /**
   * Calls of gRPC, by their paths. `upgrade` is asked about each, with its metadata for headers. Its messages come as texts of JSON, its
   * audio as bytes, `HALF_CLOSE` as a text; it is closed with 1000, or with 4000 and a status.
   */
  grpc?: Readonly<Record<string, GrpcMethod>>;
  http(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer>;
  /** Whether a message gives the final of a turn: the host repeats, delays or empties those. */
  isFinal(message: Readonly<Record<string, unknown>>): boolean;
  /** What is said behind a final that is late never overtakes it: the final has no text of its own, or what follows says that it was there. */
  keepsOrder?: true;
  /** For a protocol whose messages are not JSON: the text or bytes of a message, which may be any object. */
  encode?(message: Readonly<Record<string, unknown>>): string | Uint8Array;
}
