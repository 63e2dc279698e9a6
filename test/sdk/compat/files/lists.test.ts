// Lists of files and jobs: the newest, page by page in each vendor's own words, and small whatever was sent.
import { beforeAll, describe, expect, it } from 'vitest';
import { SHOWN_BYTES_MAX } from '../../../../src/jobs/shown-again.ts';
import { assemblyai } from '../../../../src/vendors/assemblyai/compat/index.ts';
import { PAGE_MAX, type ShownJob } from '../../../../src/vendors/compat/jobs.ts';
import { dialects } from '../../../../src/vendors/dialects.ts';
import { gladia } from '../../../../src/vendors/gladia/compat/index.ts';
import { soniox } from '../../../../src/vendors/soniox/compat/index.ts';
import { speechmatics } from '../../../../src/vendors/speechmatics/compat/index.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { answerOf, doneJob, endpointAt, FILE, listed } from '../../../vendors/compat/files/shown.ts';
import { Visitor, vendors } from '../../../vendors/compat/files/vendors.ts';
import { assemblyaiClient } from '../../drivers/assemblyai.ts';
import { gladiaClient } from '../../drivers/gladia.ts';
import { sonioxClient } from '../../drivers/soniox.ts';
import { speechmaticsFiles } from '../../drivers/speechmatics.ts';

const LIST_BYTES_MAX = 512 * 1024;

const lists = dialects.flatMap((dialect) =>
  Object.entries(dialect.jobs ?? {})
    .filter(([place, { does }]) => (does === 'list' || does === 'listFiles') && !place.endsWith('/count'))
    .map(([place, endpoint]) => ({ name: `${dialect.name} ${place}`, endpoint })),
);

/** With the most that may be shown again, and with a long transcript. */
function largeJob(): ShownJob {
  const job = doneJob({ audio_url: 'x'.repeat(SHOWN_BYTES_MAX - 50), speaker_labels: true });
  if (job.state.type !== 'done') throw new Error('It is done.');
  const { transcription } = job.state.heard;
  const words = Array.from({ length: 5_000 }, () => ({ word: 'vox', start: 0.3, end: 0.4 }));
  return { ...job, state: { type: 'done', heard: { ...job.state.heard, transcription: { ...transcription, words } } } };
}

describe.each(lists)('$name', ({ endpoint }) => {
  it(`shows at most ${PAGE_MAX}, in ${LIST_BYTES_MAX} bytes, for any requests and transcripts`, () => {
    const all =
      endpoint.does === 'listFiles'
        ? listed(PAGE_MAX + 1, largeJob()).map(({ id, createdAt }) => ({
            ...{ ...FILE, id, createdAt },
            fields: new Map([['client_reference_id', 'x'.repeat(SHOWN_BYTES_MAX)]]),
          }))
        : listed(PAGE_MAX + 1, largeJob());
    const text = JSON.stringify(answerOf(endpoint, all, 'limit=1000'));
    expect(text.length).toBeLessThan(LIST_BYTES_MAX);
    expect(text.match(/"job_\d+"/g)?.length).toBeGreaterThanOrEqual(PAGE_MAX);
    expect([text.includes(`job_${PAGE_MAX}"`), text.includes(`job_${PAGE_MAX + 1}"`)]).toEqual([true, false]);
  });
});

