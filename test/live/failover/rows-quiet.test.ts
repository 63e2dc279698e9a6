// A client that sends nothing for minutes, by the defaults of the configuration and with every protocol: its session goes on, the
// provider's connection is let go of in order and made again with the next audio, and nothing is lost, doubled or told.
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { expectAllHeard, Incident, type Manner } from './incident.ts';
import { DRAWN } from './protocols.ts';

const { idleMs, suspendMs } = loadConfig({}, { providers: [] }).session;
const FIVE_MINUTES_MS = 300_000;

const manners: [string, Manner][] = [
  ['one chunk', { silent: { afterChunk: 0, ms: FIVE_MINUTES_MS } }],
  ['a whole turn', { silent: { afterChunk: 18, ms: FIVE_MINUTES_MS } }],
  ['a turn that it ended', { silent: { afterChunk: 18, ms: FIVE_MINUTES_MS }, finalizeAfterChunk: 18 }],
];

describe.each(DRAWN)('$slug', ({ slug, provider, givesInterims }) => {
  it.each(manners)('continues after %s and five minutes of nothing', async (_, manner) => {
    const incident = new Incident({ settings: { idleMs, suspendMs } });
    const caller = await incident.play([slug], manner);
    expect(incident.failures).toEqual([]);
    const owed = givesInterims ? [] : ['interim_results_unsupported'];
    // The speech gate of these models has no voice detector here.
    if (/whisper/.test(slug)) owed.push('speech_gate_unavailable');
    expect(caller.client.of('warning').map(({ code }) => code)).toEqual(owed);
    expect(caller.client.of('session_ended')).toMatchObject([{ reason: 'client_closed', audio_seconds: 8 }]);
    expect(incident.dialsTo(provider)).toHaveLength(2);
    if (manner.silent?.afterChunk === 18) expectAllHeard(caller, incident);
    await incident.close();
  });
});
