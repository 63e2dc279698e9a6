// Moonshine behind the protocols of whisper.cpp's server and of servers with OpenAI's transcriptions. Writes where it listens and
// when it begins to hear a file, and to the file of its argument each text before it is sent. One is heard at a time, as by whisper.cpp.
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Moonshine, RATE } from './moonshine.ts';

const [, , port, log = ''] = process.argv;
const PATHS = ['/inference', '/v1/audio/transcriptions'];

const moonshine = await Moonshine.load();
let turn: Promise<unknown> = Promise.resolve();

const server = createServer(async (request, response) => {
  const answer = (status: number, body: object | string) =>
    response
      .writeHead(status, { 'Content-Type': typeof body === 'string' ? 'text/plain' : 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  if (request.method !== 'POST' || !PATHS.includes(request.url ?? '')) {
    answer(404, refusal(`There is no ${request.method} ${request.url}.`));
    return;
  }
  try {
    const form = await formOf(request);
    const file = form.get('file');
    if (!(file instanceof File)) throw new Error('The file is missing.');
    const samples = samplesOf(Buffer.from(await file.arrayBuffer()));
    const heard = turn.then(() => {
      tell({ hearing: samples.length / RATE });
      return moonshine.hear(samples);
    });
    turn = heard.catch(() => {});
    const text = await heard;
    appendFileSync(log, `${text}\n`);
    answer(200, answerOf(String(form.get('response_format') ?? 'json'), text, samples.length / RATE));
  } catch (error) {
    answer(400, refusal(String(error)));
  }
});
server.listen(Number(port), '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const refusal = (message: string) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } });

function formOf(request: IncomingMessage): Promise<FormData> {
  const body = Readable.toWeb(request) as ReadableStream;
  return new Response(body, { headers: { 'Content-Type': String(request.headers['content-type']) } }).formData();
}

/** It has no times of words. */
function answerOf(format: string, text: string, duration: number): object | string {
  if (format === 'text') return `${text}\n`;
  if (format !== 'verbose_json') return { text };
  const segments = text === '' ? [] : [{ id: 0, seek: 0, start: 0, end: duration, text: ` ${text}` }];
  return { task: 'transcribe', language: 'english', duration, text, segments };
}

/** By the letter: what the header says of sizes has to be so. */
function samplesOf(wav: Buffer): Float32Array {
  const said = (at: number) => wav.toString('latin1', at, at + 4);
  if (said(0) !== 'RIFF' || said(8) !== 'WAVE' || wav.readUInt32LE(4) !== wav.length - 8)
    throw new Error('No WAV file.');
  let at = 12;
  for (; said(at) !== 'data'; at += 8 + wav.readUInt32LE(at + 4)) {
    if (said(at) !== 'fmt ') continue;
    const format = [at + 8, at + 10, at + 22].map((place) => wav.readUInt16LE(place));
    if (`${format},${wav.readUInt32LE(at + 12)}` !== `1,1,16,${RATE}`)
      throw new Error('Not linear16, mono, of 16 kHz.');
  }
  if (wav.readUInt32LE(at + 4) !== wav.length - at - 8) throw new Error('The file has another length than it says.');
  return Float32Array.from(
    { length: (wav.length - at - 8) / 2 },
    (_, index) => wav.readInt16LE(at + 8 + 2 * index) / 32_768,
  );
}
