// The end of a session and of a turn against the wire protocols of real providers: slow tails, goodbyes that never come, and empty
// windows before the words that a killed leg has shown.
import { describe, expect, it } from 'vitest';
import { expectAllHeard, Incident } from '../incident.ts';
import { turnsOf } from '../spoken.ts';

const NOVA = 'deepgram/nova-3';
const UNIVERSAL = 'assemblyai/universal-streaming-english';
const providerOf = (slug: string) => slug.split('/')[0] as string;

describe.each([NOVA, UNIVERSAL])('%s without a fallback', (slug) => {
  it.each(['5s', '12s', '19s'])('delivers every final and closes with 1000 when the tail is %s late', async (late) => {
    const incident = new Incident({ faults: { [providerOf(slug)]: [`slow-tail=${late}`] } });
    const caller = await incident.play([slug]);
    expectAllHeard(caller, incident);
    expect([incident.dials.length, incident.failures]).toEqual([1, []]);
    await incident.close();
  });

  it('closes with 1000 when every final arrived but the goodbye never comes', async () => {
    const incident = new Incident({ faults: { [providerOf(slug)]: ['slow-close'] } });
    const caller = await incident.play([slug]);
    expectAllHeard(caller, incident);
    expect(incident.dials).toHaveLength(1);
    await incident.close();
  });
});

describe.each([
  [NOVA, UNIVERSAL],
  [UNIVERSAL, NOVA],
])('%s killed, %s takes over', (from, to) => {
  // Each turn is a tone of 1.2 s and a silence of 0.8 s.
  it.each([500, 900, 1_500, 2_500, 2_900, 3_700, 4_600])(
    'delivers every word once after a kill at %d ms, despite empty windows and slow tail',
    async (atMs) => {
      const turns = turnsOf(['Good morning.', 'This is the second turn.', 'Yes.', 'That is all.']);
      const incident = new Incident({
        turns,
        faults: {
          [providerOf(from)]: [`drop-after=${atMs}ms`],
          [providerOf(to)]: ['empty-start=100ms', 'slow-tail=15s'],
        },
      });
      const caller = await incident.play([from, to]);
      expectAllHeard(caller, incident);
      expect(caller.client.finals.map(({ text }) => text)).not.toContain('');
      await incident.close();
    },
  );
});
