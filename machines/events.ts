// The inside vocabulary: what session, upstream and turn say to each other, as closed unions of plain data.
// What clients see is in src/api; nothing here ever reaches a client unchanged.

/**
 * What to do about a failed leg.
 * `retry` the same model once more; `next` the next candidate now; `account` this credential is bad, next candidate, never
 * retry; `caller` the request is refused: report it where an option of the customer's is named, else the next candidate;
 * `empty` no words came of audio that has some: the next candidate, if there is one, and nothing is said against this one.
 */
export type FailureKind = 'retry' | 'next' | 'account' | 'caller' | 'empty';

/** Why a leg ended, as `failover.reason` shows it to clients. */
export type FailureReason =
  | 'upstream_closed'
  | 'upstream_error'
  | 'connect_failed'
  | 'connect_timeout'
  | 'stalled'
  | 'circuit_open'
  | 'streams_full'
  | 'empty_result';

/** One failed leg. `code` is the provider's own code or a short name; `message` is safe to show to a client. */
export interface LegFailure {
  kind: FailureKind;
  reason: FailureReason;
  code: string;
  message: string;
  /** How long the provider asked to be left alone, where it did. */
  retryAfterMs?: number;
  /** A refusal that asking again will not change. */
  lasting?: true;
  /** The gateway's own doing: it says nothing of the provider. */
  own?: true;
  /** Met by two nodes, where it might have been the doing of one: its network, its credential. */
  confirmed?: true;
  /** What the customer is to hear of its own provider key, where one was refused in this incident: nothing else is left then. */
  ownKey?: string;
}

/** One word with its times in seconds. */
export interface Word {
  word: string;
  start: number;
  end: number;
  /** 0 to 1. */
  confidence?: number;
  /** Integer from 0 in the order of first appearance. */
  speaker?: number;
}

/** What was said in one turn, or in a part of it. Times are seconds. */
export interface Utterance {
  text: string;
  start: number;
  end: number;
  confidence?: number;
  speaker?: number;
  language?: string;
  words?: Word[];
  /** A voice detector found no voice in this audio: the model invented the text. */
  noSpeech?: true;
}

/** What a provider thinks of a turn that has not ended: that it may be over, or that it continues after all. */
export type TurnBoundary = 'eager_end' | 'resumed';

/**
 * What a live codec makes of one message of a provider. Times are seconds on the leg's own clock (0 is the first sample
 * the leg was sent); the session adds the leg's origin. `turnId` is the provider's name of the turn.
 *
 * - `ready`: the provider will take audio.
 * - `speech.started`: someone began to speak.
 * - `partial`: unsettled text of the turn, whole, without the pieces already settled. `boundary`: with these words the turn may
 *   be over, or is known not to be. `endConfidence`, here and of `turn.ended`: how sure the provider is of the end, from 0 to 1.
 *   `settledWords`: the number of words at the beginning of the text that will not change any more.
 * - `piece`: a settled piece; pieces of a turn are joined when it ends.
 * - `turn.ended`: the turn is over. `utterance` is the whole turn (absent: the joined pieces). `formattedFollows` says that a
 *   formatted version of the same turn is to follow. `noSpeech`: there was no voice; with an empty text, it was dropped.
 * - `turn.formatted`: that formatted version.
 * - `finished`: everything requested by finish was said.
 * - `failed`: the provider said so.
 * - `warned`: something the customer should hear about. `once`: not again in the session, whatever later legs say.
 * - `reconfigured`: whether what the leg was to be changed to is in force on its connection.
 */
export type Heard =
  | { type: 'ready' }
  | { type: 'speech.started'; start: number }
  | {
      type: 'partial';
      turnId: string;
      utterance: Utterance;
      boundary?: TurnBoundary;
      endConfidence?: number;
      settledWords?: number;
    }
  | { type: 'piece'; turnId: string; utterance: Utterance }
  | {
      type: 'turn.ended';
      turnId: string;
      utterance?: Utterance;
      formattedFollows: boolean;
      endConfidence?: number;
      noSpeech?: true;
    }
  | { type: 'turn.formatted'; turnId: string; utterance: Utterance }
  | { type: 'finished' }
  | { type: 'failed'; failure: LegFailure }
  | { type: 'warned'; code: string; message: string; once?: true }
  | { type: 'reconfigured'; isInForce: boolean };

