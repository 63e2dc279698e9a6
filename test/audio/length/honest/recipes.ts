// Commands that make the files that people send, with the encoders and muxers that people use: the speech in each lasts a known time.

/** How one file is made. */
export interface Recipe {
  /** With the extension of the file. */
  name: string;
  command: readonly string[];
  /** Of the source. */
  seconds: number;
  /** How much longer it may be measured: encoders fill up their last packet, and some files do not say what they put in front. */
  spareSeconds: number;
  /** A few seconds of it are committed, so that every test run has it. */
  isFixture: boolean;
}

const FROM_SECONDS = 0.5;
const AAC_SAMPLES = 1024;

type Options = string | readonly string[];

const words = (options: Options): readonly string[] => (typeof options === 'string' ? options.split(' ') : options);

/** @param source a WAV file */
export function recipes(source: string, seconds: number): readonly Recipe[] {
  const made: Recipe[] = [];
  const add = (name: string, spareSeconds: number, command: readonly string[], isFixture: boolean) =>
    made.push({ name, command, seconds, spareSeconds, isFixture });
  /** By ffmpeg; the name is the last argument. */
  const ffmpeg = (name: string, packetSeconds: number, options: Options, isFixture = true, before: Options = []) =>
    add(
      name,
      packetSeconds,
      [
        ...words('ffmpeg -v error -y -bitexact'),
        ...words(before),
        ...['-ss', String(FROM_SECONDS), '-t', String(seconds), '-i', source],
        ...words(options),
        ...['-map_metadata', '-1', name],
      ],
      isFixture,
    );
  const sox = (name: string, packetSeconds: number, options: Options = [], isFixture = true) =>
    add(
      name,
      packetSeconds,
      ['sox', source, ...words(options), name, 'trim', String(FROM_SECONDS), String(seconds)],
      isFixture,
    );

  aac(ffmpeg);
  aacContainers(ffmpeg, seconds);
  otherMp4(ffmpeg);
  mp3(ffmpeg);
  opusAndVorbis(ffmpeg);
  flac(ffmpeg);
  samples(ffmpeg, sox);
  others(ffmpeg, sox);
  fraunhofer((name, spareSeconds, options) => {
    const command = ['fdk-ffmpeg', '-i', source, '-ss', String(FROM_SECONDS), '-t', String(seconds)];
    add(name, spareSeconds, [...command, ...words(options), name], true);
  });
  return made;
}

type Add = (name: string, packetSeconds: number, options: Options, isFixture?: boolean, before?: Options) => void;
type Sox = (name: string, packetSeconds: number, options?: Options, isFixture?: boolean) => void;

/** Every rate, channel count and bit rate; a few of them are fixtures. */
function aac(ffmpeg: Add): void {
  const rates = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000];
  for (const rate of rates) {
    for (const channels of [1, 2, 6]) {
      for (const kbps of rate === 16_000 || rate === 48_000 ? [16, 64, 96, 320] : [16, 64, 320]) {
        const isFixture =
          (channels === 1 && kbps === 64) || (rate === 16_000 && channels === 1) || (rate === 48_000 && kbps === 96);
        const options = `-ar ${rate} -ac ${channels} -c:a aac -b:a ${kbps}k`;
        ffmpeg(`aac-${rate}-${channels}-${kbps}.m4a`, AAC_SAMPLES / rate, options, isFixture);
      }
    }
  }
}

const PICTURES = '-f lavfi -i testsrc=size=96x64:rate=5';

