// What runs in a browser's audio thread: samples as 16-bit pieces, with their level. The function is sent there as text, so it
// uses nothing but its argument and the globals of that thread.

export const PROCESSOR_NAME = 'voxgate-microphone';

/** The globals of an AudioWorklet. */
interface Worklet {
  sampleRate: number;
  AudioWorkletProcessor: new () => {
    port: { onmessage: unknown; postMessage(data: object, transfer?: ArrayBuffer[]): void };
  };
  registerProcessor(name: string, processor: new (options: Options) => object): void;
}

interface Options {
  processorOptions: { pieceMs: number };
}

/** Registers the processor. Self-contained: see above. */
export function installProcessor(name: string): void {
  const worklet = globalThis as unknown as Worklet;
  worklet.registerProcessor(
    name,
    class extends worklet.AudioWorkletProcessor {
      size: number;
      samples: Int16Array<ArrayBuffer>;
      count = 0;
      energy = 0;
      isOver = false;

      constructor({ processorOptions }: Options) {
        super();
        this.size = Math.max(128, Math.round((worklet.sampleRate * processorOptions.pieceMs) / 1000));
        this.samples = new Int16Array(this.size);
        this.port.onmessage = () => {
          if (this.isOver) return;
          this.isOver = true;
          this.flush(true);
        };
      }

      process(inputs: Float32Array[][]): boolean {
        const channel = inputs[0]?.[0];
        if (channel !== undefined && !this.isOver) for (const value of channel) this.take(value);
        return !this.isOver;
      }

      take(value: number): void {
        const bounded = Math.max(-1, Math.min(1, value));
        this.energy += bounded * bounded;
        this.samples[this.count++] = Math.round(bounded * (bounded < 0 ? 32_768 : 32_767));
        if (this.count === this.size) this.flush(false);
      }

      flush(isLast: boolean): void {
        const samples = this.samples.slice(0, this.count).buffer;
        const level = this.count === 0 ? 0 : Math.sqrt(this.energy / this.count);
        this.count = 0;
        this.energy = 0;
        this.port.postMessage({ samples, level, isLast }, [samples]);
      }
    },
  );
}
