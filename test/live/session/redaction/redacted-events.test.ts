// Events of a session with redaction: what leaves, when a final waits for the next turn, and in which order everything follows.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { OutgoingEvent, TranscriptEvent } from '../../../../src/api/listen-events.ts';
import type { RedactionClass } from '../../../../src/api/redaction.ts';
import {
  HELD_EVENTS_MAX,
  RedactedEvents,
  type RedactedEventsParts,
} from '../../../../src/live/session/redaction/redacted-events.ts';

const HOLD_MS = 1_500;
const PARTIAL_CARD = 'my card is four one one one';

function redaction(more: Partial<RedactedEventsParts> = {}) {
  const clock = new SimulatedClock();
  const sent: OutgoingEvent[] = [];
  const logged: string[] = [];
  const counted: string[] = [];
  const events = new RedactedEvents({
    outbox: { send: (event) => void sent.push(event) },
    log: { turn: ({ turn }, text) => void logged.push(`${turn} ${text}`) },
    clock,
    classes: ['card', 'email', 'phone'] satisfies RedactionClass[],
    holdMs: HOLD_MS,
    totals: { redacted: (kind) => void counted.push(kind) },
    onFault: (error) => {
      throw error;
    },
    ...more,
  });
  const say = (turn: number, text: string, is_final: boolean) => {
    const words = text.split(' ').map((word, index) => ({ word, start: index, end: index + 1 }));
    events.push({ type: 'transcript', text, is_final, turn, start: 0, end: words.length, model: 'm/m', words });
  };
  /** As turns give it: the final, its end, its note. */
  const final = (turn: number, text: string) => {
    say(turn, text, true);
    events.push({ type: 'turn_ended', turn, start: 0, end: 1 });
    events.turn({ turn, model: 'm/m', start: 0, end: 1, finalMs: 0, gatewayMs: 0 } as never);
  };
  const shown = () =>
    sent.map((event) =>
      event.type === 'transcript' ? `${event.is_final ? 'final' : 'interim'} ${event.turn} ${event.text}` : event.type,
    );
  return {
    events,
    clock,
    sent,
    logged,
    counted,
    final,
    interim: (turn: number, text: string) => say(turn, text, false),
    shown,
  };
}

describe('finals of a session with redaction', () => {
  it('leave at once where they are whole, redacted in text and words, in the log as well', () => {
    const { final, shown, logged, sent, counted } = redaction();
    final(0, 'Hello there.');
    final(1, 'It is 4111 1111 1111 1111 okay');
    expect(shown()).toEqual(['final 0 Hello there.', 'turn_ended', 'final 1 It is [CARD] okay', 'turn_ended']);
    expect(logged).toEqual(['0 Hello there.', '1 It is [CARD] okay']);
    expect((sent[2] as TranscriptEvent).words?.map(({ word, start, end }) => [word, start, end])).toEqual([
      ['It', 0, 1],
      ['is', 1, 2],
      ['[CARD]', 2, 6],
      ['okay', 6, 7],
    ]);
    expect(counted).toEqual(['card']);
  });

  it('wait for the next turn within a number, and leave together, in order', () => {
    const { final, interim, events, shown, logged } = redaction();
    final(0, 'my card is four one one one one one one one');
    events.push({ type: 'speech_started', start: 3 });
    interim(1, 'one one');
    interim(1, 'one one one one');
    expect(shown()).toEqual([]);
    final(1, 'one one one one one one one one thank you');
    expect(shown()).toEqual([
      'final 0 my card is [CARD]',
      'turn_ended',
      'speech_started',
      'final 1 [CARD] thank you',
      'turn_ended',
    ]);
    expect(logged).toEqual(['0 my card is [CARD]', '1 [CARD] thank you']);
  });

  it('leave once an interim of the next turn says something else', () => {
    const { final, interim, shown } = redaction();
    final(0, 'my card is four one');
    interim(1, 'no wait let me look');
    expect(shown()).toEqual(['final 0 my card is four one', 'turn_ended', 'interim 1 no wait let me']);
  });

  it('wait no longer than they may, and what follows is redacted with what has left', () => {
    const { final, clock, shown } = redaction();
    final(0, PARTIAL_CARD);
    clock.increment(HOLD_MS - 1);
    expect(shown()).toEqual([]);
    clock.increment(1);
    expect(shown()).toEqual([`final 0 ${PARTIAL_CARD}`, 'turn_ended']);
    final(1, 'one one one one one one one one one one one one');
    expect(shown().slice(2)).toEqual(['final 1 [CARD]', 'turn_ended']);
  });

  it.each<[string, (events: RedactedEvents) => void]>([
    ['the client ends the turn', (events) => events.hurry()],
    [
      'the session ends',
      (events) =>
        events.push({ type: 'session_ended', reason: 'client_closed', audio_seconds: 1, usage: [], cost_usd: '0' }),
    ],
    ['audio is lost', (events) => events.push({ type: 'discontinuity', from: 0, to: 1, reason: 'replay_exceeded' })],
  ])('leave when %s', (_, befall) => {
    const { final, events, shown } = redaction();
    final(0, PARTIAL_CARD);
    befall(events);
    expect(shown().slice(0, 2)).toEqual([`final 0 ${PARTIAL_CARD}`, 'turn_ended']);
  });

  it('of a turn that the client ended do not wait, and the next ones do', () => {
    const { final, events, shown } = redaction();
    events.hurry();
    final(0, PARTIAL_CARD);
    expect(shown()).toHaveLength(2);
    final(1, 'my card is five five');
    expect(shown()).toHaveLength(2);
  });

  it('do not wait where the request says so', () => {
    const { final, shown } = redaction({ holdMs: 0 });
    final(0, PARTIAL_CARD);
    expect(shown()).toHaveLength(2);
  });

  it('leave when too many events wait', () => {
    const { final, events, shown } = redaction();
    final(0, PARTIAL_CARD);
    for (let count = 0; count < HELD_EVENTS_MAX; count++) events.push({ type: 'speech_started', start: count });
    expect(shown()).toHaveLength(HELD_EVENTS_MAX + 2);
  });

  it('are left out, with a warning, where they cannot be read', () => {
    const { final, interim, shown, counted, logged, sent } = redaction({
      examine: () => {
        throw new Error('broken');
      },
    });
    interim(0, 'secret');
    final(0, 'secret words');
    final(1, 'more');
    expect(shown()).toEqual(['warning', 'final 0 [REDACTED]', 'turn_ended', 'final 1 [REDACTED]', 'turn_ended']);
    expect((sent[1] as TranscriptEvent).words).toBeUndefined();
    expect(logged).toEqual(['0 [REDACTED]', '1 [REDACTED]']);
    expect(counted).toEqual(['failed', 'failed', 'failed']);
  });

  it('are counted at the end of the session, by class', () => {
    const { final, events, sent } = redaction();
    final(0, '4111 1111 1111 1111 and a@b.com');
    final(1, '5555 5555 5555 4444');
    events.push({ type: 'session_ended', reason: 'client_closed', audio_seconds: 1, usage: [], cost_usd: '0' });
    expect(sent.at(-1)).toMatchObject({ redactions: { card: 2, email: 1 } });
  });
});

