// What a transcription is answered with, in each format. Speakers, times and texts are those of the model that answered.
import type {
  Segment,
  Transcription,
  TranscriptionRequest,
  VerboseTranscription,
} from '../../../api/transcriptions.ts';
import { usdOf } from '../../../billing/price.ts';
import type { Degradation } from '../../../failover/chain.ts';
import { cuesOf } from '../../../transcription/subtitles/cues.ts';
import { srtOf, vttOf } from '../../../transcription/subtitles/formats.ts';
import type { TranscriptionOutcome } from '../../../transcription/transcribe.ts';
import type { WholeReply } from '../../door.ts';
import { json } from '../../router.ts';
import { TranscriptEvents, textOf } from './events.ts';
import { hasTimes } from './limits.ts';
import { streamHeaders } from './stream.ts';
import { warningHeader, warningsOf } from './warnings.ts';

/** What was charged. `own`: with the organisation's own provider key. */
export interface Charge {
  costMicroUsd: bigint;
  own: boolean;
  /** That were charged: one where the audio was charged once. */
  channels: number;
}

/** The answer of a transcription, whole: as server-sent events where a stream was asked for. */
export function answerOf(
  fields: TranscriptionRequest,
  outcome: TranscriptionOutcome,
  warnings: readonly Degradation[],
  requestId: string,
  charge: Charge,
): WholeReply {
  const text = textOf(outcome.utterances);
  if (fields.stream) {
    const headers = streamHeaders(warnings);
    return { status: 200, headers, body: eventsOf(text, fields, outcome, warnings, charge) };
  }
  const headers = warningHeader(warnings);
  const inText = (type: string, body: string): WholeReply => ({
    status: 200,
    headers: { ...headers, 'Content-Type': `${type}; charset=utf-8` },
    body,
  });
  if (fields.responseFormat === 'text') return inText('text/plain', `${text}\n`);
  if (fields.responseFormat === 'json') {
    const answer: Transcription = { text, ...logprobsOf(fields, outcome), usage: usageOf(outcome, charge) };
    return json(200, answer, headers);
  }
  if (fields.responseFormat === 'verbose_json') {
    return json(200, verbose(text, fields, outcome, warnings, requestId, charge), headers);
  }
  const { cues } = cuesOf(outcome.utterances, outcome.seconds, hasTimes(outcome));
  // Nobody has registered a type for SubRip; OpenAI sends it as plain text, and WebVTT has a type that players ask for.
  return fields.responseFormat === 'srt' ? inText('text/plain', srtOf(cues)) : inText('text/vtt', vttOf(cues));
}

function eventsOf(
  text: string,
  fields: TranscriptionRequest,
  outcome: TranscriptionOutcome,
  warnings: readonly Degradation[],
  charge: Charge,
): string {
  const events = new TranscriptEvents(fields.diarization);
  const heard = outcome.utterances.map((utterance) => events.utterance(utterance)).join('');
  const more = { ...logprobsOf(fields, outcome), usage: usageOf(outcome, charge), ...warningsOf(warnings) };
  return heard + events.done(text, more);
}

const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** Seconds as they are charged: times the channels, where each of them is. */
const usageOf = ({ seconds }: TranscriptionOutcome, { channels }: Charge) => ({
  type: 'duration' as const,
  seconds: rounded(rounded(seconds) * channels),
});

/** Only to those who asked: also `provider_params` may ask a model for them. */
const logprobsOf = (fields: TranscriptionRequest, { logprobs }: TranscriptionOutcome) =>
  'include' in fields.openaiOptions && logprobs !== undefined ? { logprobs } : {};

function verbose(
  text: string,
  fields: TranscriptionRequest,
  outcome: TranscriptionOutcome,
  warnings: readonly Degradation[],
  requestId: string,
  charge: Charge,
): VerboseTranscription {
  const { member, attempts } = outcome;
  const { costMicroUsd, own: byok } = charge;
  const wanted = fields.timestampGranularities;
  const [own] = member.card.languages;
  return {
    text,
    task: 'transcribe',
    language: outcome.language ?? fields.language ?? (own === '*' ? 'und' : (own ?? 'und')),
    duration: rounded(outcome.seconds),
    model: member.slug,
    segments: wanted.length > 0 && !wanted.includes('segment') ? [] : outcome.utterances.map(segment),
    words:
      wanted.length > 0 && !wanted.includes('word')
        ? []
        : outcome.utterances.flatMap((utterance) => utterance.words ?? []),
    request_id: requestId,
    ...logprobsOf(fields, outcome),
    usage: { ...usageOf(outcome, charge), cost_usd: usdOf(costMicroUsd), byok },
    ...(attempts.length === 0 ? {} : { fallback: attempts }),
    ...warningsOf(warnings),
  };
}

const segment = (
  { text, start, end, speaker, confidence }: TranscriptionOutcome['utterances'][number],
  id: number,
): Segment => ({
  id,
  start,
  end,
  text,
  ...(speaker === undefined ? {} : { speaker }),
  ...(confidence === undefined ? {} : { confidence }),
});