function aacContainers(ffmpeg: Add, seconds: number): void {
  const packet = AAC_SAMPLES / 16_000;
  const options = '-ar 16000 -ac 1 -c:a aac -b:a 96k';
  /** Only MP4 says how much silence the encoder put in front. */
  const spareOf = (name: string) => (/\.mk[va]$/.test(name) ? 2 * packet : packet);
  const muxed = (name: string, more = '') => ffmpeg(name, spareOf(name), `${options}${more}`);
  muxed('aac-faststart.m4a', ' -movflags +faststart');
  muxed('aac-default.mp4');
  muxed('aac-without-edits.mp4', ' -use_editlist 0');
  muxed('aac-quicktime.mov');
  muxed('aac.3gp');
  muxed('aac.m4b', ' -f ipod');
  muxed('aac.mkv');
  muxed('aac.mka');
  muxed('aac-fragments.mp4', ' -movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 100000');
  muxed('aac-fragments-of-packets.mp4', ' -movflags frag_every_frame+empty_moov');
  muxed('aac-cmaf.mp4', ' -movflags cmaf+delay_moov');
  muxed('aac-index.mp4', ' -movflags dash+global_sidx -frag_duration 500000');
  const video = (name: string, more: string) =>
    ffmpeg(name, spareOf(name), `-map 1:a -map 0:v -t ${seconds} ${more} ${options}`, true, PICTURES);
  const pictures = '-c:v mpeg4 -b:v 60k';
  video('video.mp4', pictures);
  video('video.mov', pictures);
  video('video.mkv', pictures);
  video('video.3gp', '-c:v mpeg4 -b:v 60k');
  video('video-fragments.mp4', `${pictures} -movflags frag_keyframe+empty_moov`);
  ffmpeg('video-heavy.mov', packet, `-map 1:a -map 0:v -t ${seconds} -c:v rawvideo ${options}`, false, PICTURES);
}

function otherMp4(ffmpeg: Add): void {
  ffmpeg('alac.m4a', 4096 / 16_000, '-ar 16000 -c:a alac');
  ffmpeg('alac-stereo.m4a', 4096 / 44_100, '-ar 44100 -ac 2 -c:a alac', false);
  ffmpeg('alac.caf', 4096 / 16_000, '-ar 16000 -c:a alac');
  ffmpeg('ac3.mp4', 1536 / 48_000, '-ar 48000 -ac 2 -c:a ac3 -b:a 96k');
  ffmpeg('eac3.mp4', 1536 / 48_000, '-ar 48000 -ac 2 -c:a eac3 -b:a 96k');
  ffmpeg('flac.mp4', 4096 / 16_000, '-ar 16000 -c:a flac -strict -2');
  ffmpeg('mp3.mp4', 576 / 16_000, '-ar 16000 -c:a libmp3lame -b:a 32k');
  ffmpeg('opus.mp4', 0.02, '-c:a libopus -b:a 16k -strict -2');
  ffmpeg('pcm.mov', 0, '-ar 8000 -c:a pcm_s16le');
  ffmpeg('pcm-24.mov', 0, '-ar 8000 -c:a pcm_s24be', false);
  ffmpeg('pcm-float.mov', 0, '-ar 8000 -c:a pcm_f32le', false);
  ffmpeg('mulaw.mov', 0, '-ar 8000 -c:a pcm_mulaw');
  ffmpeg('video-pcm.mov', 0, '-map 1:a -map 0:v -shortest -c:v mpeg4 -b:v 60k -ar 8000 -c:a pcm_s16le', true, PICTURES);
}

function mp3(ffmpeg: Add): void {
  for (const rate of [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]) {
    const packet = (rate < 32_000 ? 576 : 1152) / rate;
    const options = `-ar ${rate} -c:a libmp3lame`;
    ffmpeg(`lame-${rate}-cbr.mp3`, packet, `${options} -ac 1 -b:a 32k`);
    ffmpeg(`lame-${rate}-vbr.mp3`, packet, `${options} -ac 2 -q:a 9`, rate === 44_100);
    ffmpeg(`lame-${rate}-abr.mp3`, packet, `${options} -ac 1 -abr 1 -b:a 48k`, rate === 16_000);
  }
  const packet = 1152 / 44_100;
  const stereo = '-ar 44100 -ac 2 -c:a libmp3lame';
  ffmpeg('lame-headerless.mp3', 2 * packet, `${stereo} -q:a 9 -write_xing 0 -id3v2_version 0`);
  ffmpeg('lame-320.mp3', packet, `${stereo} -b:a 320k`, false);
  ffmpeg('lame-tagged.mp3', packet, `${stereo} -b:a 32k -id3v2_version 3 -write_id3v1 1 -metadata title=A`);
  ffmpeg('lame-ape.mp3', packet, `${stereo} -b:a 32k -write_apetag 1 -metadata title=A`, false);
  ffmpeg('lame-separate.mp3', packet, `${stereo} -joint_stereo 0 -b:a 64k`, false);
  ffmpeg('shine.mp3', packet, '-ar 44100 -ac 2 -c:a libshine -b:a 64k');
  ffmpeg('mp3.mkv', 2 * packet, `${stereo} -b:a 32k`);
  ffmpeg('mp3.wav', 2 * packet, `${stereo} -b:a 32k`);
}