describe('interims of a session with redaction', () => {
  it('show no part of a number or of an address before it is whole', () => {
    const { interim, shown } = redaction();
    const text = 'so it is 4111 1111 1111 1111 and my mail is john at example dot com thanks bye';
    const words = text.split(' ');
    for (let count = 1; count <= words.length; count++) interim(0, words.slice(0, count).join(' '));
    const all = shown().join('\n');
    for (const part of ['4111', '1111', 'john', 'example']) expect(all).not.toContain(part);
    expect(shown().at(-1)).toBe('interim 0 so it is [CARD] and my mail is [EMAIL] thanks');
  });

  it('are left out as long as they show nothing new', () => {
    const { interim, shown } = redaction();
    for (const text of ['hello this', 'hello this is', 'hello this is 4', 'hello this is 4 1']) interim(0, text);
    expect(shown()).toEqual(['interim 0 hello', 'interim 0 hello this', 'interim 0 hello this is']);
  });
});

describe('an eager end of a turn with redaction', () => {
  const eager = (turn: number, text: string): OutgoingEvent => ({
    type: 'turn_eager_end',
    turn,
    text,
    start: 0,
    end: 1,
    model: 'm/m',
  });

  it('has the text of the final', () => {
    const { events, sent } = redaction();
    events.push(eager(0, 'it is 4111 1111 1111 1111.'));
    expect(sent).toMatchObject([{ type: 'turn_eager_end', text: 'it is [CARD].' }]);
  });

  it('is hidden within a number, with what takes it back', () => {
    const { events, shown } = redaction();
    events.push(eager(0, PARTIAL_CARD));
    events.push({ type: 'turn_resumed', turn: 0, reason: 'speech' });
    expect(shown()).toEqual([]);
    events.push(eager(0, 'okay.'));
    events.push({ type: 'turn_resumed', turn: 0, reason: 'speech' });
    expect(shown()).toEqual(['turn_eager_end', 'turn_resumed']);
  });
});

it('reports a fault of what waited for its time, which comes in a timer', () => {
  const faults: unknown[] = [];
  let isFailing = false;
  const send = () => {
    if (isFailing) throw new Error('It could not be written.');
  };
  const { final, clock } = redaction({ outbox: { send }, onFault: (error) => void faults.push(error) });
  final(0, PARTIAL_CARD);
  isFailing = true;
  clock.increment(HOLD_MS);
  expect(faults).toMatchObject([{ message: 'It could not be written.' }]);
});

it('redacts what is requested in mid-session from there on', () => {
  const { events, final, shown } = redaction({ classes: ['email'] });
  final(0, '4111 1111 1111 1111');
  events.configure(['card']);
  final(1, '4111 1111 1111 1111 a@b.com');
  expect(shown().filter((each) => each.startsWith('final'))).toEqual([
    'final 0 4111 1111 1111 1111',
    'final 1 [CARD] a@b.com',
  ]);
});

it('holds a number over a failover, with what is said of it', () => {
  const { events, final, shown } = redaction();
  final(0, 'my card is 4111 1111');
  events.push({ type: 'failover', from: 'm/m', to: 'n/n', reason: 'lost', replayed_seconds: 1, attempt: 1 } as never);
  events.push({ type: 'warning', code: 'x', message: 'x' } as never);
  expect(shown()).toEqual([]);
  final(1, '1111 1111 okay');
  expect(shown()).toEqual([
    'final 0 my card is [CARD]',
    'turn_ended',
    'failover',
    'warning',
    'final 1 [CARD] okay',
    'turn_ended',
  ]);
});
