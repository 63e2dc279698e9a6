// Files as jobs of a simulated service: made, worked on at once, and kept until they are removed. How a job is shown is the service's.
import type { HeardTurn, SimulatorTools } from '../../simulation.ts';
import type { JsonObject } from '../json.ts';
import { Remembered } from './routes.ts';

export interface FileJob {
  id: string;
  /** What it was made with. */
  asked: JsonObject;
  status: 'working' | 'done' | 'failed';
  /** There was no file to work on. */
  isMissing: boolean;
  seconds: number;
  turns: readonly HeardTurn[];
}

/** What a service keeps of its customers' files. */
export class FileJobs {
  readonly uploads = new Remembered<Uint8Array>();
  readonly jobs = new Remembered<FileJob>();

  /** A job that fails where there is no file, or one that is no audio. */
  make(asked: JsonObject, file: Uint8Array | undefined, language: unknown, tools: SimulatorTools): FileJob {
    const job: FileJob = {
      ...{ id: `job-${tools.newId()}`, asked, status: 'working', isMissing: file === undefined },
      ...{ seconds: 0, turns: [] },
    };
    this.jobs.set(job.id, job);
    void work(job, file, typeof language === 'string' ? language : undefined, tools);
    return job;
  }
}

/** Changes the job in place, as polls see it. */
async function work(job: FileJob, file: Uint8Array | undefined, language: string | undefined, tools: SimulatorTools) {
  const heard = file && (await tools.transcribe(file, language).catch(() => undefined));
  Object.assign(job, heard === undefined ? { status: 'failed' } : { ...heard, status: 'done' });
}

/** Those of a simulator that remembers nothing else. */
export const fileJobsOf = (tools: SimulatorTools): FileJobs => tools.shared(() => new FileJobs());
