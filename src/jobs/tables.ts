// The tables of jobs: calls.ts says what each operation does.
import { CALLBACKS_MAX } from '../api/bounds.ts';
import type { Pieces } from '../store/pieces.ts';
import { StoreError } from '../store/store-error.ts';
import type { TableContext } from '../store/table-context.ts';
import { type CallbackTables, createCallbackTables } from './callbacks/tables.ts';
import {
  type AdoptedJob,
  ANY_NODE,
  type CreatedJob,
  type FoundJob,
  JOB_LIMITS,
  type JobCalls,
  type JobEnd,
  type JobLimits,
  type JobName,
  type JobStage,
  jobContent,
  type ListedJob,
  type NewJob,
  type NewReportedJob,
  OWN_DIALECT,
  sharedJobContent,
} from './calls.ts';
import { JobRoom } from './job-room.ts';
import type { Owner } from './owner.ts';

const LISTED_MAX = 200;
const LEASE = `INSERT INTO job_nodes (node, name, lease_until_ms) VALUES (@node, @nodeName, @untilMs)
  ON CONFLICT (node) DO UPDATE SET lease_until_ms = max(lease_until_ms, @untilMs)`;

type Context = Pick<TableContext, 'database' | 'nowMs'>;
type Contents = Pick<Pieces, 'measurePieces' | 'takePieces' | 'expirePieces' | 'hasExpiredPieces'>;

export function createJobTables(context: Context, contents: Contents, limits: JobLimits = JOB_LIMITS): JobCalls {
  const { database } = context;
  const room = new JobRoom(context, limits);
  const { add, ...callbacks } = createCallbackTables(context);
  const { createJob, startJob, finishJob } = jobsInProgress(context, contents, room, limits, add);
  const { adoptJobs, failJobsOf, failEarlierJobs, failLostJobs, renewJobs, hasLostJobs } = jobNodes(context, limits);
  const { findJob, listJobs, removeJob, expire, hasExpired } = keptJobs(context);
  const { share, isRunBy, startSharedJob, adoptLostJobs, adoptLostJob, ...sharedReads } = sharedJobs(context);
  function createShared(job: NewJob, leaseMs: number, callbacks: number): CreatedJob {
    const created = createJob(job, leaseMs, callbacks);
    if (created.state === 'created') share(job);
    return created;
  }

  return {
    findJobShortage: (organisationId: string) => room.shortage(organisationId),
    ...callbacks,
    createJob: database.transaction((job: NewJob, leaseMs: number) => createJob(job, leaseMs, 0)),
    createReportedJob: database.transaction(({ callbacks: count, ...job }: NewReportedJob, leaseMs: number) =>
      createJob(job, leaseMs, count),
    ),
    createSharedReportedJob: database.transaction(({ callbacks: count, ...job }: NewReportedJob, leaseMs: number) =>
      createShared(job, leaseMs, count),
    ),
    startJob,
    finishJob: database.transaction((name: JobName, end: JobEnd) => finishJob(name, end)),
    createSharedJob: database.transaction((job: NewJob, leaseMs: number) => createShared(job, leaseMs, 0)),
    startSharedJob,
    finishSharedJob: database.transaction((name: JobName, node: string, end: JobEnd) =>
      isRunBy(name, node) ? finishJob(name, end, sharedJobContent(name.id, node)) : -1,
    ),
    adoptLostJobs: database.transaction(adoptLostJobs),
    adoptLostJob: database.transaction(adoptLostJob),
    ...sharedReads,
    ...{ removeJob, findJob, listJobs, renewJobs, failEarlierJobs },
    failJobsOf: database.transaction(failJobsOf),
    adoptJobs: database.transaction(adoptJobs),
    failLostJobs: database.transaction(failLostJobs),
    expireJobs: database.transaction((max: number) => expire(max) + contents.expirePieces(max)),
    hasStaleJobs: () => hasLostJobs() || hasExpired() || contents.hasExpiredPieces(),
  };
}

