// What clients of other vendors come back for: their files, jobs and sessions.
import { DetachedJobs } from '../compat/jobs/detached-jobs.ts';
import { KeptFiles } from '../compat/jobs/kept-files.ts';
import { KeptSessions } from '../compat/jobs/kept-sessions.ts';
import { refusalOf } from '../http/router.ts';
import type { FairQuota } from '../runtime/limits/fair-quota.ts';
import { backgroundClock } from '../runtime/telemetry/clock.ts';
import type { Assembly } from './context.ts';

/** Files and jobs. */
export function keptOf({ logger, metrics, defer }: Assembly, spoolQuota: FairQuota) {
  const common = { clock: backgroundClock, wallNow: () => new Date() };
  const keptFiles = new KeptFiles({ ...common, spoolQuota });
  const detachedJobs = new DetachedJobs({
    ...common,
    onFault: (error) => {
      logger.error({ err: error }, 'job fault');
      return refusalOf(error);
    },
    onForgotten: () => metrics.dropped('detached_job'),
  });
  defer(() => {
    detachedJobs.close();
    keptFiles.close();
  });
  metrics.watchQueue('kept_files', () => keptFiles.size);
  metrics.watchQueue('detached_jobs', () => detachedJobs.size);
  return { keptFiles, detachedJobs };
}

/** Live sessions that they may request after the end. */
export function keptSessionsOf({ metrics, defer }: Assembly): KeptSessions {
  const onForgotten = () => metrics.dropped('kept_session');
  const keptSessions = new KeptSessions({ clock: backgroundClock, wallNow: () => new Date(), onForgotten });
  defer(() => keptSessions.close());
  metrics.watchQueue('kept_sessions', () => keptSessions.size);
  return keptSessions;
}
