// What a session makes of a client's text frames: a message does what it says, anything else gets one error and harms nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeClientMessage } from '../../../src/live/socket/client-message.ts';
import { type RigClient, SessionRig } from '../../fakes/session-rig.ts';
import { expectInOrder, silence } from './support.ts';

/** Hands a text frame over as the edge does. */
function type(client: RigClient, text: string): boolean {
  const decoded = decodeClientMessage(Buffer.from(text));
  if ('message' in decoded) client.session.control(decoded.message);
  else client.session.misunderstood(decoded.fault, decoded.param);
  return 'message' in decoded;
}

describe('the text frames of a session', () => {
  it('cause one non-fatal error each when invalid, and the session continues', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.json(), fc.string()), { maxLength: 20 }), async (texts) => {
        const rig = new SessionRig();
        const client = await rig.open({ providerParams: { turns: [{ text: 'one', seconds: 1 }] } });
        let faults = 0;
        for (const text of texts) if (!type(client, text)) faults++;
        client.session.audio(silence(1));
        type(client, '{"type":"close"}');
        await rig.advance(100);
        expect(client.of('error').map(({ error }) => [error.code, error.type])).toEqual(
          Array.from({ length: faults }, () => ['invalid_request', 'invalid_request_error']),
        );
        expect([client.closeCode, client.finals.length]).toEqual([1000, 1]);
        expectInOrder(client);
      }),
      { numRuns: 50 },
    );
  });

  it('finalize ends the turn where the audio is, and does nothing between two turns', async () => {
    const rig = new SessionRig();
    const client = await rig.open({ providerParams: { turns: [{ text: 'one two', seconds: 60 }] } });
    type(client, '{"type":"finalize"}');
    client.session.audio(silence(1));
    type(client, '{"type":"finalize"}');
    type(client, '{"type":"finalize"}');
    await rig.advance(100);
    client.session.audio(silence(0.5));
    type(client, '{"type":"finalize"}');
    await rig.advance(100);
    expect(client.finals.map(({ start, end }) => [start, end])).toEqual([
      [0, 1],
      [1, 1.5],
    ]);
    expect(client.of('error')).toEqual([]);
    expectInOrder(client);
  });

  it('name the member at fault and the request', async () => {
    const rig = new SessionRig();
    const client = await rig.open();
    type(client, '{"type":"stop"}');
    type(client, 'stop');
    expect(client.of('error').map(({ error }) => [error.param, error.request_id])).toEqual([
      ['type', 'req_1'],
      [null, 'req_1'],
    ]);
    expect(rig.refusals).toEqual({ invalid_request: 2 });
  });
});
