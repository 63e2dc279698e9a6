// A client of the tiny provider with the clock moved by hand: what it is told, and when, in one line each.
import { SimulatedClock } from 'xstate';
import type { Outgoing } from '../../../../src/vendors/kit/provider.ts';
import type { SimulatedRequest } from '../../../../src/vendors/kit/simulation.ts';
import { numberedEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorStage, type StageUpgrade } from '../../../../src/vendors/simulation/stage.ts';
import type { StageConnection } from '../../../../src/vendors/simulation/stage-connection.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';
import { settle } from '../../../fakes/session-rig.ts';
import { tinyProvider } from './tiny-provider.ts';

const RATE = 8_000;
const FRAME_MS = 100;

export const request: SimulatedRequest = {
  method: 'GET',
  url: new URL(`http://tiny/listen?rate=${RATE}`),
  headers: { authorization: 'Token good' },
  body: new Uint8Array(0),
};

/** A client of the tiny provider that sends numbered audio in real time; the provider makes a turn of each second. */
export class Performance {
  readonly clock = new SimulatedClock();
  readonly stories: string[] = [];
  readonly faults: unknown[] = [];
  readonly stage: SimulatorStage;
  /** One line for what the peer saw: milliseconds, then the message. */
  readonly seen: string[] = [];
  connection!: StageConnection;

  constructor(faults: readonly string[], turnSeconds = 1, simulator = tinyProvider) {
    this.stage = new SimulatorStage({
      simulator,
      ear: numberedEar({ turnSeconds, interimSeconds: 0.5 }),
      clock: this.clock,
      faults,
      onEnd: (line) => this.stories.push(line),
      onFault: (error) => this.faults.push(error),
    });
  }

  upgrade(): StageUpgrade {
    return this.stage.upgrade(request);
  }

  async connect({ raw = true } = {}): Promise<this> {
    const upgrade = this.upgrade();
    if (upgrade.type !== 'accept') throw new Error(`The upgrade ended as ${upgrade.type}.`);
    this.connection = upgrade.connect({
      send: (frame) => this.note(shown(frame)),
      close: (code, reason) => this.note(`close ${code ?? '-'} ${reason ?? ''}`.trim()),
      drop: () => this.note('drop'),
      freeze: () => this.note('freeze'),
      ...(raw ? { raw: (bytes: Uint8Array) => this.note(`raw ${bytes.length}`) } : {}),
    });
    await settle();
    return this;
  }

  /** Says so many seconds of audio. */
  async speak(seconds: number): Promise<void> {
    const frameSamples = (RATE * FRAME_MS) / 1_000;
    for (let frame = 0; frame < (seconds * 1_000) / FRAME_MS; frame++) {
      const at = this.#spoken;
      this.#spoken += frameSamples;
      this.connection.bytes(numberedAudio(at, this.#spoken));
      await settle();
      this.clock.increment(FRAME_MS);
      await settle();
    }
  }
  #spoken = 0;

  async pass(ms: number): Promise<void> {
    this.clock.increment(ms);
    await settle();
  }

  async say(text: string): Promise<void> {
    this.connection.text(text);
    await settle();
  }

  private note(what: string): void {
    this.seen.push(`${this.clock.now()} ${what}`);
  }
}

/** What is said, in short: kind, text and times of what was heard. */
function shown(frame: Outgoing): string {
  if (frame instanceof Uint8Array && frame[0] === 0) return `binary ${frame.length}`;
  if (frame instanceof Uint8Array) return `encoded ${shown(JSON.parse(Buffer.from(frame).toString()))}`;
  if (typeof frame === 'string') return `text ${frame.slice(0, 20)}`;
  const { type, text, start, end, code, words } = frame as Record<string, unknown>;
  const times = start === undefined ? [] : [`${start}-${end ?? ''}`];
  const firstWord = Array.isArray(words) && type === 'final' ? [`word at ${words[0]?.start ?? 'none'}`] : [];
  return [
    type,
    ...(text === undefined ? [] : [`"${text}"`]),
    ...times,
    ...(code === undefined ? [] : [code]),
    ...firstWord,
  ].join(' ');
}

export async function perform(faults: readonly string[], seconds = 2, simulator = tinyProvider): Promise<Performance> {
  const performance = await new Performance(faults, 1, simulator).connect();
  await performance.speak(seconds);
  return performance;
}
