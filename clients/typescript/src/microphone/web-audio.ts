// As much of a browser's audio as the microphone uses. Written down here so that this project, which runs in Node, needs no types
// of a browser, and neither do programs that use the client.

export interface MediaTrack {
  stop(): void;
  addEventListener(type: 'ended', listener: () => void): void;
}

export interface MediaStream {
  getTracks(): MediaTrack[];
}

/** What the processor says: samples as linear16, their level, and whether it was the last time. */
export interface ProcessorMessage {
  samples?: ArrayBuffer;
  level?: number;
  isLast?: boolean;
}

export interface WorkletNode {
  readonly port: {
    onmessage: ((event: { data: ProcessorMessage }) => void) | null;
    postMessage(message: 'stop'): void;
  };
}

interface Context {
  readonly sampleRate: number;
  readonly audioWorklet: { addModule(url: string): Promise<void> };
  resume(): Promise<void>;
  close(): Promise<void>;
  createMediaStreamSource(stream: MediaStream): { connect(node: WorkletNode): void };
}

/** The globals of a page. */
export interface WebAudio {
  navigator?: {
    mediaDevices?: { getUserMedia(constraints: { audio: Record<string, unknown> }): Promise<MediaStream> };
  };
  AudioContext: new (options: { latencyHint: 'interactive' }) => Context;
  AudioWorkletNode: new (context: Context, name: string, options: Record<string, unknown>) => WorkletNode;
  URL: { createObjectURL(blob: Blob): string; revokeObjectURL(url: string): void };
}
