// What is kept of sessions that have ended: for their own organisation, for a while, and no more than there is room for.
import { beforeEach, describe, expect, it } from 'vitest';
import { SESSION_EVENTS_LIMITS } from '../../src/store/session-events.ts';
import { type DirectStore, directStore } from '../fakes/store/direct-store.ts';

let rig: DirectStore;
let us: string;
let them: string;
beforeEach(() => {
  rig = directStore();
  us = rig.customer().organisationId;
  them = rig.customer().organisationId;
});

describe('the events of a session that has ended', () => {
  it('belong to its organisation, as stored first', async () => {
    await rig.store.keepSessionEvents(us, 'ses_1', '[1]');
    await rig.store.keepSessionEvents(us, 'ses_1', '[2]');
    expect(await rig.store.findSessionEvents(us, 'ses_1')).toBe('[1]');
    expect(await rig.store.findSessionEvents(them, 'ses_1')).toBeUndefined();
    expect(await rig.store.findSessionEvents(us, 'ses_2')).toBeUndefined();
  });

  it('expire after their time, whether or not another is stored', async () => {
    await rig.store.keepSessionEvents(us, 'ses_1', '[]');
    rig.clock.nowMs += SESSION_EVENTS_LIMITS.keptMs - 1;
    expect(await rig.store.findSessionEvents(us, 'ses_1')).toBe('[]');
    rig.clock.nowMs += 1;
    expect(await rig.store.findSessionEvents(us, 'ses_1')).toBeUndefined();
  });

  it('make room, the oldest first, and only within their organisation', async () => {
    await rig.store.keepSessionEvents(them, 'ses_theirs', '[]');
    const { sessionsMax, charsMax } = SESSION_EVENTS_LIMITS;
    for (let index = 0; index <= sessionsMax; index++) await rig.store.keepSessionEvents(us, `ses_${index}`, '[]');
    expect(await rig.store.findSessionEvents(us, 'ses_0')).toBeUndefined();
    expect(await rig.store.findSessionEvents(us, 'ses_1')).toBe('[]');
    expect(await rig.store.findSessionEvents(them, 'ses_theirs')).toBe('[]');
    await rig.store.keepSessionEvents(us, 'ses_long', ' '.repeat(charsMax + 1));
    expect(await rig.store.findSessionEvents(us, 'ses_long')).toBeUndefined();
  });

  it('need an existing organisation', async () => {
    await rig.store.keepSessionEvents('org_nobody', 'ses_1', '[]');
    expect(await rig.store.findSessionEvents('org_nobody', 'ses_1')).toBeUndefined();
  });

  it('tell the failovers since a moment: all are counted, the newest named', async () => {
    const failover = (at: string) => ({
      kind: 'mark',
      mark: 'failover',
      text: `at ${at}`,
      at: `2026-11-23T${at}:00.000Z`,
    });
    const since = '2026-11-23T10:00:00.000Z';
    rig.clock.nowMs = Date.parse('2026-11-23T12:00:00.000Z');
    const frames = [failover('09:00'), failover('10:30'), { kind: 'mark', mark: 'warning', text: '', at: since }];
    await rig.store.keepSessionEvents(us, 'ses_1', JSON.stringify(frames));
    await rig.store.keepSessionEvents(us, 'ses_2', JSON.stringify([failover('11:00'), failover('11:30')]));
    await rig.store.keepSessionEvents(them, 'ses_3', JSON.stringify([failover('11:40')]));
    const { count, newest } = await rig.store.listFailovers(us, since, 2);
    expect([count, newest.map(({ sessionId, text }) => [sessionId, text])]).toEqual([
      3,
      [
        ['ses_2', 'at 11:30'],
        ['ses_2', 'at 11:00'],
      ],
    ]);
  });
});
