// What the parts of a session are made with, out of its request and the configuration.
import type { SessionInput } from '../../../machines/session/types.ts';
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import type { ListenRequest } from '../../api/listen.ts';
import type { Gathering } from '../../audio/frames.ts';
import { AudioPipeline } from '../../audio/pipeline.ts';
import type { LiveTiming } from '../../vendors/kit/provider.ts';
import { timingOf } from '../failover/chain.ts';
import { type ClientLine, Outbox } from './outbox.ts';
import type { SessionDependencies, SessionOpening, SessionSettings } from './session-opening.ts';
import type { Signals } from './signals.ts';
import type { SessionLog } from './watch/session-log.ts';

/** Retries of one model within an incident, where its failure is worth one. */
const RETRIES = 1;
/** How long a leg has to hold at least before what went wrong earlier is over. */
const STEADY_MS_MIN = 10_000;
const UNREAD = 'Events are not read fast enough: a final could not be queued. Read the socket continuously.';

/** The audio pipeline, and the seconds of audio that it may hold ahead of what was sent on. */
export function pipelineOf(
  { request, decoder, organisationId }: SessionOpening,
  { settings, openSpool: open }: SessionDependencies,
): { pipeline: AudioPipeline; backlogSecondsMax: number } {
  const { sampleRate, encoding } = request;
  // Audio may run ahead to the end of the longest session, within an organisation's share of the node's spool.
  const longestBytes = Math.ceil((settings.longestMs / 1000) * sampleRate * BYTES_PER_SAMPLE);
  const spoolBytesMax = Math.min(Math.floor(settings.spoolNodeBytesMax / 2), longestBytes);
  const { memoryBytesMax, replayMs, replaySpoolMs } = settings;
  const openSpool = () => open(organisationId);
  const held = { memoryBytesMax, replayMs, replaySpoolMs, spoolBytesMax, openSpool };
  const pipeline = new AudioPipeline({ sampleRate, encoding, decoder, ...held });
  return { pipeline, backlogSecondsMax: Math.floor(spoolBytesMax / (BYTES_PER_SAMPLE * sampleRate)) };
}

/** @param log hears everything that is to be told */
export function outboxOf(
  { sessionId, encoder }: SessionOpening,
  line: ClientLine,
  { settings, wallNow, totals }: SessionDependencies,
  log: Pick<SessionLog, 'told'>,
  signals: Signals,
): Outbox {
  const { unreadBytesMax, unreadEventsMax } = settings;
  return new Outbox({
    sessionId,
    line,
    encoder,
    unreadBytesMax,
    unreadEventsMax,
    wallNow,
    onEvent: (event) => log.told(event),
    onOverflow: () => signals.emit('abort', 'slow_consumer', UNREAD),
    onDrop: (name) => totals.dropped(name),
  });
}

/** Without audio for so long, the connection to the provider is released. */
export const suspendMsOf = ({ suspendSeconds }: ListenRequest, settings: SessionSettings): number =>
  suspendSeconds === undefined ? settings.suspendMs : suspendSeconds * 1000;

/** How long the session may be open: a request can only shorten it. */
export const longestMsOf = ({ limits }: ListenRequest, { longestMs }: SessionSettings): number =>
  limits?.maxSeconds === undefined ? longestMs : Math.min(longestMs, limits.maxSeconds * 1000);

/** How far audio is gathered before it leaves. */
export const gatheringOf = ({ request }: SessionOpening, { gathering, settings }: SessionDependencies): Gathering =>
  gathering[request.latency ?? settings.latency];

/** A leg that answers nothing is taken for dead before it is taken for steady. */
export const steadyMsOf = (timings: readonly LiveTiming[]): number =>
  Math.max(STEADY_MS_MIN, ...timings.map(({ stallMs }) => (Number.isFinite(stallMs) ? 2 * stallMs : 0)));

/** Of each member of the chain. */
export const timingsOf = ({ chain, request }: SessionOpening, { access }: SessionDependencies): LiveTiming[] =>
  chain.map((member) => timingOf(member, request, access));

/** The longest of those that one of the models needs. */
export const formattedWaitMsOf = (timings: readonly LiveTiming[]): number =>
  Math.max(0, ...timings.map(({ formattedWaitMs }) => formattedWaitMs));

/** @param first the member of the chain to begin with */
export function chartInputOf(
  { chain, sessionId, request }: SessionOpening,
  settings: SessionSettings,
  timings: readonly LiveTiming[],
  first: number,
): SessionInput {
  const { drainMs, backOffMs, settleMs, upstreamRetries, retryMs } = settings;
  return {
    sessionId,
    chain: chain.map((member) => member.slug),
    first,
    limits: {
      longestMs: longestMsOf(request, settings),
      drainMs,
      backOffMs,
      settleMs,
      retries: RETRIES,
      rounds: upstreamRetries,
      retryMs,
      steadyMs: steadyMsOf(timings),
    },
  };
}
