// Asks the models of a chain for the transcript of a file, one after the other as `Attempts` says: by HTTP, or through a live leg
// where the provider has no interface for files.
import type { FailureReason, LegFailure, OpenLeg, Utterance } from '../../machines/events.ts';
import {
  carriedOut,
  decide,
  FILE_LIMITS,
  FILE_POLICY,
  firstCandidate,
  hasPause,
  type Incident,
  noIncident,
  pauseMs,
  withFailure,
} from '../../machines/failover/decision.ts';
import { BYTES_PER_SAMPLE } from '../api/audio-formats.ts';
import { FREE_RULE } from '../api/residency-rule.ts';
import { readable } from '../api/text.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import { SpeechMeter } from '../audio/voice/energy.ts';
import { judged } from '../live/failover/blame.ts';
import type { Breakers } from '../live/failover/breakers/breakers.ts';
import { type ResolvedCandidate, rateFor } from '../live/failover/chain.ts';
import { ownKeyFailure } from '../live/failover/chain-credential.ts';
import type { ModelMeasures } from '../live/failover/choice/measures.ts';
import { GuardedCall, noWords } from '../live/failover/model-attempt.ts';
import type { HttpBatchDependencies } from '../live/upstream/http/batch-codec.ts';
import { pause } from '../live/upstream/http/batch-codec.ts';
import { LegFailed, ownKeyUnavailable, placeNotKept } from '../live/upstream/leg-failures.ts';
import type { UpstreamHost } from '../live/upstream/upstream-host.ts';
import { keepsTo } from '../vendors/kit/places.ts';
import type { ProviderAccess } from '../vendors/kit/provider.ts';
import { transcribeByHttp } from './by-http.ts';
import { type CredibleResult, credible } from './claims.ts';
import type { FileDecodings } from './decoding/decoding.ts';
import { apiErrorOf, detailsOf, type FailedAttempt } from './failures.ts';
import { FileDecoder } from './file-decoder.ts';
import { type AudioFile, FileSource } from './file-source.ts';
import { InParts } from './in-parts.ts';
import type { LongFiles, PartsProgress } from './long/long-files.ts';
import type { Transcript } from './long/merge.ts';
import { damagedWarning } from './money/length.ts';
import { PassedOvers } from './passed-over.ts';
import { FileGate, type FileSpeechGates } from './speech-gate.ts';
import { transcribeThroughLeg } from './through-leg.ts';

/** A request with a file. */
export interface ObservedFile {
  requestId: string;
  organisationId: string;
  /** What the client says its own trace is. */
  traceparent: string | undefined;
}

/** Hears of the moments of one file as they come, for metrics and spans. Names only; never what was said. */
export interface FileObserver {
  /** With its tags, as one text; not of a file without any. */
  tagged(tags: string): void;
  /** A model is asked for the transcript; `answered` or `failed` follows, unless the file is given up. */
  asked(model: string): void;
  answered(model: string): void;
  failed(model: string, reason: FailureReason): void;
  /** Nothing follows. `code`: what the client was told instead of a transcript. */
  ended(code: string | undefined): void;
}

export interface TranscriptionJob {
  jobId: string;
  organisationId: string;
  request: TranscriptionRequest;
  /** Checked, and not empty. */
  chain: readonly ResolvedCandidate[];
  file: AudioFile;
  signal: AbortSignal;
  observer?: Omit<FileObserver, 'ended' | 'tagged'> | undefined;
  /** An answer without words to a file that has sound is not taken for the answer while another model may have some. */
  hearEmptyAgain: boolean;
  /**
   * Hears each utterance of a model behind a live leg as soon as it is settled, where no other model of the chain could still
   * take over. Text that was sent cannot be taken back: no other attempt follows one that has sent any.
   */
  onUtterance?(utterance: Utterance, member: ResolvedCandidate): void;
  /** Hears how many parts of a file are done that is transcribed in parts. */
  onProgress?: ((progress: PartsProgress) => void) | undefined;
  /** The file is a part of another. */
  isPart?: true;
}

