// What a session says to a client that reads slowly, or not at all: nothing that matters is lost in silence, memory stays
// within its bound, and nobody else notices.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutgoingEvent, ServerEvent } from '../../../src/api/listen-events.ts';
import { type ClientLine, Outbox } from '../../../src/live/session/outbox.ts';
import { SessionRig } from '../../fakes/session-rig.ts';
import { expectInOrder, expectNothingLeft, silence } from './support.ts';

const transcript = (turn: number, is_final: boolean, text = 'x'): OutgoingEvent => ({
  type: 'transcript',
  text,
  is_final,
  turn,
  start: 0,
  end: 0,
  model: 'm/m',
});
const interim = (turn: number, text = 'x') => transcript(turn, false, text);
const final = (turn: number) => transcript(turn, true);
const warning: OutgoingEvent = { type: 'warning', code: 'w', message: 'W.' };
const speechStarted: OutgoingEvent = { type: 'speech_started', start: 0 };
const ended: OutgoingEvent = { type: 'session_ended', reason: 'error', audio_seconds: 0, usage: [], cost_usd: '0' };

/** A line whose socket takes what the test lets it take. */
class Line implements ClientLine {
  readonly sent: ServerEvent[] = [];
  bufferedBytes = 0;
  open = true;
  closed: number | undefined;

  send(text: string): 'sent' | 'gone' {
    if (!this.open) return 'gone';
    this.sent.push(JSON.parse(text) as ServerEvent);
    return 'sent';
  }

  close(code: number): void {
    this.closed = code;
  }
}

function outboxOn(line: Line, unreadEventsMax = 4) {
  const drops: string[] = [];
  let overflows = 0;
  const outbox = new Outbox({
    sessionId: 'ses_1',
    line,
    unreadBytesMax: 100,
    unreadEventsMax,
    wallNow: () => new Date(0),
    onOverflow: () => overflows++,
    onDrop: (name) => drops.push(name),
  });
  return { outbox, drops, overflows: () => overflows };
}

const shown = (events: readonly (ServerEvent | OutgoingEvent)[]): string[] =>
  events.map((event) =>
    event.type === 'transcript' ? `${event.is_final ? 'final' : 'interim'} ${event.turn} ${event.text}` : event.type,
  );