function opusAndVorbis(ffmpeg: Add): void {
  for (const ms of [2.5, 5, 10, 20, 40, 60, 80, 100, 120]) {
    const options = `-c:a libopus -b:a 16k -frame_duration ${ms}`;
    ffmpeg(`opus-${ms}.ogg`, ms / 1000, options);
    ffmpeg(`opus-${ms}.webm`, ms / 1000, options, ms >= 20);
    ffmpeg(`opus-${ms}.mkv`, ms / 1000, options, false);
  }
  ffmpeg('opus-constant.ogg', 0.02, '-c:a libopus -b:a 32k -vbr off', false);
  ffmpeg('opus-voice.opus', 0.02, '-c:a libopus -b:a 12k -application voip');
  ffmpeg('opus-stereo.ogg', 0.02, '-ac 2 -c:a libopus -b:a 24k', false);
  ffmpeg('opus-surround.ogg', 0.02, '-ac 6 -c:a libopus -b:a 64k');
  ffmpeg('opus-live.webm', 0.02, '-c:a libopus -b:a 16k -f webm -live 1');
  ffmpeg('opus-video.webm', 0.02, '-map 1:a -map 0:v -shortest -c:v libvpx -b:v 50k -c:a libopus', true, PICTURES);
  for (const rate of [8_000, 16_000, 22_050, 44_100, 48_000]) {
    const [options, packet] = [`-ar ${rate} -c:a libvorbis -q:a 0`, 2048 / rate];
    ffmpeg(`vorbis-${rate}.ogg`, packet, options, rate === 16_000);
    ffmpeg(`vorbis-${rate}.webm`, packet, options, rate === 44_100);
  }
  ffmpeg('speex.ogg', 0.02, '-ar 16000 -c:a libspeex');
  ffmpeg('speex-packed.ogg', 0.1, '-ar 8000 -c:a libspeex -frames_per_packet 5');
}

function flac(ffmpeg: Add): void {
  for (const size of [16, 192, 1152, 4096, 4608, 65_535]) {
    ffmpeg(`flac-${size}.flac`, size / 8_000, `-ar 8000 -c:a flac -frame_size ${size}`, size === 4096);
  }
  for (const rate of [16_000, 44_100, 48_000, 96_000, 192_000]) {
    ffmpeg(`flac-${rate}.flac`, 4608 / rate, `-ar ${rate} -c:a flac`, false);
  }
  ffmpeg('flac-24.flac', 4608 / 8_000, '-ar 8000 -c:a flac -sample_fmt s32', false);
  ffmpeg('flac-surround.flac', 4608 / 96_000, '-ar 96000 -ac 6 -c:a flac -sample_fmt s32', false);
  ffmpeg('flac.ogg', 4608 / 8_000, '-ar 8000 -c:a flac');
  ffmpeg('flac.mkv', 4608 / 8_000, '-ar 8000 -c:a flac');
}

function samples(ffmpeg: Add, sox: Sox): void {
  const codings = ['u8', 's16le', 's24le', 's32le', 'f32le', 'f64le', 'mulaw', 'alaw'];
  for (const coding of codings) ffmpeg(`${coding}.wav`, 0, `-ar 8000 -c:a pcm_${coding}`);
  ffmpeg('extensible.wav', 0, '-ar 8000 -ac 6 -c:a pcm_s16le', false);
  ffmpeg('high.wav', 0, '-ar 192000 -ac 2 -c:a pcm_s24le', false);
  ffmpeg('rf64.wav', 0, '-ar 8000 -c:a pcm_s16le -rf64 always');
  ffmpeg('adpcm-ms.wav', 0.13, '-ar 8000 -c:a adpcm_ms');
  ffmpeg('adpcm-ima.wav', 0.26, '-ar 8000 -c:a adpcm_ima_wav');
  ffmpeg('adpcm-ima-stereo.wav', 0.1, '-ar 22050 -ac 2 -c:a adpcm_ima_wav', false);
  ffmpeg('g726.wav', 0.01, '-ar 8000 -c:a g726 -b:a 32k');
  for (const coding of ['s16le', 'f32le', 'mulaw']) ffmpeg(`${coding}.w64`, 0, `-ar 8000 -c:a pcm_${coding}`);
  for (const coding of ['s16be', 's24be', 'f32be', 'alaw']) ffmpeg(`${coding}.aiff`, 0, `-ar 8000 -c:a pcm_${coding}`);
  for (const coding of ['s16be', 'mulaw', 'alaw', 'f32be']) ffmpeg(`${coding}.au`, 0, `-ar 8000 -c:a pcm_${coding}`);
  for (const coding of ['s16le', 's24be', 'f32le', 'mulaw']) ffmpeg(`${coding}.caf`, 0, `-ar 8000 -c:a pcm_${coding}`);
  sox('rifx.wav', 0, '-r 8000 --endian big -t wav');
  sox('sox.wav', 0, '-r 8000');
  sox('sox.aiff', 0, '-r 8000');
  sox('sox.au', 0, '-r 8000');
  sox('sox.w64', 0, '-r 8000', false);
  sox('gsm.wav', 0.04, '-r 8000 -e gsm-full-rate');
}