const ADOPTED =
  'organisation_id AS organisationId, key_id AS keyId, dialect, id, attempts, created_at_ms AS createdAtMs, request, is_shared AS isShared';

function jobsInProgress(
  { database, nowMs }: Context,
  { measurePieces, takePieces }: Contents,
  room: JobRoom,
  limits: JobLimits,
  addCallbacks: CallbackTables['add'],
) {
  const hasOrganisation = database.prepare<[string], number>('SELECT 1 FROM organisations WHERE id = ?').pluck();
  const find = database.prepare<JobName, { number: number; stage: JobStage; isLost: number; createdAtMs: number }>(
    `SELECT number, stage, created_at_ms AS createdAtMs, stage = 'failed' AND summary IS NULL AS isLost
     FROM jobs WHERE organisation_id = @organisationId AND id = @id`,
  );
  const insert = database.prepare<NewJob & { now: number; bytes: number }>(
    `INSERT INTO jobs (organisation_id, id, key_id, dialect, node, attempts, stage, created_at_ms, bytes, request)
     VALUES (@organisationId, @id, @keyId, @dialect, @node, 1, @stage, @now, @bytes, @request)`,
  );
  const lease = database.prepare<{ node: string; nodeName: string; untilMs: number }>(LEASE);
  const start = database.prepare<JobName>(
    "UPDATE jobs SET stage = 'processing' WHERE organisation_id = @organisationId AND id = @id AND stage = 'queued'",
  );
  const finish = database.prepare<
    Omit<JobEnd, 'transcript' | 'keptMs'> & {
      number: number;
      now: number;
      keptUntilMs: number;
      bytes: number;
      transcript: Uint8Array | null;
    }
  >(
    `UPDATE jobs SET stage = @stage, ended_at_ms = @now, kept_until_ms = @keptUntilMs, bytes = length(request) + @bytes,
       pieces = @pieces, summary = @summary, transcript = @transcript
     WHERE number = @number`,
  );

  function createJob(job: NewJob, leaseMs: number, callbacks: number): CreatedJob {
    const { organisationId, node, nodeName, request } = job;
    requireSize('request', request.length, limits.requestBytesMax);
    if (!(callbacks >= 0 && callbacks <= CALLBACKS_MAX))
      throw new StoreError('invalid', `A job is reported to up to ${CALLBACKS_MAX} addresses.`);
    if (hasOrganisation.get(organisationId) === undefined) {
      throw new StoreError('not_found', 'There is no such organisation.');
    }
    const now = nowMs();
    const before = find.get(job);
    if (before !== undefined) return { state: 'created', createdAtMs: before.createdAtMs, removed: 0 };
    room.sweep(now);
    const removed = room.make(job, 1);
    const full = room.fullFor(organisationId);
    if (full !== undefined) return { state: 'full', of: full };
    const { lastInsertRowid } = insert.run({ ...job, now, bytes: request.length });
    addCallbacks(Number(lastInsertRowid), organisationId, callbacks);
    lease.run({ node, nodeName, untilMs: now + leaseMs });
    return { state: 'created', createdAtMs: now, removed };
  }

  function finishJob(name: JobName, end: JobEnd, content = jobContent(name.id)): number {
    const { stage, summary, transcript, pieces, keptMs = limits.keptMs } = end;
    requireSize('summary', summary.length, limits.summaryBytesMax);
    const job = find.get(name);
    if (job === undefined) return -1;
    if (job.isLost === 0 && (job.stage === 'done' || job.stage === 'failed')) return 0;
    const inPieces = pieces === 0 ? 0 : measurePieces(name.organisationId, content, pieces);
    if (pieces > 0) takePieces(name.organisationId, content);
    const now = nowMs();
    const bytes = summary.length + (transcript?.length ?? 0) + inPieces;
    const { number } = job;
    const keptUntilMs = now + Math.max(limits.keptMsMin, Math.min(keptMs, limits.keptMsMax));
    finish.run({ number, stage, summary, transcript, pieces, bytes, now, keptUntilMs });
    return room.make(room.ownerOf(number), 0);
  }

  return {
    createJob,
    startJob: (name: JobName) => start.run(name).changes === 1 || isRunning(find.get(name)?.stage),
    finishJob,
  };
}

