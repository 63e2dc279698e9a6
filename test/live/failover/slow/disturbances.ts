// What a provider may do to its finals, as changes of any simulator's messages: a final comes again, under another name of its turn,
// later, or without words before the real one. What is a name, a time or a text is told by the members that providers use for it.
import type { ProviderSimulator } from '../../../../src/vendors/kit/simulation.ts';
import { alteredAnew, type Message, simulatorOf } from '../altered.ts';

const NAMES = /^(?:turn_order|turn_index|ResultId|item_id|id|utterance_id|segment_id|turn)$/;
const TIMES = /^(?:start|end|duration|start_time|end_time|start_ms|end_ms|ts|end_ts|StartTime|EndTime|Offset)$/;
const TEXTS =
  /^(?:transcript|text|Text|DisplayText|Display|Transcript|utterance|partial|content|Content|value|word|punctuated_word)$/;
const LISTS = /^(?:words|tokens|elements|Items|NBest|results|result|DisplayWords|Words|wordInfo)$/;

type Change = (name: string, value: unknown) => unknown;

/** Marks a member that is left out. */
const GONE = Symbol('gone');

function changed(value: unknown, change: Change, name = ''): unknown {
  const made = change(name, value);
  if (made !== value) return made;
  if (Array.isArray(value)) return value.map((each) => changed(each, change));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const members = Object.entries(value).map(([key, member]) => [key, changed(member, change, key)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== GONE));
}

const withChange = (message: Message, change: Change): Message => changed(message, change) as Message;

/** The same under a name that no turn has; a number is higher by so much. */
const renamed = (message: Message, by: number): Message =>
  withChange(message, (name, value) => {
    if (!NAMES.test(name)) return value;
    if (typeof value === 'number') return value + by;
    return typeof value === 'string' ? `${value}-${by}` : value;
  });

/** Its times a little different. */
const jittered = (message: Message): Message =>
  withChange(message, (name, value) => {
    if (!TIMES.test(name) || typeof value !== 'number' || value <= 0) return value;
    return name === 'Offset' ? value + 30_000 : /_ms$/.test(name) || value > 200 ? value + 3 : value + 0.003;
  });

/** Its text is this, or is left out; and its words, where they are to be. */
const worded = (message: Message, text: unknown, keepsWords = false): Message =>
  withChange(message, (name, value) => {
    if (LISTS.test(name) && Array.isArray(value) && name !== 'results')
      return keepsWords ? value.slice() : text === '' ? [] : text;
    return TEXTS.test(name) && typeof value === 'string' ? text : value;
  });

/** What is said in place of each final: told of those before it. */
type Disturbance = (final: Message, earlier: readonly Message[]) => readonly Message[];

export const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  'the same again': (final) => [final, final],
  'the same again, under the next name': (final) => [final, renamed(final, 1)],
  'the same again, under another name': (final) => [final, renamed(final, 1_000)],
  'the same again, some milliseconds later, under another name': (final) => [final, renamed(jittered(final), 1_000)],
  'the one before again, behind it': (final, earlier) => [final, ...earlier.slice(-1)],
  'the one before again, behind it, under another name': (final, earlier) => [
    final,
    ...earlier.slice(-1).map((each) => renamed(each, 1_000)),
  ],
  'all before again, behind it, under other names': (final, earlier) => [
    final,
    ...earlier.map((each, index) => renamed(each, 1_000 * (index + 1))),
  ],
  'the one before again, in front of it, under another name': (final, earlier) => [
    ...earlier.slice(-1).map((each) => renamed(each, 1_000)),
    final,
  ],
  'null for its text, then the real one': (final) => [worded(final, null), final],
  'null for its text next to its words, then the real one': (final) => [worded(final, null, true), final],
  'no text, then the real one': (final) => [worded(final, GONE), final],
  'an empty text, then the real one': (final) => [worded(final, ''), final],
  'the real one, then null for its text': (final) => [final, worded(final, null)],
  'the real one, then an empty text': (final) => [final, worded(final, '')],
};

/** The provider's simulator with finals that are disturbed so. */
export function disturbed(provider: string, disturb: Disturbance): ProviderSimulator {
  const { isFinal } = simulatorOf(provider);
  return alteredAnew(provider, () => {
    const earlier: Message[] = [];
    return (message) => {
      if (!isFinal(message)) return [message];
      const said = disturb(message, earlier.slice());
      earlier.push(message);
      return said;
    };
  });
}

const PLACES =
  /^(?:start|end|start_time|end_time|stop_time|start_ms|end_ms|ts|end_ts|StartTime|EndTime|Offset|timestamp|last_word_end|audio_window_start|audio_window_end|audio_start_ms|audio_end_ms|time_s|time|final_audio_proc_ms|total_audio_proc_ms|resultEndOffset|startOffset|endOffset|result_end_time)$/;
/** Units per second, where a provider does not count in seconds. */
const UNITS: Readonly<Record<string, number>> = { assemblyai: 1_000, azure: 10_000_000 };

/** The message with its times shifted by some seconds, and its latest original time in seconds. */
export function shifted(provider: string, message: Message, seconds: number): { message: Message; latest: number } {
  let latest = 0;
  const made = withChange(message, (name, value) => {
    if (!PLACES.test(name)) return value;
    const unit = /_ms$/.test(name) ? 1_000 : (UNITS[provider] ?? 1);
    const told = typeof value === 'string' ? Number(/^([\d.]+)s$/.exec(value)?.[1] ?? Number.NaN) : value;
    if (typeof told !== 'number' || Number.isNaN(told)) return value;
    latest = Math.max(latest, told / unit);
    const moved = Math.max(0, told + seconds * unit);
    return typeof value === 'string' ? `${moved}s` : moved;
  });
  return { message: made, latest };
}
