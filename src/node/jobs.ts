// What clients come back for, on a node that serves clients: jobs, and the files and sessions of other vendors' clients.
import { join } from 'node:path';
import type { SharedObjects } from '../cluster/bus/shared-objects.ts';
import { JobsElsewhere } from '../compat/jobs/elsewhere.ts';
import { KeptSessions } from '../compat/jobs/kept-sessions.ts';
import type { Config } from '../config/schema.ts';
import { toApiError } from '../http/router.ts';
import { DetachedJobs } from '../jobs/detached-jobs.ts';
import { JobFiles } from '../jobs/job-files.ts';
import { JobRecords } from '../jobs/job-records.ts';
import { KeptFiles } from '../jobs/kept-files.ts';
import type { OwnJobs } from '../jobs/own-jobs.ts';
import { SharedAudio } from '../jobs/shared-audio.ts';
import { Takeover } from '../jobs/takeover.ts';
import type { Quota } from '../runtime/limits/quota.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import { type Assembly, jobNodeName, secretsOf } from './context.ts';
import type { EdgeLive } from './live.ts';
import type { NodeWebhooks } from './webhooks.ts';

interface JobServices {
  live: Pick<EdgeLive, 'nodes'>;
  webhooks: Pick<NodeWebhooks, 'onReported'>;
  jobAudio: SharedObjects | undefined;
}

/** Files and jobs. */
export function openJobs(
  assembly: Assembly,
  { live: { nodes }, webhooks: { onReported }, jobAudio }: JobServices,
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
  const { jobLeaseMs: leaseMs } = config.cluster;
  const jobRecords = new JobRecords({ store, ...secretsOf(assembly), node, nodeName: jobNodeName(assembly), leaseMs });
  const sharedAudio = jobAudio && openSharedAudio(assembly, jobAudio);
  const detachedJobs = new DetachedJobs({
    ...{ clock, node },
    records: jobRecords,
    renewMs: leaseMs / 3,
    removeShared: (id) => void sharedAudio?.remove(id),
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
  const hasOthers = config.cluster.nats !== undefined;
  const own = { jobRecords, jobFiles, sharedAudio, hasOthers, onJobFault: fault('own jobs') };
  return { keptFiles, detachedJobs, jobsElsewhere, ...own };
}

/** The audio of jobs where other nodes can have it. */
function openSharedAudio({ config, logger, metrics }: Assembly, objects: SharedObjects): SharedAudio {
  const { jobAudioBytesMax: bytesMax, jobAudioFileBytesMax: fileBytesMax } = config.cluster;
  const sharedAudio = new SharedAudio({
    ...{ objects, clock: backgroundClock, bytesMax, fileBytesMax },
    onUnshared: (reason, error) => {
      metrics.dropped('shared_job_audio');
      logger.warn({ reason, err: error }, 'job stays with this node: its audio could not be shared');
    },
    onFault: (error) => logger.warn({ action: 'shared audio', err: error }, 'job fault'),
  });
  metrics.watchQueue('shared_job_audio_bytes', () => sharedAudio.used);
  return sharedAudio;
}

/** Jobs of nodes that were lost. */
export function takeOverJobs(
  { bus, config, logger, metrics, defer }: Assembly,
  ownJobs: OwnJobs,
  jobRecords: JobRecords,
  isReady: () => boolean,
): void {
  if (config.cluster.nats === undefined) return;
  let all = 0;
  metrics.watchGauge('jobs_adopted', 'Jobs of lost nodes that this node took over, since the start.', () => all);
  const takeover = new Takeover({
    clock: backgroundClock,
    leaseMs: config.cluster.jobLeaseMs,
    adopted: () => ownJobs.adopted,
    // A node that drains has enough of its own.
    hasLost: async (exceptKeys) => isReady() && jobRecords.hasLost(exceptKeys),
    adopt: (max, exceptKeys) => ownJobs.takeOver(max, exceptKeys),
    onAdopted: (jobs) => {
      all += jobs;
      logger.warn({ jobs }, 'took over jobs of lost nodes');
    },
    onFault: (error) => logger.warn({ action: 'take over', err: error }, 'job fault'),
  });
  const stopPostponing = bus.onConnection((isConnected) => isConnected && takeover.postpone());
  defer(() => {
    stopPostponing();
    takeover.close();
  });
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
