// A provider that says exactly what a test tells it to, message by message, under the names `puppet/a`, `puppet/b` and
// `puppet/c`. Its codec passes on what it is given, and can be told to throw.
import { Type } from '@sinclair/typebox';
import type { Heard, LegFailure } from '../../../machines/events.ts';
import type {
  Engine,
  EngineConnection,
  EngineListener,
  LiveCodec,
  LiveTiming,
  ModelCard,
  Outgoing,
  Provider,
} from '../../../src/vendors/kit/provider.ts';
import { live as loopbackLive } from '../../../src/vendors/loopback/live.ts';
import { models } from '../../../src/vendors/loopback/models.ts';
import { type RigOptions, SessionRig, settle } from '../../fakes/session-rig.ts';

export const failure = (kind: LegFailure['kind'], message = 'The puppet failed.'): LegFailure => ({
  kind,
  reason: 'upstream_error',
  code: 'puppet',
  message,
});

/** A refusal that names an option, and what a session asks for to be the one to blame. */
export const optionRefused = failure('caller', 'The option `take` is out of range.');
export const WITH_OPTION = { providerParams: { take: 1 } };

/** One connection of a leg. */
export class PuppetConnection implements EngineConnection {
  readonly listener: EngineListener;
  bufferedBytes = 0;
  readonly controls: string[] = [];
  /** Samples heard before each control. */
  readonly controlsAt: number[] = [];
  samples = 0;
  over = false;
  /** Whether a test said that it is ready. */
  readySaid = false;
  /** Closed with a handshake, not dropped. */
  closedInOrder = false;

  constructor(listener: EngineListener) {
    this.listener = listener;
  }

  send(frame: Outgoing): void {
    if (frame instanceof Uint8Array) {
      this.samples += frame.byteLength / 2;
      return;
    }
    const { type } = frame as { type: string };
    this.controls.push(type);
    this.controlsAt.push(this.samples);
  }

  close(): void {
    this.closedInOrder = true;
    this.over = true;
  }

  terminate(): void {
    this.over = true;
  }

  /** Says this, and lets what follows happen. */
  async say(...heard: Heard[]): Promise<void> {
    this.readySaid ||= heard.some(({ type }) => type === 'ready');
    this.listener.message(heard);
    await settle();
  }

  async hangUp(code: number): Promise<void> {
    this.over = true;
    this.listener.closed(code, '');
    await settle();
  }
}

export class Puppet implements Engine {
  readonly connections: PuppetConnection[] = [];
  /** Whether a connection is opened, and said to be ready, by itself. */
  open = true;
  ready = true;

  /** The model of each connection, in the order they were dialled. */
  readonly dialled: string[] = [];

  connect({ model }: Readonly<Record<string, unknown>>, listener: EngineListener): PuppetConnection {
    const connection = new PuppetConnection(listener);
    this.dialled.push(String(model));
    this.connections.push(connection);
    if (this.open) {
      queueMicrotask(() => {
        listener.open();
        if (this.ready && !connection.over) listener.message([{ type: 'ready' }]);
      });
    }
    return connection;
  }

  /** The newest connection. */
  get last(): PuppetConnection {
    const last = this.connections.at(-1);
    if (last === undefined) throw new Error('Nothing has connected.');
    return last;
  }
}

export interface PuppetOptions {
  timing?: Partial<LiveTiming>;
  /** Replaces methods of the codec. */
  codec?: Partial<LiveCodec>;
  card?: Partial<ModelCard>;
  rig?: RigOptions;
}

export function puppetProvider({ timing, codec, card }: PuppetOptions): Provider {
  const template = models[0] as ModelCard;
  const live: LiveCodec = {
    timing: (request) => ({ ...loopbackLive.timing(request), formattedWaitMs: 700, ...timing }),
    open: ({ model, params }) => ({
      state: {},
      endpoint: { kind: 'embedded', engine: 'puppet', query: { ...params, model } },
      hello: [],
    }),
    audio: (_, frame) => frame,
    read: (_, message) => ('json' in message ? (message.json as Heard[]) : []),
    finalize: () => [{ type: 'send', frame: { type: 'finalize' } }],
    finish: () => [{ type: 'send', frame: { type: 'finish' } }],
    keepAlive: () => [{ type: 'keepalive' }],
    closed: (_, code) => ({
      type: 'failed',
      failure: { ...failure('next', 'The puppet hung up.'), reason: 'upstream_closed', code: `close_${code}` },
    }),
    ...codec,
  };
  return {
    name: 'puppet',
    title: 'Puppet',
    models: ['a', 'b', 'c'].map((model) => ({ ...template, ...card, id: `puppet/${model}` })),
    options: () => Type.Object({ take: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
    credential: 'none',
    live: () => live,
    batch: undefined,
    failures: [],
  };
}

/** A rig whose only provider is the puppet. */
export function puppetRig(options: PuppetOptions = {}): { rig: SessionRig; puppet: Puppet } {
  const puppet = new Puppet();
  const rig = new SessionRig({
    ...options.rig,
    providers: [puppetProvider(options)],
    engines: () => ({ puppet }),
  });
  return { rig, puppet };
}
