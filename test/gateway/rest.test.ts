// The REST endpoints as a client meets them.
import { beforeAll, describe, expect, it } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; param: string | null; message: string; request_id: string } })
    .error;

async function expectApiError(response: Response, status: number, code: string, param: string | null): Promise<void> {
  const error = await errorOf(response);
  expect({ status: response.status, code: error.code, param: error.param }).toEqual({ status, code, param });
  expect(error.message).toMatch(/[.…?]$/);
  expect(response.headers.get('x-request-id')).toBe(error.request_id);
}

describe('every answer', () => {
  it('carries a request id and is neither cached nor sniffed', async () => {
    for (const path of ['/healthz', '/v1/models', '/nowhere']) {
      const { headers } = await live.request(path);
      expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/);
      expect([
        headers.get('cache-control'),
        headers.get('x-content-type-options'),
        headers.get('referrer-policy'),
      ]).toEqual(['no-store', 'nosniff', 'no-referrer']);
    }
  });

  it.each([
    ['GET', '/nowhere', 404, 'not_found'],
    ['DELETE', '/v1/models', 405, 'method_not_allowed'],
    ['GET', '/v1/tokens', 405, 'method_not_allowed'],
    ['GET', '/v1/audio/transcriptions', 405, 'method_not_allowed'],
  ])('answers %s %s with %d %s', async (method, path, status, code) => {
    await expectApiError(await live.request(path, { method }), status, code, null);
  });
});

describe('a required key', () => {
  it.each([
    [undefined, 401, 'missing_credential', 'No credential was sent.'],
    ['Basic abc', 401, 'missing_credential', 'in another form'],
    [`Token sk_vox_${'a'.repeat(38)}`, 401, 'missing_credential', '`Authorization: Bearer sk_vox_…`'],
    ['Bearer ', 401, 'missing_credential', 'A variable may not be set'],
    ['Bearer sk_vox_tooshort', 401, 'invalid_api_key', 'mistyped'],
    [`Bearer sk_vox_${'a'.repeat(38)}`, 401, 'invalid_api_key', 'mistyped'],
    ['Bearer sk_live_someone_elses', 401, 'invalid_api_key', 'mistyped'],
  ])('Authorization "%s" is %d %s', async (authorization, status, code, words) => {
    const response = await fetch(`${live.url}/v1/models`, {
      headers: authorization === undefined ? {} : { Authorization: authorization },
    });
    const error = await errorOf(response);
    expect(response.status).toBe(status);
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(words)]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });
});

describe('GET /v1/models', () => {
  it('lists models with prices, modes and the schema of their options', async () => {
    const { object, data } = (await (await live.request('/v1/models')).json()) as {
      object: string;
      data: Record<string, unknown>[];
    };
    expect(object).toBe('list');
    const model = data.find(({ id }) => id === 'loopback/script');
    expect(model).toMatchObject({
      object: 'model',
      owned_by: 'loopback',
      modes: ['batch', 'live'],
      pricing: { currency: 'USD', live: { unit: 'minute', amount: '0.00', byok: '0.00', free: true } },
      available: true,
      status: 'up',
      provider_params: { type: 'object', properties: { turns: { type: 'array' } } },
    });
    expect(model).not.toHaveProperty('priceSource');
  });

  it('filters by mode and provider, and refuses what it does not know', async () => {
    const ids = async (query: string) =>
      ((await (await live.request(`/v1/models${query}`)).json()) as { data: { id: string }[] }).data.map(
        ({ id }) => id,
      );
    expect(await ids('?provider=loopback&mode=live')).toEqual(['loopback/script', 'loopback/numbered']);
    expect(await ids('?provider=nobody')).toEqual([]);
    await expectApiError(await live.request('/v1/models?mode=both'), 400, 'invalid_request', 'mode');
    await expectApiError(await live.request('/v1/models?moed=live'), 400, 'invalid_request', 'moed');
    await expectApiError(await live.request('/v1/models?mode=live&mode=batch'), 400, 'duplicate_parameter', 'mode');
  });

  it('gives one model by its slug, and the nearest names for a mistyped one', async () => {
    expect(await (await live.request('/v1/models/loopback/script')).json()).toMatchObject({ id: 'loopback/script' });
    const response = await live.request('/v1/models/loopback/scripts');
    expect((await errorOf(response.clone())).message).toContain('loopback/script');
    await expectApiError(response, 404, 'model_not_found', 'model');
  });
});

