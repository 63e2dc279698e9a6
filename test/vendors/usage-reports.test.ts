// Reports of usage in the shapes that providers document, and what is refused of them.
import { describe, expect, it } from 'vitest';
import { usageReports as deepgram } from '../../src/vendors/deepgram/usage-report.ts';
import { REPORT_PAGES_MAX } from '../../src/vendors/kit/usage-report.ts';
import { usageReports as openai } from '../../src/vendors/openai/usage-report.ts';
import { usageReports as speechmatics } from '../../src/vendors/speechmatics/usage-report.ts';

const DAY = '2026-11-03';
const daily = { units: 'day', amount: 1 };
const access = { baseUrl: 'http://127.0.0.1:1', credential: 'key' };

describe('a report of Deepgram', () => {
  it.each<[string, object, object[]]>([
    [
      'of usage by day',
      {
        ...{ start: DAY, end: '2026-11-05', resolution: daily },
        results: [
          { start: DAY, end: '2026-11-04', hours: 0.5, total_hours: 1, requests: 4 },
          { start: '2026-11-04', end: '2026-11-05', hours: 0, total_hours: 0, requests: 0 },
        ],
      },
      [
        { from: DAY, to: DAY, model: null, seconds: 3_600, requests: 4 },
        { from: '2026-11-04', to: '2026-11-04', model: null, seconds: 0, requests: 0 },
      ],
    ],
    [
      'of usage by model, of several days',
      {
        ...{ start: DAY, end: '2026-11-05', resolution: { units: 'week', amount: 1 } },
        results: [{ hours: 2, requests: 1, grouping: { models: ['nova-3'] } }],
      },
      [{ from: DAY, to: '2026-11-05', model: 'nova-3', seconds: 7_200, requests: 1 }],
    ],
    [
      'of costs',
      {
        ...{ start: DAY, end: DAY, resolution: daily },
        results: [{ dollars: 0.25, grouping: { start: DAY, end: DAY, line_item: 'streaming::nova-3' } }],
      },
      [{ from: DAY, to: DAY, model: 'nova-3', microUsd: 250_000n }],
    ],
  ])('is read %s', (_, report, rows) => {
    expect(deepgram.read({ ...report })).toEqual(rows);
  });

  it('is refused without days or durations, and not known without results', () => {
    const row = { start: DAY, end: DAY, hours: 1 };
    const report = (more: object) => ({ start: DAY, end: DAY, resolution: daily, results: [{ ...row, ...more }] });
    expect(() => deepgram.read(report({ start: '3 November' }))).toThrow('zone');
    expect(() => deepgram.read(report({ hours: '1' }))).toThrow('duration');
    expect(() => deepgram.read(report({ hours: -1 }))).toThrow('duration');
    expect(deepgram.read({ requests: [] })).toBeUndefined();
  });

  it('is requested for each project that the key may read', async () => {
    const asked: string[] = [];
    const get = async (url: string) => {
      asked.push(new URL(url).pathname);
      return url.endsWith('/projects')
        ? { projects: [{ project_id: 'a' }, { project_id: 'b' }] }
        : { start: DAY, end: DAY, resolution: daily, results: [] };
    };
    expect(await deepgram.ask?.(access, DAY, DAY, get)).toEqual([]);
    expect(asked).toHaveLength(5);
    await expect(deepgram.ask?.(access, DAY, DAY, async () => ({}))).rejects.toThrow('no project');
  });
});

describe('a report of OpenAI', () => {
  const bucket = (startTime: unknown, results: object[]) => ({
    object: 'page',
    data: [{ object: 'bucket', start_time: startTime, end_time: Number(startTime) + 86_400, results }],
  });
  const seconds = Date.parse(`${DAY}T00:00:00Z`) / 1000;

  it('leaves out usage that is not transcription, and reads credits', () => {
    const cost = (value: unknown) => ({ object: 'organization.costs.result', amount: { value, currency: 'USD' } });
    const report = bucket(seconds, [{ object: 'organization.usage.images.result' }, cost(-1), cost('0.1')]);
    expect(openai.read(report)).toEqual([
      { from: DAY, to: DAY, model: null, microUsd: -1_000_000n },
      { from: DAY, to: DAY, model: null, microUsd: 100_000n },
    ]);
    for (const value of [Number.POSITIVE_INFINITY, '1e99', 'x', null, 1e12])
      expect(() => openai.read(bucket(seconds, [cost(value)]))).toThrow('number of USD');
  });

  it('is refused with times that are none, and has an end of its pages', async () => {
    expect(() => openai.read(bucket('x', []))).toThrow('since 1970');
    expect(() => openai.read(bucket(1e30, []))).toThrow('since 1970');
    let pages = 0;
    const endless = async () => {
      pages++;
      return { object: 'page', data: [], has_more: true, next_page: 'again' };
    };
    await expect(openai.ask?.(access, DAY, DAY, endless)).rejects.toThrow('pages without end');
    expect(pages).toBe(REPORT_PAGES_MAX);
  });
});

describe('a report of Speechmatics', () => {
  it('is requested for each day separately', async () => {
    const details = [
      { mode: 'batch', type: 'transcription', operating_point: 'enhanced', count: 2, duration_hrs: 0.5 },
    ];
    const get = async (url: string) => {
      const { searchParams } = new URL(url);
      return { since: searchParams.get('since'), until: searchParams.get('until'), summary: [], details };
    };
    const rows = await speechmatics.ask?.(access, '2026-11-30', '2026-12-01', get);
    expect(rows?.map(({ from, to, seconds }) => [from, to, seconds])).toEqual([
      ['2026-11-30', '2026-11-30', 1_800],
      ['2026-12-01', '2026-12-01', 1_800],
    ]);
    expect(() => speechmatics.read({ since: DAY, until: '2026-11-01', details })).toThrow('no days');
    expect(speechmatics.read({ jobs: [] })).toBeUndefined();
  });
});
