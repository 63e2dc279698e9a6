// The speech gate of files: text for audio without speech is marked, or dropped. The answer of a model is judged by
// the voices that file-voices.ts finds in the file meanwhile. What it cannot check passes unmarked.
import type { Clock } from '../../machines/clock.ts';
import type { Utterance } from '../../machines/events.ts';
import type { SpeechGateMode } from '../api/listen.ts';
import { boundsOf, NEAR_SECONDS, type Range, speechGateOf } from '../live/upstream/voice-ranges.ts';
import { VOICE_SECONDS_MIN } from '../recogniser/voice/open-voices.ts';
import { FairQueue, Quota } from '../runtime/limits/quota.ts';
import type { ModelCard } from '../vendors/kit/provider.ts';
import { type CredibleResult, hasTimes } from './claims.ts';
import type { FileSource } from './file-source.ts';
import { FileVoices, type FileVoicesOptions, type ScanFailure } from './file-voices.ts';

/** Files that are checked at a time: live sessions need the detector as well. */
const FILES_MAX = 8;
/** Files that are checked or wait for it. */
const OPEN_MAX = 256;
/** What one organisation may have of both. */
const ORGANISATION_SHARE = 3 / 4;

/** An answer waits so long for the rest of the check: the detector needs a hundredth of the length of the audio. */
const WAIT_MS = { min: 3_000, perSecond: 25, max: 60_000 } as const;

/** The end of a text may be this much before the end of its voice. */
const TAIL_SECONDS = 1;
/** Whisper transcribes windows of this length: a text may be placed wrongly within one. */
const MISPLACED_SECONDS_MAX = 30;

/** What became of a text, or why it was not checked. */
export type FileGateOutcome = 'spoken' | 'marked' | 'dropped' | 'late' | ScanFailure;

export interface FileSpeechGatesOptions extends FileVoicesOptions {
  clock: Clock;
  /** Of each text. */
  onOutcome: (outcome: FileGateOutcome) => void;
  /** Hears of the name of an overflow. */
  onOverflow: (name: string) => void;
}

export class FileSpeechGates {
  readonly #options: FileSpeechGatesOptions;
  readonly #queue = new FairQueue<FileVoices>(new Quota(FILES_MAX, ORGANISATION_SHARE));
  readonly #open = new Quota(OPEN_MAX, ORGANISATION_SHARE);

  constructor(options: FileSpeechGatesOptions) {
    this.#options = options;
  }

  /** Files that are checked, or wait for it. */
  get size(): number {
    return this.#open.used;
  }

  /** Begins to look for voices in a file, while a model transcribes it. The caller closes it. */
  open(file: FileSource, organisationId: string): FileVoices {
    const isFull = this.#open.take(organisationId) !== undefined;
    const scan = new FileVoices(file, organisationId, this.#options, this.#queue, () => {
      if (!isFull) this.#open.giveBack(organisationId);
    });
    if (isFull) {
      this.#options.onOverflow('gated_files');
      scan.fail('overflow');
    } else void scan.run();
    return scan;
  }

  /** Marks or drops invented text. Waits until the file was checked, as long as its length allows. */
  async judged<Result extends Answer>(
    result: Result,
    scan: FileVoices,
    { mode, isRequested, sentCount }: GateRequest,
  ): Promise<Result & Gated> {
    const { clock, onOutcome } = this.#options;
    const waitMs = Math.min(WAIT_MS.max, WAIT_MS.min + WAIT_MS.perSecond * result.seconds);
    await scan.enough(clock, waitMs, decided(result, scan));
    const verdicts = verdictsOf(result, scan);
    const treatment = mode === 'mark' ? 'marked' : 'dropped';
    const outcomes = verdicts.map((verdict) => (verdict === 'voiceless' ? treatment : verdict));
    for (const outcome of outcomes) if (outcome !== undefined) onOutcome(outcome);
    const texts = outcomes.filter((outcome) => outcome !== undefined);
    const count = texts.filter((outcome) => outcome === treatment).length;
    const warnings = [...result.warnings, ...warningsOf(texts, count, treatment, isRequested)];
    if (count === 0) return { ...result, warnings };
    const utterances =
      mode === 'drop'
        ? result.utterances.filter((_, at) => verdicts[at] !== 'voiceless')
        : result.utterances.map((each, at): Utterance => {
            return at >= sentCount && verdicts[at] === 'voiceless' ? { ...each, noSpeech: true } : each;
          });
    const judged: Result & Gated = { ...result, utterances, warnings };
    if (count === texts.length) judged.noSpeech = true;
    // Which of them belong to the text that is left is not known.
    if (mode === 'drop') delete judged.logprobs;
    return judged;
  }
}

