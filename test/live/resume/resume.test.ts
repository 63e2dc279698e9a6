// Sessions that outlive their sockets, on one node: nothing is lost or said twice, whatever breaks, and nobody else gets them.
import { beforeAll, describe, expect, it } from 'vitest';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { seeded } from '../../fakes/random.ts';
import { ResumingClient } from './resuming-client.ts';

const RATE = 16_000;
const numbered = { model: 'loopback/numbered', provider_params: '{"turn_seconds":0.5}' };

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

describe('a session with resume=on', () => {
  it.each([1, 2, 3])('loses and repeats nothing over twenty cuts, seed %i', async (seed) => {
    const random = seeded(seed);
    const samples = 20 * RATE;
    const client = new ResumingClient(numberedAudio(0, samples), numbered);
    for (let cut = 0; cut < 20; cut++) {
      const at = { chunks: random.integer(0, 12), turns: random.integer(0, 20) };
      await client.socket(live.connect, random.integer(1, 3_001), at);
    }
    expect(await client.socket(live.connect, 32_000)).toBe(1000);
    expectWhole(client.finals, samples);
    expect(client.ended).toMatchObject({ reason: 'client_closed', audio_seconds: 20 });
  });

  it('delivers its end to a client that was cut off before the last events', async () => {
    const client = live.connect({ ...numbered, resume: 'on' });
    const { resume_token: token } = await client.event('session_started');
    client.send(numberedAudio(0, RATE));
    client.send({ type: 'close' });
    await client.close();
    const next = live.connect({ resume: String(token), last_seq: '1' });
    expect((await next.close()).code).toBe(1000);
    expect(next.events.slice(1)).toEqual(client.events.slice(1));
    expect(next.events[0]).toMatchObject({ type: 'session_resumed', received_bytes: 2 * RATE, next_seq: 2 });
  });

  it('continues with the latest socket, and closes the one before', async () => {
    const client = live.connect({ ...numbered, resume: 'on' });
    const { resume_token: token } = await client.event('session_started');
    const next = live.connect({ resume: String(token), last_seq: '1' });
    await next.event('session_resumed');
    expect(await client.close()).toEqual({ code: 4000, reason: 'resumed' });
    next.send(numberedAudio(0, RATE));
    next.send({ type: 'close' });
    await next.close();
    expectWhole(next.finals, RATE);
  });

  it('says once a second what was taken of its audio', async () => {
    const client = live.connect({ ...numbered, resume: 'on' });
    await client.event('session_started');
    client.send(new Uint8Array(1_001));
    expect(await client.event('received')).toMatchObject({ bytes: 1_001 });
    client.socket.close();
  });

  it('does not wait for a client that leaves in order', async () => {
    const client = live.connect({ ...numbered, resume: 'on' });
    const { resume_token: token } = await client.event('session_started');
    client.socket.close(1000);
    await client.close();
    const next = live.connect({ resume: String(token), last_seq: '1' });
    expect((await next.refused()).status).toBe(404);
  });
});

describe('a resume token', () => {
  const started = async () => {
    const client = live.connect({ ...numbered, resume: 'on' });
    const { resume_token: token, session_id: id } = await client.event('session_started');
    return { client, token: String(token), id };
  };

  it.each([
    ['no `last_seq`', {}, 400, 'last_seq'],
    ['a `last_seq` that was never said', { last_seq: '99' }, 400, 'last_seq'],
    ['a `last_seq` that is not a number', { last_seq: 'x' }, 400, 'last_seq'],
    ['`heard_seconds` that are not a number', { last_seq: '1', heard_seconds: '-1' }, 400, 'heard_seconds'],
  ])('fails with %s, and the session keeps waiting', async (_, more, status, param) => {
    const { token } = await started();
    const next = live.connect({ resume: token, ...(more as Record<string, string>) });
    const refused = await next.refused();
    expect([refused.status, JSON.parse(refused.body).error.param]).toEqual([status, param]);
    const again = live.connect({ resume: token, last_seq: '1' });
    await again.event('session_resumed');
    again.socket.close(1000);
  });

  it.each([
    ['of another secret', (token: string) => `${token.slice(0, -22)}${'A'.repeat(22)}`],
    ['of another session', (token: string) => token.replace(/.\./, (end) => (end === '0.' ? '1.' : '0.'))],
  ])('%s is refused as unknown', async (_, altered) => {
    const { token } = await started();
    const refused = await live.connect({ resume: altered(token), last_seq: '1' }).refused();
    expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([404, 'not_found']);
  });

  it('counts, for a session that is gone, as one request of its key', async () => {
    const few = await startLiveGateway({ VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '3' });
    const left = async (more: Record<string, string>) => {
      const client = few.connect({ ...numbered, resume: 'on', ...more });
      const { resume_token: token } = await client.event('session_started');
      client.socket.close(1000);
      await client.close();
      return { resume: String(token), last_seq: '1' };
    };
    const third = few.connect(await left(await left({})));
    expect((await third.refused()).status).toBe(404);
    expect((await few.connect(numbered).refused()).status).toBe(429);
  });

  it('opens, for a session that is gone, a new one with its position', async () => {
    const { token, id, client } = await started();
    client.socket.close(1000);
    await client.close();
    const next = live.connect({ ...numbered, resume: token, last_seq: '5', heard_seconds: '1.5' });
    const begun = await next.event('session_started');
    expect(begun.continues).toEqual({ session_id: id, from_bytes: 48_000, from_seconds: 1.5 });
    expect(begun.resume_token).not.toBe(token);
    next.socket.close(1000);
  });
});