const isRunning = (stage: JobStage | undefined): boolean => stage === 'processing';

function requireSize(what: string, bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return;
  throw new StoreError('invalid', `The ${what} of a job has up to ${bytesMax} bytes, and this one has ${bytes}.`);
}

/** Failed for the same reason in any copy: whose node is lost has no summary. */
function jobNodes({ database, nowMs }: Context, { keptMs, unfinishedMs }: JobLimits) {
  const set = "SET stage = 'failed', ended_at_ms = @now, kept_until_ms = @now + @keptMs";
  const isOpen = "stage IN ('queued', 'processing')";
  const isNameless = 'node IN (SELECT node FROM job_nodes WHERE name = node)';
  const isLosable = `${isOpen} AND is_shared = 0 AND (dialect <> '${OWN_DIALECT}' OR ${isNameless})`;
  const renew = database.prepare<[number, string]>(`UPDATE job_nodes SET lease_until_ms = ? WHERE node = ?`);
  const failOf = database.prepare<{ now: number; keptMs: number; node: string }>(
    `UPDATE jobs ${set} WHERE ${isLosable} AND node = @node`,
  );
  const requeueOf = database.prepare<[string]>(
    `UPDATE jobs SET stage = 'queued' WHERE stage = 'processing' AND dialect = '${OWN_DIALECT}' AND node = ?`,
  );
  const failEarlier = database.prepare<{ now: number; keptMs: number; node: string; nodeName: string }>(
    `UPDATE jobs ${set}
     WHERE ${isLosable} AND node <> @node AND node IN (SELECT node FROM job_nodes WHERE name = @nodeName)`,
  );
  const adopt = database.prepare<{ node: string; nodeName: string; max: number }, AdoptedJob>(
    `UPDATE jobs SET node = @node, stage = 'queued', attempts = attempts + (stage = 'processing') WHERE number IN
       (SELECT number FROM jobs
        WHERE ${isOpen} AND dialect = '${OWN_DIALECT}' AND node <> @node
          AND node IN (SELECT node FROM job_nodes WHERE name = @nodeName OR @nodeName = '${ANY_NODE}')
        ORDER BY number LIMIT @max)
     RETURNING ${ADOPTED}`,
  );
  const lease = database.prepare<{ node: string; nodeName: string; untilMs: number }>(LEASE);
  // Another process will not have its name, so others need not wait for it.
  const leaveOf = database.prepare<{ now: number; node: string }>(
    `UPDATE job_nodes SET lease_until_ms = min(lease_until_ms, @now) WHERE node = @node AND name = node
       AND EXISTS (SELECT 1 FROM jobs WHERE node = @node AND ended_at_ms IS NULL AND is_shared = 1)`,
  );
  const lost = `${isOpen} AND (created_at_ms <= @now - @unfinishedMs OR
    (is_shared = 0 AND (dialect <> '${OWN_DIALECT}' OR ${isNameless}) AND node NOT IN (SELECT node FROM job_nodes WHERE lease_until_ms > @now)))`;
  const failLost = database.prepare<{ now: number; keptMs: number; unfinishedMs: number }>(
    `UPDATE jobs ${set} WHERE ${lost}`,
  );
  const hasLost = database
    .prepare<{ now: number; unfinishedMs: number }, number>(`SELECT EXISTS (SELECT 1 FROM jobs WHERE ${lost})`)
    .pluck();
  const forgetNodes = database.prepare<[number]>(
    `DELETE FROM job_nodes WHERE lease_until_ms <= ? AND node NOT IN (SELECT node FROM jobs WHERE ${isOpen})`,
  );
  return {
    renewJobs: (node: string, leaseMs: number) => void renew.run(nowMs() + leaseMs, node),
    failJobsOf(node: string): number {
      const now = nowMs();
      const { changes } = failOf.run({ now, keptMs, node });
      requeueOf.run(node);
      leaveOf.run({ now, node });
      return changes;
    },
    failEarlierJobs: (nodeName: string, node: string) =>
      failEarlier.run({ now: nowMs(), keptMs, nodeName, node }).changes,
    adoptJobs(nodeName: string, node: string, leaseMs: number, max: number): AdoptedJob[] {
      const adopted = adopt.all({ nodeName, node, max });
      if (adopted.length > 0) lease.run({ node, nodeName, untilMs: nowMs() + leaseMs });
      return adopted.sort((one, other) => one.createdAtMs - other.createdAtMs);
    },
    failLostJobs() {
      const now = nowMs();
      const { changes } = failLost.run({ now, keptMs, unfinishedMs });
      forgetNodes.run(now);
      return changes;
    },
    hasLostJobs: () => hasLost.get({ now: nowMs(), unfinishedMs }) === 1,
  };
}

