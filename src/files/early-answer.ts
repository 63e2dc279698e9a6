// What of an answer is told before all of it is there. How it is sent is the edge's.
import type { Utterance } from '../../machines/events.ts';
import type { TranscriptionRequest } from '../api/transcriptions.ts';
import type { ChainMember, Degradation } from '../live/failover/chain.ts';
import type { Upload } from './upload.ts';

/** Hears what may be sent. */
export interface EarlyAnswer {
  /** An utterance that stays as it is, and what is known by then of things that were not honoured. The upload is whole. */
  heard(utterance: Utterance, request: TranscriptionRequest, warnings: () => readonly Degradation[]): void;
  /** Whether something of the answer is on its way to the client. */
  readonly isBegun: boolean;
}

type Tell = (utterance: Utterance, by: ChainMember) => void;

/** Keeps what is heard of a file that is still arriving until the upload is whole; never tells it where fields came behind the file. */
export function onceWhole(upload: Upload, tell: Tell): Tell {
  if (upload.file.size !== undefined) return tell;
  const waiting: Parameters<Tell>[] = [];
  let take: Tell = (...heard) => void waiting.push(heard);
  upload.whole.then(
    (whole) => {
      take = whole === upload ? tell : () => {};
      for (const heard of waiting.splice(0)) take(...heard);
    },
    () => {},
  );
  return (...heard) => take(...heard);
}
