// A provider behind a client's gateway: OpenAI's simulator on a socket, which can be made to wait, to fail and to tell when
// it was left.
import { simulator } from '../../src/vendors/openai/simulator/index.ts';
import { scriptEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { FaultProxy } from '../fakes/fault-proxy.ts';

export const SAID = ['hello and welcome', 'this is a script'];

const SCRIPT = scriptEar({ turns: SAID.map((text) => ({ text, seconds: 2 })) });

/** The form of a request that arrived. */
export type Asked = readonly (readonly [name: string, value: string])[];

export class Upstream {
  /** Every request that arrived whole, in order. */
  readonly asked: Asked[] = [];
  /** Requests that the gateway gave up before they were answered. */
  left = 0;
  /** The status that the next requests are refused with, one each. */
  readonly refusals: number[] = [];
  readonly #watchers = new Set<() => void>();
  #server!: SimulatorServer;
  #proxy!: FaultProxy;
  #hold: { promise: Promise<void>; release: () => void } | undefined;
  #waiting = 0;

  static async start(): Promise<Upstream> {
    const upstream = new Upstream();
    upstream.#server = await SimulatorServer.start({
      simulator: {
        ...simulator,
        http: async (request, tools) => {
          const type = request.headers['content-type'] ?? '';
          const form = await new Response(request.body, { headers: { 'content-type': type } }).formData();
          upstream.asked.push([...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]));
          await upstream.#pause();
          const status = upstream.refusals.shift();
          return status === undefined ? simulator.http(request, tools) : simulator.refusal(status);
        },
      },
      ear: SCRIPT,
    });
    upstream.#proxy = await FaultProxy.start({
      port: upstream.#server.port,
      program: ({ closed }) => {
        void closed.then(() => {
          if (upstream.#waiting === 0) return;
          upstream.left++;
          upstream.#tell();
        });
        return undefined;
      },
    });
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#proxy.port}`;
  }

  /** Requests are held until `release`. */
  hold(): void {
    let release = () => {};
    const promise = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#hold = { promise, release };
  }

  release(): void {
    this.#hold?.release();
    this.#hold = undefined;
  }

  /** Forgets what was, between tests. */
  reset(): void {
    this.release();
    this.asked.length = 0;
    this.refusals.length = 0;
    this.left = 0;
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** The values of a field of the last request. */
  field(name: string): string[] {
    return (this.asked.at(-1) ?? []).filter(([each]) => each === name).map(([, value]) => value);
  }

  async close(): Promise<void> {
    this.release();
    await this.#proxy.close();
    await this.#server.close();
  }

  async #pause(): Promise<void> {
    this.#waiting++;
    this.#tell();
    await this.#hold?.promise;
    this.#waiting--;
  }

  #tell(): void {
    for (const look of [...this.#watchers]) look();
  }
}
