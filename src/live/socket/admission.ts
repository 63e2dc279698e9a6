// Whether a session may be opened with these parameters: its models, its place among those of its key, and its first hold.

import { chainNamed } from '../../accounts/auth/aliases.ts';
import {
  allowsModel,
  type Caller,
  isUnlimited,
  lastResortFor,
  redactedFor,
  replacementsFor,
  requireLanguages,
  requireModels,
  residencyRulesOf,
  spendOf,
} from '../../accounts/auth/permissions.ts';
import { tagsFor } from '../../accounts/auth/tags.ts';
import { type Configure, isCoded, type ListenRequest } from '../../api/listen.ts';
import { tightest } from '../../api/request-limits.ts';
import type { OpusDecoder } from '../../audio/codecs/opus-decoder.ts';
import type { Meter, MeterCandidate } from '../../money/ledger/meter.ts';
import { pricedMembers } from '../../money/ledger/meter-contract.ts';
import { chainWithin } from '../../money/ledger/price-bounds.ts';
import type { SessionHead } from '../../money/store/calls.ts';
import {
  type Ask,
  type ChainDependencies,
  type Degradation,
  type ResolvedCandidate,
  resolveChain,
} from '../failover/chain.ts';
import { chosenChain, isChosen, preferUnused } from '../failover/choice/choose.ts';
import { chainByPrice } from '../failover/choice/price-rule.ts';
import { redactedWith, requireFinders } from '../failover/finders.ts';
import { type Configuration, newSessionId, type SessionOpening } from '../session/session-opening.ts';
import type { TranscriptGatherer } from '../session/watch/session-observer.ts';
import { changed } from './client-message.ts';
import type { ListenDependencies } from './listen-dependencies.ts';
import { readListenQuery } from './query.ts';

/** Who asks, as its handshake was judged. */
export interface Asking {
  requestId: string;
  /** What the client says its own trace is. */
  traceparent: string | undefined;
  caller: Caller;
  warnings: readonly Degradation[];
  continues?: SessionOpening['continues'];
  /** Gives back the place that the connection has taken already. */
  release?: () => void;
}

/**
 * What the session is opened with: each channel with a place and money of its own. Rejects with an ApiError; then it holds no place and
 * no money for any of them.
 */
export async function openingOf(
  parameters: ReadonlyMap<string, string>,
  asking: Asking,
  dependencies: ListenDependencies,
): Promise<SessionOpening> {
  const first = await channelOf(parameters, asking, dependencies);
  const { channels = 1 } = first.request;
  if (channels === 1) return first;
  const { release: _, ...again } = asking;
  const others: SessionOpening[] = [];
  try {
    // One choice of models for all of them.
    const chosen = slugsOf(first.chain);
    while (others.length < channels - 1) others.push(await channelOf(parameters, again, dependencies, chosen));
  } catch (error) {
    for (const opening of [first, ...others]) giveBack(opening, dependencies);
    throw error;
  }
  return { ...first, others };
}

async function channelOf(
  parameters: ReadonlyMap<string, string>,
  { requestId, traceparent, caller, warnings: own, continues, release: taken }: Asking,
  dependencies: ListenDependencies,
  keeps?: readonly string[],
): Promise<SessionOpening> {
  let release = taken;
  let decoder: OpusDecoder | undefined;
  try {
    dependencies.sessions.admit();
    const { request, members, warnings } = await chainFor(parameters, caller, dependencies, keeps);
    if (caller.token !== undefined && keeps === undefined) await dependencies.authenticator.redeem(caller);
    const now = dependencies.wallNow();
    const sessionId = newSessionId(dependencies.node, now);
    const opening = {
      sessionId,
      requestId,
      traceparent,
      organisationId: caller.organisationId,
      keyId: caller.keyId,
      ...(caller.tokenId === undefined ? {} : { tokenId: caller.tokenId }),
      showsTranscripts: caller.key.organisationShowsTranscripts ?? false,
      transcript: gathererOf(sessionId, caller, request, dependencies),
      request,
      tags: tagsFor(caller, request.tags),
      continues,
      chain: members,
      warnings: [...own, ...warnings],
      ruleNow: () => dependencies.authenticator.placeRule(caller),
    };
    release ??= await dependencies.limits.takeSession(caller.key);
    decoder = await decoderFor(request, caller.organisationId, dependencies);
    const meter = await openMeter(opening, now, isUnlimited(caller), dependencies);
    if (meter.bounds !== undefined) {
      const within = chainWithin(members, pricedMembers(members), meter.bounds);
      opening.chain = within.chain;
      opening.warnings = [...opening.warnings, ...within.warnings];
    }
    return {
      ...opening,
      configure: configuring(parameters, opening, caller, meter, dependencies),
      meter,
      release,
      decoder,
    };
  } catch (error) {
    decoder?.free();
    release?.();
    throw error;
  }
}

