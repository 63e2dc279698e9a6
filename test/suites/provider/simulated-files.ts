// Files of every provider against its simulator: of numbered audio each sample is in one utterance, with every model.
import { describe, expect, it } from 'vitest';
import { modelOf } from '../../../src/api/slug.ts';
import { wavHeader } from '../../../src/audio/containers/wav.ts';
import type {
  BatchStep,
  HttpAnswer,
  HttpBatchCodec,
  HttpRequest,
  Provider,
} from '../../../src/vendors/kit/provider.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../../src/vendors/simulation/stage.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { EventClock } from '../../simulation/event-clock.ts';
import { gapsIn } from '../../simulation/whole.ts';
import { batchRequest } from './requests.ts';
import { TURN_SECONDS } from './simulated-leg.ts';

const RATE = 16_000;
const SAMPLES = 5 * RATE;
const HOUR_MS = 3_600_000;

/** A file of numbered audio, and how each model of the provider transcribes it at its simulator. */
export function simulatedFiles(codec: HttpBatchCodec, simulator: ProviderSimulator) {
  const pcm = numberedAudio(0, SAMPLES);
  const bytes = Buffer.concat([wavHeader(RATE, pcm.length), pcm]);
  const file = { name: 'audio.wav', contentType: 'audio/wav', bytes: bytes.length, seconds: SAMPLES / RATE };

  return async (slug: string, credential = 'good-key'): Promise<BatchStep> => {
    const clock = new EventClock();
    const stage = new SimulatorStage({ simulator, ear: numberedEar({ turnSeconds: TURN_SECONDS }), clock });
    const access = { baseUrl: 'http://provider.test', credential };
    const { state, step } = codec.begin(batchRequest({ model: modelOf(slug), access, wordTimestamps: true, file }));
    let next = step;
    while (next.type === 'request') {
      const answering = answerOf(stage, next.request, bytes);
      let isAnswered = false;
      const note = () => {
        isAnswered = true;
      };
      answering.then(note, note);
      await clock.run(clock.now() + HOUR_MS, () => isAnswered);
      const answer = await answering;
      const failure = answer.status < 300 ? undefined : codec.refused?.(state, answer);
      next = failure === undefined ? codec.read(state, answer) : { type: 'failed', failure };
    }
    return next;
  };
}

export function testSimulatedFiles(
  { name, models }: Provider,
  codec: HttpBatchCodec,
  simulator: ProviderSimulator,
): void {
  const slugs = models.filter(({ modes }) => modes.includes('batch')).map(({ id }) => id);
  const transcribed = simulatedFiles(codec, simulator);

  describe(`${name} simulated: a file`, () => {
    it.each(slugs)('gets a whole transcript from %s', async (slug) => {
      const last = await transcribed(slug);
      if (last.type !== 'done') throw new Error(JSON.stringify(last));
      const heard = last.result.utterances.map((each, turn) => ({ ...each, turn }));
      expect(gapsIn(heard, SAMPLES, RATE, [])).toEqual([]);
    });
  });
}

/** Sends one request of a codec to a simulator. */
async function answerOf(
  stage: SimulatorStage,
  { method, url, headers, body }: HttpRequest,
  file: Buffer,
): Promise<HttpAnswer> {
  const sent = new Request('http://provider.test', { method: 'POST', ...bodyOf(body, file) });
  const type = sent.headers.get('content-type');
  const lower = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]);
  const answer = await stage.http({
    method,
    url: new URL(url),
    headers: { ...(type === null ? {} : { 'content-type': type }), ...Object.fromEntries(lower) },
    body: new Uint8Array(await sent.arrayBuffer()),
  });
  if (answer === undefined) throw new Error('It is not answered.');
  const { status, headers: own = {}, body: said = '' } = answer;
  return { status, headers: own, body: typeof said === 'string' ? said : JSON.stringify(said) };
}

function bodyOf(body: HttpRequest['body'], file: Buffer): { body?: FormData | Buffer<ArrayBuffer> | string } {
  if (body.kind === 'none') return {};
  if (body.kind === 'json') return { body: JSON.stringify(body.json) };
  if (body.kind === 'file') return { body: Buffer.from(file) };
  if (body.kind === 'json-file')
    return { body: JSON.stringify({ ...body.json, [body.fileMember]: file.toString('base64') }) };
  const form = new FormData();
  for (const [member, value] of body.fields) form.append(member, value);
  form.append(body.fileField, new File([Buffer.from(file)], 'audio.wav', { type: 'audio/wav' }));
  return { body: form };
}
