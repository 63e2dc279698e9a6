// Where a request goes at a simulated service, and what it remembers from one request to the next.

import type { JsonObject } from '../json.ts';
import type { HeardTurn, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../simulation.ts';

/** Uploads, jobs and tokens that are remembered; the oldest are forgotten. */
const REMEMBERED_MAX = 200;

/** Undefined for what is not there. */
type Found = SimulatedAnswer | undefined;

/** By `METHOD /path`; a `*` in place of a part of the path is handed over. */
export type Routes = Readonly<Record<string, (part: string) => Found | Promise<Found>>>;

export const ok = (body: NonNullable<SimulatedAnswer['body']>, status = 200): SimulatedAnswer => ({ status, body });

/** The answer of the route that fits; undefined when there is none, or nothing there. */
export function routed({ method, url }: SimulatedRequest, routes: Routes): ReturnType<Routes[string]> | undefined {
  const asked = `${method} ${url.pathname}`;
  const exact = Object.hasOwn(routes, asked) ? routes[asked] : undefined;
  if (exact !== undefined) return exact('');
  const parts = asked.split('/');
  for (const [route, answer] of Object.entries(routes)) {
    const wanted = route.split('/');
    const at = wanted.indexOf('*');
    const fits = wanted.length === parts.length && wanted.every((part, index) => index === at || part === parts[index]);
    if (at !== -1 && fits) return answer(parts[at] as string);
  }
  return undefined;
}

export class Remembered<Value> {
  readonly #values = new Map<string, Value>();

  set(id: string, value: Value): void {
    this.#values.set(id, value);
    const oldest = this.#values.keys().next();
    if (this.#values.size > REMEMBERED_MAX && oldest.done !== true) this.#values.delete(oldest.value);
  }

  get(id: string): Value | undefined {
    return this.#values.get(id);
  }

  /** Gives it out and forgets it. */
  take(id: string): Value | undefined {
    const value = this.#values.get(id);
    this.#values.delete(id);
    return value;
  }
}

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
