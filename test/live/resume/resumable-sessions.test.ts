// Sessions that ended while their clients were gone: a node that is shut down knows for whom it still has something.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ServerSocket } from '../../../src/http/server.ts';
import { ResumableSessions, type Resuming } from '../../../src/live/resume/resumable-sessions.ts';
import type { SessionOpening } from '../../../src/live/session/session-opening.ts';

const RESUME_MS = 60_000;
const GONE = 1006;
const socket = { send: () => 'sent', close: () => {}, closed: false } as unknown as ServerSocket;
const opening = { sessionId: 'ses_a', organisationId: 'org_a', keyId: 'key_a' } as SessionOpening;

/** A session whose client is gone, or there, when it ends. */
function ended(isGone: boolean) {
  const clock = new SimulatedClock();
  const sessions = new ResumableSessions(
    clock,
    RESUME_MS,
    () => new Date(0),
    () => {},
  );
  const resuming = {
    takenBytes: 0,
    resume: (next: ServerSocket, after: number) => line.attach(next, after, 0, 1),
    leave: () => {},
  } as unknown as Resuming;
  const line = sessions.open(opening, socket, resuming);
  line.send('final');
  if (isGone) sessions.waits(line, GONE);
  line.close(4200, '');
  let isHeard = false;
  const heard = sessions.heard().then(() => {
    isHeard = true;
  });
  const find = () => sessions.find({ ...opening, token: line.token, after: 0 });
  return { clock, sessions, find, heard, isHeard: () => isHeard };
}

describe('the end of a session', () => {
  it('waits until its client has returned for it', async () => {
    const { sessions, find, heard, isHeard } = ended(true);
    await Promise.resolve();
    expect(isHeard()).toBe(false);
    const found = find();
    if (found === undefined || found === 'unsaid') throw new Error('The session is not there.');
    sessions.next(found, 0).open(socket);
    await heard;
  });

  it('waits at most as long as a client may take to return', async () => {
    const { clock, heard, isHeard } = ended(true);
    clock.increment(RESUME_MS - 1);
    await Promise.resolve();
    expect(isHeard()).toBe(false);
    clock.increment(1);
    await heard;
  });

  it('does not wait where its client is connected', async () => {
    await ended(false).heard;
  });
});
