// How fast a client may send on one socket, and an organisation on all of its sockets together. Audio that comes faster waits
// where the server can let it wait; text, pings and tiny frames that never end cost the socket, because each is work.
import { LARGE_BYTES, type SocketPace } from '../../http/server.ts';
import { FairQueue, Quota } from '../../runtime/limits/quota.ts';
import { MessageCost, type ReadMessage, textWeight } from './message-cost.ts';

/** Frames and bytes of audio that may come at once, as seconds of the rate: files are sent as fast as they are read. */
const AUDIO_BURST_SECONDS = 4;
/** The same of text frames and pings. */
const MESSAGES_BURST_SECONDS = 10;
/** Frames below this size cost more to take than what is in them, where a server cannot make them wait. */
const TINY_BYTES = 128;
/** Tiny frames of a socket that count for nobody else: each costs about 2 µs, so that these are 0.4 % of a processor. */
const CALM_TINY_FRAMES_PER_SECOND = 2_000;
const CALM_TINY_FRAMES = 20_000;
/** A socket that has used less of its own messages is not the one that floods for its organisation. */
const CALM_SHARE = 0.2;

export interface PaceSettings extends OrganisationPaceSettings {
  socketFramesPerSecondMax: number;
  socketBytesPerSecondMax: number;
  socketMessagesPerSecondMax: number;
  largeMessagesMax: number;
  largeMessageSocketsMax: number;
}

/** What there was too much of. */
export type Excess = 'messages' | 'tiny_frames';

/** Where large messages are taken, and what they have in common on all sockets. */
interface Places {
  /** For servers that can let a message wait. */
  messages: FairQueue;
  /** For servers that cannot. */
  sockets: Quota;
  onSmallSocket(): void;
}

/** In place of an organisation. */
const REFUSED = '';
const NO_PLACES = new Quota(0);

interface OwnPlaces extends Places {
  isTextAudio: boolean;
  asker: { organisationId: string; granted(): void };
}

/** A socket's budgets; to be released when it has closed. */
export interface OpenPace extends SocketPace {
  /** What the server lets a message of it have. */
  readonly messageBytesMax: number;
  readonly sound: Pick<DecodedSound, 'decoded' | 'isBehind'>;
  /** The server was told already that no message of it may be large. */
  staySmall(): void;
  /** The large message that has come is being taken by steps: until `taken` it has the place in which it was gathered. */
  taking(): void;
  taken(): void;
  /** What a message of another vendor's client came to. One that is no audio counts as in `/v1/listen`, and may be past bearing. */
  read(message: ReadMessage): void;
  /** Any number of times. */
  release(): void;
}

export class SocketPaces {
  readonly #settings: PaceSettings;
  readonly #now: () => number;
  readonly #shared = new Map<string, OrganisationBudgets>();
  readonly #places: Places;

  /** @param onSmallSocket hears of every socket whose messages may not be large, since others have the places */
  constructor(
    settings: PaceSettings,
    now: () => number = () => performance.now(),
    onSmallSocket: () => void = () => {},
  ) {
    const sockets = new Quota(settings.largeMessageSocketsMax);
    const messages = new FairQueue(new Quota(settings.largeMessagesMax));
    this.#places = { messages, sockets, onSmallSocket };
    this.#settings = settings;
    this.#now = now;
  }

  /** Organisations that have sockets, or owe something. */
  get size(): number {
    return this.#shared.size;
  }

  /** For a client that was refused in words, or has said no key yet: all of them count together, and none has much to send. */
  refused(onExcess: (excess: Excess) => void = () => {}): OpenPace {
    return this.#open(REFUSED, onExcess, { ...this.#places, sockets: NO_PLACES, onSmallSocket: () => {} });
  }

  /**
   * @param onExcess hears once that the socket is to be released, and what there was too much of
   * @param isTextAudio whether its audio comes in text frames: they count as audio then, until they are read
   */
  open(organisationId: string, onExcess: (excess: Excess) => void, isTextAudio = false): OpenPace {
    return this.#open(organisationId, onExcess, this.#places, isTextAudio);
  }

