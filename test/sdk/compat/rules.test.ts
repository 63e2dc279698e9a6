// Redaction, replacements and tags as official clients request them in their own words, over a model that has none of these: what the
// client receives, live and of files, and its own error where a spend ceiling or `auto` leaves no model.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGatewayProvider } from '@ai-sdk/gateway';
import { DeepgramError } from '@deepgram/sdk';
import { ElevenLabsError } from '@elevenlabs/elevenlabs-js';
import { SonioxNodeClient } from '@soniox/node';
import { RealtimeClient } from '@speechmatics/real-time-client';
import { experimental_transcribe as transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Aliases } from '../../../src/api/listen.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { assemblyaiClient } from '../drivers/assemblyai.ts';
import { deepgramClient } from '../drivers/deepgram.ts';
import { elevenlabsClient } from '../drivers/elevenlabs.ts';
import { gladiaClient, recorded } from '../drivers/gladia.ts';
import { openaiClient } from '../drivers/openai.ts';
// Its client needs a global WebSocket, which this sets.
import '../drivers/soniox.ts';
import { recognised, speechmaticsFiles } from '../drivers/speechmatics.ts';
import { openTlsFront } from '../simulator/tls-front.ts';

const BY = { type: 'operator', id: 'test' } as const;
const TURNS = [{ text: 'My card is 4111 1111 1111 1111 and vox gate is ready.', seconds: 1 }];
const CLEAN = 'My card is [CARD] and Voxgate is ready.';
const ALIASES: Aliases = { scripted: [{ model: 'loopback/script', provider_params: { turns: TURNS } }] };
const WAV = silentWav(1);
const PIECES = [new Uint8Array(16_000), new Uint8Array(16_000)];

type Job = { url: string; key: string; model: string; sampleRate: number };
let live: LiveGateway;
let job: Job;
/** Of a gateway whose spend ceiling is reached. */
let spent: Job;

async function keyOf(directory: string): Promise<string> {
  const store = await openSqliteStore({ directory });
  const [organisation] = await store.listOrganisations();
  const key = await store.createKey(organisation!.id, { aliases: ALIASES }, BY);
  await store.close();
  return key.secret;
}

beforeAll(async () => {
  live = await startLiveGateway();
  const base = { model: 'scripted', sampleRate: 16_000 };
  job = { ...base, url: live.url, key: await keyOf(live.directory) };
  const prices = join(temporaryDirectory(), 'prices.json');
  const price = { unit: 'minute', amount: '0.6' };
  writeFileSync(prices, JSON.stringify({ 'loopback/script': { live: price, batch: price } }));
  const full = await startLiveGateway({ VOXGATE_PRICES_FILE: prices, VOXGATE_SPEND_CEILINGS: '0/day' });
  spent = { ...base, url: full.url, key: await keyOf(full.directory) };
});

/** All that a client received: neither the number nor the words that were replaced are anywhere in it. */
function expectClean(received: unknown): string {
  const text = JSON.stringify(received);
  expect(text).not.toMatch(/4111|1111|vox gate/i);
  return text;
}

const file = () => new File([new Uint8Array(WAV)], 'speech.wav', { type: 'audio/wav' });

interface Word {
  punctuated_word: string;
}

describe('Deepgram’s SDK', () => {
  const asked = { redact: 'pci', replace: ['vox gate:Voxgate'], tag: ['customer:acme'] };

  it('reads a file with `redact`, `replace` and `tag`', async () => {
    const { media } = deepgramClient(job).listen.v1;
    const heard = await media.transcribeFile(WAV, { model: job.model, ...asked } as never);
    expect(expectClean(heard)).toContain(CLEAN);
    const { results } = heard as unknown as { results: { channels: { alternatives: { words: Word[] }[] }[] } };
    const { words } = results.channels[0]!.alternatives[0]!;
    expect(words.map(({ punctuated_word }) => punctuated_word)).toContain('[CARD]');
    expect(await usageOf('customer')).toContain('acme');
  });

  it.each(['v1', 'v2'] as const)('listens with `redact`, `replace` and `tag` by %s', async (version) => {
    const options = { model: job.model, encoding: 'linear16', sample_rate: 16_000, interim_results: 'true', ...asked };
    const socket = await deepgramClient(job).listen[version].connect({ ...options, reconnectAttempts: 0 } as never);
    const messages: unknown[] = [];
    socket.on('message', (message: unknown) => messages.push(message));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.connect();
    await socket.waitForOpen();
    for (const piece of PIECES) socket.sendMedia(piece);
    socket.sendCloseStream({ type: 'CloseStream' } as never);
    await closed;
    expect(expectClean(messages)).toContain(CLEAN);
  });

  it('throws its own error at a spend ceiling, and for `auto` without a model', async () => {
    const send = ({ url, key, model }: Job) =>
      deepgramClient({ url, key }).listen.v1.media.transcribeFile(WAV, { model, language: 'xx' } as never);
    const refused = await send(spent).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DeepgramError);
    expect(refused).toMatchObject({ statusCode: 429, body: { message: expect.stringContaining('spend ceiling') } });
    const none = await send({ ...job, model: 'auto' }).catch((error: unknown) => error);
    expect(none).toBeInstanceOf(DeepgramError);
    expect(none).toMatchObject({ statusCode: 422, body: expect.anything() });
  });
});

