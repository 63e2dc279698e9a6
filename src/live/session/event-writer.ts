// Everything a session says to its client besides transcripts: the words and members of its events. When something is said
// is decided in session.ts; how it is queued, in outbox.ts.
import type { FailureReason, LegFailure, SessionEndReason } from '../../../machines/events.ts';
import type { SessionError } from '../../../machines/session/types.ts';
import { type ApiErrorExtras, type Attempt, apiError, type ErrorCode } from '../../api/errors.ts';
import { isCoded, type ListenRequest } from '../../api/listen.ts';
import type { OutgoingEvent } from '../../api/listen-events.ts';
import { tagsOfText } from '../../api/tags.ts';
import { bytesPerSample } from '../../audio/pcm.ts';
import type { Told } from '../../vendors/kit/vocabulary/mapping.ts';
import type { Degradation, ResolvedCandidate } from '../failover/chain.ts';
import { choiceOf } from '../failover/choice/choose.ts';
import type { OddLayout } from './audio/format-watch.ts';
import type { Outbox } from './outbox.ts';
import type { SessionOpening, SessionSettings, SessionTotals } from './session-opening.ts';
import { longestMsOf, suspendMsOf } from './session-parts.ts';

/** A position in a session's audio as its client is told it: seconds, to the microsecond. */
export const secondsOf = (sample: number, sampleRate: number): number => Math.round((sample / sampleRate) * 1e6) / 1e6;

type Started = Extract<OutgoingEvent, { type: 'session_started' }>;

export class EventWriter {
  readonly #opening: SessionOpening;
  readonly #outbox: Outbox;
  readonly #totals: Pick<SessionTotals, 'refused'>;
  /** The member of the chain that the client believes in. */
  #announcedIndex = 0;
  #announcedLegs = 0;
  /** Why the model that the client believes in lost its leg, the first time since. */
  #cause: FailureReason | 'returned' | 'spend_ceiling' | undefined;
  /** First of the members that the client has requested since. */
  #configured: number | undefined;
  /** The client was told that its audio waits, and not yet what came of it. */
  #isWaiting = false;
  /** Codes of the warnings that are given once in a session. */
  readonly #warnedOnce = new Set<string>();
  failovers = 0;

  constructor(opening: SessionOpening, outbox: Outbox, totals: Pick<SessionTotals, 'refused'>) {
    this.#opening = opening;
    this.#outbox = outbox;
    this.#totals = totals;
  }