export interface TranscriptionDependencies {
  upstream: UpstreamHost;
  http: HttpBatchDependencies;
  breakers: Breakers;
  /** Counts how models are doing; absent: nothing is counted. */
  measures?: Pick<ModelMeasures, 'outcome' | 'delayed'>;
  /** Decodes containers for models that hear files live. */
  decodings: Pick<FileDecodings, 'open'>;
  /** Finds text for audio without speech; absent: all text passes. */
  speechGates?: FileSpeechGates;
  /** Cuts files that a model does not take whole; absent: they go to other models alone. */
  longFiles?: LongFiles;
}

export type TranscriptionOutcome = Transcript;

/**
 * Transcribes a file. Throws an ApiError for everything that the client is to know, and the signal's reason when aborted;
 * nothing is in progress then.
 */
export async function transcribe(
  dependencies: TranscriptionDependencies,
  job: TranscriptionJob,
): Promise<TranscriptionOutcome> {
  job.signal.throwIfAborted();
  const file = await FileSource.open(job.file);
  const { request, organisationId, signal } = job;
  const gate = new FileGate(dependencies.speechGates, file, { requested: request.speechGate, organisationId, signal });
  try {
    const passed = new PassedOvers();
    return passed.of(await transcribeWith(dependencies, job, file, gate, passed));
  } finally {
    gate.close();
  }
}

async function transcribeWith(
  dependencies: TranscriptionDependencies,
  job: TranscriptionJob,
  opened: FileSource,
  gate: FileGate,
  passed: PassedOvers,
): Promise<TranscriptionOutcome> {
  const { chain, signal, observer } = job;
  const attempts = new Attempts(chain, dependencies.breakers);
  const parts = inParts(dependencies, job);
  let file = opened;
  let told = 0;
  /** Of the first model that had no words: given where no other has any. The last resort is not tried: it is for failures alone. */
  let empty: TranscriptionOutcome | undefined;
  let emptyCall: GuardedCall | undefined;
  for (;;) {
    const { member, isLast, failed } = attempts;
    const tell = (utterance: Utterance) => {
      told++;
      job.onUtterance?.(readableUtterance(utterance), member);
    };
    const excess = await parts.excess(attempts.left, file);
    // Each part has its own calls.
    const call = excess === undefined ? new GuardedCall(member, dependencies, 'batch') : undefined;
    try {
      if (excess !== undefined) {
        const whole = await parts.transcribe(attempts.left, file, excess);
        return { ...whole, attempts: [...detailsOf(failed), ...whole.attempts] };
      }
      const mode = gate.begin(member.card);
      // Text that is told cannot be dropped.
      const onUtterance = isLast && job.onUtterance !== undefined && mode !== 'drop' ? tell : undefined;
      observer?.asked(member.slug);
      const begunMs = dependencies.http.clock.now();
      const result = await attempt(dependencies, job, member, file, failed.length + 1, onUtterance);
      const utterances = result.utterances.map(readableUtterance);
      call?.succeeded(!isEmpty(utterances));
      observer?.answered(member.slug);
      measureAnswer(dependencies, member, begunMs, result.seconds);
      const outcome: TranscriptionOutcome = { ...result, utterances, member, attempts: detailsOf(failed) };
      if (!isEmpty(utterances)) {
        // Noise is as loud as speech: only words of another model show that there were any.
        emptyCall?.empty();
        return await gate.judged(outcome, told);
      }
      passed.empty(member);
      if (empty !== undefined) return empty;
      const sound = await soundIn(file, signal);
      if (sound === 'none') return outcome;
      observer?.failed(member.slug, noWords.reason);
      emptyCall = call;
      empty = { ...outcome, warnings: [...outcome.warnings, emptyWarning(member.slug, sound)] };
      if (!job.hearEmptyAgain || told > 0 || !file.left || attempts.next(noWords) === undefined) return empty;
      if (attempts.member.isLastResort) return empty;
    } catch (error) {
      if (signal.aborted || !(error instanceof LegFailed)) {
        call?.end();
        throw signal.aborted ? signal.reason : error;
      }
      call?.failed(error.failure);
      const copy = told > 0 ? undefined : await parts.copy(error.failure, attempts.left, file);
      if (copy !== undefined) {
        file = copy;
        continue;
      }
      observer?.failed(member.slug, error.failure.reason);
      passed.failed(member, error.failure);
      const pauseMs = attempts.next(error.failure);
      const isOver = pauseMs === undefined || !file.left || told > 0;
      if (empty !== undefined && (isOver || attempts.member.isLastResort)) return empty;
      if (isOver) throw apiErrorOf(named(failed));
      await pause(dependencies.http.clock, pauseMs, signal);
    }
  }
}

