// A live codec without a connection: a story gives it messages and acts of the leg, and says in short lines what it makes of
// them.
import { expect } from 'vitest';
import type { FailureKind, Utterance } from '../../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../../../src/api/audio-formats.ts';
import { messageOf } from '../../../src/live/upstream/wire/socket-wire.ts';
import type { Incoming, LegRequest, LiveCodec, Outgoing, Step } from '../../../src/vendors/kit/provider.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';

/** What a leg does to its codec. */
export class Act {
  readonly name: string;
  readonly play: (leg: StoryLeg) => readonly Step[];

  constructor(name: string, play: (leg: StoryLeg) => readonly Step[]) {
    this.name = name;
    this.play = play;
  }
}

/** A step of which more matters than its line says. */
class Like {
  readonly step: object;

  constructor(step: object) {
    this.step = step;
  }
}

/** So many seconds of silence are sent, in one frame. */
export const audio = (seconds: number): Act => new Act(`audio ${seconds}`, (leg) => leg.audio(seconds));
export const FINALIZE = new Act('finalize', ({ codec, state }) => codec.finalize(state));
export const FINISH = new Act('finish', ({ codec, state }) => codec.finish(state));
export const WAKE = new Act('wake', ({ codec, state }) => codec.wake?.(state) ?? []);
export const KEEP_ALIVE = new Act('keep alive', ({ codec, state }) => codec.keepAlive(state).map(sending));
export const LEAVE = new Act('leave', ({ codec, state }) => (codec.leave?.(state) ?? []).map(sending));
export const closed = (code: number, reason = ''): Act =>
  new Act(`close ${code}`, ({ codec, state }) => [codec.closed(state, code, reason)]);
/** Expects a step with these members, and maybe others. */
export const like = (step: object): Like => new Like(step);

const sending = (frame: Outgoing): Step => ({ type: 'send', frame });

/** What is given, then what is made of it: a text is the line of one step, an `Act` is played, anything else is said by the provider, bytes in a binary message. */
export type StoryRow = readonly unknown[];
export type Story = readonly StoryRow[];

/** A codec with its state, and what it was sent. */
export class StoryLeg {
  readonly codec: LiveCodec;
  readonly opened: ReturnType<LiveCodec['open']>;
  sentSeconds = 0;
  readonly #sampleRate: number;
  readonly #unconfirmedMax: number | undefined;
  readonly #encode: ProviderSimulator['encode'];

  /** @param encode of the provider's simulator, where its messages are not JSON */
  constructor(codec: LiveCodec, request: LegRequest, encode?: ProviderSimulator['encode']) {
    this.codec = codec;
    this.opened = codec.open(request);
    this.#sampleRate = request.sampleRate;
    this.#unconfirmedMax = codec.timing(request).unconfirmedMax;
    this.#encode = encode;
  }

  get state(): unknown {
    return this.opened.state;
  }

