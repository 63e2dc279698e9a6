// A provider that takes audio and says nothing, in the built program: it is left while a person speaks, and is not while there is music,
// noise or hum, which are as loud.
import { beforeAll, expect, test } from 'vitest';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import type { Serving } from '../../fakes/processes/serving.ts';
import { voicelessClips } from '../../recogniser/voice-clips.ts';
import { CHECKOUT, CREDENTIAL, serve, simulate } from '../rig.ts';

/** Of `deepgram/nova-3`. */
const LIMIT_SECONDS = 8;
const TENTH_MS = 100;

let gateway: Serving;
beforeAll(async () => {
  gateway = await serve(CHECKOUT, {
    VOXGATE_DEEPGRAM_URL: await simulate('deepgram', ['--fault', 'stall-after=0.1s']),
    DEEPGRAM_API_KEY: CREDENTIAL,
    VOXGATE_ASSEMBLYAI_URL: await simulate('assemblyai'),
    ASSEMBLYAI_API_KEY: CREDENTIAL,
  });
}, 60_000);

/** Sends a sound again and again, at the pace of speech. Resolves with the reasons of the failovers. */
async function failovers(samples: Int16Array, sampleRate: number, seconds: number): Promise<string[]> {
  const client = gateway.connect({
    model: 'deepgram/nova-3',
    fallbacks: 'assemblyai/universal-streaming-english',
    sample_rate: String(sampleRate),
  });
  await client.event('session_started');
  const count = sampleRate / 10;
  await new Promise<void>((resolve) => {
    let tenth = 0;
    const timer = setInterval(() => {
      const chunk = Int16Array.from(
        { length: count },
        (_, at) => samples[(tenth * count + at) % samples.length] as number,
      );
      client.send(new Uint8Array(chunk.buffer));
      tenth++;
      if (tenth < seconds * 10 && client.of('failover').length === 0) return;
      clearInterval(timer);
      resolve();
    }, TENTH_MS);
  });
  const reasons = client.of('failover').map(({ reason }) => String(reason));
  client.socket.terminate();
  return reasons;
}

const LOUD = ['an organ', 'a piano', 'a drum', 'noise', 'brown noise', 'the hum of a mains', 'a keyboard', 'breath'];

test('a silent provider is left for a voice within its limit, and never for music, noise, hum, a keyboard or breath', async () => {
  const { pcm, sampleRate } = sampleAudio('reading.wav');
  const speech = new Int16Array(new Uint8Array(pcm).buffer);
  const clips = voicelessClips().filter(({ name }) => LOUD.includes(name));
  expect(clips).toHaveLength(LOUD.length);
  const [reading, ...others] = await Promise.all([
    failovers(speech, sampleRate, LIMIT_SECONDS + 2),
    ...clips.map(({ samples, sampleRate }) => failovers(samples, sampleRate, 2.5 * LIMIT_SECONDS)),
  ]);
  expect(reading).toEqual(['stalled']);
  expect(Object.fromEntries(clips.map(({ name }, at) => [name, others[at]]))).toEqual(
    Object.fromEntries(clips.map(({ name }) => [name, []])),
  );
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/voxgate_voice_checks_total\{[^}]*purpose="stall",outcome="voice"\} 1/);
}, 90_000);
