// A thread that measures files: continues with one as far as the piece reaches that came for it, then asks for the next. Which
// file has its turn is decided in length-meter.ts.
import { parentPort } from 'node:worker_threads';
import { audioIn } from '../../audio/containers/measure.ts';
import type { MeasuredAudio, Piece, Scan } from '../../audio/scan.ts';
import { BLOCK_BYTES, type FromThread, type ToThread } from './protocol.ts';

/** Tables of a whole file are no larger. */
const PIECE_BYTES_MAX = 16 * 1024 * 1024;

interface Job {
  scan: Scan<MeasuredAudio | undefined>;
  sizeBytes: number;
  /** What the scan waits for. */
  wanted: Piece;
}

const port = parentPort as NonNullable<typeof parentPort>;
const jobs = new Map<number, Job>();

port.on('message', (message: ToThread) => {
  if (message.type === 'drop') {
    jobs.delete(message.job);
    return;
  }
  const answer = goOn(message);
  if (answer.type === 'measured') jobs.delete(message.job);
  port.postMessage(answer);
});

function goOn({ job: id, sizeBytes, at, bytes }: Extract<ToThread, { type: 'piece' }>): FromThread {
  try {
    const job = jobs.get(id) ?? begin(id, sizeBytes);
    if (job === undefined) return { type: 'measured', job: id, audio: undefined };
    for (;;) {
      const { at: from, length } = job.wanted;
      const end = Math.min(from + length, sizeBytes);
      if (length > PIECE_BYTES_MAX || !Number.isSafeInteger(from) || from < 0) break;
      const isHere = end <= from || (from >= at && end <= at + bytes.length);
      if (!isHere) return { type: 'needs', job: id, piece: { at: from, length: Math.max(length, BLOCK_BYTES) } };
      const step = job.scan.next(bytes.subarray(Math.max(0, from - at), Math.max(0, end - at)));
      if (step.done === true) return { type: 'measured', job: id, audio: plausible(step.value) };
      job.wanted = step.value;
    }
  } catch {
    // What is in the file is the client's: no reader of it may be relied upon to bear everything.
  }
  return { type: 'measured', job: id, audio: undefined };
}

function begin(id: number, sizeBytes: number): Job | undefined {
  const scan = audioIn(sizeBytes);
  const first = scan.next();
  if (first.done === true) return undefined;
  const job = { scan, sizeBytes, wanted: first.value };
  jobs.set(id, job);
  return job;
}

const plausible = (audio: MeasuredAudio | undefined): MeasuredAudio | undefined =>
  audio !== undefined && Number.isFinite(audio.secondsMax) && audio.secondsMax > 0 ? audio : undefined;
