// What clients come back for, on a node that serves clients: jobs, and the files and sessions of other vendors' clients.
import { join } from 'node:path';
import { JobsElsewhere } from '../compat/jobs/elsewhere.ts';
import { KeptSessions } from '../compat/jobs/kept-sessions.ts';
import type { Config } from '../config/schema.ts';
import { toApiError } from '../http/router.ts';
import { DetachedJobs } from '../jobs/detached-jobs.ts';
import { JobFiles } from '../jobs/job-files.ts';
import { JobRecords } from '../jobs/job-records.ts';
import { KeptFiles } from '../jobs/kept-files.ts';
import type { Quota } from '../runtime/limits/quota.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import { type Assembly, jobNodeName, secretsOf } from './context.ts';
import type { EdgeLive } from './live.ts';
import type { NodeWebhooks } from './webhooks.ts';

/** Files and jobs. */
export function openJobs(
  assembly: Assembly,
  { nodes }: Pick<EdgeLive, 'nodes'>,
  { onReported }: Pick<NodeWebhooks, 'onReported'>,
  spoolQuota: Quota,
) {
  const { bus, config, logger, metrics, store, defer } = assembly;
  const { node } = bus;
  const clock = backgroundClock;
  const fault = (name: string) => (error: unknown) => logger.error({ action: name, err: error }, 'job fault');
  const keptFiles = new KeptFiles({ node, clock, wallNow: () => new Date(), spoolQuota });
  const jobsElsewhere = new JobsElsewhere({
    bus,
    nodes: () => nodes().flatMap((each) => (each.roles.includes('edge') ? [each.node] : [])),
    onFault: fault('pass'),
  });
  const jobRecords = new JobRecords({ store, ...secretsOf(assembly), node, nodeName: jobNodeName(assembly) });
  const detachedJobs = new DetachedJobs({
    ...{ clock, node },
    records: jobRecords,
    endElsewhere: (other, owner, id) => jobsElsewhere.end(other, owner, id),
    cancelElsewhere: (other, owner, id) => jobsElsewhere.cancel(other, owner, id),
    progressElsewhere: (other, owner, id) => jobsElsewhere.progressOf(other, owner, id),
    onReported,
    onFault: (error) => {
      fault('run')(error);
      return toApiError(error);
    },
    onStoreFault: (error) => logger.warn({ action: 'store', err: error }, 'job fault'),
    onForgotten: (count) => {
      for (let at = 0; at < count; at++) metrics.dropped('detached_job');
    },
  });
  if (config.cluster.nodeId !== undefined)
    store.failEarlierJobs(jobNodeName(assembly), node).catch(fault('earlier jobs'));
  defer(async () => {
    await detachedJobs.close();
    keptFiles.close();
  });
  metrics.watchQueue('kept_files', () => keptFiles.size);
  metrics.watchQueue('detached_jobs', () => detachedJobs.size);
  const folder = jobFolder(config);
  const jobFiles = folder === undefined ? undefined : new JobFiles(join(config.data.directory, 'jobs', folder));
  return { keptFiles, detachedJobs, jobsElsewhere, jobRecords, jobFiles, onJobFault: fault('own jobs') };
}

/** Without a bus there is one, however the machine is called at the next start. A node without a name does not find its own again. */
const jobFolder = ({ cluster }: Config): string | undefined =>
  cluster.nats === undefined ? 'alone' : cluster.nodeId && `node-${encodeURIComponent(cluster.nodeId)}`;

/** Live sessions that they may request after the end. */
export function openKeptSessions({ metrics, defer }: Assembly): KeptSessions {
  const onForgotten = () => metrics.dropped('kept_session');
  const keptSessions = new KeptSessions({ clock: backgroundClock, wallNow: () => new Date(), onForgotten });
  defer(() => keptSessions.close());
  metrics.watchQueue('kept_sessions', () => keptSessions.size);
  return keptSessions;
}
