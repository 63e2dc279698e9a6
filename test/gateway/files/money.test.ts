// What a file may cost is set aside before a provider is asked, and charged only when one has answered.
import { describe, expect, it } from 'vitest';
import { honestFiles, isRight } from '../../audio/length/honest/made.ts';
import { flacOf, MP3_FRAME_SECONDS, mp3, silentWav, wavOf } from '../../fakes/audio/audio-files.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import {
  END,
  expectNothingLeft,
  flac,
  MEMORY_BYTES_MAX,
  open,
  reservations,
  send,
  server,
  settled,
} from './files-fixture.ts';

/** What may follow the samples of a WAV file that is read while it arrives, at 16 kHz: a mebibyte. */
const TRAILER_SECONDS = 32.768;
const PAID: [string, string] = ['model', 'second/file'];
const FREE: [string, string] = ['model', 'straight/file'];
const asked = () => server('second').arrived.length + server('straight').arrived.length;

describe('the seconds that money is set aside for', () => {
  it.each<[string, Buffer<ArrayBuffer>, string, number]>([
    ['a small WAV file', wavOf(64_000), 'audio/wav', 2],
    ['a large WAV file, with what may follow its samples', wavOf(6_400_000), 'audio/wav', 200 + TRAILER_SECONDS],
    ['a WAV file of two channels at 48 kHz', wavOf(19_200, { sampleRate: 48_000, channels: 2 }), 'audio/wav', 0.1],
    ['a WAV file that does not know its length', wavOf(640_000, { said: 0xffff_ffff }), 'audio/wav', 20],
    ['a WAV file that claims less than it has', wavOf(64_000, { said: 32_000 }), 'audio/wav', 2],
    ['a WAV file that claims more than it has', wavOf(64_000, { said: 3_200_000_000 }), 'audio/wav', 2],
    ['headerless samples', Buffer.alloc(320_000), 'audio/l16;rate=8000', 20],
    ['many headerless samples', Buffer.alloc(1_600_000), 'audio/l16;rate=8000', 100],
    ['an MP3 file', mp3(100), 'audio/mpeg', 100 * MP3_FRAME_SECONDS],
    ['a large MP3 file', mp3(4_000), 'audio/mpeg', 4_000 * MP3_FRAME_SECONDS],
    ['a FLAC file', flacOf(480_000), 'audio/flac', 30],
    ['a FLAC file that says it is much shorter than its bytes', flacOf(160, 16_000, 1_250_000), 'audio/flac', 2],
    ['a file that does not say, by the fewest bytes of its codec', flac(200_000), 'audio/flac', 66_666.67],
  ])('covers %s', async (_, file, type, seconds) => {
    expect((await send([PAID], file, '/files', type)).status).toBe(200);
    expect(reservations.reserved).toHaveLength(1);
    expect(reservations.reserved[0]!.secondsMax).toBeCloseTo(seconds, 1);
    expect(reservations.reserved[0]).toMatchObject({
      model: 'second/file',
      members: [{ slug: 'second/file', own: false }],
    });
    await expectNothingLeft();
  });

  it('follows the dearest chain, with every candidate named and priced', async () => {
    await send([PAID, ['fallbacks', 'straight/file']], wavOf(64_000), '/files', 'audio/wav');
    const price = { unit: 'minute', microUsd: 600_000n, minimumMicroUsd: 0n };
    expect(reservations.reserved[0]?.members).toEqual([
      { slug: 'second/file', own: false, price, channels: 1 },
      { slug: 'straight/file', own: false, price: { ...price, microUsd: 0n }, channels: 1 },
    ]);
  });

  it.each<[string, Buffer<ArrayBuffer>, string]>([
    ['compressed', flacOf(2 ** 31 - 1, 1_000), 'audio/flac'],
    ['large', flacOf(2 ** 31 - 1, 1_000, 2 * MEMORY_BYTES_MAX), 'audio/flac'],
  ])('refuses a %s file that claims weeks of audio, without calling a provider', async (_, file, type) => {
    const refused = await send([PAID], file, '/files', type);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      { error: { code: 'unsupported_audio', param: 'file', message: expect.stringContaining('2147484 s long') } },
    ]);
    expect([asked(), reservations.reserved.length]).toEqual([0, 0]);
    await expectNothingLeft();
  });

  it('skips measuring where nothing is priced by the minute', async () => {
    expect((await send([FREE], flacOf(2 ** 31 - 1, 1_000))).status).toBe(200);
    expect(reservations.reserved).toHaveLength(1);
  });
});

