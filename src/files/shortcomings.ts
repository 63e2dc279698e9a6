// What of a request the answer cannot show: known before the model is asked where the catalogue says so, and else by its answer.
// What a model does not take at all is found in chain.ts.
import { type ApiError, apiError } from '../api/errors.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import type { Degradation, ResolvedCandidate } from '../live/failover/chain.ts';
import { hasTimes } from './claims.ts';
import { cuesOf } from './subtitles.ts';
import type { TranscriptionOutcome } from './transcribe.ts';

type Shape = Pick<
  TranscriptionRequest,
  'responseFormat' | 'timestampGranularities' | 'stream' | 'common' | 'strict' | 'redacted'
>;

const GRANULARITIES = 'timestamp_granularities[]';

/**
 * What the shape of the answer leaves out. A stream has one shape: OpenAI ignores the format there, or the stream; here it is
 * the format, since who asks for a stream reads one.
 */
export function leftOut({ responseFormat, timestampGranularities, stream, common }: Shape): Degradation[] {
  const shape = stream ? 'A stream' : `\`response_format=${responseFormat}\``;
  const found: Degradation[] = [];
  const ignored = (param: string, message: string) => found.push({ code: 'parameter_ignored', message, param });
  if (stream && responseFormat !== 'json' && responseFormat !== 'diarized_json') {
    ignored('response_format', `A stream is events with text, and never ${responseFormat}.`);
  }
  if (timestampGranularities.length > 0 && (stream || responseFormat !== 'verbose_json')) {
    ignored(GRANULARITIES, `${shape} does not show them; \`response_format=verbose_json\` does.`);
  }
  if ('include[]' in common && !stream && !(responseFormat === 'json' || responseFormat === 'verbose_json')) {
    ignored('include[]', `${shape} has no room for it; \`response_format=json\` has.`);
  }
  return found;
}

/** Times that a model is known not to give. */
export function timesMissing(fields: Shape, { slug, card }: ResolvedCandidate): Degradation[] {
  const { word_timestamps: words, segment_timestamps: segments = true } = card.capabilities;
  return [
    ...(asksFor(fields, 'word') && !words ? [wordsUnavailable(slug)] : []),
    ...(!segments && (isSubtitle(fields) || asksFor(fields, 'segment')) ? [timesEstimated(slug, fields)] : []),
  ];
}

/** What was requested and is not in what the model said. */
export function shortcomings(fields: Shape, outcome: TranscriptionOutcome): Degradation[] {
  const { slug } = outcome.member;
  const said = outcome.utterances.filter(({ text }) => text !== '');
  const found: Degradation[] = [];
  if (asksFor(fields, 'word') && said.some(({ words = [] }) => words.length === 0)) found.push(wordsUnavailable(slug));
  const isTimed = hasTimes(outcome);
  const { responseFormat, timestampGranularities: wanted, stream } = fields;
  const showsSegments =
    !stream &&
    (responseFormat === 'diarized_json' ||
      (responseFormat === 'verbose_json' && (wanted.length === 0 || wanted.includes('segment'))));
  if (
    (showsSegments && !isTimed) ||
    (isSubtitle(fields) && cuesOf(outcome.utterances, outcome.seconds, isTimed).isEstimated)
  ) {
    found.push(timesEstimated(slug, fields));
  }
  if ('include[]' in fields.common && takesInclude(outcome) && outcome.logprobs === undefined && said.length > 0) {
    const message = fields.redacted === undefined ? `${slug} gave no log probabilities.` : REPEATED;
    found.push({ code: 'logprobs_unavailable', message, param: 'include[]' });
  }
  return found;
}

/** With `strict` a degradation is refused. */
export const strictly = ({ message, param }: Degradation): ApiError =>
  apiError('unsupported_parameter', `${message} Leave it out, choose another model, or drop \`strict\`.`, {
    ...(param === undefined ? {} : { param }),
  });

/** The shortcoming that `strict` refuses: one of something that was requested by name. */
export const refusedStrictly = (fields: Shape, found: readonly Degradation[]): Degradation | undefined =>
  found.find(({ code }) => code !== 'times_estimated' || isSubtitle(fields) || asksFor(fields, 'segment'));

const isSubtitle = ({ responseFormat, stream }: Shape): boolean =>
  !stream && (responseFormat === 'srt' || responseFormat === 'vtt');

const asksFor = ({ responseFormat, timestampGranularities, stream }: Shape, granularity: 'word' | 'segment'): boolean =>
  !stream && responseFormat === 'verbose_json' && timestampGranularities.includes(granularity);

const takesInclude = ({ member }: TranscriptionOutcome): boolean => 'include' in member.params;

const REPEATED = 'Log probabilities are left out of a redacted transcript: their tokens repeat what was said.';

const wordsUnavailable = (slug: string): Degradation => ({
  code: 'words_unavailable',
  message: `${slug} does not give the times of words.`,
  param: GRANULARITIES,
});

const timesEstimated = (slug: string, fields: Shape): Degradation => ({
  code: 'times_estimated',
  message: `${slug} does not say when everything was said: times are shared out over the audio by the length of the text.`,
  param: isSubtitle(fields) ? 'response_format' : GRANULARITIES,
});
