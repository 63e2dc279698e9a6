// Jobs as members of an organisation see them on the console.
import type { JobAnswer } from '../jobs.ts';

/** A job of one of the organisation's API keys. */
export interface JobView extends Omit<JobAnswer, 'result'> {
  /** Of a completed job: the audio, and what it cost. */
  seconds?: number;
  cost_usd?: string;
  /** Of a completed job, but not in lists, and only where the organisation shows transcripts to its members. */
  text?: string;
}

export interface JobViewList {
  object: 'list';
  data: readonly JobView[];
  has_more: boolean;
  /** `before` of what follows; null at the end. */
  next: string | null;
}