  audio(seconds: number): Step[] {
    this.sentSeconds += seconds;
    const frame = new Uint8Array(Math.round(seconds * this.#sampleRate) * BYTES_PER_SAMPLE);
    if (this.codec.audio(this.state, frame) === undefined) this.#expectCounted();
    return [];
  }

  give(given: unknown): readonly Step[] {
    return given instanceof Act ? given.play(this) : this.codec.read(this.state, this.#incoming(given));
  }

  /** What is held back has a bound where it counts as not confirmed, and nowhere else. */
  #expectCounted(): void {
    const held = this.codec.unconfirmed?.(this.state) ?? 0;
    if (held === 0 || this.#unconfirmedMax === undefined)
      expect.fail('a frame was held back that `unconfirmed` does not count, or without `unconfirmedMax`');
  }

  #incoming(given: unknown): Incoming {
    if (given instanceof Uint8Array) return { bytes: given };
    if (this.#encode === undefined || typeof given !== 'object' || given === null) return { json: given };
    const frame = this.#encode(given as Readonly<Record<string, unknown>>);
    return typeof frame === 'string' ? messageOf(frame) : { bytes: frame };
  }
}

/** Each of these, said alone, is a failure of its kind with its own name. */
export const failing = (
  say: (code: never) => object,
  kinds: Partial<Record<FailureKind, readonly (string | number)[]>>,
): Story =>
  Object.entries(kinds).flatMap(([kind, codes]) => codes.map((code) => [say(code as never), `failed ${kind} ${code}`]));

export const isGiven = (element: unknown): boolean => typeof element !== 'string' && !(element instanceof Like);

/** Plays a story to its end, and compares each row. */
export function tell(leg: StoryLeg, story: Story): void {
  for (const [index, row] of story.entries()) {
    const steps = row.filter(isGiven).flatMap((given) => leg.give(given));
    const expected = row.filter((element) => !isGiven(element));
    const lines = steps.map((step, at) =>
      expected[at] instanceof Like ? expected[at] : lineOf(step, tellsWords(expected[at])),
    );
    expect(lines, `row ${index + 1} of the story`).toEqual(expected);
    for (const [at, each] of expected.entries()) if (each instanceof Like) expect(steps[at]).toMatchObject(each.step);
  }
}

/** What was said from where to where, by whom, in which language; `isWhole` with confidences and words: `(Two 1-1.5 @0.9, teas 1.5-2)`. */
export function utteranceLine({ words, ...utterance }: Utterance, isWhole: boolean): string {
  const { text, start, end, speaker, language, confidence } = utterance;
  const sure = (share: number | undefined) => (isWhole && share !== undefined ? ` @${Number(share.toFixed(3))}` : '');
  const by = (who: number | undefined) => (who === undefined ? '' : ` speaker ${who}`);
  const said = (words ?? []).map(
    (each) =>
      `${each.word} ${each.start}-${each.end}${each.speaker === speaker ? '' : by(each.speaker)}${sure(each.confidence)}`,
  );
  const more = `${by(speaker)}${language === undefined ? '' : ` ${language}`}${sure(confidence)}`;
  return `"${text}" ${start}-${end}${more}${isWhole && words !== undefined ? ` (${said.join(', ')})` : ''}`;
}

/** Whether a line that is expected tells words as well. */
export const tellsWords = (line: unknown): boolean => typeof line === 'string' && line.endsWith(')');

/** One short line for each step. */
export function lineOf(step: Step, isWhole = false): string {
  switch (step.type) {
    case 'partial':
    case 'piece':
    case 'turn.ended':
    case 'turn.formatted': {
      const { utterance, turnId } = step;
      const what =
        step.type === 'turn.ended' ? `ended${step.formattedFollows ? '+' : ''}` : step.type.replace('turn.', '');
      const boundary = 'boundary' in step ? ` ${step.boundary}` : '';
      return `${what} ${turnId}${utterance === undefined ? '' : ` ${utteranceLine(utterance, isWhole)}`}${boundary}`;
    }
    case 'send':
      return `send ${frameOf(step.frame)}`;
    case 'wake':
      return `wake ${step.afterMs}`;
    case 'speech.started':
      return `speech ${step.start}`;
    case 'failed':
      return `failed ${step.failure.kind} ${step.failure.code}`;
    case 'warned':
      return `warned ${step.code}`;
    default:
      return step.type;
  }
}

/** The type of a message (some call it `message`), with the members beside that; a text that is no object as it is; or how many bytes. */
function frameOf(frame: Outgoing): string {
  if (frame instanceof Uint8Array) return `${frame.length} bytes`;
  if (typeof frame === 'string' && !frame.startsWith('{')) return JSON.stringify(frame);
  const members = (typeof frame === 'string' ? JSON.parse(frame) : frame) as { type?: string; message?: string };
  const name = members.type === undefined ? 'message' : 'type';
  const { [name]: type = '', ...rest } = members;
  return Object.keys(rest).length === 0 ? type : `${type} ${JSON.stringify(rest)}`;
}
