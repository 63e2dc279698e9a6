// What the sockets of an organisation may send together.
import { TokenBucket } from './token-bucket.ts';

/** What one socket of an organisation may send beyond its calm tiny frames: a MiB, byte by byte, is about two seconds of a processor. */
const RUSH_FRAMES = 1_250_000;
/** What all of its other sockets may. They are read in one turn of the event loop, and that may not take long. */
const RUSHES_FRAMES = 300_000;
/** All sockets of an organisation read by turns: what they may take of the process before the others are heard again. */
const ORGANISATION_BURST_SECONDS = 0.25;

export interface OrganisationPaceSettings {
  organisationFramesPerSecondMax: number;
  organisationMessagesPerSecondMax: number;
}

/** The budgets of one organisation, while it has sockets or owes anything. */
export class OrganisationBudgets {
  sockets = 0;
  readonly frames: TokenBucket;
  readonly messages: TokenBucket;
  /** Tiny frames of the socket that rushes, and of all others that are not calm. */
  readonly rush: TokenBucket;
  readonly rushes: TokenBucket;
  /** The socket. */
  rushing: object | undefined;

  constructor(settings: OrganisationPaceSettings, nowMs: number) {
    const { organisationFramesPerSecondMax: frames, organisationMessagesPerSecondMax: messages } = settings;
    this.frames = new TokenBucket(frames, frames * ORGANISATION_BURST_SECONDS, nowMs);
    this.rush = new TokenBucket(frames / 2, RUSH_FRAMES, nowMs);
    this.rushes = new TokenBucket(frames / 2, RUSHES_FRAMES, nowMs);
    this.messages = new TokenBucket(messages, messages, nowMs);
  }

  /** In how many milliseconds a new socket would have the budgets of a new organisation, or nearly. */
  owedMs(nowMs: number): number {
    return Math.max(this.frames.take(0, nowMs), this.rush.fullMs(nowMs), this.rushes.fullMs(nowMs));
  }
}
