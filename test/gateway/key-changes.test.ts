// What a person does to a key at the console holds for the very next request with it, whatever was remembered of the key.
import { expect, it } from 'vitest';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { livePerson } from '../fakes/processes/live-person.ts';

it('applies a key’s new settings, roll and revocation to the very next request', async () => {
  const live = await startLiveGateway();
  const person = await livePerson(live, 'ada@example.com', 'correct horse battery');
  const minted = (await (await person.call('POST', 'keys', { name: 'web' })).json()) as Minted;
  const codeOf = async (secret: string) => {
    const headers = { Authorization: `Bearer ${secret}`, Origin: 'https://app.example.com' };
    const response = await live.request('/v1/tokens', { method: 'POST', headers });
    return response.ok ? 200 : ((await response.json()) as { error: { code: string } }).error.code;
  };
  expect(await codeOf(minted.secret)).toBe(200);

  const change = (body: object) => person.call('PATCH', `keys/${minted.key.id}`, body);
  await change({ scopes: ['listen'] });
  expect(await codeOf(minted.secret)).toBe('scope_not_allowed');
  await change({ scopes: ['tokens'], origins: ['https://other.example.com'] });
  expect(await codeOf(minted.secret)).toBe('origin_not_allowed');
  await change({ origins: null });
  expect(await codeOf(minted.secret)).toBe(200);

  const path = `keys/${minted.key.id}/roll`;
  const rolled = (await (await person.call('POST', path, { grace_seconds: 0 })).json()) as Minted;
  expect([await codeOf(minted.secret), await codeOf(rolled.secret)]).toEqual(['key_revoked', 200]);
  await person.call('DELETE', `keys/${rolled.key.id}`);
  expect(await codeOf(rolled.secret)).toBe('key_revoked');
});

interface Minted {
  key: { id: string };
  secret: string;
}
