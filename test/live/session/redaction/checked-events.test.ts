// Events of a session whose names a service finds: none leaves before it was checked, all leave in their order, and none waits forever.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { OutgoingEvent, TranscriptEvent } from '../../../../src/api/listen-events.ts';
import type { RedactionClass } from '../../../../src/api/redaction.ts';
import { CheckedEvents } from '../../../../src/live/session/redaction/checked-events.ts';
import { HELD_EVENTS_MAX, RedactedEvents } from '../../../../src/live/session/redaction/redacted-events.ts';
import type { AnalyzedText } from '../../../../src/redaction/analyzer.ts';
import type { Match } from '../../../../src/redaction/match.ts';
import { settle } from '../../../fakes/session-rig.ts';

interface Call {
  asked: AnalyzedText;
  answer(): Promise<void>;
  fail(): Promise<void>;
}

function checked(classes: readonly RedactionClass[] = ['name', 'card'], holdMs = 1_500) {
  const clock = new SimulatedClock();
  const sent: OutgoingEvent[] = [];
  const logged: string[] = [];
  const counted: string[] = [];
  const calls: Call[] = [];
  const faults: unknown[] = [];
  /** What receives an event, and fails. */
  const failing = { type: undefined as OutgoingEvent['type'] | undefined };
  const inner = new RedactedEvents({
    outbox: {
      send: (event) => {
        if (event.type === failing.type) throw new Error('It could not be written.');
        sent.push(event);
      },
    },
    log: { turn: ({ turn }, text) => void logged.push(`${turn} ${text}`) },
    clock,
    classes,
    holdMs,
    totals: { redacted: (kind) => void counted.push(kind) },
    onFault: (error) => void faults.push(error),
  });
  const find = (asked: AnalyzedText) =>
    new Promise<Match[]>((resolve, reject) => {
      const names = [...asked.text.matchAll(/Zoe(?: Quill)?|Quill/g)].map(({ 0: name, index }) => ({
        class: 'name' as const,
        from: index,
        to: index + name.length,
      }));
      calls.push({
        asked,
        answer: () => {
          resolve(names);
          return settle();
        },
        fail: () => {
          reject(new Error('No answer.'));
          return settle();
        },
      });
    });
  const events = new CheckedEvents({
    events: inner,
    analyzer: { find },
    organisationId: 'org',
    language: 'en',
    classes,
    onFault: (error) => void faults.push(error),
  });
  const say = (turn: number, text: string, is_final: boolean, spoken = text) => {
    const words = spoken.split(' ').map((word, index) => ({ word, start: index, end: index + 1 }));
    events.push({ type: 'transcript', text, is_final, turn, start: 0, end: words.length, model: 'm/m', words });
  };
  const shown = () =>
    sent.map((event) =>
      event.type === 'transcript' ? `${event.is_final ? 'final' : 'interim'} ${event.turn} ${event.text}` : event.type,
    );
  return {
    ...{ events, clock, sent, logged, counted, calls, shown, faults, failing },
    interim: (turn: number, text: string) => say(turn, text, false),
    /** As turns give it. */
    final: (turn: number, text: string, spoken?: string) => {
      say(turn, text, true, spoken);
      events.push({ type: 'turn_ended', turn, start: 0, end: 1 });
      events.turn({ turn, model: 'm/m', start: 0, end: 1, finalMs: 0, gatewayMs: 0 } as never);
    },
  };
}

const ended: OutgoingEvent = {
  type: 'session_ended',
  reason: 'client_closed',
  audio_seconds: 1,
  usage: [],
  cost_usd: '0',
};

