// What is kept for a client whose socket may break: up to the event that it is known to have, and within a bound.
import { describe, expect, it } from 'vitest';
import type { ServerSocket } from '../../../src/http/server.ts';
import { ResumableLine } from '../../../src/live/resume/resumable-line.ts';
import { Outbox } from '../../../src/live/session/outbox.ts';

function socketOf(sent: string[]): ServerSocket {
  const send = (text: string) => {
    sent.push(text);
    return 'sent';
  };
  return {
    send,
    close: (code: number) => sent.push(`close ${code}`),
    bufferedBytes: 0,
    closed: false,
  } as unknown as ServerSocket;
}

function rig() {
  const first: string[] = [];
  const options = { sessionId: 'ses_a', token: 'rt_a', wallNow: () => new Date(0), ended: () => {} };
  return { first, line: new ResumableLine(socketOf(first), options) };
}

describe('the line of a session that outlives its socket', () => {
  it('says again what came behind the last event that the client has', () => {
    const { first, line } = rig();
    for (const text of ['1', '2', '3']) line.send(text);
    line.detach();
    line.send('4');
    line.close(1000, '');
    const next: string[] = [];
    line.attach(socketOf(next), 2, 640, 65_536);
    expect(first).toEqual(['1', '2', '3']);
    expect(JSON.parse(next[0] as string)).toMatchObject({
      type: 'session_resumed',
      received_bytes: 640,
      next_seq: 3,
      limits: { binary_frame_bytes: 65_536 },
    });
    expect(next.slice(1)).toEqual(['3', '4', 'close 1000']);
  });

  it('offers no room without a socket, so that interims merge', () => {
    const { line } = rig();
    expect([line.bufferedBytes, line.isKeeping]).toEqual([0, false]);
    line.detach();
    expect([line.bufferedBytes, line.isKeeping]).toEqual([Number.POSITIVE_INFINITY, true]);
  });

  it('takes more events of its session while there is no socket than the session holds, each once and in order', () => {
    const { first, line } = rig();
    let overflows = 0;
    const outbox = new Outbox({
      ...{ sessionId: 'ses_a', line, unreadBytesMax: 100, unreadEventsMax: 4, wallNow: () => new Date(0) },
      onOverflow: () => overflows++,
      onDrop: () => {},
    });
    const say = (turn: number) => {
      const said = { text: `${turn}`, turn, start: turn, end: turn + 1, model: 'm/m' };
      outbox.push({ type: 'transcript', is_final: false, ...said });
      outbox.push({ type: 'transcript', is_final: true, ...said });
    };
    say(0);
    line.detach();
    for (let turn = 1; turn < 1_000; turn++) say(turn);
    const next: string[] = [];
    line.attach(socketOf(next), first.length, 0, 65_536);
    outbox.drained();
    const events = [...first, ...next.slice(1)].map((text) => JSON.parse(text));
    expect(overflows).toBe(0);
    expect(events.filter((event) => event.is_final).map(({ turn }) => turn)).toEqual([...Array(1_000).keys()]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  });

  it('drops what came before a ping that the client answered', () => {
    const { line } = rig();
    for (let event = 0; event < 200; event++) line.send('x');
    const text = line.pinged();
    line.send('y');
    line.ponged(text);
    expect(line.keptBytes).toBe(1);
    expect([line.gapAfter(199), line.gapAfter(200), line.gapAfter(201), line.gapAfter(202)]).toEqual([
      'forgotten',
      undefined,
      undefined,
      'unsaid',
    ]);
  });

  it('takes an answer of an earlier socket for nothing', () => {
    const { line } = rig();
    line.send('1');
    const text = line.pinged();
    line.detach();
    line.ponged(text);
    expect(line.gapAfter(0)).toBeUndefined();
  });

  it.each([
    ['that was not requested', ''],
    ['in other words', '2 events'],
    ['to the ping before the last one', '1'],
  ])('takes an answer %s for no more than it says', (_, text) => {
    const { line } = rig();
    line.send('1');
    line.pinged();
    line.send('2');
    line.pinged();
    line.ponged(text);
    expect([line.gapAfter(1), line.gapAfter(0)]).toEqual([undefined, text === '1' ? 'forgotten' : undefined]);
  });

  it('keeps what came after the last ping, for any answer', () => {
    const { line } = rig();
    line.send('1');
    line.pinged();
    line.send('2');
    line.ponged('99');
    expect([line.gapAfter(1), line.gapAfter(0)]).toEqual([undefined, 'forgotten']);
  });

  it('keeps at most 1 MiB, and says that older events are forgotten', () => {
    const { line } = rig();
    const text = 'x'.repeat(1_000);
    for (let event = 0; event < 3_000; event++) line.send(text);
    expect(line.keptBytes).toBeLessThanOrEqual(1_048_576);
    expect([line.gapAfter(0), line.gapAfter(2_999)]).toEqual(['forgotten', undefined]);
    const next: string[] = [];
    line.attach(socketOf(next), 2_990, 0, 65_536);
    expect(next.slice(1)).toEqual(Array.from({ length: 10 }, () => text));
  });
});
