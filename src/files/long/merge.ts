// One transcript out of those of a file's parts. Pure.
import type { Utterance } from '../../../machines/events.ts';
import type { Attempt } from '../../api/errors.ts';
import type { ResolvedCandidate } from '../../live/failover/chain.ts';
import type { BatchResult } from '../../vendors/kit/provider.ts';
import { type CredibleResult, hasTimes } from '../claims.ts';
import type { PassedOver } from '../passed-over.ts';
import type { Gated } from '../speech-gate.ts';
import { joinedAt, withTimes } from './seam.ts';

/** The answer to a file, or to a part of one. */
export interface Transcript extends CredibleResult, Gated {
  /** The model that answered. */
  member: ResolvedCandidate;
  /** What failed before it. */
  attempts: Attempt[];
  /** How often the gateway has redacted each class, where it has. */
  redactions?: Readonly<Record<string, number>>;
  /** Of a file that was cut: how much of it each model has transcribed. */
  shares?: readonly Share[];
  /** Models that were sent it and are not charged. */
  passedOver?: readonly PassedOver[];
}

export interface Share {
  member: ResolvedCandidate;
  seconds: number;
}

/** A part of a file, in seconds of the file. */
export interface DonePart {
  start: number;
  end: number;
  /** The end of it that the next part has as well. */
  overlap: number;
  transcript: Transcript;
}

/** What the parts say of themselves, and not of the file. */
const OF_PARTS: readonly string[] = ['duration_unknown', 'duration_bounded', 'empty_result'];

/**
 * @param parts all of the file, in their order, and not empty
 * @param seconds length of the file
 */
export function merged(parts: readonly DonePart[], seconds: number): Transcript {
  const shares = sharesOf(parts, seconds);
  const main = shares.reduce((most, share) => (share.seconds > most.seconds ? share : most));
  const isDiarized = parts.length > 1 && parts.some(({ transcript }) => transcript.utterances.some(hasSpeaker));
  const { member } = main;
  const result: Transcript = {
    utterances: utterancesOf(parts, isDiarized),
    language: languageOf(parts),
    seconds,
    warnings: [...warningsOf(parts), ...(isDiarized ? [speakersWarning(parts.length)] : [])],
    member,
    attempts: attemptsOf(parts),
    shares,
  };
  if (parts.some(({ transcript }) => transcript.utterances.length > 0 && !hasTimes(transcript)))
    result.isUntimed = true;
  const passedOver = parts.flatMap(({ start, end, transcript }) =>
    (transcript.passedOver ?? []).map((each) => ({ seconds: end - start, ...each })),
  );
  if (passedOver.length > 0) result.passedOver = passedOver;
  const logprobs = logprobsOf(parts);
  if (logprobs !== undefined) result.logprobs = logprobs;
  const said = parts.filter(({ transcript }) => transcript.utterances.some(({ text }) => text.trim() !== ''));
  if (said.length > 0 && said.every(({ transcript }) => transcript.noSpeech)) result.noSpeech = true;
  return result;
}

function utterancesOf(parts: readonly DonePart[], isDiarized: boolean): Utterance[] {
  let utterances: Utterance[] = [];
  let speakers = 0;
  for (const [index, part] of parts.entries()) {
    const { start, end, transcript } = part;
    let own = transcript.utterances.map((each) =>
      withTimes(each, (seconds) => Math.min(Math.max(seconds + start, start, 0), end)),
    );
    if (isDiarized) own = own.map((each) => withSpeakersFrom(each, speakers));
    speakers = own.reduce(
      (count, each) => Math.max(count, ...speakersOf(each).map((speaker) => speaker + 1)),
      speakers,
    );
    const before = parts[index - 1];
    if (before !== undefined && before.overlap > 0) {
      [utterances, own] = joinedAt({ from: start, to: before.end }, utterances, own);
    }
    utterances = [...utterances, ...own];
  }
  return utterances;
}

const speakersOf = ({ speaker, words = [] }: Utterance): number[] =>
  [speaker, ...words.map((word) => word.speaker)].filter((each) => each !== undefined);

const hasSpeaker = (utterance: Utterance): boolean => speakersOf(utterance).length > 0;

