// The audio of a job that names it by its address: fetched as the job runs, and kept for as long as it does.

import type { Clock } from '../../machines/clock.ts';
import type { AudioSource } from '../api/audio-source.ts';
import { fetchToKeep, type UploadDependencies } from '../files/routes/read-upload.ts';
import { limitedSignal } from '../runtime/timeouts.ts';
import type { KeptFile, KeptFiles } from './kept-files.ts';
import type { Owner } from './owner.ts';

export interface FetchDependencies extends UploadDependencies {
  keptFiles: Pick<KeptFiles, 'keep' | 'remove'>;
  http: { clock: Clock };
}

/** The file is the job's alone, until `leave`. Rejects with an ApiError, or with the reason of the signal. */
export async function fetchKept(
  source: AudioSource,
  owner: Owner,
  signal: AbortSignal,
  dependencies: FetchDependencies,
): Promise<{ file: KeptFile; leave(): void }> {
  const { keptFiles, settings, http } = dependencies;
  const limit = limitedSignal(http.clock, settings.timeoutMs, signal);
  const held = await keptFiles
    .keep(owner, (budget) => fetchToKeep(source, [], limit, dependencies, owner, budget))
    .finally(limit.release);
  keptFiles.remove(owner, held.file.id);
  return held;
}