describe('finals', () => {
  it('wait for the answer, with what follows them', async () => {
    const { final, events, calls, shown, logged, sent, counted } = checked();
    final(0, 'I am Zoe Quill okay');
    events.push({ type: 'speech_started', start: 3 });
    expect(shown()).toEqual([]);
    await calls[0]?.answer();
    expect(shown()).toEqual(['final 0 I am [NAME] okay', 'turn_ended', 'speech_started']);
    expect(logged).toEqual(['0 I am [NAME] okay']);
    expect((sent[0] as TranscriptEvent).words?.map(({ word, start, end }) => [word, start, end])).toEqual([
      ['I', 0, 1],
      ['am', 1, 2],
      ['[NAME]', 2, 4],
      ['okay', 4, 5],
    ]);
    expect(counted).toEqual(['name']);
  });

  it('leave in their order, whichever answer comes first', async () => {
    const { final, calls, shown } = checked();
    final(0, 'hello Zoe');
    final(1, 'hello again');
    await calls[1]?.answer();
    expect(shown()).toEqual([]);
    await calls[0]?.answer();
    expect(shown()).toEqual(['final 0 hello [NAME]', 'turn_ended', 'final 1 hello again', 'turn_ended']);
  });

  it('are left out, with a warning, when there is no answer', async () => {
    const { final, calls, shown, counted, logged, sent } = checked();
    final(0, 'I am Zoe');
    final(1, 'hello');
    await calls[0]?.fail();
    await calls[1]?.answer();
    expect(shown()).toEqual(['warning', 'final 0 [REDACTED]', 'turn_ended', 'final 1 hello', 'turn_ended']);
    expect(sent[0]).toMatchObject({ code: 'redaction_failed' });
    expect((sent[1] as TranscriptEvent).words).toBeUndefined();
    expect(logged).toEqual(['0 [REDACTED]', '1 hello']);
    expect(counted).toEqual(['failed']);
  });

  it('are asked about with what was said before, of which nothing is sent again', async () => {
    const { final, calls, shown } = checked();
    final(0, 'this is Zoe');
    await calls[0]?.answer();
    final(1, 'Quill speaking');
    expect(calls[1]?.asked).toMatchObject({
      text: 'this is Zoe Quill speaking',
      language: 'en',
      organisationId: 'org',
    });
    await calls[1]?.answer();
    expect(shown().filter((each) => each.startsWith('final'))).toEqual([
      'final 0 this is [NAME]',
      'final 1 [NAME] speaking',
    ]);
  });

  it('lose words that are spelt in another way than the text', async () => {
    const { final, calls, sent } = checked();
    final(0, 'Zoe has 2 cats', 'zo ee has two cats');
    await calls[0]?.answer();
    expect(sent[0]).toMatchObject({ text: '[NAME] has 2 cats' });
    expect(JSON.stringify(sent)).not.toMatch(/zo ee|two/);
  });

  it('still wait for the rest of a number, after the answer', async () => {
    const { final, calls, clock, shown } = checked();
    final(0, 'Zoe pays with card 4111 1111');
    await calls[0]?.answer();
    expect(shown()).toEqual([]);
    final(1, '1111 1111 thanks Zoe');
    await calls[1]?.answer();
    expect(shown()).toEqual([
      'final 0 [NAME] pays with card [CARD]',
      'turn_ended',
      'final 1 [CARD] thanks [NAME]',
      'turn_ended',
    ]);
    clock.increment(1_500);
    expect(shown()).toHaveLength(4);
  });

  it('of which none is answered do not gather without end', () => {
    const { final, shown, counted } = checked();
    for (let turn = 0; turn < HELD_EVENTS_MAX; turn++) final(turn, `hello ${turn}`);
    expect(counted.length).toBeGreaterThan(0);
    expect(shown().filter((each) => each.startsWith('final'))).toContain('final 0 [REDACTED]');
    expect(shown().filter((each) => each.includes('hello'))).toEqual([]);
  });

  it('of a session that has ended are left out if they were not checked', () => {
    const { final, events, shown } = checked();
    final(0, 'I am Zoe');
    events.push(ended);
    events.conclude();
    expect(shown()).toEqual(['warning', 'final 0 [REDACTED]', 'turn_ended', 'session_ended']);
  });

  it('that are empty are not asked about', () => {
    const { final, calls, shown } = checked();
    final(0, '');
    expect(calls).toEqual([]);
    expect(shown()).toEqual(['final 0 ', 'turn_ended']);
  });
});