function withSpeakersFrom(utterance: Utterance, first: number): Utterance {
  const numbered: Utterance = { ...utterance };
  if (utterance.speaker !== undefined) numbered.speaker = utterance.speaker + first;
  if (utterance.words !== undefined) {
    numbered.words = utterance.words.map((word) =>
      word.speaker === undefined ? word : { ...word, speaker: word.speaker + first },
    );
  }
  return numbered;
}

/** Of each model, whole milliseconds: together they are the file's. Shared audio counts for the part that ends with it. */
function sharesOf(parts: readonly DonePart[], seconds: number): Share[] {
  const heardSeconds = (parts.at(-1) as DonePart).end;
  const wholeMs = Math.round(1_000 * seconds);
  const placed = (end: number) => (heardSeconds === 0 ? 0 : Math.round((wholeMs * end) / heardSeconds));
  const byMember = new Map<ResolvedCandidate, number>();
  let doneMs = 0;
  for (const { end, transcript } of parts) {
    const untilMs = placed(end);
    for (const { member, part } of sharesIn(transcript)) {
      byMember.set(member, (byMember.get(member) ?? 0) + Math.round((untilMs - doneMs) * part));
    }
    doneMs = untilMs;
  }
  const shares = [...byMember].map(([member, ms]) => ({ member, ms }));
  const rest = placed(heardSeconds) - shares.reduce((sum, { ms }) => sum + ms, 0);
  const largest = shares.reduce((most, share) => (share.ms > most.ms ? share : most));
  largest.ms += rest;
  return shares.map(({ member, ms }) => ({ member, seconds: ms / 1_000 }));
}

/** A part may have been cut again, for a model that takes even less. */
function sharesIn({ member, shares = [], seconds }: Transcript): { member: ResolvedCandidate; part: number }[] {
  if (shares.length === 0 || seconds === 0) return [{ member, part: 1 }];
  return shares.map((share) => ({ member: share.member, part: share.seconds / seconds }));
}

/** That of most of the audio. */
function languageOf(parts: readonly DonePart[]): string | undefined {
  const byLanguage = new Map<string, number>();
  for (const { start, end, transcript } of parts) {
    const { language } = transcript;
    if (language !== undefined) byLanguage.set(language, (byLanguage.get(language) ?? 0) + end - start);
  }
  const [first] = [...byLanguage].sort(([, one], [, other]) => other - one);
  return first?.[0];
}

/** Each once, however many parts have it. */
function warningsOf(parts: readonly DonePart[]): BatchResult['warnings'] {
  const found = new Map<string, BatchResult['warnings'][number]>();
  const isEmpty = parts.every(({ transcript }) => transcript.utterances.every(({ text }) => text.trim() === ''));
  for (const { transcript } of parts) {
    for (const warning of transcript.warnings) {
      const key = `${warning.code} ${warning.param ?? ''}`;
      if (OF_PARTS.includes(warning.code) && !(isEmpty && warning.code === 'empty_result')) continue;
      if (!found.has(key)) found.set(key, warning);
    }
  }
  return [...found.values()];
}

/** Each model with each reason once. */
function attemptsOf(parts: readonly DonePart[]): Attempt[] {
  const found = new Map<string, Attempt>();
  for (const { transcript } of parts)
    for (const attempt of transcript.attempts) found.set(`${attempt.model} ${attempt.reason}`, attempt);
  return [...found.values()];
}

/** Where every part has them, and no token is in two parts. */
function logprobsOf(parts: readonly DonePart[]): BatchResult['logprobs'] {
  const all = parts.map(({ overlap, transcript }) => {
    const isSilent = transcript.utterances.every(({ text }) => text.trim() === '');
    return overlap > 0 ? undefined : (transcript.logprobs ?? (isSilent ? [] : undefined));
  });
  const known = all.filter((each) => each !== undefined);
  return known.length === all.length && known.some((each) => each.length > 0) ? known.flat() : undefined;
}

const speakersWarning = (parts: number): BatchResult['warnings'][number] => ({
  code: 'speakers_per_part',
  message: `The file was transcribed in ${parts} parts, and each part numbers its speakers separately: one person has another number in each. Name a model in \`fallbacks\` that takes the whole file.`,
  param: 'diarization',
});
