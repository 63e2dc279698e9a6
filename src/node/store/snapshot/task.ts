// What the thread that copies a database is given, and what it answers.
export interface CopyTask {
  file: string;
  /** Not there yet. */
  copy: string;
}

/** `failure`: why there is no copy, in one sentence. */
export interface CopyOutcome {
  failure?: string;
}
