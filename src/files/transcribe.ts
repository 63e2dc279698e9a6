// Asks the models of a chain for the transcript of a file, one after the other as attempts.ts says: by HTTP, or through a live leg
// where the provider has no interface for files.
import type { OpenLeg, Utterance } from '../../machines/events.ts';
import type { Attempt } from '../api/errors.ts';
import { FREE_RULE } from '../api/residency-rule.ts';
import { readable } from '../api/text.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import type { Breakers } from '../live/failover/breakers/breakers.ts';
import { GuardedCall } from '../live/failover/breakers/guarded-call.ts';
import { type ChainMember, rateFor } from '../live/failover/chain.ts';
import { noWords } from '../live/failover/no-words.ts';
import type { HttpBatchDependencies } from '../live/upstream/http/batch-codec.ts';
import { pause } from '../live/upstream/http/pause.ts';
import { LegFailed } from '../live/upstream/leg-failed.ts';
import { ownKeyUnavailable, placeNotKept } from '../live/upstream/leg-failures.ts';
import type { UpstreamHost } from '../live/upstream/upstream-host.ts';
import { keepsTo } from '../vendors/kit/places.ts';
import type { ProviderAccess } from '../vendors/provider.ts';
import { Attempts } from './attempts.ts';
import { transcribeByHttp } from './by-http.ts';
import { type CredibleResult, credible } from './claims.ts';
import type { FileDecodings } from './decoding/decodings.ts';
import { emptyWarning, isEmpty, soundIn } from './empty-answers.ts';
import { detailsOf, refusalOf } from './failures.ts';
import { FileDecoder } from './file/file-decoder.ts';
import { type AudioFile, FileSource } from './file/file-source.ts';
import { damagedWarning } from './file/file-warnings.ts';
import type { FileObserver } from './file-observer.ts';
import { transcribeThroughLeg } from './through-leg.ts';

export interface TranscriptionJob {
  jobId: string;
  organisationId: string;
  request: TranscriptionRequest;
  /** Checked, and not empty. */
  chain: readonly ChainMember[];
  file: AudioFile;
  signal: AbortSignal;
  observer?: FileObserver | undefined;
  /** An answer without words to a file that has sound is not taken for the answer while another model may have some. */
  hearEmptyAgain: boolean;
  /**
   * Hears each utterance of a model behind a live leg as soon as it is settled, where no other model of the chain could still
   * take over. Text that was sent cannot be taken back: no other attempt follows one that has sent any.
   */
  onUtterance?(utterance: Utterance, member: ChainMember): void;
}

export interface TranscriptionDependencies {
  upstream: UpstreamHost;
  http: HttpBatchDependencies;
  breakers: Breakers;
  /** Decodes containers for models that hear files live. */
  decodings: Pick<FileDecodings, 'open'>;
}

export interface TranscriptionOutcome extends CredibleResult {
  /** The model that answered. */
  member: ChainMember;
  /** What failed before it. */
  attempts: Attempt[];
}

/**
 * Transcribes a file. Throws a Refusal for everything that the client is to know, and the signal's reason when aborted;
 * nothing is under way then.
 */
export async function transcribe(
  dependencies: TranscriptionDependencies,
  job: TranscriptionJob,
): Promise<TranscriptionOutcome> {
  const { chain, signal, observer } = job;
  signal.throwIfAborted();
  const file = await FileSource.open(job.file);
  const attempts = new Attempts(chain, dependencies.breakers);
  let isTold = false;
  /** Of the first model that had no words: given where no other has any. */
  let empty: TranscriptionOutcome | undefined;
  for (;;) {
    const { member, isLast, failed } = attempts;
    const tell = (utterance: Utterance) => {
      isTold = true;
      job.onUtterance?.(readableUtterance(utterance), member);
    };
    const call = new GuardedCall(member, dependencies.breakers);
    try {
      const onUtterance = isLast && job.onUtterance !== undefined ? tell : undefined;
      observer?.asked(member.slug);
      const result = await attempt(dependencies, job, member, file, failed.length + 1, onUtterance);
      call.succeeded();
      observer?.answered(member.slug);
      const utterances = result.utterances.map(readableUtterance);
      const outcome: TranscriptionOutcome = { ...result, utterances, member, attempts: detailsOf(failed) };
      if (!isEmpty(utterances)) return outcome;
      if (empty !== undefined) return empty;
      const sound = await soundIn(file, signal);
      if (sound === 'none') return outcome;
      observer?.failed(member.slug, noWords.reason);
      empty = { ...outcome, warnings: [...outcome.warnings, emptyWarning(member.slug, sound)] };
      if (!job.hearEmptyAgain || isTold || !file.left || attempts.next(noWords) === undefined) return empty;
    } catch (error) {
      if (signal.aborted || !(error instanceof LegFailed)) {
        call.end();
        throw signal.aborted ? signal.reason : error;
      }
      call.failed(error.failure);
      observer?.failed(member.slug, error.failure.reason);
      const pauseMs = attempts.next(error.failure);
      if (pauseMs === undefined || !file.left || isTold) {
        if (empty !== undefined) return empty;
        throw refusalOf(failed);
      }
      await pause(dependencies.http.clock, pauseMs, signal);
    }
  }
}

async function attempt(
  { upstream, http, decodings }: TranscriptionDependencies,
  job: TranscriptionJob,
  member: ChainMember,
  file: FileSource,
  number: number,
  onUtterance: ((utterance: Utterance) => void) | undefined,
): Promise<CredibleResult> {
  const { request, signal, organisationId } = job;
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
  return transcribeByHttp(batch, member, request, file, access, signal, http);
}

async function opened(access: ProviderAccess | Promise<ProviderAccess>): Promise<ProviderAccess> {
  try {
    return await access;
  } catch {
    throw new LegFailed(ownKeyUnavailable);
  }
}

/** What is dialled with may be another than was known at admission. */
function within({ provider, card, params, rule }: ChainMember, access: ProviderAccess): ProviderAccess {
  const found = keepsTo({ provider, card, mode: 'batch', params, access }, rule ?? FREE_RULE);
  if (found === undefined) throw new LegFailed(placeNotKept);
  return found;
}

async function transcribeLive(
  upstream: UpstreamHost,
  legId: string,
  member: ChainMember,
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
