// Folders of speech models with real parts: the model of the package as one of the operator's own, a streaming model that was made by
// test/fixtures/models/make_streaming_toy.py, and both of them broken.
import { copyFileSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { speechModelsFolder } from '../../src/runtime/telemetry/worker-file.ts';

const BUILT_IN = join(fileURLToPath(speechModelsFolder()), 'dictation-en');
const TOY = fileURLToPath(new URL('../fixtures/models/streaming-toy', import.meta.url));

type Changes = Readonly<Record<string, string | Buffer>>;

/** @param changes files with another content */
function folderOf(path: string, from: string, names: readonly string[], declared: object, changes: Changes): string {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'model.json'), JSON.stringify(declared));
  for (const name of names) {
    const content = changes[name];
    if (content !== undefined) writeFileSync(join(path, name), content);
    else link(join(from, name), join(path, name));
  }
  return path;
}

/** Takes no space where both are on one file system. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

const MOONSHINE = ['encoder.onnx', 'decoder.onnx', 'tokens.txt'];

/** The model of the package. */
export const moonshineIn = (path: string, changes: Changes = {}, declared: object = {}): string =>
  folderOf(path, BUILT_IN, MOONSHINE, { kind: 'moonshine', languages: ['en'], ...declared }, changes);

/** It says which part of the spectrum is the loudest: one, two, three or four. */
export const toyIn = (path: string, changes: Changes = {}, declared: object = {}): string =>
  folderOf(path, TOY, ['model.onnx', 'tokens.txt'], { ...TOY_KIND, ...declared }, changes);

const TOY_KIND = { kind: 'streaming-zipformer2-ctc', languages: ['en'] };

/** The beginning of a model: it is opened, and no more. */
export const TRUNCATED: Buffer = readFileSync(join(BUILT_IN, 'encoder.onnx')).subarray(0, 1_000_000);

/** What `voxgate models check` tries a model with. */
export const SPEECH: string = join(dirname(BUILT_IN), 'sample.wav');