  started(settings: SessionSettings): void {
    const { chain, request, requestId, warnings, resumeToken = null, continues, tags } = this.#opening;
    const { messageBytesMax = Number.POSITIVE_INFINITY } = this.#opening;
    const choice = choiceOf(chain);
    this.#outbox.push({
      type: 'session_started',
      request_id: requestId,
      model: this.#member(0).slug,
      sample_rate: request.sampleRate,
      encoding: request.encoding,
      fallbacks: chain
        .slice(1)
        .map(({ slug, degradations }) => ({ model: slug, degrades: degradations.map(({ code }) => code) })),
      chain: chain.map((member) => chainMember(member, request.redacted)),
      ...(choice === undefined ? {} : { choice }),
      resume_token: resumeToken,
      ...(continues === undefined ? {} : { continues: continuesOf(continues, request) }),
      ...(tags === undefined ? {} : { tags: tagsOfText(tags) }),
      limits: {
        idle_seconds: settings.idleMs / 1000,
        suspend_seconds: suspendMsOf(request, settings) / 1000,
        session_seconds: longestMsOf(request, settings) / 1000,
        binary_frame_bytes: Math.min(settings.binaryFrameBytesMax, messageBytesMax),
        text_frame_bytes: settings.textFrameBytesMax,
      },
    });
    for (const warning of [...warnings, ...this.#member(0).degradations]) this.warn(warning);
  }

  /** @param bytes of audio, since the session began */
  received(bytes: number): void {
    this.#outbox.push({ type: 'received', bytes });
  }

  /** A leg failed. What the client is told of a failover is what befell the model that it believes in. */
  lostLeg({ reason }: LegFailure): void {
    this.#cause ??= reason;
  }

  /** The primary works again: the next leg is one of it. */
  returning(): void {
    this.#cause = 'returned';
  }

  /** A ceiling on spend is reached: the next leg is one of a cheaper model. */
  becomingCheaper(): void {
    this.#cause = 'spend_ceiling';
  }

  /** Nothing can be sent to the model: nothing is lost, and nothing comes. `why` continues with "because". */
  waiting(slug: string, why: string): true {
    this.#isWaiting = true;
    this.warn({
      code: 'upstream_waiting',
      message: `Nothing can be sent to ${slug} right now, because ${why}. Your audio is kept and sent when it can; go on as before.`,
    });
    return true;
  }

  /** The leg was released in order: that another is connected in its time is no news. */
  rested(): void {
    this.#announcedLegs = 0;
  }

  /** Those members are wanted, of which the next leg is one, or the open one. */
  configuring(index: number): void {
    this.#configured = index;
    this.#cause = undefined;
  }

  /** A leg took over: a failover when the model is another, a warning when the same was connected again. */
  switched(index: number, attempts: number, replaySamples: number, fromSample: number): void {
    this.#tellConfigured(index, replaySamples, fromSample);
    const from = this.#member(this.#announcedIndex).slug;
    const to = this.#member(index).slug;
    const replayedSeconds = this.#secondsOf(replaySamples);
    const cause = this.#cause;
    const isWaiting = this.#isWaiting;
    this.#cause = undefined;
    this.#isWaiting = false;
    this.#announcedLegs++;
    if (index !== this.#announcedIndex) {
      this.#announcedIndex = index;
      if (cause !== 'returned') this.failovers++;
      // Where nothing has failed, the breaker of the model requested was open from the start.
      const reason = cause ?? 'circuit_open';
      this.#outbox.push({ type: 'failover', from, to, reason, replayed_seconds: replayedSeconds, attempt: attempts });
    } else if (this.#announcedLegs > 1) {
      const what =
        cause === undefined
          ? { code: 'upstream_replaced', text: 'was about to reach its end and was replaced by a new one' }
          : { code: 'upstream_reconnected', text: 'was lost and made again' };
      const message = `The connection to ${to} ${what.text}; ${replayedSeconds} s of audio were sent again.`;
      this.warn({ code: what.code, message });
    } else if (isWaiting) {
      this.warn({
        code: 'upstream_reconnected',
        message: `The connection to ${to} is there; the audio that waited is sent.`,
      });
    }
  }

  /** The first leg of what was requested. */
  #tellConfigured(index: number, replaySamples: number, fromSample: number): void {
    const first = this.#configured;
    if (first === undefined || index < first) return;
    this.#configured = undefined;
    this.#announcedIndex = first;
    this.#announcedLegs = 0;
    this.#configuredFrom(first, replaySamples, fromSample);
    for (const warning of this.#member(first).degradations) this.warn(warning);
  }

  /** What the client has changed is in force from here on, and its model is the same as before. */
  unchanged(fromSample: number): void {
    this.#configuredFrom(this.#announcedIndex, 0, fromSample);
  }

  #configuredFrom(index: number, replaySamples: number, fromSample: number): void {
    const [member, ...fallbacks] = this.#opening.chain.slice(index) as [ResolvedCandidate, ...ResolvedCandidate[]];
    const choice = choiceOf([member, ...fallbacks]);
    this.#outbox.push({
      type: 'configured',
      model: member.slug,
      fallbacks: fallbacks.map(({ slug }) => slug),
      chain: [member, ...fallbacks].map((each) => chainMember(each, this.#opening.request.redacted)),
      ...(choice === undefined ? {} : { choice }),
      from: this.#secondsOf(fromSample),
      replayed_seconds: this.#secondsOf(replaySamples),
    });
  }

  /** `withinMs`: how long the session may continue at the most. */
  draining(withinMs: number): void {
    this.#outbox.push({
      type: 'warning',
      code: 'node_draining',
      message:
        'This node is being shut down. The session ends after the current turn; connect again, another node answers.',
      reconnect_within_seconds: withinMs / 1000,
    });
  }

  /** @param end why the session is ending, where that was not the client's doing */
  lateAudio(end: SessionError | null): void {
    const { code, message } = end ?? {
      code: 'invalid_request',
      message: 'The session is ending. Send `close` after the last audio, or open a new session.',
    };
    this.error(code as ErrorCode, `${message} Audio that comes now is not transcribed.`);
  }

  rateSuspect(ratio: number): void {
    this.warn({
      code: 'audio_rate_suspect',
      message: `Audio arrives at ${ratio.toFixed(2)} times real time. If it comes from a microphone, \`sample_rate\` (${this.#opening.request.sampleRate}) is probably wrong.`,
      param: 'sample_rate',
    });
  }

  damaged(): void {
    this.warn({
      code: 'audio_damaged',
      message:
        'A piece of the audio is damaged or missing, and was left out: what follows comes that much earlier on the timeline. Send every piece, in order and once. Told once in a session.',
    });
  }

  layoutSuspect(layout: OddLayout): void {
    this.warn(LAYOUT_WARNINGS[layout]);
  }

  warn({ code, message, param }: Degradation): void {
    this.#outbox.push({ type: 'warning', code, message, ...(param === undefined ? {} : { param }) });
  }

  /** The same; not again in this session. */
  warnOnce(warning: Degradation): void {
    if (this.#warnedOnce.has(warning.code)) return;
    this.#warnedOnce.add(warning.code);
    this.warn(warning);
  }

  /** From there on speakers have numbers from `firstSpeaker` on. */
  speakersRestarted(start: number, firstSpeaker: number): void {
    this.#outbox.push({ type: 'speakers_restarted', start, first_speaker: firstSpeaker });
  }

  /** Audio that no final will cover. */
  lost(fromSample: number, toSample: number, reason: string): void {
    const [from, to] = [this.#secondsOf(fromSample), this.#secondsOf(toSample)];
    this.#outbox.push({ type: 'discontinuity', from, to, reason });
  }

  /** Something was refused, and the session continues. */
  error(code: ErrorCode, message: string, extras: { param?: string } = {}): void {
    this.#tellError(code, message, extras, { fatal: false });
  }

  /** The error that ends the session; an upstream's names the turn that is owed a final, if one is. */
  lastError(error: SessionError, reason: SessionEndReason, attempts: Attempt[], turn: number | undefined): void {
    const upstream = reason === 'upstream' && attempts.length > 0;
    const message = upstream && turn !== undefined ? `${error.message} Turn ${turn} has no final.` : error.message;
    this.#tellError(error.code as ErrorCode, message, upstream ? { details: attempts } : {});
  }

  #tellError(code: ErrorCode, message: string, extras: ApiErrorExtras, more: { fatal?: false } = {}): void {
    this.#totals.refused(code);
    const error = apiError(code, message, extras).body(this.#opening.requestId);
    this.#outbox.push({ type: 'error', error, ...more } as OutgoingEvent);
  }

  #secondsOf(samples: number): number {
    return secondsOf(samples, this.#opening.request.sampleRate);
  }

  #member(index: number): ResolvedCandidate {
    return this.#opening.chain[index] as ResolvedCandidate;
  }
}