describe('a page', () => {
  const three = listed(3, doneJob());
  const idsIn = (items: unknown) => (items as { id: string }[]).map(({ id }) => id);

  it.each([
    ['', ['job_1', 'job_2', 'job_3']],
    ['limit=2', ['job_1', 'job_2']],
    ['limit=none', ['job_1', 'job_2', 'job_3']],
    ['created_before=2026-01-01T00:00:00Z', ['job_2', 'job_3']],
    ['created_before=2026-01-01T01:59:59%2B02:00&limit=1', ['job_3']],
    ['created_before=never', ['job_1', 'job_2', 'job_3']],
  ])('lists Speechmatics’ jobs: %s', (query, ids) => {
    const { jobs } = answerOf(endpointAt(speechmatics, 'GET /v2/jobs'), three, query) as { jobs: unknown };
    expect(idsIn(jobs)).toEqual(ids);
  });

  it.each(['GET /v1/transcriptions', 'GET /v1/files'])('links Soniox’ lists to the next page: %s', (place) => {
    const endpoint = endpointAt(soniox, place);
    const all = place.endsWith('files') ? three.map(({ id, createdAt }) => ({ ...FILE, id, createdAt })) : three;
    const page = (query: string) => {
      const { next_page_cursor, ...list } = answerOf(endpoint, all, query) as { next_page_cursor: string | null };
      return { ids: idsIn(Object.values(list)[0]), next_page_cursor };
    };
    const first = page('limit=2');
    expect(first).toMatchObject({ ids: ['job_1', 'job_2'], next_page_cursor: expect.any(String) });
    const cursor = String(first.next_page_cursor);
    expect(page(`limit=2&cursor=${cursor}`)).toEqual({ ids: ['job_3'], next_page_cursor: null });
  });

  it('links Gladia’s jobs to the next page, without transcripts', () => {
    const page = (query: string) => answerOf(endpointAt(gladia, 'GET /v2/pre-recorded'), three, query);
    const at = (offset: number) => expect.stringMatching(new RegExp(`/v2/pre-recorded\\?offset=${offset}&limit=2$`));
    expect(page('limit=2')).toMatchObject({
      ...{ first: at(0), current: at(0), next: at(2) },
      items: [
        { id: 'job_1', status: 'done', result: null },
        { id: 'job_2', result: null },
      ],
    });
    expect(page('limit=2&offset=2')).toMatchObject({ current: at(2), next: null, items: [{ id: 'job_3' }] });
  });

  it('links AssemblyAI’s transcripts to older ones', () => {
    const page = (query: string) => answerOf(endpointAt(assemblyai, 'GET /v2/transcript'), three, query);
    expect(page('limit=2')).toMatchObject({
      transcripts: [{ id: 'job_1' }, { id: 'job_2' }],
      page_details: {
        ...{ limit: 2, result_count: 2, next_url: null },
        prev_url: expect.stringMatching(/\/v2\/transcript\?limit=2&before_id=job_2$/),
      },
    });
    expect(page('limit=2&before_id=job_2')).toMatchObject({
      ...{ transcripts: [{ id: 'job_3' }], page_details: { prev_url: null } },
    });
  });
});

describe('a gateway', () => {
  let gateway: LiveGateway;
  const model = 'local/commands-en';
  const { bytes: wav } = sampleAudio('commands.wav');
  beforeAll(async () => {
    gateway = await startLiveGateway();
    for (const vendor of vendors) {
      const visitor = new Visitor(gateway.url, vendor, gateway.key);
      for (let count = 0; count < 3; count++) await vendor.ask(visitor, new Uint8Array(4), model);
    }
  });

  it('gives the pages that each vendor’s SDK asks for', async () => {
    const own = await sonioxClient(gateway).stt.list({ limit: 2 });
    const ids = new Set<string>();
    for await (const { id } of own) ids.add(id);
    expect([own.transcriptions.length, ids.size]).toEqual([2, 3]);
    expect((await speechmaticsFiles(gateway).listJobs({ limit: 2 })).jobs.length).toBe(2);
    const second = await gladiaClient(gateway).preRecordedV2().list({ limit: 2, offset: 2 });
    expect([second.items.length, second.next]).toEqual([1, null]);
    const { transcripts } = assemblyaiClient(gateway);
    const { page_details } = await transcripts.list({ limit: 2 });
    expect((await transcripts.list(page_details.prev_url ?? undefined)).transcripts.length).toBe(1);
  });

  it('stores only the options that it shows again, and applies them all', async () => {
    const client = speechmaticsFiles(gateway);
    const additional_vocab = Array.from({ length: 900 }, (_, at) => ({ content: `${at}`.padEnd(40, 'vox') }));
    const transcription_config = { language: 'en', model: model as never, operating_point: 'enhanced' as const };
    const config = { transcription_config: { ...transcription_config, additional_vocab } };
    const tracking = { title: 'y'.repeat(60_000) };
    const heard = await client.transcribe(new File([new Uint8Array(wav)], 'a.wav'), { ...config, tracking });
    const { id } = (heard as { job: { id: string } }).job;
    const { job } = await client.getJob(id);
    expect(job.config).toEqual({ type: 'transcription', tracking: {}, transcription_config });
  });

  it('refuses a file with more options than it can show again', async () => {
    const form = new FormData();
    form.append('client_reference_id', 'x'.repeat(SHOWN_BYTES_MAX));
    form.append('file', new File(['x'], 'a.wav'));
    const vendor = vendors.find(({ dialect }) => dialect === 'soniox') as (typeof vendors)[number];
    const visitor = new Visitor(gateway.url, vendor, gateway.key);
    const reply = await visitor.send('POST', '/v1/files', form);
    expect([reply.status, vendor.refusalOf(reply)]).toEqual([400, expect.stringMatching(/more than 4096 bytes/)]);
    expect((await visitor.send('GET', '/v1/files')).text).not.toContain('xxxx');
  });
});
