// The shortest whole story of a live session. What else is promised of it is in the files beside this one.
import { describe, expect, it } from 'vitest';
import { SessionRig } from '../../fakes/session-rig.ts';

const second = new Uint8Array(32_000);

describe('a live session', () => {
  it('sends its start, one final per turn, and 1000 after close', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { turns: [{ text: 'hello world', seconds: 1 }] } });
    for (let i = 0; i < 3; i++) client.session.audio(second);
    await rig.advance(100);
    client.session.control({ type: 'close' });
    await rig.advance(100);
    expect(client.events[0]).toMatchObject({ type: 'session_started', seq: 1, model: 'loopback/script' });
    expect(client.events.map((event) => event.seq)).toEqual(client.events.map((_, index) => index + 1));
    expect(client.finals.map(({ turn, text, start, end }) => [turn, text, start, end])).toEqual([
      [0, 'hello world', 0, 1],
      [1, 'hello world', 1, 2],
      [2, 'hello world', 2, 3],
    ]);
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'client_closed', audio_seconds: 3 });
    expect(client.closeCode).toBe(1000);
    expect(rig.faults).toEqual([]);
    expect([rig.sessions.size, rig.upstream.size, rig.engine.connections]).toEqual([0, 0, 0]);
  });
});