/** Why a session ended, as `session_ended.reason` shows it. */
export type SessionEndReason =
  | 'client_closed'
  | 'idle'
  | 'too_long'
  | 'credit'
  | 'ledger'
  | 'upstream'
  | 'draining'
  | 'error';

/** Asks a node with the `upstream` role to open a leg. Answered by `LegOpened`, or by `LegRefused`. */
export interface OpenLeg {
  type: 'leg.open';
  /** Address of the session. */
  session: string;
  sessionId: string;
  generation: number;
  /** `<provider>/<model>`. */
  slug: string;
  /** Hertz of the audio the leg will be sent. */
  sampleRate: number;
  /** BCP-47, `auto`, or null for the model's default. */
  language: string | null;
  interimResults: boolean;
  diarization: boolean;
  params: Record<string, unknown>;
  /** Whose credential the provider is shown: `service`, or the id of the organisation's own key. Never the credential itself. */
  credentialId: string;
  organisationId: string;
  /** The client asked for the bounds of turns: the provider is asked for early ends where it has them. */
  turnEvents?: true;
  /** What happens to text for audio without a voice; absent: nothing is checked. */
  speechGate?: 'mark' | 'drop';
  /** Where audio may go, and whether anything may be kept of it: what is dialled with has to keep to that. */
  rule?: { regions: readonly string[] | null; retention: 'none' | null };
  /** Somebody watches the session. */
  watched?: true;
}

export interface LegOpened {
  type: 'leg.opened';
  /** Address of the leg. */
  leg: string;
}

/** The node has no room for a leg now, or does not know the model: another one is to be asked. */
export interface LegRefused {
  type: 'leg.refused';
  shortOf: 'time' | 'memory' | 'legs' | 'model';
}

/**
 * What a session says to its leg. Audio travels as the bytes beside `leg.audio`; `sequence` counts the audio frames of the
 * leg from 1, and a gap is a failure of the leg.
 */
export type LegCommand =
  | { type: 'leg.audio'; sequence: number }
  | { type: 'leg.finalize' }
  /** The client has changed what it asks for: `reconfigured` says whether the connection could be changed to that. */
  | ({ type: 'leg.reconfigure' } & Pick<OpenLeg, 'language' | 'diarization' | 'params'>)
  /** `waitMs`: how long a leg that is alive may take to say what is left; absent: as long as its provider needs as a rule. */
  | { type: 'leg.finish'; waitMs?: number }
  /** Speech went in and nothing came out for the stall limit. */
  | { type: 'leg.stalled' }
  /** To a simulated provider only: it is to fail now. */
  | { type: 'leg.break'; fault: DemandedFault }
  | { type: 'leg.close' };

/** How a simulated provider fails when it is told to. */
export type DemandedFault = 'drop' | 'stall' | 'error';

/**
 * What a session says to a leg on another node. `number` counts its commands from 1: a gap, a repetition or a wrong order is a
 * failure of the leg. `alive` is said when nothing else was for a while.
 */
export type FarCommand = (LegCommand | { type: 'leg.alive' }) & { number: number };

/**
 * What a leg says to its session. `generation` names the leg; `sequence` counts its reports from 1, and a gap is a failure
 * of the leg. `pressure` asks the session to hold audio back, or to continue.
 */
export type LegReport = {
  generation: number;
  sequence: number;
} & (
  | { type: 'leg.ready' }
  /** The provider has said of itself that it is simulated: before it is ready, or at any time behind that. */
  | { type: 'leg.simulated' }
  /** `readMs`: when it was read from the provider's socket, by the clock of the leg's node. */
  | { type: 'leg.heard'; heard: Heard; readMs: number }
  | { type: 'leg.pressure'; high: boolean }
  /** Asked to finish with a `waitMs`, the leg takes longer than its provider needs as a rule, and is alive. */
  | { type: 'leg.overdue' }
  | { type: 'leg.failed'; failure: LegFailure }
  | { type: 'leg.finished' }
);

/**
 * What a leg on another node says to its session. Beside the reports of every leg: `pulse` is said all the time, and
 * acknowledges so many bytes of audio since the leg was opened; its `sequence` is that of the report before it. `expiring`: its
 * node is going away, and another leg is to take over at the end of a turn.
 */
export type FarReport =
  | LegReport
  | ({ generation: number; sequence: number } & ({ type: 'leg.pulse'; audioBytes: number } | { type: 'leg.expiring' }));