describe('POST /v1/audio/transcriptions', () => {
  const pcm = (seconds: number) =>
    new Blob([numberedAudio(0, 16_000 * seconds) as Uint8Array<ArrayBuffer>], { type: 'audio/l16;rate=16000' });
  const send = (fields: [string, string][], file: Blob | undefined = pcm(5), fileFirst = false) => {
    const form = new FormData();
    if (fileFirst && file !== undefined) form.append('file', file, 'a.pcm');
    for (const [name, value] of fields) form.append(name, value);
    if (!fileFirst && file !== undefined) form.append('file', file, 'a.pcm');
    return live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  };

  it('takes headerless PCM by its content type, and loses no sample of it', async () => {
    for (const fileFirst of [false, true]) {
      const response = await send(
        [
          ['model', 'loopback/numbered'],
          ['provider_params', '{"turn_seconds":2}'],
          ['response_format', 'verbose_json'],
        ],
        pcm(5),
        fileFirst,
      );
      expect(await response.json()).toMatchObject({
        text: '0-32000 32000-64000 64000-80000',
        duration: 5,
        segments: [
          { start: 0, end: 2 },
          { start: 2, end: 4 },
          { start: 4, end: 5 },
        ],
      });
    }
  });

  it('streams a file far larger than what it keeps in memory, before and after the fields', async () => {
    for (const fileFirst of [false, true]) {
      const response = await send(
        [
          ['model', 'loopback/numbered'],
          ['provider_params', '{"turn_seconds":600}'],
        ],
        pcm(300),
        fileFirst,
      );
      expect(await response.json()).toEqual({ text: '0-4800000', usage: { type: 'duration', seconds: 300 } });
    }
  });

  it.each<[string, [string, string][], number, string, string | null]>([
    ['no model', [], 400, 'invalid_request', 'model'],
    ['an unknown model', [['model', 'loopback/nothing']], 404, 'model_not_found', 'model'],
    [
      'an unknown field',
      [
        ['model', 'loopback/script'],
        ['modle', 'x'],
      ],
      400,
      'invalid_request',
      'modle',
    ],
    [
      'a bad format',
      [
        ['model', 'loopback/script'],
        ['response_format', 'yaml'],
      ],
      400,
      'invalid_request',
      'response_format',
    ],
    [
      'a bad boolean',
      [
        ['model', 'loopback/script'],
        ['diarization', 'maybe'],
      ],
      400,
      'invalid_request',
      'diarization',
    ],
    [
      'a bad language',
      [
        ['model', 'loopback/script'],
        ['language', 'e'],
      ],
      400,
      'invalid_request',
      'language',
    ],
    [
      'a bad temperature',
      [
        ['model', 'loopback/script'],
        ['temperature', '7'],
      ],
      400,
      'invalid_request',
      'temperature',
    ],
    [
      'bad options',
      [
        ['model', 'loopback/script'],
        ['provider_params', '{"turnss":1}'],
      ],
      400,
      'invalid_provider_params',
      'provider_params.turnss',
    ],
    [
      'options that are not JSON',
      [
        ['model', 'loopback/script'],
        ['provider_params', '{'],
      ],
      400,
      'invalid_provider_params',
      'provider_params',
    ],
    [
      'a field twice',
      [
        ['model', 'loopback/script'],
        ['model', 'loopback/script'],
      ],
      400,
      'duplicate_parameter',
      'model',
    ],
    [
      'speakers, strictly',
      [
        ['model', 'loopback/script'],
        ['diarization', 'true'],
        ['strict', 'true'],
      ],
      422,
      'unsupported_parameter',
      'diarization',
    ],
    [
      'a foreign field, strictly',
      [
        ['model', 'loopback/script'],
        ['chunking_strategy', 'auto'],
        ['strict', 'true'],
      ],
      422,
      'unsupported_parameter',
      'chunking_strategy',
    ],
  ])('refuses %s', async (_, fields, status, code, param) => {
    await expectApiError(await send(fields), status, code, param);
  });

  it('warns of what the model cannot honour', async () => {
    const response = await send([
      ['model', 'loopback/script'],
      ['diarization', 'true'],
      ['prompt', 'names'],
      ['response_format', 'verbose_json'],
    ]);
    expect(response.headers.get('voxgate-warning')).toBe(
      'diarization_unsupported;param=diarization, parameter_ignored;param=prompt',
    );
    expect(await response.json()).toMatchObject({ warnings: [{ param: 'diarization' }, { param: 'prompt' }] });
  });

  it('lists warnings in the default format', async () => {
    const response = await send([
      ['model', 'loopback/script'],
      ['prompt', 'names'],
    ]);
    expect(await response.json()).toMatchObject({
      warnings: [{ code: 'parameter_ignored', param: 'prompt', message: expect.stringContaining('loopback/script') }],
    });
    expect(await (await send([['model', 'loopback/script']])).json()).not.toHaveProperty('warnings');
  });

  it('refuses audio that it cannot read, and names the format', async () => {
    const named = async (bytes: string, type: string) =>
      send([['model', 'loopback/script']], new Blob([bytes], { type }));
    await expectApiError(await named(`fLaC${'x'.repeat(100)}`, 'audio/flac'), 400, 'unsupported_audio', 'file');
    await expectApiError(await named('not audio at all, only words', 'audio/wav'), 400, 'unsupported_audio', 'file');
    await expectApiError(await named('xx', 'audio/l16;rate=100'), 400, 'unsupported_audio', 'file');
    await expectApiError(await send([['model', 'loopback/script']], new Blob([])), 400, 'missing_file', 'file');
  });

  it('answers with a fallback when the model fails, else with all attempts', async () => {
    const failing: [string, string][] = [
      ['model', 'loopback/script'],
      ['provider_params', '{"fail":{"how":"error","at_seconds":1}}'],
      ['response_format', 'verbose_json'],
    ];
    const fallback = '[{"model":"loopback/numbered","provider_params":{"turn_seconds":600}}]';
    const attempts = [{ model: 'loopback/script', reason: 'upstream_error' }];
    const answered = (await (await send([...failing, ['fallbacks', fallback]])).json()) as { fallback: object[] };
    expect(answered).toMatchObject({ text: '0-80000', duration: 5, model: 'loopback/numbered' });
    expect(answered.fallback).toContainEqual(attempts[0]);
    const response = await send(failing);
    expect([response.status, await errorOf(response)]).toMatchObject([
      502,
      { details: expect.arrayContaining(attempts) },
    ]);
  });
});

describe('the operator’s endpoints', () => {
  it('/healthz and /readyz say that the node lives and serves', async () => {
    expect(await (await fetch(`${live.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${live.url}/readyz`)).json()).toEqual({ status: 'ready', new_paid_sessions: true });
    expect((await fetch(`${live.url}/readyz?paid=true`)).status).toBe(200);
    expect((await fetch(`${live.url}/readyz?standby=true`)).status).toBe(200);
    for (const param of ['paid', 'standby']) {
      const refused = await fetch(`${live.url}/readyz?${param}=yes`);
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { param } });
    }
  });

  it('/metrics shows sessions, audio, lag, queues, drops and refusals', async () => {
    await live.request('/v1/models?mode=both');
    const text = await (await fetch(`${live.url}/metrics`)).text();
    for (const name of [
      'voxgate_sessions{',
      'voxgate_audio_received_seconds_total',
      'voxgate_audio_sent_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'voxgate_queue_depth{',
      'voxgate_refusals_total{code="invalid_request",node="',
      'voxgate_http_requests_total{route="/v1/models",status="400",node="',
      'voxgate_build_info{version="',
    ]) {
      expect(text).toContain(name);
    }
  });
});
