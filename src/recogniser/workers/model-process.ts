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

/** How a stream reports: what it says, whether it may be sent more audio, and that it cannot continue. */
export interface StreamCalls {
  say(message: StreamMessage): void;
  hold(isHeld: boolean): void;
  fail(error: unknown): void;
}

/** The end of a model's process that is connected to the gateway. */
export interface GatewayChannel {
  on(event: 'message', listener: (request: WorkerRequest) => void): unknown;
  send?(reply: WorkerReply): unknown;
}

/** Runs the streams that the gateway opens. An error of one stream ends that stream alone. */
export function serveStreams(
  open: (query: StreamQuery, organisation: string | undefined, calls: StreamCalls) => ModelStream,
  channel: GatewayChannel = process,
): void {
  const streams = new Map<number, ModelStream>();
  const reply = (message: WorkerReply): void => {
    channel.send?.(message);
  };
  const drop = (id: number): void => {
    const stream = streams.get(id);
    streams.delete(id);
    stream?.abandon();
  };
  const fail = (id: number, error: unknown): void => {
    try {
      drop(id);
    } catch {
      // The stream is forgotten; what it held stays with its broken parts.
    }
    reply({ type: 'failed', stream: id, message: error instanceof Error ? error.message : String(error) });
  };
  /** Fails the stream when the work throws. */
  const attempt = (id: number, work: () => void): void => {
    try {
      work();
    } catch (error) {
      fail(id, error);
    }
  };
  channel.on('message', (request) => {
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
        const failOnce = (error: unknown): void => {
          if (streams.has(id)) fail(id, error);
        };
        attempt(id, () => {
          streams.set(id, open(request.query, request.organisation, { say, hold, fail: failOnce }));
          say({ type: 'ready' });
        });
        reply({ type: 'opened', stream: id, ms: ms() });
        return;
      }
      case 'audio':
        attempt(id, () => streams.get(id)?.audio(request.bytes));
        reply({ type: 'worked', stream: id, bytes: request.bytes.byteLength, ms: ms() });
        return;
      case 'command':
        attempt(id, () => {
          if (request.command.type === 'finalize') streams.get(id)?.finalize();
          else {
            streams.get(id)?.finish(() => {
              reply({ type: 'ended', stream: id, memoryBytes: process.resourceUsage().maxRSS * 1024 });
              drop(id);
            });
          }
        });
        reply({ type: 'worked', stream: id, bytes: COMMAND_BYTES, ms: ms() });
        return;
      case 'drop':
        attempt(id, () => drop(id));
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
