// How long a session lives, and how it is ended from outside: idle, too long, drained, revoked, cut off.
import { describe, expect, it } from 'vitest';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { type RigClient, SessionRig, settle } from '../../fakes/session-rig.ts';
import { puppetRig } from './puppet.ts';
import { expectInOrder, expectNothingLeft, RATE, silence, speech, storyOf } from './support.ts';

const turns = (seconds: number) => ({ turns: [{ text: 'one two', seconds }] });

function expectEnded(client: RigClient, closeCode: number, reason: string, code?: string): void {
  expect([client.closeCode, client.of('session_ended')[0]?.reason, client.of('error').at(-1)?.error.code]).toEqual([
    closeCode,
    reason,
    code,
  ]);
  expectInOrder(client);
}

describe('an idle session', () => {
  it('ends after 30 s without audio and keepalive, with everything transcribed so far', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: turns(1) });
    client.session.audio(silence(1.5));
    await rig.advance(29_900);
    expect(client.closeCode).toBeUndefined();
    await rig.advance(300);
    expect(client.finals).toHaveLength(2);
    expectEnded(client, 4008, 'idle', 'session_idle');
    await expectNothingLeft(rig);
  });

  it.each([
    ['keepalives', (client: RigClient) => client.session.control({ type: 'keepalive' })],
    ['finalizes', (client: RigClient) => client.session.control({ type: 'finalize' })],
    ['empty audio frames', (client: RigClient) => client.session.audio(new Uint8Array(0))],
  ])('stays open while it sends %s', async (_, sign) => {
    const rig = new SessionRig();
    const client = await rig.open();
    for (let sent = 0; sent < 20; sent++) {
      sign(client);
      await rig.advance(29_000, 1_000);
    }
    expect(client.closeCode).toBeUndefined();
    await rig.advance(1_100);
    expectEnded(client, 4008, 'idle', 'session_idle');
  });

  it('does not stay open for text that is not a message', async () => {
    const rig = new SessionRig();
    const client = await rig.open();
    for (let sent = 0; sent < 4; sent++) {
      await rig.advance(10_000, 1_000);
      client.session.misunderstood('what');
    }
    expectEnded(client, 4008, 'idle', 'session_idle');
  });
});

describe('the longest duration', () => {
  it('ends a session in order, with every final, once', async () => {
    const rig = new SessionRig({ settings: { longestMs: 10_000 } });
    const client = await rig.open({ providerParams: { ...turns(1), final_delay_ms: 700 } });
    for (let second = 0; second < 10; second++) {
      client.session.audio(silence(1));
      await rig.advance(1_000);
    }
    await rig.advance(1_000);
    expect(client.finals).toHaveLength(10);
    expectEnded(client, 4008, 'too_long', 'session_too_long');
    await expectNothingLeft(rig);
  });

  it('does not wait for finals when the session was ending already, and names what has none', async () => {
    const rig = new SessionRig({ settings: { longestMs: 10_000 } });
    const client = await rig.open({ providerParams: { ...turns(1), final_delay_ms: 9_000 } });
    client.session.audio(silence(2));
    await rig.advance(5_000);
    client.session.audio(silence(1));
    client.session.control({ type: 'close' });
    await rig.advance(5_100);
    expect(client.finals).toHaveLength(2);
    expect(client.of('discontinuity')).toMatchObject([{ from: 2, to: 3, reason: 'session_too_long' }]);
    expectEnded(client, 4008, 'too_long', 'session_too_long');
    await expectNothingLeft(rig);
  });
});

