// What a transcription is answered with, in each format. Speakers, times and texts are those of the model that answered.
import type { Segment, TranscriptionRequest, VerboseTranscription } from '../../api/transcriptions.ts';
import { usdOf } from '../../billing/price.ts';
import type { Degradation } from '../../session/chain.ts';
import type { TranscriptionOutcome } from '../../session/transcription.ts';
import type { Reply } from '../door.ts';
import { json } from '../router.ts';

/** What was charged. `own`: with the organisation's own provider key. */
export interface Charge {
  costMicroUsd: bigint;
  own: boolean;
}

/** The answer of a transcription. */
export function answerOf(
  fields: TranscriptionRequest,
  outcome: TranscriptionOutcome,
  warnings: readonly Degradation[],
  requestId: string,
  charge: Charge,
): Reply {
  const text = outcome.utterances.map((utterance) => utterance.text).join(' ');
  const headers: Record<string, string> =
    warnings.length === 0 ? {} : { 'Voxgate-Warning': warnings.map(({ code }) => code).join(', ') };
  if (fields.responseFormat === 'text') {
    return { status: 200, headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
  }
  if (fields.responseFormat === 'json') return json(200, { text }, headers);
  return json(200, verbose(text, fields, outcome, warnings, requestId, charge), headers);
}

function verbose(
  text: string,
  fields: TranscriptionRequest,
  outcome: TranscriptionOutcome,
  warnings: readonly Degradation[],
  requestId: string,
  { costMicroUsd, own: byok }: Charge,
): VerboseTranscription {
  const { member, attempts } = outcome;
  const seconds = Math.round(outcome.seconds * 1000) / 1000;
  const wanted = fields.timestampGranularities;
  const [own] = member.card.languages;
  return {
    text,
    task: 'transcribe',
    language: outcome.language ?? fields.language ?? (own === '*' ? 'und' : (own ?? 'und')),
    duration: seconds,
    model: member.slug,
    segments: wanted.length > 0 && !wanted.includes('segment') ? [] : outcome.utterances.map(segment),
    words:
      wanted.length > 0 && !wanted.includes('word')
        ? []
        : outcome.utterances.flatMap((utterance) => utterance.words ?? []),
    request_id: requestId,
    usage: { seconds, cost_usd: usdOf(costMicroUsd), byok },
    ...(attempts.length === 0 ? {} : { fallback: attempts }),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
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