/** Jobs whose audio other nodes can have. A job is the node's that adopted it last: what another one says of it counts no more. */
function sharedJobs({ database, nowMs }: Context) {
  const isOne = 'organisation_id = @organisationId AND id = @id';
  const isLost = `ended_at_ms IS NULL AND is_shared = 1 AND node NOT IN (SELECT node FROM job_nodes WHERE lease_until_ms > @now)`;
  const isMeant = `${isLost} AND node <> @node AND key_id NOT IN (SELECT value FROM json_each(@exceptKeys))`;
  const adopted = "node = @node, stage = 'queued', attempts = attempts + (stage = 'processing')";
  const share = database.prepare<JobName>(`UPDATE jobs SET is_shared = 1 WHERE ${isOne} AND ended_at_ms IS NULL`);
  const nodeOf = database.prepare<JobName, string>(`SELECT node FROM jobs WHERE ${isOne}`).pluck();
  const start = database.prepare<JobName & { node: string }>(
    `UPDATE jobs SET stage = 'processing' WHERE ${isOne} AND node = @node AND ended_at_ms IS NULL`,
  );
  const lease = database.prepare<{ node: string; nodeName: string; untilMs: number }>(LEASE);
  // Keys take turns, so that one with many jobs does not keep those of others waiting.
  const adopt = database.prepare<{ node: string; now: number; max: number; exceptKeys: string }, AdoptedJob>(
    `UPDATE jobs SET ${adopted} WHERE number IN
       (SELECT number FROM (SELECT number, row_number() OVER (PARTITION BY key_id ORDER BY number) AS turn
          FROM jobs WHERE ${isMeant})
        ORDER BY turn, number LIMIT @max)
     RETURNING ${ADOPTED}`,
  );
  const adoptOne = database.prepare<JobName & { node: string; now: number }>(
    `UPDATE jobs SET ${adopted} WHERE ${isOne} AND ${isLost}`,
  );
  const hasLost = database
    .prepare<{ node: string; now: number; exceptKeys: string }, number>(
      `SELECT EXISTS (SELECT 1 FROM jobs WHERE ${isMeant})`,
    )
    .pluck();
  const notOn = database
    .prepare<{ node: string; ids: string }, string>(
      `SELECT value FROM json_each(@ids)
       WHERE value NOT IN (SELECT id FROM jobs WHERE node = @node AND ended_at_ms IS NULL)`,
    )
    .pluck();
  return {
    share: ({ organisationId, id }: JobName) => void share.run({ organisationId, id }),
    isRunBy: ({ organisationId, id }: JobName, node: string) => nodeOf.get({ organisationId, id }) === node,
    startSharedJob: ({ organisationId, id }: JobName, node: string) =>
      start.run({ organisationId, id, node }).changes === 1,
    adoptLostJobs(
      node: string,
      nodeName: string,
      leaseMs: number,
      max: number,
      exceptKeys: readonly string[],
    ): AdoptedJob[] {
      const now = nowMs();
      const jobs = adopt.all({ node, now, max, exceptKeys: JSON.stringify(exceptKeys) });
      if (jobs.length > 0) lease.run({ node, nodeName, untilMs: now + leaseMs });
      return jobs.sort((one, other) => one.createdAtMs - other.createdAtMs);
    },
    adoptLostJob({ organisationId, id }: JobName, node: string, nodeName: string, leaseMs: number): boolean {
      const now = nowMs();
      const { changes } = adoptOne.run({ organisationId, id, node, now });
      if (changes > 0) lease.run({ node, nodeName, untilMs: now + leaseMs });
      return changes > 0;
    },
    hasLostSharedJobs: (node: string, exceptKeys: readonly string[]) =>
      hasLost.get({ node, now: nowMs(), exceptKeys: JSON.stringify(exceptKeys) }) === 1,
    jobsNotOn: (node: string, ids: readonly string[]) =>
      notOn.all({ node, ids: JSON.stringify(ids.slice(0, LISTED_MAX)) }),
  };
}

