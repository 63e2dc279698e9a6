// Streamed answers of files: the same text in pieces, whatever becomes of the models, the client, the money and the key.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import {
  END,
  expectNothingLeft,
  faults,
  flac,
  idempotency,
  open,
  reservations,
  send,
  server,
  settled,
} from './files-fixture.ts';

type Fields = [string, string][];
interface Event {
  type: string;
  delta?: string;
  text?: string;
}

const STREAM: Fields[number] = ['stream', 'true'];
const L16 = 'audio/l16;rate=16000';
const pcm = (seconds: number) => Buffer.from(numberedAudio(0, seconds * 16_000));
const FILE = pcm(4);

const TURNS = [
  { text: 'One, two.', seconds: 1 },
  { text: '', seconds: 0.5 },
  { text: 'Naïve 🎈 "three"\\', seconds: 1.5 },
  { text: 'four', seconds: 1 },
];
const SAID = 'One, two. Naïve 🎈 "three"\\ four';
const script = (more: object = {}): Fields => [
  ['model', 'loopback/script'],
  ['provider_params', JSON.stringify({ turns: TURNS, ...more })],
];
/** All is said, and the end never comes. */
const ENDLESS = script({ fail: { how: 'finish' } });

/** The events of a whole body. */
function eventsIn(text: string): Event[] {
  const blocks = text.split('\n\n');
  expect(blocks.pop()).toBe('');
  return blocks.map((block) => {
    const lines = block.split('\n').map((line) => /^(event|data): (.*)$/u.exec(line) ?? []);
    const [event, data] = ['event', 'data'].map((name) => lines.find(([, field]) => field === name)?.[2]);
    const json = JSON.parse(data ?? '{}') as Event;
    expect(event).toBe('error' in json ? 'error' : undefined);
    return json;
  });
}

const deltasIn = (events: readonly Event[]) => events.map(({ delta = '' }) => delta).join('');

const post = (fields: Fields, path = '/files', headers: Record<string, string> = {}, file = FILE) =>
  send([...fields, STREAM], file, path, L16, headers);