describe('a drain', () => {
  it('ends sessions at the end of their turn, and those between turns at once', async () => {
    const rig = new SessionRig();
    const speaking = await rig.open({ providerParams: turns(3) });
    const between = await rig.open({ providerParams: turns(1) });
    speaking.session.audio(speech(1));
    between.session.audio(speech(1));
    await rig.advance(500);
    const drained = rig.sessions.drain();
    await rig.advance(500);
    expectEnded(between, 4200, 'draining', 'node_draining');
    expect([speaking.closeCode, storyOf(speaking)]).toEqual([undefined, ['session_started', 'warning']]);
    speaking.session.audio(speech(2.5));
    await rig.advance(500);
    expect(speaking.finals.map(({ end }) => end)).toEqual([3, 3.5]);
    expectEnded(speaking, 4200, 'draining', 'node_draining');
    await drained;
    expect(() => rig.sessions.admit()).toThrow(expect.objectContaining({ code: 'node_draining' }));
    await expectNothingLeft(rig);
  });

  it('warns sessions in turn, leaves unwarned ones open, and ends all when cut short', async () => {
    const rig = new SessionRig();
    const clients = await Promise.all(Array.from({ length: 30 }, () => rig.open({ providerParams: turns(60) })));
    for (const client of clients) client.session.audio(speech(1));
    await rig.advance(100);
    const told = () => clients.filter((client) => client.of('warning').length > 0).length;
    const drained = rig.sessions.drain();
    expect(told()).toBe(1);
    await rig.advance(1_000, 100);
    expect(told()).toBe(11);
    rig.sessions.close();
    await drained;
    for (const client of clients) expectEnded(client, 4200, 'draining', 'node_draining');
    await rig.advance(5_000, 100);
    expect(told()).toBe(11);
    await expectNothingLeft(rig);
  });

  it('waits for the end of a turn no longer than its time, and loses none of it', async () => {
    const rig = new SessionRig({ settings: { drainMs: 5_000 } });
    const client = await rig.open({ providerParams: turns(60) });
    client.session.audio(speech(1));
    await rig.advance(100);
    const drained = rig.sessions.drain();
    await rig.advance(4_800);
    expect(client.closeCode).toBeUndefined();
    expect(client.of('warning')).toMatchObject([{ code: 'node_draining', reconnect_within_seconds: 5 }]);
    await rig.advance(400);
    expect(client.finals).toMatchObject([{ start: 0, end: 1 }]);
    expectEnded(client, 4200, 'draining', 'node_draining');
    await drained;
  });

  it.each<[string, 'node_draining' | 'audio_backlog_exceeded' | 'invalid_request', (client: RigClient) => void]>([
    ['that the node ends', 'node_draining', ({ session }) => session.drain()],
    [
      'with too much waiting',
      'audio_backlog_exceeded',
      ({ session }) => session.stop('error', 'audio_backlog_exceeded', ''),
    ],
    ['that it has ended itself', 'invalid_request', ({ session }) => session.control({ type: 'close' })],
  ])('reports the reason to a client that sends audio before its last final: a session %s', async (_, code, end) => {
    const rig = new SessionRig({ settings: { drainMs: 100 } });
    const client = await rig.open({ providerParams: { ...turns(60), final_delay_ms: 1_000 } });
    client.session.audio(speech(1));
    await rig.advance(100);
    end(client);
    await rig.advance(200);
    client.session.audio(speech(0.1));
    expect(client.of('error').map(({ error }) => error.code)).toEqual([code]);
    await rig.advance(2_000);
    expect(client.finals).toMatchObject([{ start: 0, end: 1 }]);
  });

  it('lets a client end its session meanwhile, and resolves for every caller at the end', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: turns(60) });
    client.session.audio(speech(1));
    await rig.advance(100);
    const drained = [rig.sessions.drain(), rig.sessions.drain()];
    client.session.control({ type: 'close' });
    await rig.advance(500);
    expectEnded(client, 1000, 'client_closed');
    await Promise.all(drained);
    await rig.sessions.drain();
  });

  it('reaches a session whose handshake was in progress when it began', async () => {
    const rig = new SessionRig();
    const first = await rig.open({ providerParams: turns(60) });
    first.session.audio(speech(1));
    await rig.advance(100);
    const drained = rig.sessions.drain();
    const late = await rig.open();
    await rig.advance(500);
    expectEnded(late, 4200, 'draining', 'node_draining');
    first.session.control({ type: 'close' });
    await rig.advance(500);
    await drained;
  });

  it('waits for a turn whose formatted version is still to come', async () => {
    const { rig, puppet } = puppetRig();
    const client = await rig.open({ model: 'puppet/a' });
    client.session.audio(speech(1));
    const utterance = { text: 'a b', start: 0, end: 1 };
    await puppet.last.say({ type: 'turn.ended', turnId: '1', formattedFollows: true, utterance });
    client.session.drain();
    await puppet.last.say(
      { type: 'turn.formatted', turnId: '1', utterance: { ...utterance, text: 'A b.' } },
      { type: 'finished' },
    );
    await rig.advance(100);
    expect(client.finals.map(({ text }) => text)).toEqual(['A b.']);
    expectEnded(client, 4200, 'draining', 'node_draining');
  });

  it('names the audio without a transcript when it is cut short', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { ...turns(1), final_delay_ms: 3_000 } });
    client.session.audio(speech(2.5));
    await rig.advance(500);
    const drained = rig.sessions.drain();
    rig.sessions.close();
    await drained;
    expect(client.of('discontinuity')).toMatchObject([{ from: 0, to: 2.5, reason: 'node_draining' }]);
    expectEnded(client, 4200, 'draining', 'node_draining');
    await expectNothingLeft(rig);
  });
});

