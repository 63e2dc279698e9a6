// Google's official SDK, unmodified, against the simulated Google: streaming calls over gRPC, and a short file over REST; and the
// gateway's own leg over real sockets, with the token of a service account.
import { generateKeyPairSync, verify } from 'node:crypto';
import { v2 } from '@google-cloud/speech';
import { credentials } from '@grpc/grpc-js';
import { afterEach, expect, it } from 'vitest';
import { checkCredential } from '../../../src/live/upstream/credential-check.ts';
import { HttpPools } from '../../../src/live/upstream/http/pools.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { google } from '../../../src/vendors/google/index.ts';
import { accessOf, type CredentialFields, type CredentialForm } from '../../../src/vendors/kit/credentials.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { SessionRig } from '../../fakes/session-rig.ts';
import { scripted, TURNS } from '../../suites/provider/scripted.ts';

const RECOGNIZER = 'projects/acme/locations/global/recognizers/_';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const PRIVATE_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

// It asks nobody whether it runs at Google.
process.env.METADATA_SERVER_DETECTION = 'none';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const simulated = scripted('google');
// A call is given up when nothing comes for ten seconds: not many times faster, as the machine may be busy.
const serve = () => simulated({ speed: 4 });

async function client(): Promise<v2.SpeechClient> {
  const { port } = await serve();
  const speech = new v2.SpeechClient({
    ...{ apiEndpoint: '127.0.0.1', port, sslCreds: credentials.createInsecure() },
    projectId: 'acme',
  });
  closing.unshift(() => speech.close());
  return speech;
}

interface Said {
  results?: { isFinal?: boolean; alternatives?: { transcript?: string; words?: unknown[] }[] }[];
  speechEventType?: string;
}

/** What a call says to two seconds of audio, to its end. */
async function streamed(speech: v2.SpeechClient, key: string, config: object): Promise<Said[]> {
  const otherArgs = { headers: { 'x-goog-api-key': key, 'x-goog-request-params': `recognizer=${RECOGNIZER}` } };
  const stream = speech._streamingRecognize({ otherArgs });
  const said: Said[] = [];
  stream.on('data', (each: Said) => said.push(each));
  const ended = new Promise<void>((resolve, reject) => {
    stream.once('end', () => resolve());
    stream.once('error', reject);
  });
  stream.write({
    recognizer: RECOGNIZER,
    streamingConfig: {
      config: {
        explicitDecodingConfig: { encoding: 'LINEAR16', sampleRateHertz: 16_000, audioChannelCount: 1 },
        ...config,
      },
      streamingFeatures: { interimResults: true, enableVoiceActivityEvents: true },
    },
  });
  for (let chunk = 0; chunk < 20; chunk++) stream.write({ audio: new Uint8Array(3_200) });
  stream.end();
  await ended;
  return said;
}

const config = { model: 'long', languageCodes: ['en-US'], features: { enableWordTimeOffsets: true } };

it('gets interims, voice activity and finals with words in a call', async () => {
  const said = await streamed(await client(), 'good-key', config);
  const results = said.flatMap((each) => each.results ?? []);
  const finals = results.filter(({ isFinal }) => isFinal).map(({ alternatives }) => alternatives?.[0]);
  expect(finals.map((each) => [each?.transcript, each?.words?.length])).toEqual([
    [' hello and welcome.', 3],
    [' good bye', 2],
  ]);
  expect(results.length).toBeGreaterThan(2);
  expect(said.map(({ speechEventType }) => speechEventType)).toContain('SPEECH_ACTIVITY_BEGIN');
});

it('gets errors as gRPC statuses', async () => {
  const speech = await client();
  const wrong = { ...config, model: 'chirp_3' };
  await expect(streamed(speech, 'good-key', wrong)).rejects.toMatchObject({
    ...{ code: 3, message: expect.stringMatching(/does not support word time offsets/) },
  });
});

it('signs for a service account, which is accepted', async () => {
  const fields: CredentialFields = {
    ...{ type: 'service_account', project_id: 'acme', private_key_id: 'key-1', client_email: 'voxgate@acme.test' },
    ...{ private_key: PRIVATE_KEY, region: 'eu' },
  };
  const { url } = await serve();
  const kept = accessOf(google.credentialForm as CredentialForm, { baseUrl: url }, fields);
  const ofService = Buffer.from(JSON.stringify(fields)).toString('base64');
  const pools = new HttpPools();
  closing.push(() => pools.close());
  for (const access of [kept, { baseUrl: url, credential: ofService }]) {
    const shown = google.authorize?.(access, 1_700_000_000_000) ?? access;
    const [head = '', claims = '', signature = ''] = shown.credential?.split('.') ?? [];
    expect(verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(
      true,
    );
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      ...{ iss: 'voxgate@acme.test', sub: 'voxgate@acme.test', aud: 'https://speech.googleapis.com/' },
      ...{ iat: 1_699_999_970, exp: 1_700_003_570 },
    });
    expect(shown.fields).toEqual({
      type: 'service_account',
      project_id: 'acme',
      client_email: undefined,
      region: 'eu',
    });
    // Neither what signs nor what is signed is shown to anybody.
    expect(shown.secrets).toEqual(expect.arrayContaining([fields.private_key, shown.credential]));
    expect(await checkCredential(google, shown, { pools, clock: systemClock })).toBe('accepted');
  }
});

it('transcribes a session over a real call, and leaves no connection', async () => {
  const server = await serve();
  const access = () => ({ baseUrl: server.url, credential: 'good-key' });
  const rig = new SessionRig({ clock: systemClock, providers: [google], access });
  const session = await rig.open({ model: 'google/long', sampleRate: 16_000 });
  // Not of silence, which a leg that is behind is not sent.
  session.session.audio(numberedAudio(0, 32_000));
  session.session.control({ type: 'close' });
  await session.ended();
  rig.breakers.close();
  expect(session.finals.map(({ text }) => text)).toEqual(TURNS.map(({ text }) => text));
  expect([session.closeCode, session.of('failover'), rig.faults, rig.upstream.size]).toEqual([1000, [], [], 0]);
});
