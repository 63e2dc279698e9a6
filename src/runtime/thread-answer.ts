// A thread that does one piece of work and answers once.
import type { Worker } from 'node:worker_threads';

/** Its first message. Rejects with an Error of one sentence when it fails or ends without one. */
export function answerOf<Answer>(worker: Worker, name: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error) =>
      reject(new Error(`The thread of ${name} failed: ${error.message}.`, { cause: error })),
    );
    worker.once('exit', (code) => reject(new Error(`The thread of ${name} ended with code ${code}.`)));
  });
}
