// A leg's connection with a speech gate between the two: the gate hears the audio that the provider is sent, and holds back what the
// provider said until it is judged. Legs without a gate have none of this.
import type { DemandedFault, Heard, OpenLeg } from '../../../machines/events.ts';
import type { UpstreamEvent } from '../../../machines/upstream.ts';
import type { DisposerStack } from '../../runtime/disposer-stack.ts';
import type { LiveTiming, ProviderAccess } from '../../vendors/kit/provider.ts';
import type { ConnectionLeg, LegConnection, UpstreamDependencies } from './leg-connection.ts';
import type { Scrubber } from './secrets.ts';
import { SpeechGate } from './speech-gate.ts';

export function gatedConnection(
  leg: ConnectionLeg,
  mode: 'mark' | 'drop',
  connectionOf: (leg: ConnectionLeg) => LegConnection,
): LegConnection {
  const { clock, voices, onEvent } = leg.dependencies;
  const { sampleRate, organisationId } = leg.request;
  const gate = new SpeechGate({
    mode,
    sampleRate,
    engine: voices,
    organisationId,
    clock,
    pass: (heard, readMs) => leg.guarded('speechGate', () => leg.heard(heard, readMs)),
    onOutcome: (outcome) => onEvent?.({ type: 'gated', outcome }),
  });
  leg.scope.defer(() => gate.close());
  return new GatedConnection(connectionOf(new GatedLeg(leg, gate)), gate);
}

class GatedConnection implements LegConnection {
  readonly #connection: LegConnection;
  readonly #gate: SpeechGate;

  constructor(connection: LegConnection, gate: SpeechGate) {
    this.#connection = connection;
    this.#gate = gate;
  }

  get timing(): LiveTiming {
    return this.#connection.timing;
  }

  connect(access: ProviderAccess): void {
    this.#connection.connect(access);
  }

  sendHello(): void {
    this.#connection.sendHello();
  }

  sendFinish(): void {
    this.#gate.finish();
    this.#connection.sendFinish();
  }

  ping(): void {
    this.#connection.ping();
  }

  audio(bytes: Uint8Array): void {
    // First: a provider inside the process may answer within the call.
    this.#gate.audio(bytes);
    this.#connection.audio(bytes);
  }

  finalize(): void {
    this.#connection.finalize();
  }

  reconfigure(to: OpenLeg): void {
    this.#connection.reconfigure(to);
  }

  breakDown(fault: DemandedFault): void {
    this.#connection.breakDown(fault);
  }
}

/** After these, nothing more is heard: they wait for what was heard before. */
const LAST = ['provider.finished', 'provider.failed', 'wire.failed'];

/** The leg, as its connection knows it behind the gate. */
class GatedLeg implements ConnectionLeg {
  readonly #leg: ConnectionLeg;
  readonly #gate: SpeechGate;

  constructor(leg: ConnectionLeg, gate: SpeechGate) {
    this.#leg = leg;
    this.#gate = gate;
  }

  get request(): OpenLeg {
    return this.#leg.request;
  }

  set request(request: OpenLeg) {
    this.#leg.request = request;
  }

  get dependencies(): UpstreamDependencies {
    return this.#leg.dependencies;
  }

  get scope(): DisposerStack {
    return this.#leg.scope;
  }

  get scrubber(): Scrubber {
    return this.#leg.scrubber;
  }

  get endedInOrder(): boolean {
    return this.#leg.endedInOrder;
  }

  tell(event: UpstreamEvent): void {
    if (LAST.includes(event.type)) this.#gate.after(() => this.#leg.tell(event));
    else this.#leg.tell(event);
  }

  simulated(): void {
    this.#leg.simulated();
  }

  heard(heard: Heard, readMs = this.#leg.dependencies.clock.now()): void {
    if (!this.#leg.scope.disposed) this.#gate.heard(heard, readMs);
  }

  pressed(high: boolean): void {
    this.#leg.pressed(high);
  }

  fault(name: string, error: unknown): void {
    this.#leg.fault(name, error);
  }

  guarded(name: string, work: () => void): void {
    this.#leg.guarded(name, work);
  }
}