/** None where nothing may be kept of the session. */
function gathererOf(
  sessionId: string,
  { organisationId, key }: Caller,
  { rule }: Pick<ListenRequest, 'rule'>,
  { gatherTranscript }: Pick<ListenDependencies, 'gatherTranscript'>,
): TranscriptGatherer | undefined {
  const retentions = [rule?.retention, key.retention, key.organisationRetention];
  return retentions.includes('none') ? undefined : gatherTranscript?.(organisationId, sessionId);
}

/**
 * The models that are requested, as far as the caller may use them. Rejects with an ApiError.
 *
 * @param keeps those that a session has already, where they are chosen
 */
export async function chainFor(
  parameters: ReadonlyMap<string, string>,
  caller: Caller,
  dependencies: ChainDependencies,
  keeps: readonly string[] = [],
) {
  const asked = chainNamed(caller.key, readListenQuery(parameters));
  const request = {
    ...asked,
    limits: tightest(asked.limits, spendOf(caller)),
    latency: asked.latency ?? caller.key.latency ?? undefined,
    redacted: redactedFor(caller, asked.redacted),
    replacements: replacementsFor(caller, asked.replacements),
  };
  requireLanguages(caller, request);
  const ask: Ask = {
    ...request,
    mode: 'live',
    organisationId: caller.organisationId,
    interimResults: request.interimResults && parameters.has('interim_results'),
    rules: residencyRulesOf(caller, request.rule),
    lastResort: lastResortFor(caller, dependencies.lastResort),
    hasCeilings: caller.key.hasCeilings,
  };
  const isByGateway = isChosen(request);
  const resolved = isByGateway
    ? await chosenChain(ask, wishesOf(request, caller, keeps), dependencies)
    : await resolveChain(ask, dependencies);
  const { members, warnings } = chainByPrice(resolved, request.price);
  requireModels(caller, slugsOf(members));
  requireFinders(dependencies, request.redacted, members);
  request.redacted = redactedWith(dependencies, request.redacted, request.common);
  if (isByGateway || request.price === 'cheapest') request.model = members[0]?.slug ?? request.model;
  if (!isByGateway && request.prefer !== undefined) warnings.push(preferUnused);
  return { request, members, warnings };
}

const slugsOf = (chain: readonly ResolvedCandidate[]): string[] => chain.map(({ slug }) => slug);

const wishesOf = ({ prefer, interimResults }: ListenRequest, caller: Caller, keeps: readonly string[]) => ({
  preference: prefer,
  allows: (slug: string) => allowsModel(caller, slug),
  prefersInterims: interimResults,
  keeps,
});

/** What changes of a session while it continues; one change is requested at a time. */
function configuring(
  parameters: ReadonlyMap<string, string>,
  { chain: first }: Pick<SessionOpening, 'chain'>,
  caller: Caller,
  meter: Pick<Meter, 'prepare'>,
  dependencies: ListenDependencies,
) {
  let current = parameters;
  let keeps = slugsOf(first);
  return async (asked: Configure): Promise<Configuration> => {
    const next = changed(current, asked);
    const {
      request,
      members: chain,
      warnings,
    } = await chainFor(next, await dependencies.authenticator.renewed(caller), dependencies, keeps);
    const members = pricedMembers(chain);
    await meter.prepare(members[0] as MeterCandidate);
    current = next;
    keeps = slugsOf(chain);
    return { request, chain, members, warnings };
  };
}

/** It was not opened after all: the client is gone, or the session could not be made. */
export function giveBack(
  { release, meter, decoder, others = [] }: SessionOpening,
  dependencies: Pick<ListenDependencies, 'wallNow'>,
): void {
  decoder?.free();
  release();
  meter.abandon(dependencies.wallNow());
  for (const other of others) giveBack(other, dependencies);
}

/** Loads what decodes Opus where it is wanted, and only there. */
async function decoderFor(
  { encoding, sampleRate }: ListenRequest,
  organisationId: string,
  { opus }: Pick<ListenDependencies, 'opus'>,
): Promise<OpusDecoder | undefined> {
  return isCoded(encoding) ? await opus.open(organisationId, sampleRate) : undefined;
}

/** Several channels are one session to the client: each may cost its share. */
function maxMicroUsdOf({ limits, channels = 1 }: ListenRequest): bigint | undefined {
  return limits?.maxMicroUsd === undefined ? undefined : limits.maxMicroUsd / BigInt(channels);
}

/** What the session may spend; throws an ApiError when that is nothing. */
function openMeter(
  { sessionId, organisationId, keyId, chain, request, tags }: Omit<SessionOpening, 'meter' | 'release'>,
  openedAt: Date,
  isUnlimited: boolean,
  { reservations }: Pick<ListenDependencies, 'reservations'>,
): Promise<Meter> {
  const model = (chain[0] as ResolvedCandidate).slug;
  const head: SessionHead = {
    id: sessionId,
    organisationId,
    keyId,
    mode: 'live',
    model,
    openedAt: openedAt.toISOString(),
  };
  if (tags !== undefined) head.tags = tags;
  return reservations.open(head, pricedMembers(chain), isUnlimited, maxMicroUsdOf(request));
}
