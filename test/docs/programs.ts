// The programs of the documents that transcribe the sample, and how they are run.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { READING } from '../fakes/reading.ts';
import { guides } from './pages.ts';

/** Where the documents have their gateway. */
export const WRITTEN_URL = 'http://127.0.0.1:8080';
export const SAMPLE = READING;
const SAMPLE_PATH = `test/fixtures/audio/${READING.file}`;

export const blocks = guides.flatMap(({ path, blocks: own }) => own.map((block) => ({ path, ...block })));

/** What stands on two pages is run once. */
export const different = <Row>(rows: readonly Row[], textOf: (row: Row) => string): Row[] => [
  ...new Map(rows.map((row) => [textOf(row), row])).values(),
];

/** Programs that say what a sample is, by printing it or by having it as `text`. */
export const programs = blocks.filter(({ language, text }) => language === 'ts' && text.includes(`'${SAMPLE_PATH}'`));

/** Whether a program imports OpenAI's client, which is installed in test/sdk. */
export const usesOpenai = ({ text }: { text: string }): boolean => text.includes("from 'openai'");

/** @returns what the program prints */
export async function run(program: string, folder: string, key: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    env: { ...process.env, VOXGATE_KEY: key },
    timeout: 20_000,
  });
  return stdout;
}

/** @returns the program that prints the text of the sample, whatever folder it is run in */
export function printing(text: string, url: string, root: string): string {
  const program = text.replaceAll(WRITTEN_URL, url).replaceAll(SAMPLE_PATH, `${root}/${SAMPLE_PATH}`);
  return program.includes('console.log') ? program : `${program}\nconsole.log(text);`;
}
