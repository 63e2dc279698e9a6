// What a session that has ended holds of its organisation's pace, however often its client comes back for its last events.
import { expect, it, vi } from 'vitest';
import type { SocketHandlers } from '../../../src/http/server.ts';
import type { ResumableLine } from '../../../src/live/resume/resumable-line.ts';
import { ResumableSessions } from '../../../src/live/resume/resumable-sessions.ts';
import { answerListen } from '../../../src/live/socket/listen.ts';
import { listenRig, request, socket } from '../socket/listen-rig.ts';

it('frees itself once, and with each of its later sockets', async () => {
  const rig = listenRig({
    query: 'model=loopback/script&resume=on',
    open: () => ({ gone: vi.fn(), drained: vi.fn() }),
  });
  const { clock, dependencies } = rig;
  const resumables = new ResumableSessions(clock, 60_000, () => new Date(0), vi.fn());
  const opened = vi.spyOn(resumables, 'open');
  Object.assign(dependencies, { resumables });
  const { paces } = dependencies;
  const [ending, other] = [await rig.accepted(), await rig.accepted()];
  for (const handlers of [ending, other]) handlers.open(socket);
  const line = opened.mock.results[0]?.value as ResumableLine;
  line.close(1000, '');
  ending.closed(socket, 1000, '');
  const sizes = [paces.size];
  const resume = async (): Promise<SocketHandlers> => {
    const query = `resume=${line.token}&last_seq=0`;
    const answer = await answerListen({ ...request, query }, 'req_1', dependencies);
    if (!('accept' in answer)) throw new Error('It was refused.');
    return answer.accept;
  };
  for (let time = 0; time < 3; time++) {
    const accept = await resume();
    accept.open(socket);
    sizes.push(paces.size);
    accept.closed(socket, 1000, '');
  }
  const unopened = await resume();
  unopened.closed(socket, 1006, '');
  sizes.push(paces.size);
  other.closed(socket, 1000, '');
  expect([...sizes, paces.size]).toEqual([1, 2, 2, 2, 1, 0]);
});
