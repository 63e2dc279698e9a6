// The spans of one file: its own, and below it one for each model that was asked.
import type { FailureReason } from '../../../machines/events.ts';
import type { FileObserver, ObservedFile } from '../../files/file-observer.ts';
import type { TraceSpan, Tracing } from '../../runtime/telemetry/tracing/tracing.ts';
import { ofModel } from './session-trace.ts';

export class FileTrace implements FileObserver {
  readonly #span: TraceSpan;
  readonly #nowMs: () => number;
  #attempt: TraceSpan | undefined;

  constructor({ requestId, organisationId, traceparent }: ObservedFile, tracing: Tracing, nowMs: () => number) {
    this.#nowMs = nowMs;
    const attributes = { 'voxgate.request.id': requestId, 'voxgate.organisation.id': organisationId };
    this.#span = tracing.start('file', { kind: 'server', atMs: nowMs(), attributes }, traceparent);
  }

  asked(model: string): void {
    this.#end();
    const atMs = this.#nowMs();
    this.#attempt = this.#span.child(`transcription ${model}`, { kind: 'client', atMs, attributes: ofModel(model) });
  }

  answered(model: string): void {
    this.#span.set(ofModel(model));
    this.#end();
  }

  failed(_: string, reason: FailureReason): void {
    this.#end(reason);
  }

  ended(code: string | undefined): void {
    this.#end(code);
    this.#span.end(this.#nowMs(), code);
  }

  #end(error?: string): void {
    this.#attempt?.end(this.#nowMs(), error);
    this.#attempt = undefined;
  }
}
