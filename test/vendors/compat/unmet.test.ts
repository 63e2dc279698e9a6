// What vendors' clients ask for and is not done, or not all of it: it is told, and nothing is refused for it.
import { on, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import { startDialectRig } from './rig.ts';

const rig = startDialectRig();
const bytes = new Uint8Array(sampleAudio('commands.wav').bytes);
const TERMS = Array.from({ length: 150 }, (_, at) => `term${at}`);
const termsAs = (name: string) => TERMS.map((term) => `${name}=${term}`).join('&');
const RAW = 'encoding=linear16&sample_rate=16000';

/** The header of the handshake's answer. */
async function handshake(path: string, headers: Record<string, string>): Promise<string | undefined> {
  const socket = new WebSocket(`${rig.gateway.url.replace('http', 'ws')}/compat${path}`, { headers });
  const [response] = await once(socket, 'upgrade');
  socket.terminate();
  return response.headers['voxgate-warning'];
}

const deepgram = () => ({ Authorization: `Token ${rig.key}` });
const elevenlabs = () => ({ 'xi-api-key': rig.key });
const gladia = () => ({ 'x-gladia-key': rig.key });
const bearer = () => ({ Authorization: `Bearer ${rig.key}` });

/** The header of a file's answer. */
async function sent(
  path: string,
  headers: Record<string, string>,
  body: FormData | Uint8Array<ArrayBuffer> | string,
  status = 200,
): Promise<string | null> {
  const response = await fetch(`${rig.gateway.url}/compat${path}`, { method: 'POST', headers, body });
  expect(response.status).toBe(status);
  return response.headers.get('voxgate-warning');
}

const ignored = (...names: string[]) => names.map((name) => `parameter_ignored;param=${name}`).join(', ');

type Fields = readonly (readonly [string, string])[];
const formOf = (fields: Fields): FormData => formWith('file', fields);

function formWith(part: string, fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  form.append(part, new Blob([bytes]), 'audio.wav');
  return form;
}

describe('options of Deepgram that are not served', () => {
  it.each([
    ['model=nova-3', undefined],
    ['model=nova-3&replace=a:b', undefined],
    ['model=nova-3&search=a', 'parameter_ignored;param=search'],
    ['model=nova-3&search=c&measurements=true&extra=d', ignored('search', 'measurements', 'extra')],
    ['model=nova-3&measurements=false&version=latest', undefined],
    ['model=speechmatics/enhanced&search=a', undefined],
  ])('cause a warning for its own models, live and with files: %s', async (query, warning) => {
    expect(await handshake(`/deepgram/v1/listen?${RAW}&${query}`, deepgram())).toBe(warning);
    expect(await sent(`/deepgram/v1/listen?${query}`, deepgram(), bytes)).toBe(warning ?? null);
  });

  it('appear as warnings in a file’s metadata, in Deepgram’s form', async () => {
    const url = `${rig.gateway.url}/compat/deepgram/v1/listen?model=nova-3&search=a`;
    const response = await fetch(url, { method: 'POST', headers: deepgram(), body: bytes });
    expect(await response.json()).toMatchObject({
      metadata: { warnings: [{ parameter: 'search', type: 'parameter_ignored', message: expect.any(String) }] },
    });
  });

  it('include paragraphs live, but not with files', async () => {
    const query = 'model=nova-3&paragraphs=true';
    expect(await handshake(`/deepgram/v1/listen?${RAW}&${query}`, deepgram())).toBe(
      'parameter_ignored;param=paragraphs',
    );
    expect(await sent(`/deepgram/v1/listen?${query}`, deepgram(), bytes)).toBeNull();
  });
});

describe('a list of more than 100 key terms', () => {
  it('gets cut with a warning for Deepgram’s clients', async () => {
    const query = `model=deepgram/nova-3&${termsAs('keyterm')}`;
    expect(await handshake(`/deepgram/v1/listen?${RAW}&${query}`, deepgram())).toBe(
      'parameter_shortened;param=keyterm',
    );
    expect(rig.asked.at(-1)?.searchParams.getAll('keyterm') ?? []).not.toContain('term100');
    const file = await sent(`/deepgram/v1/listen?${query}`, deepgram(), bytes);
    expect(file).toBe('parameter_shortened;param=keyterm');
  });

  it('gets cut with a warning for ElevenLabs’ clients', async () => {
    const path = `/elevenlabs/v1/speech-to-text/realtime?model_id=speechmatics/enhanced&${termsAs('keyterms')}`;
    expect(await handshake(path, elevenlabs())).toContain('parameter_shortened');
    const fields = [['model_id', 'speechmatics/enhanced'], ...TERMS.map((term) => ['keyterms', term])] as [
      string,
      string,
    ][];
    expect(await sent('/elevenlabs/v1/speech-to-text', elevenlabs(), formOf(fields))).toContain('parameter_shortened');
    const url = `${rig.gateway.url}/compat/elevenlabs/v1/speech-to-text`;
    const response = await fetch(url, { method: 'POST', headers: elevenlabs(), body: formOf(fields) });
    expect(await response.json()).toMatchObject({ warnings: [{ code: 'parameter_shortened', param: 'keyterms' }] });
  });

  const vocabulary = (of: string) => ({ [of]: TERMS });
  const speechmatics = { language: 'en', additional_vocab: TERMS };
  const START: Record<string, [path: string, start: object]> = {
    Speechmatics: [
      '/speechmatics/v2?model=',
      {
        message: 'StartRecognition',
        audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
        transcription_config: speechmatics,
      },
    ],
    LiveKit: [
      '/livekit/v1/stt?model=',
      {
        type: 'session.create',
        settings: { encoding: 'pcm_s16le', sample_rate: '16000', extra: vocabulary('keyterm') },
      },
    ],
  };

  /** What is said until the client is told so. */
  async function told(path: string, start: object): Promise<string> {
    const url = `${rig.gateway.url.replace('http', 'ws')}/compat${path}`;
    const socket = new WebSocket(url, { headers: bearer() });
    try {
      await once(socket, 'open');
      socket.send(JSON.stringify(start));
      let said = '';
      for await (const [data] of on(socket, 'message')) {
        said += String(data);
        if (said.includes('parameter_shortened')) break;
      }
      return said;
    } finally {
      socket.terminate();
    }
  }

  it.each(Object.keys(START))('gets cut with a warning for %s’ clients, in a message', async (name) => {
    const [path, start] = START[name] as (typeof START)[string];
    expect(await told(`${path}deepgram/nova-3`, start)).toContain('150 terms: 100 of them');
  });

  it('gets cut with a warning for Speechmatics’ files, except for its own models, which receive all', async () => {
    const config = (model: string) =>
      formWith('data_file', [
        ['config', JSON.stringify({ type: 'transcription', transcription_config: { ...speechmatics, model } })],
      ]);
    const ask = (model: string) => sent('/speechmatics/v2/jobs', bearer(), config(model), 201);
    expect(await ask('deepgram/nova-3')).toBe('parameter_shortened;param=additional_vocab');
    expect(await ask('speechmatics/enhanced')).toBeNull();
  });

  it('gets cut with a warning for Gladia’s clients, in the session request', async () => {
    const realtime_processing = { custom_vocabulary: true, custom_vocabulary_config: vocabulary('vocabulary') };
    const ask = (model: string) =>
      sent(
        '/gladia/v2/live',
        { ...gladia(), 'Content-Type': 'application/json' },
        JSON.stringify({ model, realtime_processing }),
        201,
      );
    expect(await ask('deepgram/nova-3')).toBe('parameter_shortened;param=custom_vocabulary_config');
    expect(await ask('gladia/solaria-1')).toBeNull();
  });
});

it('warns about unknown members of `voxgate` in the answer to a file of Vercel’s clients', async () => {
  const response = await fetch(`${rig.gateway.url}/compat/vercel/v4/ai/transcription-model`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${rig.key}`,
      'ai-model-id': 'deepgram/nova-3',
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      audio: Buffer.from(bytes).toString('base64'),
      mediaType: 'audio/wav',
      providerOptions: { voxgate: { keyterm: ['gate'] } },
    }),
  });
  expect(await response.json()).toMatchObject({
    warnings: [{ message: expect.stringContaining('`voxgate.keyterm` is not known') }],
  });
});
