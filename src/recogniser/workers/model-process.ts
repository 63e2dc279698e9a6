// What every process that runs a model does: it steps back behind the gateway, and runs streams as it is told.
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import {
  COMMAND_BYTES,
  type StreamMessage,
  type StreamQuery,
  type WorkerReply,
  type WorkerRequest,
} from '../protocol.ts';

export interface ModelStream {
  /** Takes linear16 bytes, cut anywhere. */
  audio(bytes: Uint8Array): void;
  finalize(): void;
  /** Calls back once all was reported. */
  finish(onFinished: () => void): void;
  /** Reports nothing more, and gives back what it holds. */
  abandon(): void;
}

/** How a stream reports: what it says, and whether it may be sent more audio. */
export interface StreamCalls {
  say(message: StreamMessage): void;
  hold(isHeld: boolean): void;
}

/** Runs the streams that the gateway opens. */
export function serveStreams(
  open: (query: StreamQuery, organisation: string | undefined, calls: StreamCalls) => ModelStream,
): void {
  const streams = new Map<number, ModelStream>();
  const reply = (message: WorkerReply): void => {
    process.send?.(message);
  };
  const drop = (id: number): void => {
    streams.get(id)?.abandon();
    streams.delete(id);
  };
  process.on('message', (request: WorkerRequest) => {
    const sinceMs = performance.now();
    const ms = () => performance.now() - sinceMs;
    if (request.type === 'check') {
      reply({ type: 'checked', check: request.check, fault: undefined, ms: ms() });
      return;
    }
    const { stream: id } = request;
    switch (request.type) {
      case 'open': {
        const say = (message: StreamMessage): void => reply({ type: 'said', stream: id, message });
        const hold = (held: boolean): void => reply({ type: 'held', stream: id, held });
        streams.set(id, open(request.query, request.organisation, { say, hold }));
        say({ type: 'ready' });
        reply({ type: 'opened', stream: id, ms: ms() });
        return;
      }
      case 'audio':
        streams.get(id)?.audio(request.bytes);
        reply({ type: 'worked', stream: id, bytes: request.bytes.byteLength, ms: ms() });
        return;
      case 'command':
        if (request.command.type === 'finalize') streams.get(id)?.finalize();
        else {
          streams.get(id)?.finish(() => {
            drop(id);
            reply({ type: 'ended', stream: id, memoryBytes: process.resourceUsage().maxRSS * 1024 });
          });
        }
        reply({ type: 'worked', stream: id, bytes: COMMAND_BYTES, ms: ms() });
        return;
      case 'drop':
        drop(id);
    }
  });
}

/** @param niceness above that of the gateway: its sockets go first */
export function beginModelProcess(niceness: number): void {
  setPriority(niceness);
  goFirstWhenMemoryRunsOut();
  process.on('disconnect', () => process.exit(0));
  // The signal reaches all processes of a terminal: the one that started this one decides when it ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
}

/** A model can be loaded again; the sessions of the gateway cannot. */
function goFirstWhenMemoryRunsOut(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Other systems have no such file.
  }
}
