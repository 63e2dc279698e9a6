// Connections by the SDK: deadlines, an end by the caller, a lost answer, and where the gateway is.
import { afterEach, describe, expect, it } from 'vitest';
import { SAID } from '../../../clients/upstream.ts';
import { FaultProxy, type Program, type ProxyConnection } from '../../../fakes/fault-proxy.ts';
import { type Rig, refusalOf } from '../rig.ts';

export function connectionsSuite(rig: Rig): void {
  const { sdk } = rig;
  const model = 'openai/whisper-1';

  describe('a client that does not wait', () => {
    it('keeps its deadline, and the provider’s work is cancelled', async () => {
      rig.upstream.hold();
      const call = rig.client().audio.transcriptions.create({ model, file: await rig.file() }, { timeout: 200 });
      expect(await refusalOf(call)).toBeInstanceOf(sdk.APIConnectionTimeoutError);
      await rig.upstream.until(() => rig.upstream.left === 1);
      expect(rig.upstream.asked).toHaveLength(1);
    });

    it('may end its call, and the provider is left and nothing charged', async () => {
      const before = await rig.charges();
      rig.upstream.hold();
      const abort = new AbortController();
      const file = await rig.file();
      const call = rig.client().audio.transcriptions.create({ model, file }, { signal: abort.signal });
      void rig.upstream.until(() => rig.upstream.asked.length === 1).then(() => abort.abort());
      expect(await refusalOf(call)).toBeInstanceOf(sdk.APIUserAbortError);
      await rig.upstream.until(() => rig.upstream.left === 1);
      expect(await rig.charges()).toBe(before);
    });
  });

  describe('an answer that is lost', () => {
    let proxy: FaultProxy | undefined;
    afterEach(async () => {
      await proxy?.close();
      proxy = undefined;
    });
    const through = async (program: (connection: ProxyConnection) => Program | undefined) => {
      proxy = await FaultProxy.start({ port: rig.live.gateway.port, program });
      return rig.client({ baseURL: `http://127.0.0.1:${proxy.port}/v1`, maxRetries: 2 });
    };
    /** The connection is reset in the middle of the first answer. */
    const once = ({ number }: ProxyConnection) => (number === 1 ? { toClient: { resetPeerBytes: 10 } } : undefined);

    it.each<[string, object]>([
      ['a header of the call', { headers: { 'Idempotency-Key': 'lost answer, call' } }],
      ['a header of the client', { 'Idempotency-Key': 'lost answer, client' }],
    ])('returns on the SDK’s retry, with one provider call and one charge, with %s', async (where, options) => {
      const before = await rig.charges();
      const client = await through(once);
      const isCall = where.endsWith('call');
      const called = isCall ? client : client.withOptions({ defaultHeaders: options as Record<string, string> });
      const { data, response } = await called.audio.transcriptions
        .create({ model, file: await rig.file() }, isCall ? options : {})
        .withResponse();
      expect([data.text, response.headers.get('idempotency-replayed')]).toEqual([SAID.join(' '), 'true']);
      expect([rig.upstream.asked.length, (await rig.charges()) - before]).toEqual([1, 1]);
    });

    it('makes the retry wait while the provider works on the first', async () => {
      const before = await rig.charges();
      let first: ProxyConnection | undefined;
      const client = await through((connection) => {
        first ??= connection;
        return undefined;
      });
      rig.upstream.hold();
      const headers = { 'Idempotency-Key': 'lost in the middle' };
      const call = client.audio.transcriptions.create({ model, file: await rig.file() }, { headers }).withResponse();
      await rig.upstream.until(() => rig.upstream.asked.length === 1);
      first?.reset();
      await first?.closed;
      rig.upstream.release();
      const { data, response } = await call;
      expect([data.text, response.headers.get('idempotency-replayed')]).toEqual([SAID.join(' '), 'true']);
      expect([rig.upstream.asked.length, (await rig.charges()) - before]).toEqual([1, 1]);
    });

    it('leads to a second charge without a key, because the SDK never sends `idempotencyKey`', async () => {
      const before = await rig.charges();
      const client = await through(once);
      const options = { idempotencyKey: 'never sent' };
      await client.audio.transcriptions.create({ model, file: await rig.file() }, options);
      expect([rig.upstream.asked.length, (await rig.charges()) - before]).toEqual([2, 2]);
    });
  });

  it.each(['/v1', '/v1/'])('finds the gateway at a base URL that ends with %s', async (path) => {
    const client = rig.client({ baseURL: `${rig.live.url}${path}` });
    expect((await client.models.retrieve('loopback/script')).id).toBe('loopback/script');
    const { text } = await client.audio.transcriptions.create({ model, file: await rig.file() });
    expect(text).toBe(SAID.join(' '));
  });

  it('answers the preflight of a page with the headers that the client sends, and 404 where no endpoint is', async () => {
    for (const path of ['/v1/usage', '/v1/models', '/v1/tokens', '/nowhere']) {
      const response = await fetch(`${rig.live.url}${path}`, {
        method: 'OPTIONS',
        headers: {
          Origin: 'https://app.example.com',
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'authorization,x-stainless-lang',
        },
      });
      const allowed = response.headers.get('access-control-allow-headers');
      expect([response.status, /authorization/i.test(allowed ?? '')]).toEqual(
        path === '/nowhere' ? [404, false] : [204, true],
      );
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });
}