describe('a large WAV file that costs money', () => {
  const file = wavOf(6_400_000);

  it('reaches the provider before it is complete, by the length in its header', async () => {
    const upload = open('second/file', file.length);
    upload.write(file.subarray(0, 1_000_000));
    await new Promise<void>((resolve) => {
      server('second').early = (request) => {
        request.once('data', () => resolve());
        return false;
      };
    });
    const answered = new Promise<number>((resolve) => {
      upload.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    });
    upload.end(Buffer.concat([file.subarray(1_000_000), END]));
    expect([await answered, reservations.reserved[0]?.secondsMax]).toEqual([200, 200 + TRAILER_SECONDS]);
  });

  it.each<[string, Buffer<ArrayBuffer>]>([
    ['a header that makes no sense', wavOf(640_000, { block: 320 })],
    ['more bytes a second than any recording', wavOf(640_000, { sampleRate: 192_000, channels: 16, bits: 32 })],
  ])('waits until it is stored, and holds its full cost, with %s', async (_, odd) => {
    await send([PAID], odd, '/files', 'audio/wav');
    // A header that lies makes a long file short; what any codec could put into the bytes is what counts then.
    expect(reservations.reserved[0]!.secondsMax).toBeGreaterThanOrEqual(odd.length / 625_000);
  });

  it('breaks off when it runs far past the length in its header', async () => {
    const long = wavOf(6_400_000, { said: 320_000 });
    const refused = await send([PAID], long, '/files', 'audio/wav');
    expect([refused.status, refused.json]).toMatchObject([400, { error: { code: 'unsupported_audio' } }]);
    expect([reservations.charges.size, reservations.released]).toEqual([0, 1]);
    await expectNothingLeft();
  });
});

