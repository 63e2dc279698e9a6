// Jobs on the console: members of an organisation see those of its API keys, cancel and delete them.
import type { ConsoleContext, ConsoleRoute } from '../accounts/console-login/console-route.ts';
import { readBody } from '../accounts/console-login/console-route.ts';
import type { ApiKey, KeyCalls } from '../accounts/keys/calls.ts';
import { EmptyBody } from '../api/console/console.ts';
import type { JobView, JobViewList } from '../api/console/jobs.ts';
import { apiError } from '../api/errors.ts';
import { JOBS_LIMIT } from '../api/jobs.ts';
import { knownQuery, textOf, wholeNumberOf } from '../http/query.ts';
import { json, type Route } from '../http/router.ts';
import type { Reply } from '../http/server.ts';
import { fromLedger } from '../http/store-answer.ts';
import type { Asynchronous } from '../store/operation.ts';
import { jobAnswer } from './answers.ts';
import type { DetachedJobs } from './detached-jobs.ts';
import type { KnownJob } from './job-records.ts';
import { ownerOf } from './own-jobs.ts';
import { wantedIn } from './routes.ts';

export interface ConsoleJobsDependencies {
  store: Pick<Asynchronous<KeyCalls>, 'findKey'>;
  detachedJobs: Pick<DetachedJobs, 'page' | 'find' | 'progressOf' | 'cancel' | 'remove'>;
}

type Handler = (context: ConsoleContext) => Promise<Reply>;

export const consoleJobRoutes = (consoleRoute: ConsoleRoute, dependencies: ConsoleJobsDependencies): Route[] => [
  consoleRoute('GET jobs', listJobs(dependencies)),
  consoleRoute('GET jobs/:id', getJob(dependencies)),
  consoleRoute('POST jobs/:id/cancel', cancelJob(dependencies), { verified: true }),
  consoleRoute('DELETE jobs/:id', deleteJob(dependencies), { verified: true }),
];

const listJobs =
  ({ store, detachedJobs }: ConsoleJobsDependencies): Handler =>
  async ({ request, requestId, organisationId }) => {
    const known = ['key', 'limit', 'before', 'status', 'from', 'to', 'tag'];
    const query = knownQuery(request.query, '/console/api/jobs', known);
    const limit = wholeNumberOf(query, 'limit', JOBS_LIMIT);
    const wanted = { limit, before: query.get('before'), ...wantedIn(query) };
    const { id: keyId } = await keyIn(query, organisationId, store);
    const { jobs, hasMore } = await detachedJobs.page(ownerOf({ organisationId, keyId }), wanted);
    const answer: JobViewList = {
      object: 'list',
      data: jobs.map((job) => viewOf(job, requestId)),
      has_more: hasMore,
      next: hasMore ? (jobs.at(-1)?.id ?? null) : null,
    };
    return json(200, answer);
  };

const getJob =
  ({ store, detachedJobs }: ConsoleJobsDependencies): Handler =>
  async ({ request, requestId, organisationId, params: { id = '' } }) => {
    const query = knownQuery(request.query, '/console/api/jobs/{id}', ['key']);
    const key = await keyIn(query, organisationId, store);
    const owner = ownerOf({ organisationId, keyId: key.id });
    const job = await detachedJobs.find(owner, id);
    const view = viewOf(job, requestId, await detachedJobs.progressOf(owner, job));
    if (job.state.type === 'done' && key.organisationShowsTranscripts === true)
      view.text = job.state.heard.transcription.text;
    return json(200, view);
  };

const cancelJob =
  ({ store, detachedJobs }: ConsoleJobsDependencies): Handler =>
  async ({ request, requestId, organisationId, params: { id = '' } }) => {
    const query = knownQuery(request.query, '/console/api/jobs/{id}/cancel', ['key']);
    await readBody(request, EmptyBody);
    const { id: keyId } = await keyIn(query, organisationId, store);
    return json(200, viewOf(await detachedJobs.cancel(ownerOf({ organisationId, keyId }), id), requestId));
  };

const deleteJob =
  ({ store, detachedJobs }: ConsoleJobsDependencies): Handler =>
  async ({ request, organisationId, params: { id = '' } }) => {
    const query = knownQuery(request.query, '/console/api/jobs/{id}', ['key']);
    await readBody(request, EmptyBody);
    const { id: keyId } = await keyIn(query, organisationId, store);
    await detachedJobs.remove(ownerOf({ organisationId, keyId }), id);
    return { status: 204 };
  };

/** Throws the ApiError `not_found`, in the same words for a key of another organisation and one that never existed. */
async function keyIn(
  query: ReadonlyMap<string, string>,
  organisationId: string,
  store: ConsoleJobsDependencies['store'],
): Promise<ApiKey> {
  const keyId = textOf(query, 'key');
  if (keyId === undefined)
    throw apiError('invalid_request', '`key` is missing. Send the id of an API key of this organisation.', {
      param: 'key',
    });
  const key = await fromLedger(store.findKey(organisationId, keyId));
  if (key === undefined)
    throw apiError('not_found', 'There is no such API key in this organisation. GET /console/api/keys lists them.', {
      param: 'key',
    });
  return key;
}

type Listed = Parameters<typeof jobAnswer>[0] & Pick<KnownJob, 'attempts'>;

/** Without the transcript. */
function viewOf(job: Listed, requestId: string, progress?: Parameters<typeof jobAnswer>[3]): JobView {
  const view: JobView = jobAnswer(job, requestId, false, progress);
  if (job.state.type === 'done') {
    const { seconds, cost_usd: cost } = job.state.heard.transcription.usage;
    view.seconds = seconds;
    view.cost_usd = cost;
  }
  return view;
}