async function usageOf(tag: string): Promise<string[]> {
  const response = await fetch(`${live.url}/v1/usage?group_by=tag:${tag}`, {
    headers: { Authorization: `Bearer ${job.key}` },
  });
  const { data } = (await response.json()) as { data: { group: string }[] };
  return data.map(({ group }) => group);
}

describe('OpenAI’s SDK', () => {
  const create = async ({ url, key, model }: Job, more: object = {}) =>
    openaiClient({ url, key }).audio.transcriptions.create({
      ...{ file: await toFile(WAV, 'speech.wav', { type: 'audio/wav' }), model },
      ...more,
    } as never);

  it('reads a file with fields of the gateway', async () => {
    const more = { redact: ['card'], replace: ['vox gate:Voxgate'], tags: { team: 'a' } };
    const heard = await create(job, { ...more, response_format: 'verbose_json' });
    expect(expectClean(heard)).toContain(CLEAN);
    expect(await usageOf('team')).toContain('a');
  });

  it('throws its own errors', async () => {
    const refused = await create(spent).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
    expect(refused).toMatchObject({ code: 'spend_ceiling_reached' });
    const none = await create({ ...job, model: 'auto' }, { language: 'xx' }).catch((error: unknown) => error);
    expect(none).toBeInstanceOf(OpenAI.UnprocessableEntityError);
    expect(none).toMatchObject({ code: 'no_model_available' });
    const wrong = await create(job, { replace: ['no colon'] }).catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(OpenAI.BadRequestError);
    expect(wrong).toMatchObject({ code: 'invalid_request', param: 'replace' });
  });
});

describe('AssemblyAI’s SDK', () => {
  it('reads a file with `redact_pii` and `custom_spelling`', async () => {
    const heard = await assemblyaiClient(job).transcripts.transcribe(
      {
        ...{ audio: Buffer.from(WAV), speech_models: [job.model], redact_pii: true },
        redact_pii_policies: ['credit_card_number'],
        custom_spelling: [{ from: ['vox gate'], to: 'Voxgate' }],
      } as never,
      { pollingInterval: 50 },
    );
    const { text, words } = heard;
    expect(text).toBe(CLEAN);
    expect(expectClean(words)).toContain('[CARD]');
  });

  it('listens with `redactPii`, and with rules of the gateway in the address', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    const front = await openTlsFront(Number(new URL(job.url).port));
    try {
      const transcriber = assemblyaiClient(job).streaming.transcriber({
        websocketBaseUrl: `${front.url}/compat/assemblyai/v3/ws`,
        ...{ sampleRate: 16_000, speechModel: job.model as never, redactPii: true, maxConnectionRetries: 0 },
        connectTimeout: 20_000,
      });
      const turns: { transcript: string }[] = [];
      transcriber.on('turn', (turn) => turns.push(turn));
      await transcriber.connect();
      for (const piece of PIECES) transcriber.sendAudio(piece.slice().buffer as ArrayBuffer);
      await transcriber.close(true, 60_000);
      expect(JSON.stringify(turns)).not.toMatch(/4111|1111/);
      expect(turns.map(({ transcript }) => transcript)).toContain('My card is [CARD] and vox gate is ready.');
    } finally {
      await front.close();
    }
  });

  it('throws an error with the gateway’s sentence', async () => {
    const send = ({ url, key, model }: Job) =>
      assemblyaiClient({ url, key }).transcripts.transcribe(
        { audio: Buffer.from(WAV), speech_models: [model] } as never,
        { pollingInterval: 50 },
      );
    const told = await send(spent).then(
      ({ error }) => error,
      ({ message }: Error) => message,
    );
    expect(told).toContain('spend ceiling');
  });
});

describe('ElevenLabs’ SDK', () => {
  const convert = ({ url, key, model }: Job, more: object = {}) =>
    elevenlabsClient({ url, key }).speechToText.convert({ modelId: model as never, file: file(), ...more });

  it('reads a file with `entityRedaction`, over another model than its own', async () => {
    const heard = await convert(job, { entityRedaction: ['pci'] });
    expect(JSON.stringify(heard)).not.toMatch(/4111|1111/);
    expect(heard).toMatchObject({ text: 'My card is [CARD] and vox gate is ready.' });
  });

  it('throws its own errors', async () => {
    const refused = await convert(spent).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ElevenLabsError);
    expect(refused).toMatchObject({ statusCode: 429 });
    const none = await convert({ ...job, model: 'auto' }, { languageCode: 'xx' }).catch((error: unknown) => error);
    expect(none).toMatchObject({ statusCode: 422 });
  });
});