describe('a file of AAC at a model that does not report a duration', () => {
  const honest = honestFiles().filter(({ name }) => /^(aac|video|fdk)/.test(name) && !name.endsWith('.aac'));

  it('costs what it contains at any rate, bit rate and container, with little more held', async () => {
    expect(honest.length).toBeGreaterThan(40);
    const wrong: string[] = [];
    for (const { name, seconds, spareSeconds, bytes } of honest) {
      server('second').answers = [answer({ text: 'heard' })];
      const { status } = await send([PAID], bytes, '/files', 'application/octet-stream');
      const held = reservations.reserved.splice(0)[0]?.secondsMax ?? 0;
      const charged = [...reservations.charges.values()][0]?.seconds ?? 0;
      reservations.charges.clear();
      const isGood = isRight(charged, { name, seconds, spareSeconds }) && held <= charged + 6 * spareSeconds;
      if (status !== 200 || !isGood) wrong.push(`${name}: ${status}, held ${held}, charged ${charged}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('a charge', () => {
  const VERBOSE: [string, string] = ['response_format', 'verbose_json'];

  it('covers the length of the file, and matches the answer', async () => {
    server('second').answers = [answer({ text: 'heard', seconds: 1.5 })];
    const { json } = await send([PAID, VERBOSE], wavOf(64_000), '/files', 'audio/wav');
    expect(json.usage).toEqual({ type: 'duration', seconds: 2, cost_usd: '0.02', byok: false });
    expect([...reservations.charges.values()]).toMatchObject([
      { model: 'second/file', seconds: 2, costMicroUsd: 20_000n },
    ]);
    expect(reservations.charges.has(json.request_id as string)).toBe(true);
  });

  it.each<[string, Buffer<ArrayBuffer>, string, number]>([
    ['the header', wavOf(64_000), 'audio/wav', 2],
    ['the container', flacOf(480_000), 'audio/flac', 30],
  ])('uses the length in %s where the provider measures nothing', async (_, file, type, seconds) => {
    server('second').answers = [answer({ text: 'unmeasured' })];
    await send([PAID, VERBOSE], file, '/files', type);
    expect([...reservations.charges.values()]).toMatchObject([{ seconds }]);
  });

  it('names the model that answered after another one failed', async () => {
    server('second').answers = [answer({}, 500)];
    const { json } = await send([PAID, VERBOSE, ['fallbacks', 'straight/file']], wavOf(64_000), '/files', 'audio/wav');
    expect([json.model, json.usage]).toEqual([
      'straight/file',
      { type: 'duration', seconds: 2, cost_usd: '0.00', byok: false },
    ]);
    expect([...reservations.charges.values()]).toMatchObject([{ model: 'straight/file', costMicroUsd: 0n }]);
  });

  it.each<[string, string, string, string | null, object[] | undefined]>([
    ['the one that had words', 'heard', 'straight/file', null, [{ model: 'second/file', reason: 'empty_result' }]],
    ['the first where none had any', '', 'second/file', 'empty_result', undefined],
  ])('names %s, after another one had none', async (_, text, model, warnings, fallback) => {
    server('second').answers = [answer({ text: '', seconds: 2 })];
    server('straight').answers = [answer({ text, seconds: 2 })];
    const { json, warning } = await send([PAID, VERBOSE, ['fallbacks', 'straight/file']], flacOf(32_000));
    expect([json.model, json.fallback, warning]).toEqual([model, fallback, warnings]);
    expect([...reservations.charges.values()].map((charge) => charge.model)).toEqual([model]);
    expect(asked()).toBe(2);
    await expectNothingLeft();
  });

  it.each<[string, () => void, [string, string][], number]>([
    ['the provider fails', () => (server('second').answers = [answer({}, 500)]), [PAID], 502],
    ['the provider refuses the file', () => (server('second').answers = [answer({}, 413)]), [PAID], 413],
  ])('does not happen when %s, and the hold is released', async (_, prepare, fields, status) => {
    prepare();
    expect((await send(fields, wavOf(64_000), '/files', 'audio/wav')).status).toBe(status);
    expect([reservations.reserved.length, reservations.charges.size, reservations.released]).toEqual([1, 0, 1]);
    await expectNothingLeft();
  });

  it('does not happen for a form that turns out broken after its file', async () => {
    const file = wavOf(6_400_000);
    const rest = Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="languish"\r\n\r\nen\r\n--b--\r\n');
    const upload = open('second/file', file.length + rest.length - END.length);
    upload.end(Buffer.concat([file, rest]));
    const status = await new Promise((resolve) => {
      upload.on('response', (response) => resolve(response.resume().statusCode));
    });
    await settled(() => reservations.open === 0);
    expect([status, reservations.charges.size, reservations.released]).toEqual([400, 0, 1]);
  });

  it('does not happen without credit, and no provider is called', async () => {
    reservations.isBroke = true;
    const refused = await send([PAID], wavOf(64_000), '/files', 'audio/wav');
    expect([refused.status, refused.json]).toMatchObject([402, { error: { code: 'insufficient_credit' } }]);
    expect(asked()).toBe(0);
    await expectNothingLeft();
  });
});

describe('the provider’s claims about a file', () => {
  const VERBOSE: [string, string] = ['response_format', 'verbose_json'];
  const CENTS = 20_000n;

  it.each<[string, string, number]>([
    ['an hour', '3600', 2],
    ['most of a year', '2e7', 2],
    ['more than any number of seconds', '1e308', 2],
    ['more than any number', '1e999', 2],
    ['less than nothing', '-1', 2],
    ['no number', '"NaN"', 2],
    ['nothing', 'null', 2],
    ['zero', '0', 2],
    ['a hundredth of a second', '0.01', 2],
    ['half of the file', '0.9', 2],
    ['a little less than the file', '1.7', 2],
  ])('%s for two seconds are charged as two', async (_, said, seconds) => {
    server('second').answers = [(response) => void response.end(`{"text":"heard","seconds":${said}}`)];
    const { status, json, warning } = await send([PAID, VERBOSE], wavOf(64_000), '/files', 'audio/wav');
    expect([status, json.duration, json.usage]).toEqual([
      200,
      seconds,
      { type: 'duration', seconds, cost_usd: '0.02', byok: false },
    ]);
    expect([...reservations.charges.values()]).toMatchObject([{ seconds, costMicroUsd: CENTS }]);
    const isClaim = !said.includes('"') && Number(said) >= 0 && said !== 'null';
    expect(warning).toBe(isClaim && Math.abs(Number(said) - seconds) > 1 ? 'duration_bounded' : null);
    await expectNothingLeft();
  });

  it.each<[string, Buffer<ArrayBuffer>, string, number]>([
    ['a WAV file of half a second', wavOf(16_000), 'audio/wav', 0.5],
    ['ten minutes of WAV', silentWav(600), 'audio/wav', 600],
    ['headerless samples', Buffer.alloc(320_000), 'audio/l16;rate=8000', 20],
    ['an MP3 file', mp3(1_000), 'audio/mpeg', 1_000 * MP3_FRAME_SECONDS],
    ['a large MP3 file', mp3(10_000), 'audio/mpeg', 10_000 * MP3_FRAME_SECONDS],
    ['a FLAC file', flacOf(480_000), 'audio/flac', 30],
  ])('charges by the file’s content when the provider claims zero seconds for %s', async (_, file, type, seconds) => {
    server('second').answers = [answer({ text: 'heard', seconds: 0, untimed: true })];
    const { json } = await send([PAID, VERBOSE], file, '/files', type);
    const [charge] = [...reservations.charges.values()];
    expect(charge?.seconds).toBeCloseTo(seconds, 2);
    expect(json.duration).toBeCloseTo(seconds, 2);
    expect(json.segments).toMatchObject([{ start: 0, end: expect.closeTo(seconds, 2) }]);
    await expectNothingLeft();
  });

  it.each(['json', 'text', 'verbose_json', 'srt', 'vtt'])('answers as %s despite impossible times', async (format) => {
    server('second').answers = [
      (response) => {
        const turns = '[[-1,1e308],[1e999,"x"],[null,-1e999],[0.5,1]]';
        response.end(`{"text":"heard","turns":${turns}}`);
      },
    ];
    const { status } = await send([PAID, ['response_format', format]], wavOf(64_000), '/files', 'audio/wav');
    expect(status).toBe(200);
    await expectNothingLeft();
  });
});

describe('the length of a file at a free model', () => {
  const FIELDS: [string, string][] = [FREE, ['response_format', 'verbose_json']];
  const LARGE = mp3(8_000);

  it.each<[string, object, Buffer<ArrayBuffer>, string, number]>([
    ['whose server reports none', {}, flacOf(480_000), 'audio/flac', 30],
    ['whose server reports zero', { seconds: 0 }, flacOf(480_000), 'audio/flac', 30],
    [
      'whose server reports too little for its bytes',
      { seconds: 0.001 },
      mp3(100),
      'audio/mpeg',
      100 * MP3_FRAME_SECONDS,
    ],
    ['that is passed on while it arrives', {}, LARGE, 'audio/mpeg', 8_000 * MP3_FRAME_SECONDS],
  ])('uses the measured length for one %s', async (_, said, file, type, seconds) => {
    server('straight').answers = [answer({ text: 'heard', untimed: true, ...said })];
    const { json } = await send(FIELDS, file, '/files', type);
    expect(json.duration).toBeCloseTo(seconds, 2);
    expect(json.segments).toMatchObject([{ start: 0, end: expect.closeTo(seconds, 2), text: 'heard' }]);
    await expectNothingLeft();
  });

  it('ends the only subtitle of a text without times', async () => {
    server('straight').answers = [answer({ text: 'heard', untimed: true })];
    const { text } = await send([FREE, ['response_format', 'srt']], flacOf(80_000));
    expect(text).toContain('00:00:00,000 --> 00:00:05,000');
  });

  it('comes from its server where that is plausible', async () => {
    server('straight').answers = [answer({ text: 'heard', seconds: 31 })];
    expect((await send(FIELDS, flacOf(480_000))).json.duration).toBe(31);
  });
});

describe('a WAV file for a model that says no length', () => {
  const quiet = () => (server('second').answers = [answer({ text: 'unmeasured' })]);
  const LIST = Buffer.from('LIST\x04\0\0\0junkid3 \x03\0\0\0abc\0', 'latin1');

  it.each<[string, Buffer<ArrayBuffer>, number]>([
    ['says a second and holds two', wavOf(64_000, { said: 32_000 }), 2],
    ['ends in tags', Buffer.concat([wavOf(64_000), LIST]), 2],
    ['ends in what only begins like a tag', Buffer.concat([wavOf(64_000, { said: 32_000 }), LIST.subarray(0, 12)]), 2],
  ])('charges what it holds where it %s', async (_, file, seconds) => {
    quiet();
    expect((await send([PAID], file, '/files', 'audio/wav')).status).toBe(200);
    expect([...reservations.charges.values()][0]?.seconds).toBeCloseTo(seconds, 2);
  });
});

describe('a file with eight channels', () => {
  const file = wavOf(8 * 160_000, { channels: 8 });
  const VERBOSE: [string, string] = ['response_format', 'verbose_json'];

  it.each<[string, [string, string][], number]>([
    ['each of them where each is billed', [['provider_params', '{"multichannel":true}']], 8],
    ['once where no client requested separate channels', [], 1],
  ])('holds and charges %s', async (_, more, channels) => {
    server('channels').answers = [answer({ text: 'heard', seconds: 5 })];
    const { json } = await send([['model', 'channels/file'], VERBOSE, ...more], file, '/files', 'audio/wav');
    expect(reservations.reserved[0]?.members).toMatchObject([{ channels }]);
    expect([...reservations.charges.values()]).toMatchObject([
      { seconds: 5, channels, costMicroUsd: BigInt(channels) * 50_000n },
    ]);
    const cost_usd = channels === 8 ? '0.40' : '0.05';
    expect([json.duration, json.usage]).toEqual([
      5,
      { type: 'duration', seconds: 5 * channels, cost_usd, byok: false },
    ]);
    await expectNothingLeft();
  });
});
