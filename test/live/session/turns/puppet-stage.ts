// A session that hears what a test says in place of its providers, and the messages that it is told.
import type { Heard, Utterance } from '../../../../machines/events.ts';
import type { ListenRequest } from '../../../../src/api/listen.ts';
import type { RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { type Puppet, puppetRig } from '../puppet.ts';
import { hum } from '../support.ts';

export const say = (text: string, start = 0, end = start + 0.5): Utterance => ({ text, start, end });
export const partial = (turnId: string, utterance: Utterance): Heard => ({ type: 'partial', turnId, utterance });
export const piece = (turnId: string, utterance: Utterance): Heard => ({ type: 'piece', turnId, utterance });
export const formatted = (turnId: string, utterance: Utterance): Heard => ({
  type: 'turn.formatted',
  turnId,
  utterance,
});
export const ended = (turnId: string, utterance?: Utterance, formattedFollows = false): Heard => ({
  type: 'turn.ended',
  turnId,
  formattedFollows,
  ...(utterance === undefined ? {} : { utterance }),
});

export interface Stage {
  rig: SessionRig;
  puppet: Puppet;
  client: RigClient;
}

/** A session that has received ten seconds of audio, or this. */
export async function stage(
  request: Partial<
    Pick<ListenRequest, 'interimResults' | 'turnEvents' | 'redacted' | 'redactHoldMs' | 'replacements'>
  > = {},
  audio = hum(10),
): Promise<Stage> {
  const { rig, puppet } = puppetRig();
  const client = await rig.open({ model: 'puppet/a', fallbacks: [{ model: 'puppet/b' }], ...request });
  client.session.audio(audio);
  await rig.advance(2, 1);
  return { rig, puppet, client };
}

export const finalsOf = (client: RigClient) =>
  client.finals.map(({ turn, text, start, end }) => [turn, text, start, end]);