function others(ffmpeg: Add, sox: Sox): void {
  for (const rate of [8_000, 16_000, 44_100]) {
    ffmpeg(`adts-${rate}.aac`, (2 * AAC_SAMPLES) / rate, `-ar ${rate} -c:a aac -b:a 48k`);
  }
  ffmpeg('adts-tagged.aac', (2 * AAC_SAMPLES) / 16_000, '-ar 16000 -c:a aac -b:a 48k -write_id3v2 1 -metadata title=A');
  for (const rate of [16_000, 24_000, 44_100, 48_000]) {
    ffmpeg(`layer2-${rate}.mp2`, 1152 / rate, `-ar ${rate} -c:a mp2 -b:a 64k`, rate !== 24_000);
  }
  // Half of each frame is stuffing, in which other frames seem to begin.
  ffmpeg('layer2-stuffed.mp2', 1152 / 44_100, '-ar 44100 -ac 1 -c:a mp2 -b:a 384k');
  for (const rate of [16_000, 44_100]) {
    ffmpeg(`wma1-${rate}.wma`, 2048 / rate, `-ar ${rate} -c:a wmav1 -b:a 48k`, rate === 16_000);
    ffmpeg(`wma2-${rate}.wma`, 2048 / rate, `-ar ${rate} -c:a wmav2 -b:a 48k`);
  }
  ffmpeg(
    'video.wmv',
    2048 / 44_100,
    '-map 1:a -map 0:v -shortest -c:v wmv2 -b:v 60k -ar 44100 -c:a wmav2',
    false,
    PICTURES,
  );
  ffmpeg('opus.caf', 0.02, '-c:a libopus -b:a 16k', false);
  sox('narrow.amr', 0.02, '-r 8000 -t amr-nb');
}

/** By an ffmpeg with libfdk_aac, which is not in Debian: fixtures only. */
function fraunhofer(fdk: (name: string, spareSeconds: number, options: Options) => void): void {
  const encoded = (name: string, rate: number, samples: number, options: string) =>
    fdk(`fdk-${name}`, (5 * samples) / rate, `-ar ${rate} -c:a libfdk_aac ${options}`);
  for (const rate of [16_000, 24_000, 32_000, 44_100, 48_000]) {
    encoded(`he-${rate}.m4a`, rate, 2048, '-ac 1 -profile:a aac_he -b:a 24k');
  }
  encoded('he-hierarchical.m4a', 44_100, 2048, '-ac 2 -profile:a aac_he -b:a 32k -signaling explicit_hierarchical');
  encoded('he-explicit.m4a', 44_100, 2048, '-ac 2 -profile:a aac_he -b:a 32k -signaling explicit_sbr');
  encoded('he2.m4a', 44_100, 2048, '-ac 2 -profile:a aac_he_v2 -b:a 24k');
  encoded('he2-explicit.m4a', 44_100, 2048, '-ac 2 -profile:a aac_he_v2 -b:a 24k -signaling explicit_hierarchical');
  encoded('he2.mkv', 44_100, 2048, '-ac 2 -profile:a aac_he_v2 -b:a 24k');
  encoded('he2.aac', 44_100, 2048, '-ac 2 -profile:a aac_he_v2 -b:a 24k');
  encoded('lc.m4a', 16_000, 1024, '-ac 1 -b:a 32k');
  encoded('lc-vbr.m4a', 44_100, 1024, '-ac 2 -vbr 3');
  encoded('low-delay.m4a', 32_000, 512, '-ac 1 -profile:a aac_ld -b:a 48k');
  encoded('enhanced-low-delay.m4a', 32_000, 512, '-ac 1 -profile:a aac_eld -b:a 48k');
}
