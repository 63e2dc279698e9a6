// Files as jobs, where the provider wants the transcript fetched and everything deleted; and where the file comes with the job.
import { describe, expect, it } from 'vitest';
import { pollingBatch } from '../../../src/vendors/kit/batch.ts';
import { FailureTable } from '../../../src/vendors/kit/failures.ts';
import type { BatchRequest, BatchStep, HttpRequest } from '../../../src/vendors/kit/provider.ts';

const ask = (method: HttpRequest['method'], path: string, body: HttpRequest['body'] = { kind: 'none' }) => ({
  method,
  url: `https://example.test${path}`,
  headers: {},
  body,
});
const common = {
  failures: new FailureTable({ title: 'Example', rows: [{ file: true, code: 'bad_file', kind: 'caller' }] }),
  answerMs: 1_000,
  billsChannels: 'never',
  statusOf: ({ status, error }: Readonly<Record<string, unknown>>) => {
    if (status === 'error') return { failed: { code: String(error) } };
    return status === 'done' || status === 'working' ? (status as 'done') : undefined;
  },
  poll: (_: BatchRequest, { id }: { id: string }) => ask('GET', `/jobs/${id}`),
  resultOf: (_: BatchRequest, { spoilt }: { spoilt?: unknown }) =>
    spoilt === undefined ? { utterances: [], language: undefined, seconds: 1, warnings: [] } : undefined,
} as const;
const thorough = pollingBatch({
  ...common,
  upload: () => ask('POST', '/files', { kind: 'file' }),
  create: (_, { id }) => (id === undefined ? undefined : ask('POST', '/jobs', { kind: 'json', json: { file: id } })),
  fetch: (_, { id }) => ask('GET', `/jobs/${id}/transcript`),
  remove: (_, { id, uploaded }) => [
    ...(id === undefined ? [] : [ask('DELETE', `/jobs/${id}`)]),
    ...(uploaded.id === undefined ? [] : [ask('DELETE', `/files/${uploaded.id}`)]),
  ],
  removesDone: true,
});

const shown = (step: BatchStep) =>
  step.type === 'request' ? `${step.request.method} ${new URL(step.request.url).pathname}` : step.type;

function play(codec: typeof thorough, ...answers: object[]) {
  const { state, step } = codec.begin({} as BatchRequest);
  const steps = [
    step,
    ...answers.map((json) => codec.read(state, { status: 200, headers: {}, body: JSON.stringify(json) })),
  ];
  const left = (codec.abandon?.(state) ?? []).map(({ url }) => new URL(url).pathname);
  return { steps, shown: steps.map(shown), left };
}

describe('a job', () => {
  it('runs in steps: upload, creation, polls, download and deletion', () => {
    const { shown: steps, left } = play(thorough, { id: 'f' }, { id: 'j', status: 'working' }, { status: 'done' }, {});
    expect(steps).toEqual(['POST /files', 'POST /jobs', 'GET /jobs/j', 'GET /jobs/j/transcript', 'done']);
    expect(left).toEqual(['/jobs/j', '/files/f']);
    expect(thorough.removesDone).toBe(true);
  });

  it('leaves its file behind where it was not made', () => {
    expect(play(thorough, { id: 'f' }).left).toEqual(['/files/f']);
    expect(play(thorough).left).toEqual([]);
  });

  it('gets polled soon, and then less often', () => {
    const { steps } = play(thorough, { id: 'f' }, ...Array.from({ length: 7 }, () => ({ id: 'j', status: 'working' })));
    expect(steps.slice(2).map((step) => step.type === 'request' && step.afterMs)).toEqual([
      500, 750, 1_125, 1_688, 2_532, 3_000, 3_000,
    ]);
  });

  it.each([
    [[{}], 'bad_answer'],
    [[{ id: 'f' }, { id: 'j/../k', status: 'working' }], 'bad_answer'],
    [[{ id: 'f' }, { id: 'j', status: 'novel' }], 'bad_answer'],
    [[{ id: 'f' }, { id: 'j', status: 'done' }, { spoilt: true }], 'bad_answer'],
    [[{ id: 'f' }, { id: 'j', status: 'error', error: 'bad_file' }], 'bad_file'],
    [[{ id: 'f' }, { id: 'j', status: 'working' }, { status: 'error', error: 'x' }], 'x'],
  ])('answered with %j fails as %s', (answers, code) => {
    expect(play(thorough, ...answers).steps.at(-1)).toMatchObject({ type: 'failed', failure: { code } });
  });

  it('may come with its file, hold its transcript, and be left as it is', () => {
    const create = () => ask('POST', '/jobs', { kind: 'multipart', fields: [], fileField: 'media' });
    const brief = pollingBatch({ ...common, create, idOf: ({ job }) => job });
    const { shown: steps, left } = play(brief, { job: 'j', status: 'done' });
    expect([steps, left]).toEqual([['POST /jobs', 'done'], []]);
  });
});