describe('Gladia’s SDK', () => {
  const spelling = {
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: { Voxgate: ['vox gate'] } },
  };

  it('reads a file with `pii_redaction` and `custom_spelling`', async () => {
    const options = { model: job.model, pii_redaction: true, ...spelling };
    const heard = await gladiaClient(job)
      .preRecordedV2()
      .transcribe(file(), options as never, { interval: 50 });
    expect(expectClean(heard.result)).toContain(CLEAN);
  });

  it('listens with `custom_spelling`', async () => {
    const said = await recorded(job, PIECES, { realtime_processing: spelling });
    const transcripts = JSON.stringify(said.filter(({ type }) => type === 'transcript'));
    expect(transcripts).toContain('Voxgate is ready');
    expect(transcripts).not.toContain('vox gate');
  });

  it('throws an error with the status and the gateway’s sentence', async () => {
    const refused = await recorded(spent, PIECES).catch((error: unknown) => error);
    expect(String((refused as Error).message ?? refused)).toMatch(/spend ceiling|429/);
  });
});

describe('Speechmatics’ SDKs', () => {
  const replacements = { transcript_filtering_config: { replacements: [{ from: 'vox gate', to: 'Voxgate' }] } };

  it('read a file with `replacements`', async () => {
    const config = { transcription_config: { language: 'en', model: job.model, ...replacements } };
    const heard = await speechmaticsFiles(job).transcribe(file(), config as never, 'json-v2');
    expect(JSON.stringify(heard)).toContain('Voxgate');
  });

  it('listen with `replacements`, and with `redact` in the address', async () => {
    const said: unknown[] = [];
    const url = `${job.url.replace('http', 'ws')}/compat/speechmatics/v2?model=${job.model}&redact=card`;
    const client = new RealtimeClient({ url });
    const ended = new Promise<void>((resolve, reject) =>
      client.addEventListener('receiveMessage', ({ data }) => {
        said.push(data);
        if (data.message === 'EndOfTranscript') resolve();
        if (data.message === 'Error') reject(new Error(data.reason));
      }),
    );
    const started = client.start(job.key, {
      audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
      transcription_config: { language: 'en', enable_partials: true, ...replacements } as never,
    });
    await Promise.race([started, ended]);
    for (const piece of PIECES) client.sendAudio(piece);
    await client.stopRecognition({ noTimeout: true });
    await ended;
    expect(expectClean(said)).toContain('[CARD] and Voxgate is ready');
  });

  it('receive an error at a spend ceiling', async () => {
    await expect(recognised(spent, PIECES)).rejects.toThrow(/quota_exceeded|spend ceiling/);
  });
});

describe('Soniox’ SDK', () => {
  it('listens with rules of the gateway in the address', async () => {
    const rules = 'redact=card&replace=vox%20gate:Voxgate&tags=customer:soniox';
    const client = new SonioxNodeClient({
      api_key: job.key,
      realtime: { ws_base_url: `${job.url.replace('http', 'ws')}/compat/soniox/transcribe-websocket?${rules}` },
    });
    const session = client.realtime.stt({
      ...{ model: job.model, audio_format: 'pcm_s16le', sample_rate: 16_000, num_channels: 1 },
      enable_endpoint_detection: true,
    });
    const results: { tokens: { text: string }[] }[] = [];
    session.on('result', (result) => results.push(result));
    await session.connect();
    for (const piece of PIECES) session.sendAudio(piece);
    await session.finish();
    const texts = results.map(({ tokens }) => tokens.map(({ text }) => text).join(''));
    expect(texts.join('\n')).not.toMatch(/4111|1111|vox gate/i);
    expect(texts.join('\n')).toContain('[CARD] and Voxgate is ready');
    expect(await usageOf('customer')).toContain('soniox');
  });
});

describe('Vercel’s AI SDK', () => {
  it('reads a file with options of `voxgate`', async () => {
    const gateway = createGatewayProvider({ baseURL: `${job.url}/compat/vercel/v3/ai`, apiKey: job.key });
    const voxgate = { redact: ['card'], replace: ['vox gate:Voxgate'], tags: { customer: 'vercel' } };
    const { text, segments } = await transcribe({
      ...{ model: gateway.transcriptionModel(job.model), audio: WAV, providerOptions: { voxgate }, maxRetries: 0 },
    });
    expect(expectClean([text, segments])).toContain(CLEAN);
    expect(await usageOf('customer')).toContain('vercel');
  });
});