describe('the outbox', () => {
  it('numbers and stamps events as they leave, and sends at once while the client reads', () => {
    const line = new Line();
    const { outbox } = outboxOn(line);
    for (const event of [warning, interim(0), final(0)]) outbox.push(event);
    expect(line.sent.map(({ seq, session_id, at }) => [seq, session_id, at])).toEqual(
      [1, 2, 3].map((seq) => [seq, 'ses_1', '1970-01-01T00:00:00.000Z']),
    );
    expect(outbox.size).toBe(0);
  });

  it('keeps of the interims that wait only the newest, and none that its final has overtaken', () => {
    const line = new Line();
    const { outbox, drops } = outboxOn(line);
    line.bufferedBytes = 101;
    for (const event of [
      interim(0, 'a'),
      interim(0, 'a b'),
      final(0),
      interim(1, 'c'),
      speechStarted,
      interim(1, 'c d'),
    ]) {
      outbox.push(event);
    }
    line.bufferedBytes = 0;
    outbox.drained();
    expect(shown(line.sent)).toEqual(['final 0 x', 'speech_started', 'interim 1 c d']);
    expect(line.sent.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(drops).toEqual(['interim_coalesced', 'interim_coalesced', 'interim_coalesced']);
  });

  it('sends nothing past what waits, even when the socket has room again', () => {
    const line = new Line();
    const { outbox } = outboxOn(line);
    line.bufferedBytes = 101;
    outbox.push(final(0));
    line.bufferedBytes = 0;
    outbox.push(final(1));
    outbox.drained();
    expect(shown(line.sent)).toEqual(['final 0 x', 'final 1 x']);
  });

  it.each<[string, OutgoingEvent, number, number]>([
    ['an interim', interim(9), 0, 0],
    ['a start of speech', speechStarted, 0, 0],
    ['a warning', warning, 1, 0],
    ['a final', final(9), 1, 1],
  ])('counts %s that does not fit, and ends the session if it matters', (_, event, overflowing, undelivered) => {
    const line = new Line();
    const { outbox, drops, overflows } = outboxOn(line);
    line.bufferedBytes = 101;
    for (let turn = 0; turn < 4; turn++) outbox.push(final(turn));
    outbox.push(event);
    outbox.push(event);
    expect([overflows(), outbox.undeliveredFinals, outbox.size]).toEqual([overflowing, 2 * undelivered, 4]);
    expect(drops).toEqual(['event_dropped', 'event_dropped']);
  });

  it('says the last words of a session however full it is, in order, and nothing after them', () => {
    const line = new Line();
    const { outbox } = outboxOn(line);
    line.bufferedBytes = 101;
    for (let turn = 0; turn < 5; turn++) outbox.push(final(turn));
    outbox.beginEnd();
    for (const event of [warning, ended, warning, final(5), ended]) outbox.push(event);
    outbox.close(4011, '');
    expect(shown(line.sent)).toEqual(['final 0 x', 'final 1 x', 'final 2 x', 'final 3 x', 'warning', 'session_ended']);
    expect([line.closed, outbox.undeliveredFinals]).toEqual([4011, 2]);
  });

  it('counts the finals of a client that is gone: those that waited, the one on its way, and those to come', () => {
    const line = new Line();
    const { outbox } = outboxOn(line);
    line.bufferedBytes = 101;
    outbox.push(final(0));
    outbox.push(warning);
    outbox.push(final(1));
    line.open = false;
    line.bufferedBytes = 0;
    outbox.drained();
    outbox.push(final(2));
    expect([outbox.undeliveredFinals, outbox.size]).toEqual([3, 0]);
    outbox.abandon();
    expect(outbox.undeliveredFinals).toBe(3);
  });

  it('resolves a flush when the last event is in the socket, or can never be', async () => {
    const ways: ((outbox: Outbox, line: Line) => void)[] = [
      (outbox, line) => {
        line.bufferedBytes = 0;
        outbox.drained();
      },
      (outbox) => outbox.abandon(),
      (outbox) => {
        for (let turn = 1; turn < 6; turn++) outbox.push(final(turn));
      },
    ];
    for (const [index, way] of ways.entries()) {
      const line = new Line();
      const { outbox } = outboxOn(line);
      await outbox.flushed();
      line.bufferedBytes = 101;
      outbox.push(final(0));
      if (index < 2) {
        const flushed = outbox.flushed();
        way(outbox, line);
        await flushed;
      } else {
        way(outbox, line);
        await outbox.flushed();
      }
    }
  });

  it('stays bounded, ordered and gapless, and delivers or counts each final in any sequence', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant('final') },
      { weight: 6, arbitrary: fc.constant('interim') },
      { weight: 1, arbitrary: fc.constant('warning') },
      { weight: 2, arbitrary: fc.constant('stuck') },
      { weight: 2, arbitrary: fc.constant('drained') },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, hangsUp) => {
        const line = new Line();
        const { outbox } = outboxOn(line);
        let turn = 0;
        for (const each of steps) {
          if (each === 'final') outbox.push(final(turn++));
          else if (each === 'interim') outbox.push(interim(turn));
          else if (each === 'warning') outbox.push(warning);
          else if (each === 'stuck') line.bufferedBytes = 101;
          else {
            line.bufferedBytes = 0;
            outbox.drained();
          }
          expect(outbox.size).toBeLessThanOrEqual(4);
        }
        if (hangsUp) outbox.abandon();
        else outbox.close(1000, '');
        expect(line.sent.map(({ seq }) => seq)).toEqual(line.sent.map((_, index) => index + 1));
        const turns = line.sent.flatMap((event) => (event.type === 'transcript' && event.is_final ? [event.turn] : []));
        expect(turns).toEqual([...turns].sort((a, b) => a - b));
        expect(turns.length + outbox.undeliveredFinals).toBe(turn);
        // No interim after the final of its turn.
        const seen = new Set<number>();
        for (const event of line.sent) {
          if (event.type !== 'transcript') continue;
          expect(seen.has(event.turn)).toBe(false);
          if (event.is_final) seen.add(event.turn);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('slow clients', () => {
  it('receive 4011 when a final cannot be queued, unnoticed by the other 50', async () => {
    const rig = new SessionRig({ settings: { unreadBytesMax: 2_000, unreadEventsMax: 8 } });
    const clients = await Promise.all(
      Array.from({ length: 100 }, () =>
        rig.open({ providerParams: { turns: [{ text: 'one two three', seconds: 0.5 }], interim_seconds: 0.1 } }),
      ),
    );
    for (const [index, client] of clients.entries()) client.stuck = index % 2 === 0;
    for (let second = 0; second < 6; second++) {
      for (const client of clients) for (let fifth = 0; fifth < 5; fifth++) client.session.audio(silence(0.2));
      await rig.advance(1_000, 1_000);
    }
    const stuck = clients.filter((client) => client.stuck);
    const reading = clients.filter((client) => !client.stuck);
    for (const client of stuck) {
      expect(client.closeCode).toBe(4011);
      expect(client.of('error').map(({ error }) => error.code)).toEqual(['slow_consumer']);
      expect(client.of('session_ended')).toMatchObject([{ reason: 'error' }]);
      expect(client.summary).toMatchObject({ code: 'slow_consumer', undeliveredFinals: 1 });
      expectInOrder(client);
    }
    for (const client of reading) {
      expect([client.closeCode, client.finals.length]).toEqual([undefined, 12]);
      client.session.control({ type: 'close' });
    }
    await rig.advance(500);
    for (const client of reading) {
      expect(client.closeCode).toBe(1000);
      expectInOrder(client);
    }
    expect(rig.drops.interim_coalesced).toBeGreaterThan(0);
    await expectNothingLeft(rig);
  });

  it('receive everything before 1000 when they keep reading within the settle time', async () => {
    const rig = new SessionRig({ settings: { unreadBytesMax: 500 } });
    const client = await rig.open({ providerParams: { turns: [{ text: 'one', seconds: 0.1 }] } });
    client.stuck = true;
    client.session.audio(silence(2));
    client.session.control({ type: 'close' });
    await rig.advance(4_000, 500);
    expect(client.closeCode).toBeUndefined();
    client.stuck = false;
    client.bufferedBytes = 0;
    client.session.drained();
    await rig.advance(100);
    expect([client.closeCode, client.finals.length]).toEqual([1000, 20]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });

  it('receive all events and the close in the socket when they stop reading', async () => {
    const rig = new SessionRig({ settings: { unreadBytesMax: 500 } });
    const client = await rig.open({ providerParams: { turns: [{ text: 'one', seconds: 0.1 }] } });
    client.stuck = true;
    client.session.audio(silence(2));
    client.session.control({ type: 'close' });
    await rig.advance(5_500, 500);
    expect([client.closeCode, client.finals.length, client.summary?.undeliveredFinals]).toEqual([1000, 20, 0]);
    expectInOrder(client);
    await expectNothingLeft(rig);
  });
});
