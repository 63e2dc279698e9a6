// Sessions by the hundred in every way they can end: when they are gone, everything they held is gone.
import { describe, expect, it } from 'vitest';
import { endings, run } from './endings.ts';
import { expectInOrder, storyOf } from './support.ts';

describe('sessions by the hundred', () => {
  it.each(endings)('leave nothing when $ending', async (ending) => {
    const clients = await run(ending);
    const [code, reason, error] = ending.told;
    for (const client of clients) {
      expect([client.closeCode, client.of('session_ended')[0]?.reason, client.of('error').at(-1)?.error.code]).toEqual([
        code,
        reason,
        error,
      ]);
      expectInOrder(client);
    }
    expect(new Set(clients.map((client) => storyOf(client).join())).size).toBe(1);
  });
});
