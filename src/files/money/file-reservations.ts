// Reservations for files: what one may cost is held before a provider is asked, renewed while it works, and settled or released
// at the end.
import type { Clock } from '../../../machines/clock.ts';
import { ownerOf } from '../../api/slug.ts';
import { lineCostMicroUsd } from '../../config/prices/price.ts';
import { boundMicroUsd, dearestMicroUsd } from '../../config/prices/reserve.ts';
import type { ResolvedCandidate } from '../../live/failover/chain.ts';
import { isFree, LEASE_MS, type MeterCandidate } from '../../money/ledger/meter.ts';
import { asHeld } from '../../money/ledger/meter-contract.ts';
import { minuteIn, withinBounds } from '../../money/ledger/price-bounds.ts';
import type { Reservations } from '../../money/ledger/reservations.ts';
import { apiErrorOf } from '../../money/ledger/shortage.ts';
import type {
  FileCharge,
  HoldRequest,
  LedgerPrice,
  PriceBound,
  Redactions,
  SentAgain,
  SessionEnd,
  SessionHead,
  UsageLine,
} from '../../money/store/calls.ts';
import type { PassedOver } from '../passed-over.ts';
import { type FileLength, plausible, unsupported } from './length.ts';

const RENEW_MS = LEASE_MS / 2;
const RENEW_AGAIN_MS = 1_000;
/** What an earlier attempt was charged is asked for no longer than this. */
const ANSWER_MS = 1_000;
/** That a key's last hold was granted is remembered for so long: as long as its settings. */
const GRANTED_MS = 30_000;
const GRANTED_MAX = 10_000;
/**
 * Where every hold is granted, a file is held for when it takes longer than this; the ledger makes the hold of a shorter one when it is
 * charged. One file in as much time is held for at once anyway, to hear whether that has changed.
 */
const BRIEF_MS = 1_000;
/** Reason of an end: a provider has finished, and the client was gone. */
const UNTAKEN = 'answer_untaken';

/** Who is asked for money. */
type Payer = Pick<SessionHead, 'organisationId' | 'keyId'>;

const nameOf = ({ organisationId, keyId }: Payer): string => `${organisationId} ${keyId}`;

/** One member of a chain, as the bill of a file sees it. */
export interface FileCandidate extends MeterCandidate {
  /** Channels that its provider bills: 1 where it bills the audio once. */
  channels: number;
}

/** What a member of the chain has heard. */
export interface HeardFile {
  /** One of those that money was held for. */
  member: FileCandidate;
  /** Of one channel. More than was held for is not charged. */
  seconds: number;
  /** What the provider said, where that was more than the file can hold. */
  claimedSeconds?: number | undefined;
  /** The client has not had the answer. */
  isUntaken?: boolean;
  /** Where several have transcribed some of it each: all of the seconds together. Each has a line on the bill. */
  shares?: readonly HeardShare[] | undefined;
  redactions?: Redactions | undefined;
  /** Those that were sent it, or some of it, and are not charged. */
  passedOver?: readonly (Pick<PassedOver, 'reason' | 'seconds'> & { member: FileCandidate })[] | undefined;
}

interface HeardShare {
  member: FileCandidate;
  seconds: number;
}

export interface FileReservationRequest {
  /** `req_…`, or that of an earlier attempt which may have been charged: it is charged once. */
  id: string;
  organisationId: string;
  keyId: string;
  /** Slug that was requested. */
  model: string;
  /** The chain, with prices. */
  members: readonly FileCandidate[];
  /** The most that one channel of the file can hold. */
  secondsMax: number;
  /** An earlier attempt under the same id may have been charged: giving the hold back must not end the charge at nothing. */
  again?: boolean;
  /** Several members may transcribe some of it each. */
  isShared?: boolean;
  /** The ledger would grant every hold, so none is needed while it does not answer. */
  isUnlimited?: boolean;
  /** As one text. */
  tags?: string | undefined;
}

/** Ended by one of the two, once. */
export interface ReservedFile {
  /** Prices up to which ceilings that are reached leave models: nothing is held for dearer ones. */
  bounds?: readonly PriceBound[];
  /**
   * Charges what a model has heard, and says what that costs in micro-USD. The ledger is told at once, before anything that is asked
   * of it later; that it has written it down is waited for only where an earlier attempt may have been charged instead, because else what
   * the bill says is certain before. Never rejects.
   */
  settle(heard: HeardFile): Promise<bigint>;
  /** Nothing was transcribed: nothing is charged. `isTriedAgain`: under the same id, which is not ended then. Never rejects. */
  release(isTriedAgain?: boolean): Promise<void>;
}