/** A client that reads as it comes, and may leave. */
function read(fields: Fields, path = '/files', headers: Record<string, string> = {}, file = FILE) {
  const upload = open(fields[0]?.[1] ?? '', file.length, [...fields.slice(1), STREAM], path, headers, L16);
  const state = { text: '', status: 0, ended: undefined as 'whole' | 'cut' | undefined };
  upload.on('response', (response) => {
    state.status = response.statusCode ?? 0;
    response.setEncoding('utf8').on('data', (piece: string) => {
      state.text += piece;
    });
    response.on('error', () => {});
    response.on('close', () => {
      state.ended = response.complete ? 'whole' : 'cut';
    });
  });
  return { upload, state, end: () => upload.end(Buffer.concat([file, END])) };
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

/** Holds back what is charged until it is let go. */
function heldMoney(): () => void {
  let let_go = () => {};
  const gate = new Promise<void>((resolve) => {
    let_go = resolve;
  });
  const reserve = reservations.reserve.bind(reservations);
  vi.spyOn(reservations, 'reserve').mockImplementation(async (file) => {
    const reserved = await reserve(file);
    return { ...reserved, settle: (used) => gate.then(() => reserved.settle(used)) };
  });
  return let_go;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a streamed answer', () => {
  it.each<[string, Fields, string]>([
    ['a live model', script(), SAID],
    ['a model of files', [['model', 'straight/file']], 'heard by straight'],
    ['a fallback', [...script({ fail: { how: 'refuse' } }), ['fallbacks', 'second/file']], 'heard by second'],
    ['a model before its fallback', [...script(), ['fallbacks', 'second/file']], SAID],
    [
      'no words',
      [
        ['model', 'loopback/script'],
        ['provider_params', '{"turns":[{"text":"","seconds":9}]}'],
      ],
      '',
    ],
  ])('sends %s as the JSON answer’s text in parts, then whole, charged once', async (_, fields, text) => {
    for (const name of ['straight', 'second']) {
      server(name).answers = [answer({ text: `heard by ${name}`, seconds: 4 })];
    }
    const whole = await send(fields, FILE, '/files', L16);
    expect(whole.json.text).toBe(text);
    const { status, headers, text: body } = await post(fields);
    expect([status, headers.get('content-type'), headers.get('x-accel-buffering')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no',
    ]);
    const events = eventsIn(body);
    expect(deltasIn(events)).toBe(text);
    const warned = text === '' ? { warnings: [{ code: 'empty_result', message: expect.any(String) }] } : {};
    expect(events.at(-1)).toEqual({ type: 'transcript.text.done', text, usage: whole.json.usage, ...warned });
    expect(events.slice(0, -1).every(({ type }) => type === 'transcript.text.delta')).toBe(true);
    expect(reservations.charges.size).toBe(2);
    await expectNothingLeft();
  });

  it('sends each utterance while the model still listens, and its failure afterwards', async () => {
    const { state, end } = read(ENDLESS, '/hasty');
    end();
    await until(() => state.ended !== undefined);
    const events = eventsIn(state.text);
    expect([state.status, state.ended, deltasIn(events)]).toEqual([200, 'cut', SAID]);
    expect(events.at(-1)).toMatchObject({
      error: { type: 'upstream_error', code: 'upstream_timeout', request_id: expect.stringMatching(/^req_/) },
    });
    expect([reservations.charges.size, reservations.released]).toEqual([0, 1]);
  });

  it('settles before its last event', async () => {
    const release = heldMoney();
    const { state, end } = read(script());
    end();
    await until(() => state.text.includes('four'));
    expect(await settled(() => state.text.includes('done'))).toBe(false);
    release();
    await until(() => state.ended === 'whole');
    expect([eventsIn(state.text).at(-1)?.text, reservations.charges.size]).toEqual([SAID, 1]);
    await expectNothingLeft();
  });

  it('begins only when the upload is complete, even if text exists earlier', async () => {
    const file = pcm(10);
    const { upload, state } = read(script(), '/files', {}, file);
    upload.write(file.subarray(0, file.length / 2));
    expect(await settled(() => state.status !== 0)).toBe(false);
    upload.end(Buffer.concat([file.subarray(file.length / 2), END]));
    await until(() => state.ended !== undefined);
    expect(eventsIn(state.text).at(-1)?.text).toContain(SAID);
    await expectNothingLeft();
  });

  it.each<[string, Fields, number, string]>([
    ['an unknown model', [['model', 'loopback/none']], 404, 'model_not_found'],
    ['a field of the wrong form', [...script(), ['temperature', 'hot']], 400, 'invalid_request'],
    ['a model that fails before its first word', script({ fail: { how: 'refuse' } }), 502, 'upstream_failed'],
    ['a model of files that fails', [['model', 'sized/file']], 502, 'upstream_exhausted'],
  ])('fails like other answers for %s', async (_, fields, status, code) => {
    server('sized').answers = [answer({}, 503)];
    const refused = await post(fields);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8']);
    expect(refused.json).toMatchObject({ error: { code } });
    await expectNothingLeft();
  });
});

describe('a model that fails in the middle', () => {
  const broken = script({ fail: { how: 'error', at_seconds: 2.9, kind: 'next' } });

  it('gives way to its fallback, and none of its text is sent', async () => {
    const { status, text } = await post([...broken, ['fallbacks', 'second/file']]);
    const events = eventsIn(text);
    expect([status, deltasIn(events)]).toEqual([200, 'heard by second']);
    expect(reservations.charges.size).toBe(1);
    await expectNothingLeft();
  });

  it('reports the error after the text already sent, when it is the last of its chain', async () => {
    server('second').answers = [answer({}, 401)];
    const more: Fields = [['fallbacks', JSON.stringify([{ model: 'loopback/script', provider_params: ended() }])]];
    const { state, end } = read([['model', 'second/file'], ...more]);
    end();
    await until(() => state.ended !== undefined);
    const events = eventsIn(state.text);
    expect([state.status, state.ended, events.at(-1)]).toMatchObject([
      200,
      'cut',
      { error: { code: 'upstream_exhausted' } },
    ]);
    expect(deltasIn(events)).toBe(SAID.replace(' four', ''));
    expect([reservations.charges.size, reservations.released]).toEqual([0, 1]);
    // The server is told, since the answer had begun.
    expect(faults.splice(0)).toMatchObject([{ code: 'upstream_exhausted' }]);
    await expectNothingLeft();
  });

  /** The connection ends with the last turn, before its final. */
  const ended = () => ({ turns: TURNS, fail: { how: 'close', at_seconds: 4 } });
});