function continuesOf(
  { sessionId, seconds }: NonNullable<SessionOpening['continues']>,
  { encoding, sampleRate, channels = 1 }: ListenRequest,
): NonNullable<Started['continues']> {
  const frames = Math.round(seconds * sampleRate);
  const bytes = isCoded(encoding) ? {} : { from_bytes: frames * channels * bytesPerSample(encoding) };
  return { session_id: sessionId, ...bytes, from_seconds: seconds };
}

function chainMember(
  { slug: model, told }: ResolvedCandidate,
  redacted: ListenRequest['redacted'],
): Started['chain'][number] {
  const those = (outcome: Told['outcome']) => told.filter((each) => each.outcome === outcome);
  const explained = (outcome: Told['outcome']) => those(outcome).map(({ param, message = '' }) => ({ param, message }));
  const member: Started['chain'][number] = {
    model,
    honoured: those('honoured').map(({ param }) => param),
    mapped: explained('mapped'),
    dropped: explained('dropped'),
  };
  const byModel = told.find(({ param }) => param === 'redact')?.taken?.map(String) ?? [];
  if (redacted !== undefined || byModel.length > 0)
    member.redaction = { by_model: byModel, by_gateway: [...(redacted ?? [])] };
  return member;
}

const LAYOUT_WARNINGS: Readonly<Record<OddLayout, Degradation>> = {
  two_channels: {
    code: 'audio_channels_suspect',
    message:
      'The audio looks like two interleaved channels. One is taken here, so that it is heard at the wrong speed: ask for `channels=2`, mix the two into one, or send one of them.',
  },
  floating_point: {
    code: 'audio_encoding_suspect',
    message:
      'The audio looks like 32-bit floating point, as browsers have it. It is taken for linear16 and heard as noise: send each sample as a 16-bit integer, the number times 32767.',
    param: 'encoding',
  },
};