type OwnerRow = Owner & { id: string; now: number };

function keptJobs({ database, nowMs }: Context) {
  const own = 'organisation_id = @organisationId AND key_id = @keyId AND dialect = @dialect';
  const isThere = '(kept_until_ms IS NULL OR kept_until_ms > @now)';
  const columns = `id, stage, node, attempts, created_at_ms AS createdAtMs, ended_at_ms AS endedAtMs,
    kept_until_ms AS keptUntilMs, request, summary`;
  const find = database.prepare<OwnerRow, FoundJob>(
    `SELECT ${columns}, transcript, pieces, is_shared AS isShared,
       (SELECT status FROM job_callbacks WHERE job = jobs.number AND position = 0) AS callbackStatus
     FROM jobs WHERE ${own} AND id = @id AND ${isThere}`,
  );
  const list = database.prepare<OwnerRow & { beforeMs: number; limit: number }, ListedJob>(
    `SELECT ${columns} FROM jobs
     WHERE ${own} AND ${isThere} AND (created_at_ms < @beforeMs OR (created_at_ms = @beforeMs AND id < @id))
     ORDER BY created_at_ms DESC, id DESC LIMIT @limit`,
  );
  const remove = database.prepare<OwnerRow, Pick<ListedJob, 'node' | 'stage'>>(
    `DELETE FROM jobs WHERE ${own} AND id = @id AND ${isThere} RETURNING node, stage`,
  );
  const sweep = database.prepare<{ now: number; max: number }>(
    `DELETE FROM jobs WHERE number IN
       (SELECT number FROM jobs WHERE kept_until_ms <= @now ORDER BY kept_until_ms, number LIMIT @max)`,
  );
  const hasExpired = database
    .prepare<[number], number>('SELECT EXISTS (SELECT 1 FROM jobs WHERE kept_until_ms <= ?)')
    .pluck();
  const rowOf = ({ organisationId, keyId, dialect }: Owner, id: string): OwnerRow => ({
    ...{ organisationId, keyId, dialect, id },
    now: nowMs(),
  });
  return {
    findJob: (owner: Owner, id: string) => find.get(rowOf(owner, id)),
    listJobs: (owner: Owner, before: Pick<ListedJob, 'id' | 'createdAtMs'> | undefined, limit: number) =>
      list.all({
        ...rowOf(owner, before?.id ?? ''),
        beforeMs: before?.createdAtMs ?? Number.MAX_SAFE_INTEGER,
        limit: Math.min(limit, LISTED_MAX),
      }),
    removeJob: (owner: Owner, id: string) => remove.get(rowOf(owner, id)),
    expire: (max: number) => sweep.run({ now: nowMs(), max }).changes,
    hasExpired: () => hasExpired.get(nowMs()) === 1,
  };
}