describe('a client that leaves in the middle', () => {
  it('ends the work and is charged for the text already sent', async () => {
    const { upload, state, end } = read(ENDLESS);
    end();
    await until(() => state.text.includes('four'));
    upload.destroy();
    expect(await settled(() => reservations.charges.size === 1)).toBe(true);
    expect([...reservations.charges.values()]).toMatchObject([{ model: 'loopback/script', seconds: 4 }]);
    expect(reservations.released).toBe(0);
    await expectNothingLeft();
  });

  it('pays nothing before the first text was sent', async () => {
    const { upload, end } = read(script({ fail: { how: 'hang' } }));
    end();
    await until(() => reservations.open === 1);
    upload.destroy();
    expect(await settled(() => reservations.released === 1)).toBe(true);
    expect(reservations.charges.size).toBe(0);
    await expectNothingLeft();
  });

  it('gets the whole answer by its key on a retry, charged once', async () => {
    const key = { 'Idempotency-Key': 'a streamed file' };
    const release = heldMoney();
    const { upload, state, end } = read(script(), '/files', key);
    end();
    await until(() => state.text.includes('four'));
    upload.destroy();
    await settled(() => state.ended !== undefined);
    release();
    expect(await settled(() => idempotency.size === 0)).toBe(true);
    const again = await post(script(), '/files', key);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(again.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(again.text.startsWith(state.text)).toBe(true);
    expect(eventsIn(again.text).at(-1)).toMatchObject({ type: 'transcript.text.done', text: SAID });
    expect([reservations.charges.size, (await post([['model', 'loopback/numbered']], '/files', key)).status]).toEqual([
      1, 409,
    ]);
    await expectNothingLeft();
  });
});

describe('the shape of a stream', () => {
  const shapes: [string, Fields, string][] = [
    ['a format', [['response_format', 'srt']], 'response_format'],
    ['another format', [['response_format', 'verbose_json']], 'response_format'],
    ['times', [['timestamp_granularities[]', 'word']], 'timestamp_granularities[]'],
  ];

  it.each(shapes)('warns about %s, and refuses it strictly', async (_, fields, param) => {
    const { warning, text } = await post([...script(), ...fields]);
    expect(warning).toBe('parameter_ignored');
    expect(eventsIn(text).at(-1)).toMatchObject({ text: SAID, warnings: [{ code: 'parameter_ignored', param }] });
    const refused = await post([...script(), ...fields, ['strict', 'true']]);
    expect([refused.status, refused.json]).toMatchObject([422, { error: { code: 'unsupported_parameter', param } }]);
    await expectNothingLeft();
  });

  it('stays the same where the format follows a large file', async () => {
    const late = (strict: string) => {
      const file = flac(400_000);
      const upload = open('straight/file', file.length + LATE.length, [STREAM, ['strict', strict]]);
      upload.end(Buffer.concat([file, LATE, END]));
      return new Promise<[number, string]>((resolve) => {
        upload.on('response', (response) => {
          let text = '';
          response.on('data', (piece) => {
            text += String(piece);
          });
          response.on('end', () => resolve([response.statusCode ?? 0, text]));
        });
      });
    };
    const [status, text] = await late('false');
    expect([status, eventsIn(text).at(-1)]).toMatchObject([200, { warnings: [{ param: 'response_format' }] }]);
    expect((await late('true'))[0]).toBe(422);
    expect(reservations.charges.size).toBe(1);
    await expectNothingLeft();
  });
  const LATE = Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="response_format"\r\n\r\nvtt');
});
