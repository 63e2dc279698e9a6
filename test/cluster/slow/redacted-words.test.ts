// Redacted words over several nodes: a session whose leg is on another node, a file, a job, and a node that is killed in mid-session.
// Everything on NATS, in its streams and in the directories and logs of the nodes is searched for them.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { foundIn } from '../../fakes/found-words.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { LiveClient } from '../../fakes/processes/live-gateway.ts';
import { APART, Cluster, NODE_START_MS } from '../rig/cluster.ts';

const SAID = ['4539 1488', '0343 6467', 'four five three nine', 'zoe.quill', 'quill@'];
const REDACTED = ['Write to [EMAIL] please.', 'My card is [CARD]', '[CARD] okay.', 'Again [CARD] okay.'];
const script = JSON.stringify({
  turns: [
    { text: 'Write to zoe.quill@example.org please.', seconds: 0.5 },
    { text: 'My card is 4539 1488', seconds: 0.5 },
    { text: '0343 6467 okay.', seconds: 0.5 },
    {
      text: 'Again four five three nine one four eight eight zero three four three six four six seven okay.',
      seconds: 0.5,
    },
  ],
  interim_seconds: 0.1,
});
const asked = { model: 'loopback/script', provider_params: script, redact: 'card,email', redact_hold_ms: '5000' };

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => readFileSync(path, 'latin1'));
}

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('redacted words on several nodes', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start(APART);
  }, 3 * NODE_START_MS);

  const listen = async () => {
    const url = `${cluster.node('edge').url.replace('http', 'ws')}/v1/listen?${new URLSearchParams(asked)}`;
    const client = new LiveClient(url, [], { headers: { Authorization: `Bearer ${cluster.key}` } });
    await client.event('session_started');
    client.send(new Uint8Array(64_000));
    return client;
  };
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${cluster.key}` };
    const response = await fetch(`${cluster.node('edge').url}${path}`, { ...init, headers });
    return `${JSON.stringify([...response.headers])} ${await response.text()}`;
  };
  const form = () => {
    const body = new FormData();
    for (const [name, value] of Object.entries({
      model: 'loopback/script',
      provider_params: script,
      redact: 'card,email',
    }))
      body.set(name, value);
    body.set('file', new Blob([silentWav(2)]), 'a.wav');
    return { method: 'POST', body };
  };

  it('are sealed between the node of a leg and that of its session, and nowhere else, also where a node is killed', async () => {
    const observer = await connect({ servers: cluster.nats.url });
    const onBus: string[] = [];
    observer.subscribe('>', {
      callback: (_, { subject, data }) => void onBus.push(`${subject} ${Buffer.from(data).toString('latin1')}`),
    });
    await observer.flush();
    const client = await listen();
    client.send({ type: 'close' });
    await client.close();
    expect(client.finals.map(({ text }) => text)).toEqual(REDACTED);
    const answers = [JSON.stringify(client.events), await call('/v1/audio/transcriptions', form())];
    const job = await call('/v1/jobs', form());
    const id = /"id":"([^"]+)"/.exec(job)?.[1];
    await expect.poll(() => call(`/v1/jobs/${id}`), { timeout: 20_000 }).toContain('"status":"completed"');
    answers.push(job, await call(`/v1/jobs/${id}/result`), await call('/v1/sessions'));
    const killed = await listen();
    await killed.event('transcript', ({ is_final }) => is_final);
    await cluster.node('edge').end('SIGKILL');
    answers.push(JSON.stringify(killed.events));
    const inFiles = () => ['edge', 'upstream', 'accounts'].flatMap((node) => filesBelow(cluster.node(node).directory));
    const left = inFiles();
    await cluster.node('edge').start();
    answers.push(await call('/v1/sessions'), await call('/metrics'));
    await observer.close();
    const places = {
      answers,
      bus: onBus,
      streams: filesBelow(cluster.nats.storeDirectory),
      'files of a killed node': left,
      files: inFiles(),
      log: ['edge', 'upstream', 'accounts'].map(
        (node) => JSON.stringify(cluster.node(node).log) + cluster.node(node).errors,
      ),
    };
    expect(foundIn(places, SAID)).toEqual([]);
    // The leg was on another node, so that its words were on the bus.
    expect(onBus.length).toBeGreaterThan(20);
    for (const [place, texts] of Object.entries(places)) expect(texts.length, place).toBeGreaterThan(0);
  }, 90_000);
});