  #open(organisationId: string, onExcess: (excess: Excess) => void, places: Places, isTextAudio = false): OpenPace {
    let shared = this.#shared.get(organisationId);
    if (shared === undefined) {
      shared = new OrganisationBudgets(this.#settings, this.#now());
      this.#shared.set(organisationId, shared);
    }
    shared.sockets++;
    const of = shared;
    const asker = { organisationId, granted: () => {} };
    const released = () => {
      of.sockets--;
      this.#forget(organisationId, of);
    };
    return new Pace(this.#settings, this.#now, of, onExcess, { ...places, asker, isTextAudio }, released);
  }

  /** A client that reconnects still has its debt. */
  #forget(organisationId: string, shared: OrganisationBudgets): void {
    if (shared.sockets > 0) return;
    const owedMs = shared.owedMs(this.#now());
    if (owedMs === 0) this.#shared.delete(organisationId);
    else setTimeout(() => this.#forget(organisationId, shared), owedMs).unref();
  }
}

class Pace implements OpenPace {
  readonly #now: () => number;
  readonly #organisation: OrganisationBudgets;
  readonly #onExcess: (excess: Excess) => void;
  readonly #frames: TokenBucket;
  readonly #bytes: TokenBucket;
  readonly #messages: TokenBucket;
  readonly #calmTinyFrames: TokenBucket;
  readonly sound: DecodedSound;
  #released: (() => void) | undefined;
  readonly #places: OwnPlaces;
  messageBytesMax = Number.POSITIVE_INFINITY;
  #isGathering = false;
  /** Large messages of the socket that are not taken yet, in the place that it has. */
  #takingCount = 0;
  /** The next message begins as soon as they are. */
  #onTaken: (() => void) | undefined;
  #mayBeLarge = false;
  #excess: Excess | undefined;
  #isExceeded = false;
  readonly #cost = new MessageCost();

  constructor(
    settings: PaceSettings,
    now: () => number,
    organisation: OrganisationBudgets,
    onExcess: (excess: Excess) => void,
    places: OwnPlaces,
    released: () => void,
  ) {
    const { socketFramesPerSecondMax: frames, socketBytesPerSecondMax: bytes } = settings;
    const { socketMessagesPerSecondMax: messages } = settings;
    const nowMs = now();
    this.#now = now;
    this.sound = new DecodedSound(now);
    this.#organisation = organisation;
    this.#onExcess = onExcess;
    this.#places = places;
    this.#released = released;
    this.#frames = new TokenBucket(frames, frames * AUDIO_BURST_SECONDS, nowMs);
    this.#bytes = new TokenBucket(bytes, bytes * AUDIO_BURST_SECONDS, nowMs);
    this.#messages = new TokenBucket(messages, messages * MESSAGES_BURST_SECONDS, nowMs);
    this.#calmTinyFrames = new TokenBucket(CALM_TINY_FRAMES_PER_SECOND, CALM_TINY_FRAMES, nowMs);
  }

  take(bytes: number, isBinary: boolean, canWait: boolean): number {
    const isAudio = isBinary || this.#places.isTextAudio;
    const nowMs = this.#now();
    const organisation = this.#organisation;
    const weight = isAudio ? 0 : textWeight(bytes);
    if (!isAudio && this.#messages.take(weight, nowMs) > 0) return this.#tooMuch('messages');
    let waitMs = Math.max(this.#frames.take(1, nowMs), this.#bytes.take(bytes, nowMs));
    waitMs = Math.max(waitMs, organisation.frames.take(1, nowMs));
    const isCalm = isBinary || (isAudio && this.#messages.used(nowMs) <= CALM_SHARE);
    const messagesWaitMs = isCalm ? 0 : organisation.messages.take(weight, nowMs);
    if (canWait) return Math.max(waitMs, messagesWaitMs, this.sound.owedMs(nowMs));
    if (messagesWaitMs > 0 && this.#messages.used(nowMs) > CALM_SHARE) return this.#tooMuch('messages');
    return isAudio && bytes < TINY_BYTES && this.#isFlood(nowMs) ? this.#tooMuch('tiny_frames') : 0;
  }

  read(message: ReadMessage): void {
    const weight = this.#cost.weigh(message, this.#places.isTextAudio);
    if (weight === 0) return;
    const nowMs = this.#now();
    // Beyond that of the organisation the next frame waits.
    this.#organisation.messages.take(weight, nowMs);
    if (this.#messages.take(weight, nowMs) > 0) this.exceeded();
  }

  /** Counts a tiny frame: whatever its size, audio that ends is taken as fast as it comes. */
  #isFlood(nowMs: number): boolean {
    if (this.#calmTinyFrames.take(1, nowMs) === 0) return false;
    const organisation = this.#organisation;
    organisation.rushing ??= this;
    return (organisation.rushing === this ? organisation.rush : organisation.rushes).take(1, nowMs) > 0;
  }

  fragments(count: number): number {
    const nowMs = this.#now();
    return Math.max(this.#frames.take(count, nowMs), this.#organisation.frames.take(count, nowMs));
  }

  owedMs(): number {
    const nowMs = this.#now();
    const own = Math.max(this.#frames.take(0, nowMs), this.#bytes.take(0, nowMs), this.sound.owedMs(nowMs));
    return Math.max(own, this.#organisation.frames.take(0, nowMs));
  }

  exceeded(): void {
    if (this.#isExceeded) return;
    this.#isExceeded = true;
    this.#onExcess(this.#excess ?? 'messages');
  }

  enter(granted: () => void): boolean {
    const { messages, asker } = this.#places;
    this.#isGathering = true;
    if (this.#takingCount > 0) {
      this.#onTaken = granted;
      return false;
    }
    asker.granted = granted;
    return messages.enter(asker);
  }

  leave(): void {
    if (!this.#isGathering) return;
    this.#isGathering = false;
    this.#onTaken = undefined;
    if (this.#takingCount === 0) this.#places.messages.leave(this.#places.asker);
  }

  taking(): void {
    if (this.#isGathering || this.#takingCount > 0) this.#takingCount++;
  }

  taken(): void {
    if (this.#takingCount === 0 || --this.#takingCount > 0) return;
    if (!this.#isGathering) this.#places.messages.leave(this.#places.asker);
    const next = this.#onTaken;
    this.#onTaken = undefined;
    next?.();
  }

  /** What its session was told once holds for each of its sockets, and one place is all that they take. */
  mayBeLarge(): boolean {
    if (this.#mayBeLarge || this.messageBytesMax === LARGE_BYTES) return this.#mayBeLarge;
    const { sockets, asker, onSmallSocket } = this.#places;
    this.#mayBeLarge = sockets.take(asker.organisationId) === undefined;
    if (!this.#mayBeLarge) {
      this.staySmall();
      onSmallSocket();
    }
    return this.#mayBeLarge;
  }

  staySmall(): void {
    this.messageBytesMax = LARGE_BYTES;
  }

  release(): void {
    this.leave();
    if (this.#takingCount > 0) this.#places.messages.leave(this.#places.asker);
    this.#takingCount = 0;
    if (this.#organisation.rushing === this) this.#organisation.rushing = undefined;
    if (this.#mayBeLarge) this.#places.sockets.giveBack(this.#places.asker.organisationId);
    this.#mayBeLarge = false;
    this.#released?.();
    this.#released = undefined;
  }

  #tooMuch(excess: Excess): number {
    this.#excess ??= excess;
    return Number.POSITIVE_INFINITY;
  }
}

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
class OrganisationBudgets {
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

/** Milliseconds of it in a second, and at once: a recorded file may be sent far faster than it sounds. */
export const SOUND_MS_PER_SECOND = 60_000;
export const SOUND_BURST_MS = 60_000;
/** How soon it is looked again whether less waits to be decoded. */
export const BEHIND_MS = 20;

export class DecodedSound {
  readonly #now: () => number;
  /** None of a socket whose audio needs no decoding. */
  #bucket: TokenBucket | undefined;
  /** More waits to be decoded than should. */
  isBehind = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** So much sound was decoded of what came. */
  decoded(ms: number): void {
    const nowMs = this.#now();
    this.#bucket ??= new TokenBucket(SOUND_MS_PER_SECOND, SOUND_BURST_MS, nowMs);
    this.#bucket.take(ms, nowMs);
  }

  /** For how many milliseconds nothing more should be read. */
  owedMs(nowMs: number): number {
    const owedMs = this.#bucket?.take(0, nowMs) ?? 0;
    return this.isBehind ? Math.max(owedMs, BEHIND_MS) : owedMs;
  }
}

/** How much of something may pass at once, and how much of it a second from then on. What passes beyond that is owed. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #at: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#left = burst;
    this.#at = nowMs;
  }

  /** Takes so many, whether they are there or not. Says in how many milliseconds nothing is owed; 0 where nothing is. */
  take(count: number, nowMs: number): number {
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#at) * this.#perMs) - count;
    this.#at = nowMs;
    return this.#left >= 0 ? 0 : -this.#left / this.#perMs;
  }

  /** In how many milliseconds all of it may pass at once again. */
  fullMs(nowMs: number): number {
    this.take(0, nowMs);
    return (this.#burst - this.#left) / this.#perMs;
  }

  /** The share of what may pass at once that was taken, and has not come back. */
  used(nowMs: number): number {
    this.take(0, nowMs);
    return 1 - this.#left / this.#burst;
  }
}
