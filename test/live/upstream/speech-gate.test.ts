// The speech gate by itself: whatever the voice detector does, and whenever, reports keep their order and each turn its one end.
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Heard } from '../../../machines/events.ts';
import { type GateOutcome, SpeechGate } from '../../../src/live/upstream/speech-gate.ts';
import type { Engine, EngineListener } from '../../../src/vendors/kit/provider.ts';
import { TurnText } from '../../../src/vendors/kit/turn-text.ts';
import { type Random, seeded } from '../../fakes/random.ts';

const RATE = 16_000;
const FRAME = new Uint8Array(new Int16Array(RATE / 10).fill(1_000).buffer);
const SILENT_FRAME = new Uint8Array(FRAME.length);

/** A detector that knows where voices are, and reports when it is told to. */
class FakeEar implements Engine {
  listener: EngineListener | undefined;
  seconds = 0;
  isPrompt = true;
  isTerminated = false;
  sentAfterEnd = 0;
  private reported = 0;
  private readonly voices: readonly [number, number][];

  constructor(voices: readonly [number, number][] = []) {
    this.voices = voices;
  }

  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener) {
    expect(query).toEqual({ task: { kind: 'voice' } });
    this.listener = listener;
    const ear = this;
    return {
      send(frame: unknown) {
        if (ear.listener === undefined) ear.sentAfterEnd++;
        if (frame instanceof Uint8Array) ear.seconds += frame.length / 2 / RATE;
        if (ear.isPrompt) ear.report();
      },
      bufferedBytes: 0,
      close() {},
      terminate() {
        ear.isTerminated = true;
        ear.listener = undefined;
      },
    };
  }

  report(): void {
    const from = this.reported;
    this.reported = this.seconds;
    const ranges = this.voices
      .map(([start, end]): [number, number] => [Math.max(from, start), Math.min(this.seconds, end)])
      .filter(([start, end]) => end > start);
    this.listener?.message({ type: 'voice', until: this.seconds, ranges });
  }

  die(code = 1011): void {
    const { listener } = this;
    this.listener = undefined;
    listener?.closed(code, '');
  }
}