describe('interims', () => {
  it('leave once they were checked, one at a time, and then the newest', async () => {
    const { interim, calls, shown } = checked();
    interim(0, 'hello');
    interim(0, 'hello Zoe');
    interim(0, 'hello Zoe how');
    expect(calls).toHaveLength(1);
    await calls[0]?.answer();
    expect(calls.map(({ asked }) => asked.text)).toEqual(['hello', 'hello Zoe how']);
    await calls[1]?.answer();
    expect(shown()).toEqual(['interim 0 hello', 'interim 0 hello [NAME] how']);
  });

  it('are not shown when their answer comes after the final, or not at all', async () => {
    const { interim, final, calls, shown } = checked();
    interim(0, 'hello');
    await calls[0]?.fail();
    interim(0, 'hello Z');
    final(0, 'hello Zoe bye');
    await calls[1]?.answer();
    expect(shown()).toEqual([]);
    await calls[2]?.answer();
    expect(shown()).toEqual(['final 0 hello [NAME] bye', 'turn_ended']);
  });

  it('save the final its call where they have its text', async () => {
    const { interim, final, calls, shown } = checked();
    interim(0, 'hello Zoe');
    final(0, 'hello Zoe');
    expect(calls).toHaveLength(1);
    await calls[0]?.answer();
    expect(shown()).toEqual(['final 0 hello [NAME]', 'turn_ended']);
  });

  it('of the next turn wait until the final before them has left', async () => {
    const { interim, final, calls, shown } = checked();
    final(0, 'hello Zoe');
    interim(1, 'and now');
    expect(calls).toHaveLength(1);
    await calls[0]?.answer();
    await calls[1]?.answer();
    expect(shown()).toEqual(['final 0 hello [NAME]', 'turn_ended', 'interim 1 and now']);
  });
});

it('checks the text of an eager end, and hides one that was not checked', async () => {
  const eager = (text: string): OutgoingEvent => ({
    type: 'turn_eager_end',
    turn: 0,
    text,
    start: 0,
    end: 1,
    model: 'm/m',
  });
  const { events, calls, sent, shown } = checked();
  events.push(eager('I am Zoe.'));
  await calls[0]?.answer();
  expect(sent).toMatchObject([{ type: 'turn_eager_end', text: 'I am [NAME].' }]);
  events.push({ type: 'turn_resumed', turn: 0, reason: 'speech' });
  events.push(eager('I am Zoe now.'));
  events.push({ type: 'turn_resumed', turn: 0, reason: 'speech' });
  await calls[1]?.fail();
  expect(shown()).toEqual(['turn_eager_end', 'turn_resumed']);
});

it('settles once every answer is there', async () => {
  const { final, events, calls } = checked();
  let isSettled = false;
  await events.settled();
  final(0, 'Zoe');
  void events.settled().then(() => {
    isSettled = true;
  });
  await settle();
  expect(isSettled).toBe(false);
  await calls[0]?.answer();
  expect(isSettled).toBe(true);
});

it('asks nothing once names are not requested any more, and asks again when they are', async () => {
  const { events, final, calls, shown } = checked();
  final(0, 'Zoe');
  events.configure(['card'], 'en');
  final(1, 'Zoe');
  await calls[0]?.answer();
  expect(calls).toHaveLength(1);
  events.configure(['name'], 'de-DE');
  final(2, 'Zoe');
  expect(calls[1]?.asked).toMatchObject({ language: 'de-DE', classes: ['name'] });
  await calls[1]?.answer();
  expect(shown().filter((each) => each.startsWith('final'))).toEqual([
    'final 0 [NAME]',
    'final 1 Zoe',
    'final 2 [NAME]',
  ]);
});

it('asks again about a text of which less was asked before', async () => {
  const { events, interim, final, calls, shown } = checked();
  interim(0, 'Zoe lives here');
  await calls[0]?.answer();
  events.configure(['name', 'address'], 'en');
  final(0, 'Zoe lives here');
  expect(calls.map(({ asked }) => asked.classes)).toEqual([['name'], ['name', 'address']]);
  await calls[1]?.answer();
  expect(shown()).toEqual(['interim 0 [NAME] lives here', 'final 0 [NAME] lives here', 'turn_ended']);
});

it('reports a fault after an answer, and sends nothing unchecked at the end that follows', async () => {
  const { events, final, interim, calls, shown, faults, failing } = checked();
  interim(0, 'Zoe');
  failing.type = 'transcript';
  await calls[0]?.answer();
  expect(faults).toHaveLength(1);
  final(0, 'I am Zoe');
  final(1, 'Zoe Quill');
  await calls[1]?.answer();
  expect(faults).toHaveLength(2);
  failing.type = undefined;
  events.conclude();
  events.push(ended);
  expect(shown()).toEqual(['turn_ended', 'warning', 'final 1 [REDACTED]', 'turn_ended', 'session_ended']);
});

it('gives up its calls when the session is gone', async () => {
  const { events, final, calls, shown } = checked();
  final(0, 'Zoe');
  events.stop();
  expect(calls[0]?.asked.signal.aborted).toBe(true);
  await calls[0]?.answer();
  expect(shown()).toEqual([]);
});