export interface FileReservationsOptions {
  reservations: Reservations;
  clock: Clock;
  wallNow(): Date;
}

export class FileReservations {
  readonly #options: FileReservationsOptions;
  #open = 0;
  #whenIdle: (() => void)[] = [];
  /** Keys whose last hold was granted, and when; `isUnlimited`: as every other would be. The oldest first. */
  readonly #granted = new Map<string, { atMs: number; isUnlimited: boolean }>();

  constructor(options: FileReservationsOptions) {
    this.#options = options;
  }

  /**
   * Holds what the dearest member of the chain would cost. With free models and own keys alone nothing is held, and where nothing can be
   * refused the hold is made beside the work, or with the charge of a file that takes no time.
   *
   * @throws ApiError `insufficient_credit`, `rate_limit_exceeded` (of money a day), `spend_ceiling_reached`, `ledger_unavailable`
   */
  async reserve(request: FileReservationRequest): Promise<ReservedFile> {
    const { members } = request;
    const { result, bounds } = await withinBounds(members, (left) => this.#reserve({ ...request, members: left }));
    if (bounds !== undefined) result.bounds = bounds;
    return result;
  }

  async #reserve(request: FileReservationRequest): Promise<ReservedFile> {
    const { id, organisationId, keyId, model, members, secondsMax } = request;
    const { again = false, isUnlimited: mayTrust = false, isShared = false, tags } = request;
    const { reservations, wallNow } = this.#options;
    const openedAt = wallNow().toISOString();
    const head: SessionHead = { id, organisationId, keyId, model, mode: 'batch', openedAt };
    if (tags !== undefined) head.tags = tags;
    const audioMsMax = Math.ceil(secondsMax * 1000);
    const dearest = dearestMicroUsd(members, audioMsMax);
    const shared = isShared ? boundMicroUsd(members, audioMsMax) : 0n;
    const wantedMicroUsd = shared > dearest ? shared : dearest;
    const providers = members.length === 1 ? {} : providersOf(members);
    const hold: HoldRequest = {
      ...{ wantedMicroUsd, leastMicroUsd: wantedMicroUsd, leaseMs: LEASE_MS, ...providers },
      ...minuteIn(members.filter((member) => !isFree(member))),
    };
    const ownHold = ownHoldOf(members, audioMsMax, isShared);
    // Where the rest is refused then, it ends with its lease.
    if (ownHold !== undefined) await reservations.holdOwn(head, ownHold);
    const { isUnlimited = false, atMs = 0 } = this.#grantOf(head) ?? {};
    const isHeldLater = isUnlimited && !again && wantedMicroUsd > 0n && this.#options.clock.now() - atMs < BRIEF_MS;
    if (!isHeldLater) {
      // Only the ledger knows what an earlier attempt was charged.
      const held = this.#hold(head, hold, mayTrust && !again);
      if (!isUnlimited) await held;
      // The file is charged anyway; the next one waits for the ledger again.
      else held.catch(() => {});
    }
    this.#open++;
    const stops = wantedMicroUsd === 0n ? [] : [this.#renew(head, { ...hold, leastMicroUsd: 0n }, !isHeldLater)];
    if (ownHold !== undefined) stops.push(this.#renew(head, { ...ownHold, leastMicroUsd: 0n }, true, true));
    const stopRenewing = () => {
      for (const stop of stops) stop();
    };
    return {
      settle: (heard) => {
        stopRenewing();
        this.#ended();
        return this.#settle(head, heard, audioMsMax, again);
      },
      release: async (isTriedAgain = again) => {
        stopRenewing();
        this.#ended();
        // Of what holds nothing the ledger was never told.
        if (wantedMicroUsd === 0n && ownHold === undefined) return;
        // A failure leaves the hold to its lease.
        if ((again || isTriedAgain) && ownHold !== undefined)
          await reservations
            .renewOwn(head, [], { ...ownHold, wantedMicroUsd: 0n, leastMicroUsd: 0n })
            .catch(() => undefined);
        if (again || isTriedAgain)
          await reservations.renew(head, [], { ...hold, wantedMicroUsd: 0n, leastMicroUsd: 0n }).catch(() => undefined);
        else void reservations.settle(head, { ...this.#end('released', 0), lines: [] });
      },
    };
  }

  /**
   * Refuses who has no credit at all, before anything is done for him: with an ApiError `insufficient_credit`. Whose last hold was granted
   * is not asked for it: the next hold says so, as does a ledger that does not answer.
   */
  async requireCredit(who: Payer): Promise<void> {
    if (this.#grantOf(who) !== undefined) return;
    const credit = await this.#options.reservations.creditOf(who.organisationId).catch(() => null);
    if (credit !== null && credit <= 0n) throw apiErrorOf({ reason: 'insufficient_credit' });
  }

  /** Resolves when no file is in progress. */
  async idle(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  async #hold(head: SessionHead, hold: HoldRequest, mayTrust: boolean): Promise<void> {
    const { reservations, clock } = this.#options;
    const name = nameOf(head);
    try {
      const { unlimited: isUnlimited = false, onTrust } = await reservations.hold(head, hold, mayTrust);
      if (hold.wantedMicroUsd === 0n || onTrust) return;
      this.#granted.delete(name);
      this.#granted.set(name, { atMs: clock.now(), isUnlimited });
      const [oldest] = this.#granted.keys();
      if (this.#granted.size > GRANTED_MAX && oldest !== undefined) this.#granted.delete(oldest);
    } catch (error) {
      this.#granted.delete(name);
      throw error;
    }
  }

  #grantOf(who: Payer): { atMs: number; isUnlimited: boolean } | undefined {
    const grant = this.#granted.get(nameOf(who));
    return grant !== undefined && this.#options.clock.now() - grant.atMs < GRANTED_MS ? grant : undefined;
  }

  #ended(): void {
    this.#open--;
    if (this.#open === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #settle(
    head: SessionHead,
    { member, seconds, claimedSeconds = 0, isUntaken = false, shares, redactions, passedOver }: HeardFile,
    audioMsMax: number,
    again: boolean,
  ): Promise<bigint> {
    // Of parts the models are sent one channel.
    const channels = shares === undefined ? member.channels : 1;
    const audioMs = Math.min(Math.round(seconds * 1000), audioMsMax);
    const claimedMs = Math.round(claimedSeconds * 1000);
    const file: FileCharge = { audioMs, channels, audioMsMax, ...(claimedMs > audioMsMax ? { claimedMs } : {}) };
    const lines = linesOf(shares ?? [{ member, seconds }], audioMs, channels);
    const end: SessionEnd = { ...this.#end(isUntaken ? UNTAKEN : 'completed', audioMs), lines, file };
    if (redactions !== undefined) end.redactions = redactions;
    // An earlier attempt may have been charged instead, and have said it.
    const sentAgain = again || passedOver === undefined ? [] : sentAgainOf(passedOver, audioMs);
    if (sentAgain.length > 0) end.sentAgain = sentAgain;
    const settled = this.#options.reservations.settle(head, end, again);
    const record = again ? await this.#within(settled) : undefined;
    return record?.costMicroUsd ?? lines.reduce((sum, line) => sum + lineCostMicroUsd(line), 0n);
  }

  #end(reason: string, audioMs: number): Omit<SessionEnd, 'lines'> {
    return { endedAt: this.#options.wallNow().toISOString(), reason, code: null, audioMs };
  }

  /**
   * The lease of a hold is short, so that little is held for a process that was killed. A renewal that fails is made again.
   *
   * @param isHeld else the hold is made first, once the file turns out to take its time
   * @param isOwn the hold is for own provider keys
   */
  #renew(head: SessionHead, hold: HoldRequest, isHeld: boolean, isOwn = false): () => void {
    const { clock, reservations } = this.#options;
    let timer: unknown;
    let stopped = false;
    let isKnown = isHeld;
    const ask = async () => {
      if (isOwn) await reservations.renewOwn(head, [], hold);
      else if (isKnown) await reservations.renew(head, [], hold);
      else await this.#hold(head, hold, false);
      isKnown = true;
    };
    const arm = (afterMs: number) => {
      timer = clock.setTimeout(() => {
        ask().then(
          () => arm(RENEW_MS),
          () => arm(RENEW_AGAIN_MS),
        );
      }, afterMs);
      if (stopped) clock.clearTimeout(timer);
    };
    arm(isHeld ? RENEW_MS : BRIEF_MS);
    return () => {
      stopped = true;
      clock.clearTimeout(timer);
    };
  }

  #within<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(undefined), ANSWER_MS);
      void promise.then((value) => {
        clock.clearTimeout(timer);
        resolve(value);
      });
    });
  }
}

/** Any of them may come to transcribe the file. */
const providersOf = (members: readonly FileCandidate[]): Pick<HoldRequest, 'providers'> => ({
  providers: [...new Set(members.filter((member) => !isFree(member)).map(({ slug }) => ownerOf(slug)))],
});

/** What own keys may count for under ceilings on spend, whichever of them transcribes the file; undefined for nothing. */
function ownHoldOf(members: readonly FileCandidate[], audioMsMax: number, isShared: boolean): HoldRequest | undefined {
  const counted = members.filter((member) => member.counted);
  if (counted.length === 0) return undefined;
  const paid = counted.map((member) => ({ ...asHeld(member), channels: member.channels }));
  const wantedMicroUsd = isShared ? boundMicroUsd(paid, audioMsMax) : dearestMicroUsd(paid, audioMsMax);
  const providers = [...new Set(counted.map(({ slug }) => ownerOf(slug)))];
  const least = { wantedMicroUsd, leastMicroUsd: wantedMicroUsd };
  return { ...least, leaseMs: LEASE_MS, providers, ...minuteIn(counted) };
}

/** By model, account and reason. A part is no longer than the file. */
function sentAgainOf(passedOver: NonNullable<HeardFile['passedOver']>, audioMs: number): SentAgain[] {
  const sums = new Map<string, SentAgain>();
  for (const { member, reason, seconds } of passedOver) {
    const { slug: model, own, channels } = member;
    const ms = (seconds === undefined ? audioMs : Math.min(audioMs, Math.round(seconds * 1000))) * channels;
    if (ms === 0) continue;
    const name = `${reason} ${own} ${model}`;
    const sum = sums.get(name) ?? { model, own, reason, legs: 0, audioMs: 0 };
    sum.legs++;
    sum.audioMs += ms;
    sums.set(name, sum);
  }
  return [...sums.values()];
}

/**
 * A line for each model, account and price: together the audio of the file, to the millisecond. A second price of a model in the same chain is
 * a rate of its own, as for live sessions.
 */
function linesOf(shares: readonly HeardShare[], audioMs: number, channels: number): UsageLine[] {
  const lines: UsageLine[] = [];
  let leftMs = audioMs;
  for (const [place, { member, seconds }] of shares.entries()) {
    const { slug: model, own, price, counted } = member;
    const ms = place === shares.length - 1 ? leftMs : Math.min(leftMs, Math.round(seconds * 1000));
    leftMs -= ms;
    const others = lines.filter((line) => line.model === model && line.own === own);
    const same = others.find((line) => isSamePrice(line.price, price));
    if (same !== undefined) same.audioMs += ms * channels;
    else
      lines.push({
        model,
        own,
        ...(others.length === 0 ? {} : { rate: others.length }),
        audioMs: ms * channels,
        price,
        ...(counted ? { counted } : {}),
      });
  }
  return lines;
}

const isSamePrice = (one: LedgerPrice, other: LedgerPrice): boolean =>
  one.unit === other.unit && one.microUsd === other.microUsd && one.minimumMicroUsd === other.minimumMicroUsd;

/** What was charged. `own`: with the organisation's own provider key. */
export interface Charge {
  costMicroUsd: bigint;
  own: boolean;
  /** Channels that were charged; 1 where the provider bills the audio once. */
  channels: number;
}

/** What a model has heard, as far as it costs. */
interface HeardAudio {
  member: ResolvedCandidate;
  seconds: number;
  claimedSeconds?: number | undefined;
  /** Where several have heard some of it each. */
  shares?: readonly { member: ResolvedCandidate; seconds: number }[] | undefined;
}

/**
 * Ends the reservation of a file: charges all that was heard, or what the client was sent of it, or nothing. Which of these is
 * decided by the job.
 */
export class FileBill {
  readonly #members: readonly ResolvedCandidate[];
  readonly #payers: readonly FileCandidate[];
  readonly #reserved: ReservedFile;
  /** What the client was sent before the end, and up to which second. */
  #given: HeardFile | undefined;

  /** @param payers the members of the chain in their order, as the bill sees them */
  constructor(members: readonly ResolvedCandidate[], payers: readonly FileCandidate[], reserved: ReservedFile) {
    this.#members = members;
    this.#payers = payers;
    this.#reserved = reserved;
  }

  /** Whether any model of the chain costs anything. */
  get isPaid(): boolean {
    return !this.#payers.every(isFree);
  }

  /** The client was sent what a model heard up to this second. */
  gave(member: ResolvedCandidate, endSeconds: number): void {
    this.#given = { member: this.#payerOf(member), seconds: Math.max(this.#given?.seconds ?? 0, endSeconds) };
  }

  /** Charges all that was heard. `isUntaken`: the client does not have it. */
  async settle(
    {
      member,
      seconds,
      claimedSeconds,
      shares: heard,
      ...rest
    }: HeardAudio & Pick<HeardFile, 'redactions'> & { passedOver?: readonly PassedOver[] },
    isUntaken: boolean,
  ): Promise<Charge> {
    const payer = this.#payerOf(member);
    const shares = heard?.map((share) => ({ member: this.#payerOf(share.member), seconds: share.seconds }));
    const passedOver = rest.passedOver?.map((each) => ({ ...each, member: this.#payerOf(each.member) }));
    const heardFile = { member: payer, seconds, claimedSeconds, isUntaken, shares };
    const costMicroUsd = await this.#reserved.settle({ ...heardFile, redactions: rest.redactions, passedOver });
    if (shares === undefined) return { costMicroUsd, own: payer.own, channels: payer.channels };
    return { costMicroUsd, own: shares.every((share) => share.member.own), channels: 1 };
  }

  /** Charges what the client was sent. False where that is nothing. */
  async settleGiven(): Promise<boolean> {
    if (this.#given === undefined) return false;
    await this.#reserved.settle(this.#given);
    return true;
  }

  /** Charges nothing. `isTriedAgain`: under the same id. */
  release(isTriedAgain: boolean): Promise<void> {
    return this.#reserved.release(isTriedAgain);
  }

  #payerOf(member: ResolvedCandidate): FileCandidate {
    return this.#payers[this.#members.indexOf(member)] as FileCandidate;
  }
}

/** Whether the length of the audio decides what it costs. */
export const costsByLength = (members: readonly { own: boolean; price: LedgerPrice }[]): boolean =>
  members.some(({ own, price }) => !own && price.unit === 'minute' && price.microUsd > 0n);

/**
 * The chain with the channels that each member is paid for. Throws the ApiError `unsupported_audio` where nobody will know what to
 * charge: the file does not say how long it is, or how many channels it has, and a model that it may come to does not either.
 */
export function fileMembers(
  members: readonly ResolvedCandidate[],
  priced: readonly MeterCandidate[],
  { secondsMax, channels, seconds }: FileLength,
): FileCandidate[] {
  const isUnknown = seconds === undefined && costsByLength(priced);
  return priced.map((each, index) => {
    const member = members[index] as ResolvedCandidate;
    const isSilent = member.card.capabilities.segment_timestamps === false;
    const isEach = billsEachChannel(member);
    if (isUnknown && !each.own && (isSilent || isEach)) {
      const what = isEach ? 'how many channels of what length the file has' : 'how long the file is';
      throw unsupported(
        `Nobody can tell ${what}, and ${each.slug} ${isEach ? 'is billed by it' : 'does not say it'}. Convert it to WAV, FLAC or MP3, and send it again.`,
      );
    }
    if (isEach && !each.own) plausible(secondsMax * channels);
    return { ...each, channels: isEach ? channels : 1 };
  });
}

function billsEachChannel({ provider, params }: Pick<ResolvedCandidate, 'provider' | 'params'>): boolean {
  if (provider.batch?.kind !== 'http') return false;
  const { billsChannels } = provider.batch;
  return typeof billsChannels === 'object' ? params[billsChannels.whenAsked] === true : billsChannels === 'always';
}

/** The longest audio that every member of the chain would take at least one of. */
export const longestOf = (members: readonly ResolvedCandidate[]): number =>
  Math.max(...members.map(({ card }) => card.audio.max_seconds ?? Number.POSITIVE_INFINITY));