function gateWith(ear: FakeEar | undefined, mode: 'mark' | 'drop' = 'mark') {
  const clock = new SimulatedClock();
  const passed: Heard[] = [];
  const outcomes: GateOutcome[] = [];
  const gate = new SpeechGate({
    mode,
    sampleRate: RATE,
    engine: ear,
    organisationId: 'org_1',
    clock,
    pass: (heard) => passed.push(heard),
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  const send = (seconds: number, frame = FRAME) => {
    for (let sent = 0; sent < Math.round(seconds * 10); sent++) gate.audio(frame);
  };
  return { clock, passed, outcomes, gate, send };
}

const ended = (turnId: string, text: string, start: number, end: number): Heard => ({
  type: 'turn.ended',
  turnId,
  utterance: { text, start, end },
  formattedFollows: false,
});
const partial = (turnId: string, text: string, start: number, end: number): Heard => ({
  type: 'partial',
  turnId,
  utterance: { text, start, end },
});
const endsOf = (passed: readonly Heard[]) =>
  passed.flatMap((heard) => (heard.type === 'turn.ended' ? [[heard.utterance?.text, heard.noSpeech]] : []));

describe('a speech gate', () => {
  test('marks text for audio without a voice, and no other', () => {
    const { gate, send, passed, outcomes } = gateWith(new FakeEar([[5, 6]]));
    send(3);
    gate.heard(ended('1', 'Thank you.', 1, 2), 0);
    send(5);
    gate.heard(ended('2', 'Yes.', 5, 6), 0);
    expect(endsOf(passed)).toEqual([
      ['Thank you.', true],
      ['Yes.', undefined],
    ]);
    expect(outcomes).toEqual(['marked', 'spoken']);
  });

  test('drops the text, the words and the interims, and still ends the turn once', () => {
    const { gate, send, passed } = gateWith(new FakeEar(), 'drop');
    send(3);
    gate.heard(partial('1', 'Thank', 1, 1.5), 0);
    gate.heard({ ...ended('1', 'Thank you.', 1, 2), formattedFollows: true } as Heard, 0);
    gate.heard({ type: 'turn.formatted', turnId: '1', utterance: { text: 'Thank you!', start: 1, end: 2 } }, 0);
    const turns = new TurnText();
    const steps = passed.flatMap((heard) => ('turnId' in heard ? [turns.hear(heard)] : []));
    expect(steps.map(({ type }) => type)).toEqual(['interim', 'ended']);
    expect(steps.map((step) => ('utterance' in step ? step.utterance.text : undefined))).toEqual(['', '']);
    expect(passed.at(-1)).toMatchObject({ noSpeech: true, formattedFollows: false });
  });

  test('drops the settled pieces of a turn whose end has no text', () => {
    const { gate, send, passed } = gateWith(new FakeEar(), 'drop');
    send(3);
    gate.heard({ type: 'piece', turnId: '1', utterance: { text: 'Subtitles by', start: 1, end: 2 } }, 0);
    gate.heard({ type: 'turn.ended', turnId: '1', formattedFollows: false }, 0);
    expect(JSON.stringify(passed)).not.toContain('Subtitles');
    expect(endsOf(passed)).toEqual([['', true]]);
  });

  test('marks the formatted version as it marked the turn', () => {
    const { gate, send, passed } = gateWith(new FakeEar());
    send(3);
    gate.heard({ ...ended('1', 'thank you', 1, 2), formattedFollows: true } as Heard, 0);
    gate.heard({ type: 'turn.formatted', turnId: '1', utterance: { text: 'Thank you!', start: 1, end: 2 } }, 0);
    expect(passed.at(-1)).toMatchObject({ utterance: { text: 'Thank you!', noSpeech: true } });
  });

  test('needs no detector for digital silence', () => {
    const ear = new FakeEar();
    const { gate, send, passed } = gateWith(ear);
    send(3, SILENT_FRAME);
    gate.heard(ended('1', 'Thank you.', 1, 2), 0);
    expect(ear.listener).toBeUndefined();
    expect(endsOf(passed)).toEqual([['Thank you.', true]]);
  });

  test('places the detector’s audio where the sound begins', () => {
    const { gate, send, passed } = gateWith(new FakeEar([[1, 2]]));
    send(5, SILENT_FRAME);
    send(5);
    gate.heard(ended('1', 'Yes.', 6, 7), 0);
    gate.heard(ended('2', 'Thank you.', 8, 9), 0);
    expect(endsOf(passed)).toEqual([
      ['Yes.', undefined],
      ['Thank you.', true],
    ]);
  });

  test('judges a turn without times by all audio since the last one', () => {
    const { gate, send, passed } = gateWith(new FakeEar([[1, 2]]));
    send(3);
    gate.heard(ended('1', 'Yes.', 0, 0), 0);
    send(3);
    gate.heard(ended('2', 'Thank you.', Number.NaN, Number.NaN), 0);
    gate.finish();
    expect(endsOf(passed)).toEqual([
      ['Yes.', undefined],
      ['Thank you.', true],
    ]);
  });

  test('passes text unmarked when the detector is late, after half a second', () => {
    const ear = new FakeEar();
    ear.isPrompt = false;
    const { gate, send, passed, outcomes, clock } = gateWith(ear);
    send(3);
    gate.heard(ended('1', 'Yes.', 1, 2), 0);
    clock.increment(499);
    expect(passed).toEqual([]);
    clock.increment(1);
    expect(endsOf(passed)).toEqual([['Yes.', undefined]]);
    expect(outcomes).toEqual(['late']);
  });

  test('passes a short turn at the very end of the audio unmarked: a voice may not be known yet', () => {
    const { gate, send, passed } = gateWith(new FakeEar());
    send(2);
    gate.finish();
    gate.heard(ended('1', 'Yes.', 1.7, 2), 0);
    expect(endsOf(passed)).toEqual([['Yes.', undefined]]);
  });

  test.each([
    ['is not there', () => undefined],
    ['dies', (ear: FakeEar) => ear.die()],
    ['has no room', (ear: FakeEar) => ear.die(1013)],
  ])('passes everything unmarked and warns once when the detector %s', (_name, fail) => {
    const ear = new FakeEar();
    ear.isPrompt = false;
    const { gate, send, passed } = gateWith(_name === 'is not there' ? undefined : ear);
    send(3);
    gate.heard(ended('1', 'Yes.', 1, 2), 0);
    fail(ear);
    send(3);
    gate.heard(ended('2', 'No.', 4, 5), 0);
    expect(endsOf(passed)).toEqual([
      ['Yes.', undefined],
      ['No.', undefined],
    ]);
    const warnings = passed.filter(({ type }) => type === 'warned');
    expect(warnings).toMatchObject([{ code: 'speech_gate_unavailable', once: true }]);
    expect(ear.sentAfterEnd).toBe(0);
  });

  test('runs the end of the leg after what it holds', () => {
    const ear = new FakeEar();
    ear.isPrompt = false;
    const { gate, send, passed, clock } = gateWith(ear);
    send(3);
    gate.heard(ended('1', 'Yes.', 1, 2), 0);
    let passedBefore = -1;
    gate.after(() => {
      passedBefore = passed.length;
    });
    expect(passedBefore).toBe(-1);
    clock.increment(500);
    expect(passedBefore).toBe(1);
  });

  test('says nothing after it was closed, and leaves no stream and no timer', () => {
    const ear = new FakeEar();
    ear.isPrompt = false;
    const { gate, send, passed, clock } = gateWith(ear);
    send(3);
    gate.heard(ended('1', 'Yes.', 1, 2), 0);
    gate.close();
    clock.increment(10_000);
    send(1);
    gate.heard(ended('2', 'No.', 4, 5), 0);
    expect([passed, ear.isTerminated]).toEqual([[], true]);
  });

  test('holds at most 512 reports; more pass unmarked', () => {
    const ear = new FakeEar();
    ear.isPrompt = false;
    const { gate, send, passed, outcomes } = gateWith(ear);
    send(3);
    for (let turn = 0; turn < 600; turn++) gate.heard(ended(String(turn), 'Yes.', 1, 2), 0);
    expect(passed.length).toBe(88);
    expect(outcomes.every((outcome) => outcome === 'overflow')).toBe(true);
  });

  test('keeps order and one end a turn under any timing of the detector', () => {
    for (let seed = 1; seed <= 500; seed++) runAtRandom(seeded(seed));
  });
});

/** Audio, reports, time and the detector's answers or its death in any order. */
function runAtRandom(random: Random): void {
  const ear = new FakeEar(random.pick([[], [[1, 2]], [[0, 100]]] as [number, number][][]));
  ear.isPrompt = random.next() < 0.3;
  const mode = random.pick(['mark', 'drop'] as const);
  const { gate, passed, send, clock } = gateWith(ear, mode);
  const expected: string[] = [];
  let seconds = 0;
  for (let turn = 0; turn < 12; turn++) {
    for (let step = random.integer(0, 6); step > 0; step--) {
      random.pick([
        () => send(0.1),
        () => send(1),
        () => ear.report(),
        () => clock.increment(random.integer(0, 600)),
        () => gate.heard({ type: 'speech.started', start: seconds }, 0),
        () => {
          if (random.next() < 0.05) ear.die();
        },
        () => gate.heard(partial(String(turn), 'a', seconds, seconds + 0.5), 0),
      ])();
    }
    seconds += random.next() * 2;
    gate.heard(ended(String(turn), `text ${turn}`, seconds - random.next(), seconds), 0);
    expected.push(String(turn));
  }
  let isFinished = false;
  gate.finish();
  gate.after(() => {
    isFinished = true;
  });
  clock.increment(500);
  expect(isFinished).toBe(true);
  const turnsOf = (types: string[]) =>
    passed.flatMap((heard) => ('turnId' in heard && types.includes(heard.type) ? [heard.turnId] : []));
  expect(turnsOf(['turn.ended'])).toEqual(expected);
  // No interim after the end of its turn, or before that of the turn before.
  const all = turnsOf(['turn.ended', 'partial']).map(Number);
  expect(all).toEqual([...all].sort((one, other) => one - other));
}