/** How long the answer took, for each second of the file. */
function measureAnswer(
  { measures, http }: TranscriptionDependencies,
  { slug }: ResolvedCandidate,
  begunMs: number,
  seconds: number,
): void {
  if (measures !== undefined && seconds > 0) measures.delayed('batch', slug, (http.clock.now() - begunMs) / seconds);
}

/** Parts are transcribed as files of their own. */
function inParts(dependencies: TranscriptionDependencies, job: TranscriptionJob): InParts {
  const { jobId, organisationId, request, signal, observer, hearEmptyAgain, onProgress, isPart = false } = job;
  return new InParts({
    ...{ longFiles: dependencies.longFiles, request, organisationId, signal, observer, isPart, onProgress },
    transcribe: (part) =>
      transcribe(dependencies, {
        ...{ organisationId, request, hearEmptyAgain },
        jobId: `${jobId}-${part.index}`,
        chain: part.chain,
        file: part.file,
        signal: part.signal,
        observer: part.observer,
        isPart: true,
      }),
  });
}

/** What the client is told of: of a last resort that it does not name, only where nothing else was tried. */
function named(failed: readonly FailedAttempt[]): readonly FailedAttempt[] {
  const own = failed.filter(({ isLastResort }) => !isLastResort);
  return own.length === 0 ? failed : own;
}

async function attempt(
  { upstream, http, decodings }: TranscriptionDependencies,
  job: TranscriptionJob,
  member: ResolvedCandidate,
  file: FileSource,
  number: number,
  onUtterance: ((utterance: Utterance) => void) | undefined,
): Promise<CredibleResult> {
  const { signal, organisationId } = job;
  const { batch, name } = member.provider;
  if (batch?.kind !== 'http') {
    const decode = (source: FileSource) => decodings.open(source, organisationId, signal);
    const decoder = await FileDecoder.open(file, decode);
    try {
      return await transcribeLive(upstream, `job.${job.jobId}.${number}`, member, job, decoder, onUtterance);
    } finally {
      decoder.close();
    }
  }
  const access = within(member, await opened(upstream.access(name, member.credentialId, organisationId)));
  signal.throwIfAborted();
  return transcribeByHttp(batch, member, job, file, access, http);
}

async function opened(access: ProviderAccess | Promise<ProviderAccess>): Promise<ProviderAccess> {
  try {
    return await access;
  } catch {
    throw new LegFailed(ownKeyUnavailable);
  }
}

/** What is dialled with may be another than was known at admission. */
function within({ provider, card, params, rule }: ResolvedCandidate, access: ProviderAccess): ProviderAccess {
  const found = keepsTo({ provider, card, mode: 'batch', params, access }, rule ?? FREE_RULE);
  if (found === undefined) throw new LegFailed(placeNotKept);
  return found;
}

async function transcribeLive(
  upstream: UpstreamHost,
  legId: string,
  member: ResolvedCandidate,
  { signal, organisationId }: TranscriptionJob,
  decoder: FileDecoder,
  onUtterance: ((utterance: Utterance) => void) | undefined,
): Promise<CredibleResult> {
  const sampleRate = rateFor(member.card, decoder.sampleRate);
  const leg: OpenLeg = {
    type: 'leg.open',
    session: '',
    sessionId: legId,
    generation: 1,
    slug: member.slug,
    sampleRate,
    language: member.language ?? null,
    interimResults: false,
    diarization: member.diarization,
    params: { ...member.params },
    credentialId: member.credentialId,
    organisationId,
    ...(member.rule === undefined ? {} : { rule: member.rule }),
  };
  const audio = decoder.audio(sampleRate, member.card.audio.max_seconds);
  const result = await transcribeThroughLeg(upstream, legId, leg, audio, signal, onUtterance);
  const warnings = decoder.isDamaged ? [...result.warnings, damagedWarning] : result.warnings;
  const { seconds } = decoder;
  return credible({ ...result, warnings }, { seconds, secondsMax: seconds });
}

