// What a transcription says, in the shape of each format. Speakers, times and texts are those of the model that answered. Headers
// and events are those of routes.
import {
  type DiarizedSegment,
  type DiarizedTranscription,
  type Segment,
  speakerLetter,
  type Transcription,
  type VerboseTranscription,
} from '../api/transcriptions.ts';
import { usdOf } from '../config/prices/price.ts';
import type { Degradation } from '../live/failover/chain.ts';
import { choiceOf } from '../live/failover/choice/choose.ts';
import { baseLanguage, languageName } from '../vendors/kit/languages/whisper-languages.ts';
import { hasTimes } from './claims.ts';
import type { FileResult } from './job.ts';
import { type Cue, cuesOf } from './subtitles.ts';
import type { TranscriptionOutcome } from './transcribe.ts';

/** The text of an answer: the same in every format. */
export const textOf = ({ utterances }: Pick<TranscriptionOutcome, 'utterances'>): string =>
  utterances.map(({ text }) => text).join(' ');

/** `response_format=json`. */
export const transcriptionOf = (result: FileResult): Transcription => ({
  text: textOf(result.outcome),
  ...noSpeechIn(result.outcome),
  ...redactionsIn(result.outcome),
  ...logprobsOf(result),
  usage: usageOf(result),
  ...warningsOf(result.warnings),
});

/** `response_format=verbose_json`. */
export function verboseTranscriptionOf(result: FileResult, requestId: string): VerboseTranscription {
  const { request, outcome, members = [], warnings, charge } = result;
  const choice = choiceOf(members);
  const { member, attempts, utterances } = outcome;
  const wanted = request.timestampGranularities;
  const shows = (granularity: 'word' | 'segment') => wanted.length === 0 || wanted.includes(granularity);
  return {
    text: textOf(outcome),
    task: 'transcribe',
    language: languageName(languageOf(result)),
    duration: rounded(outcome.seconds),
    model: member.slug,
    ...(shows('segment') ? { segments: utterances.map((each, id) => segmentOf(each, id, request)) } : {}),
    ...(shows('word') ? { words: utterances.flatMap(wordsOf) } : {}),
    request_id: requestId,
    ...logprobsOf(result),
    usage: { ...usageOf(result), cost_usd: usdOf(charge.costMicroUsd), byok: charge.own },
    ...noSpeechIn(outcome),
    ...(choice === undefined ? {} : { choice }),
    ...redactionsIn(outcome),
    ...(attempts.length === 0 ? {} : { fallback: attempts }),
    ...warningsOf(warnings),
  };
}

/** `response_format=diarized_json`. */
export const diarizedTranscriptionOf = (result: FileResult): DiarizedTranscription => ({
  text: textOf(result.outcome),
  task: 'transcribe',
  duration: rounded(result.outcome.seconds),
  segments: result.outcome.utterances.map(diarizedSegmentOf),
  ...noSpeechIn(result.outcome),
  ...redactionsIn(result.outcome),
  usage: usageOf(result),
  ...warningsOf(result.warnings),
});

/** @param index in the transcription */
export const diarizedSegmentOf = (
  { text, start, end, speaker, noSpeech }: TranscriptionOutcome['utterances'][number],
  index: number,
): DiarizedSegment => ({
  ...{ type: 'transcript.text.segment', id: segmentIdOf(index), start, end, text },
  ...noSpeechIn({ noSpeech }),
  speaker: speaker === undefined ? 'unknown' : speakerLetter(speaker),
});

export const segmentIdOf = (index: number): string => `seg_${index}`;

/** `response_format=srt` and `vtt`. */
export const subtitlesOf = ({ outcome }: FileResult): Cue[] =>
  cuesOf(outcome.utterances, outcome.seconds, hasTimes(outcome)).cues;

/** Seconds as they are charged: times the channels, where each of them is. */
export const usageOf = ({ outcome, charge }: FileResult): Transcription['usage'] => ({
  type: 'duration',
  seconds: rounded(rounded(outcome.seconds) * charge.channels),
});

/** Only to those who asked: also `provider_params` may ask a model for them. */
export const logprobsOf = ({ request, outcome: { logprobs } }: FileResult): Pick<Transcription, 'logprobs'> =>
  'include[]' in request.common && logprobs !== undefined ? { logprobs } : {};

/** The mark of the speech gate, as a member of what has it. */
export const noSpeechIn = ({ noSpeech }: { noSpeech?: true | undefined }): { no_speech?: true } =>
  noSpeech === undefined ? {} : { no_speech: noSpeech };

/** What the gateway has redacted, as a member of what has it. */
export const redactionsIn = ({
  redactions,
}: Pick<TranscriptionOutcome, 'redactions'>): Pick<Transcription, 'redactions'> =>
  redactions === undefined ? {} : { redactions };

/** The warnings as a member of an answer that has any. */
export function warningsOf(warnings: readonly Degradation[]): { warnings?: Degradation[] } {
  if (warnings.length === 0) return {};
  return {
    warnings: warnings.map(({ code, message, param }) => ({
      code,
      message,
      ...(param === undefined ? {} : { param }),
    })),
  };
}

const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** As a code: what was heard, else what was requested, else the one that the model hears. */
function languageOf({ outcome: { language, member } }: FileResult): string {
  const [own, ...others] = new Set(member.card.languages.map(baseLanguage));
  const asked = member.language === 'auto' ? undefined : member.language;
  return language ?? asked ?? (own === undefined || own === '*' || others.length > 0 ? 'und' : own);
}

const wordsOf = ({ words = [], noSpeech }: TranscriptionOutcome['utterances'][number]) =>
  noSpeech ? words.map((word) => ({ ...word, no_speech: noSpeech })) : words;

/** Libraries for OpenAI's interface insist on all of its members; those that no other provider has stay neutral. */
const segmentOf = (
  { text, start, end, speaker, confidence, noSpeech }: TranscriptionOutcome['utterances'][number],
  id: number,
  { common: { temperature = 0 } }: FileResult['request'],
): Segment => ({
  id,
  seek: 0,
  start,
  end,
  text,
  tokens: [],
  temperature,
  avg_logprob: confidence === undefined || confidence <= 0 ? 0 : Math.log(confidence),
  compression_ratio: 1,
  no_speech_prob: noSpeech ? 1 : 0,
  ...noSpeechIn({ noSpeech }),
  ...(speaker === undefined ? {} : { speaker }),
  ...(confidence === undefined ? {} : { confidence }),
});