describe('a revoked key', () => {
  it('ends its sessions at once, and no others', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: turns(1) });
    client.session.audio(silence(1.5));
    await rig.advance(100);
    rig.sessions.revoke('key_2');
    await rig.advance(100);
    expect(client.closeCode).toBeUndefined();
    rig.sessions.revoke('key_1');
    rig.sessions.revoke('key_1');
    client.session.control({ type: 'close' });
    await settle();
    expectEnded(client, 4001, 'error', 'key_revoked');
    await expectNothingLeft(rig);
  });

  it.each([
    ['a client that speaks on', false],
    ['a client that had closed already', true],
  ])('ends the session of %s before its backlog is processed, named in a discontinuity', async (_, isClosed) => {
    const rig = new SessionRig();
    // Nobody hears it yet: thirty seconds wait.
    const client = await rig.open({ model: 'loopback/numbered', providerParams: { ready_delay_ms: 5_000 } });
    client.session.audio(numberedAudio(0, 30 * RATE));
    if (isClosed) client.session.control({ type: 'close' });
    await rig.advance(2_000);
    const finals = client.finals.length;
    rig.sessions.revoke('key_1');
    await settle();
    expectEnded(client, 4001, 'error', 'key_revoked');
    expect(client.finals.length).toBe(finals);
    expect(client.of('discontinuity')).toMatchObject([{ to: 30, reason: 'key_revoked' }]);
    await expectNothingLeft(rig);
  });

  it('ends sessions for a suspended organisation too', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { ...turns(1), final_delay_ms: 3_000 } });
    client.session.audio(silence(1.5));
    await rig.advance(100);
    rig.sessions.suspend(client.session.opening.organisationId);
    await settle();
    expectEnded(client, 4003, 'error', 'account_suspended');
    await expectNothingLeft(rig);
  });
});

describe('the host', () => {
  it('admits sessions up to its bound, and counts them by what they are doing', async () => {
    const rig = new SessionRig();
    const connecting = await rig.open({ providerParams: { fail: { how: 'hang' } } });
    const streaming = await rig.open();
    const ending = await rig.open({ providerParams: { final_delay_ms: 1_000 } });
    ending.session.audio(silence(1));
    ending.session.control({ type: 'close' });
    await rig.advance(100);
    expect(rig.sessions.countByPhase()).toEqual({ connecting: 1, streaming: 1, ending: 1, settling: 0 });
    expect(() => rig.sessions.admit()).not.toThrow();
    for (const client of [connecting, streaming]) client.session.abort('internal_error', 'Over.');
    await rig.advance(2_000);
    await expectNothingLeft(rig);
  });
});