/** The utterance with texts that any client can read. */
const readableUtterance = (utterance: Utterance): Utterance => ({
  ...utterance,
  text: readable(utterance.text),
  ...(utterance.words === undefined
    ? {}
    : { words: utterance.words.map((word) => ({ ...word, word: readable(word.word) })) }),
});

/**
 * The attempts at one file: which model of the chain has its turn, and what has failed. What comes after a failure is decided in
 * machines/failover/decision.ts, as for live sessions.
 */
export class Attempts {
  /** In their order. */
  readonly failed: FailedAttempt[] = [];
  readonly #chain: readonly ResolvedCandidate[];
  readonly #breakers: Pick<Breakers, 'openIn'>;
  #incident: Incident;

  /** @param chain not empty */
  constructor(chain: readonly ResolvedCandidate[], breakers: Pick<Breakers, 'openIn'>) {
    this.#chain = chain;
    this.#breakers = breakers;
    this.#incident = noIncident(chain.length, firstCandidate(chain.length, breakers.openIn(chain)), FILE_LIMITS);
  }

  /** The model that has its turn. */
  get member(): ResolvedCandidate {
    return this.#chain[this.#incident.index] as ResolvedCandidate;
  }

  /** The model that has its turn, and those that have not failed. */
  get left(): readonly ResolvedCandidate[] {
    const { index, tried } = this.#incident;
    return [this.member, ...this.#chain.filter((_, place) => place !== index && !tried.includes(place))];
  }

  /** Whether every other model of the chain has failed. */
  get isLast(): boolean {
    const { index, tried } = this.#incident;
    return this.#chain.every((_, member) => member === index || tried.includes(member));
  }

  /** The model has failed. Gives the pause before the next has its turn; undefined when nothing is left to try. */
  next(told: LegFailure): number | undefined {
    const failure = judged(told, this.member);
    const ownKey = ownKeyFailure(this.member, failure);
    const { slug: model, isLastResort = false } = this.member;
    this.failed.push({ model, failure: ownKey === undefined ? failure : { ...failure, ownKey }, isLastResort });
    const { kind, retryAfterMs = 0, own = false } = failure;
    const open = this.#breakers.openIn(this.#chain);
    const said = { kind, open, retryAfterMs, own, lasting: failure.lasting === true, wasReady: false };
    const incident = withFailure(this.#incident, { ...said, mayRetry: true, elapsedMs: 0 });
    const decision = decide(incident, FILE_POLICY);
    if (decision === 'refused' || decision === 'exhausted') return undefined;
    this.#incident = carriedOut(incident, decision);
    return hasPause(decision) ? pauseMs(incident, FILE_POLICY) : 0;
  }
}

/** What is known of the sound in a file. Containers are not decoded here, and what was read once may be gone. */
type Sound = 'speech' | 'none' | 'unknown';

const isEmpty = (utterances: readonly Utterance[]): boolean => utterances.every(({ text }) => text.trim() === '');

/** Reads the file up to the first sound that is as loud and long as speech. */
async function soundIn(file: FileSource, signal: AbortSignal): Promise<Sound> {
  const { kind, left } = file;
  if (!left || (kind.kind === 'container' && kind.format !== 'wav')) return 'unknown';
  try {
    const decoder = await FileDecoder.open(file, notDecoded);
    const meter = new SpeechMeter(decoder.sampleRate);
    for await (const { buffer, byteOffset, byteLength } of decoder.audio(decoder.sampleRate, null)) {
      signal.throwIfAborted();
      const samples = new Int16Array(buffer, byteOffset, byteLength / BYTES_PER_SAMPLE);
      meter.take(samples, 0, samples.length);
      if (meter.speech.lastEnd !== undefined) return 'speech';
    }
    return 'none';
  } catch (error) {
    if (signal.aborted) throw error;
    // A model has read it anyway.
    return 'unknown';
  }
}

const notDecoded = (): never => {
  throw new Error('Containers are not decoded for this.');
};

/** What a client is told that is given no words. */
function emptyWarning(slug: string, sound: Sound): { code: string; message: string } {
  const though = sound === 'speech' ? ', though there is sound in it as loud as speech' : '';
  return {
    code: 'empty_result',
    message: `${slug} found no words in this file${though}. If somebody speaks in it, try another model, or name one in \`fallbacks\`.`,
  };
}