/** The gate of one file, whichever model transcribes it. */
export class FileGate {
  readonly #gates: FileSpeechGates | undefined;
  readonly #file: FileSource;
  readonly #request: GatedRequest;
  #scan: FileVoices | undefined;

  /** @param gates absent: nothing is checked */
  constructor(gates: FileSpeechGates | undefined, file: FileSource, request: GatedRequest) {
    this.#gates = gates;
    this.#file = file;
    this.#request = request;
  }

  /** Begins to check the file, where text of this model is checked. */
  begin(card: ModelCard): SpeechGateMode {
    const { requested, organisationId } = this.#request;
    const mode = this.#gates === undefined ? 'off' : speechGateOf(requested, card);
    if (mode !== 'off') this.#scan ??= this.#gates?.open(this.#file, organisationId);
    return mode;
  }

  /**
   * Marks or drops invented text. Rejects with the signal's reason when the client has left; an answer whose time is over is returned
   * as it is.
   *
   * @param sentCount utterances that the client has already: they stay as they are
   */
  async judged<Result extends Answer>(answer: Result, sentCount: number): Promise<Result & Gated> {
    const mode = this.begin(answer.member.card);
    const scan = this.#scan;
    if (mode === 'off' || scan === undefined || this.#gates === undefined) return answer;
    const { requested, signal } = this.#request;
    const leave = () => scan.close();
    signal.addEventListener('abort', leave, { once: true });
    const judged = await this.#gates.judged(answer, scan, { mode, isRequested: requested !== undefined, sentCount });
    signal.removeEventListener('abort', leave);
    const isTimedOut = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
    if (signal.aborted && !isTimedOut) throw signal.reason;
    return judged;
  }

  close(): void {
    this.#scan?.close();
  }
}

type Answer = CredibleResult & Parameters<typeof hasTimes>[0];

/** What the gate adds to an answer. */
export interface Gated {
  /** No voice was found for any of its text. */
  noSpeech?: true;
}

/** Whose file it is, and what is done with its text where the request says so. */
interface GatedRequest {
  requested: SpeechGateMode | undefined;
  organisationId: string;
  signal: AbortSignal;
}

interface GateRequest {
  mode: 'mark' | 'drop';
  /** By the client, and not by the model's default. */
  isRequested: boolean;
  /** Utterances that the client has already: they stay as they are. */
  sentCount: number;
}

/** What is known of a text; undefined where there is none. */
type Verdict = Exclude<FileGateOutcome, 'marked' | 'dropped'> | 'voiceless' | undefined;

/** A text without a usable time may be anywhere. */
const ANYWHERE: Range = { from: 0, to: Number.POSITIVE_INFINITY };

/** Whether the rest of the file would change nothing. */
function decided(result: Answer, scan: FileVoices): () => boolean {
  if (!hasTimes(result)) return () => within(ANYWHERE, scan) === 'spoken';
  const end = result.utterances.reduce((latest, each) => Math.max(latest, each.end), 0);
  return () => scan.checkedSeconds >= end + MISPLACED_SECONDS_MAX;
}

function verdictsOf(result: Answer, scan: FileVoices): Verdict[] {
  const isTimed = hasTimes(result);
  const places = result.utterances.map((each): Range | undefined => {
    if (each.text.trim() === '') return undefined;
    const bounds = boundsOf(each);
    return isTimed && bounds.from < bounds.to && bounds.from < scan.seconds ? bounds : ANYWHERE;
  });
  const near = places.map((place) => place && (scan.failure ?? nearby(place, scan)));
  const gaps = gapsOf(places, near);
  return near.map((verdict, at) => {
    const gap = gaps[at];
    return verdict !== 'voiceless' || gap === undefined ? verdict : within(gap, scan);
  });
}

const nearby = ({ from, to }: Range, scan: FileVoices): Verdict =>
  within({ from: from - NEAR_SECONDS, to: to + NEAR_SECONDS }, scan);

function within({ from, to }: Range, { voices, checkedSeconds }: FileVoices): Verdict {
  if (voices.secondsWithin(from, to) >= VOICE_SECONDS_MIN) return 'spoken';
  return checkedSeconds >= to ? 'voiceless' : 'late';
}

/**
 * Where a text without a voice may belong: its place may be wrong, but it is between the spoken texts before and after it. A voice there
 * that belongs to neither of them may be its own.
 */
function gapsOf(places: readonly (Range | undefined)[], verdicts: readonly Verdict[]): (Range | undefined)[] {
  const gaps = places.map((place): Range | undefined =>
    place === undefined || place === ANYWHERE
      ? undefined
      : { from: place.from - MISPLACED_SECONDS_MAX, to: place.to + MISPLACED_SECONDS_MAX },
  );
  const spoken = (at: number): Range | undefined => (verdicts[at] === 'spoken' ? places[at] : undefined);
  let endBefore = Number.NEGATIVE_INFINITY;
  for (const [at, gap] of gaps.entries()) {
    if (gap !== undefined) gap.from = Math.max(gap.from, endBefore + TAIL_SECONDS);
    const place = spoken(at);
    if (place !== undefined && place !== ANYWHERE) endBefore = Math.max(endBefore, place.to);
  }
  let startAfter = Number.POSITIVE_INFINITY;
  for (let at = gaps.length - 1; at >= 0; at--) {
    const gap = gaps[at];
    if (gap !== undefined) gap.to = Math.min(gap.to, startAfter - TAIL_SECONDS);
    const place = spoken(at);
    if (place !== undefined && place !== ANYWHERE) startAfter = Math.min(startAfter, place.from);
  }
  return gaps;
}

type Warning = CredibleResult['warnings'][number];

function warningsOf(
  texts: readonly FileGateOutcome[],
  count: number,
  treatment: 'marked' | 'dropped',
  isRequested: boolean,
): Warning[] {
  const found: Warning[] = [];
  if (count > 0) {
    const how =
      treatment === 'marked'
        ? 'is marked `no_speech`. Send `speech_gate=drop` to leave such text out.'
        : 'was left out. Send `speech_gate=mark` to get it with a mark.';
    const all = texts.length === 1 ? 'The text' : `Text of ${count} of ${texts.length} segments`;
    found.push({ code: 'no_speech', message: `${all} is for audio without a voice, and ${how}` });
  }
  const reason = texts.find(isReason);
  // Without a request for the gate, no warning says that this kind of file cannot be checked.
  if (reason !== undefined && (isRequested || reason === 'no_detector')) {
    const message = `${REASONS[reason]}, so text for audio without speech is not recognised: it passes unmarked.`;
    found.push({ code: 'speech_gate_unavailable', message });
  }
  return found;
}

type Reason = ScanFailure | 'late';

const REASONS: Readonly<Record<Reason, string>> = {
  no_detector: 'The voice detector is not available',
  unreadable: 'The gateway cannot decode this file to look for voices in it',
  overflow: 'The voice detector has too much work',
  late: 'The file could not be checked for voices in time',
};

const isReason = (outcome: FileGateOutcome): outcome is Reason => Object.hasOwn(REASONS, outcome);
