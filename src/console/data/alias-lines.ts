// Aliases of a key as text that people edit: a line for each, `nova-3 = deepgram/nova-3, assemblyai/universal-streaming-english`.
import type { Aliases, Candidate } from '../../api/listen.ts';

/** A model with options of its own stands there as JSON, so that nothing of it is lost. */
export function linesOf(aliases: Aliases | null | undefined): string {
  const lines = Object.entries(aliases ?? {}).map(([name, chain]) => `${name} = ${chainText(chain)}`);
  return lines.join('\n');
}

/** Null where there is none. Throws an Error that says which line is wrong; what names and models may be is for the gateway to say. */
export function aliasesOf(text: string): Aliases | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const aliases = lines.map((line): [string, Candidate[]] => {
    const at = line.indexOf('=');
    const name = line.slice(0, at).trim();
    const value = line.slice(at + 1).trim();
    if (at < 1 || name === '' || value === '')
      throw new Error(
        `“${line.trim()}” is not an alias: write a name, an equals sign and a model, such as best = deepgram/nova-3.`,
      );
    return [name, chainOf(name, value)];
  });
  const twice = aliases.find(([name], index) => aliases.findIndex(([other]) => other === name) < index);
  if (twice !== undefined)
    throw new Error(`“${twice[0]}” is there twice: write its models on one line, with commas between them.`);
  return lines.length === 0 ? null : Object.fromEntries(aliases);
}

function chainText(chain: readonly Candidate[]): string {
  const isPlain = chain.every((member) => Object.keys(member).every((name) => name === 'model'));
  return isPlain ? chain.map(({ model }) => model).join(', ') : JSON.stringify(chain);
}

function chainOf(name: string, value: string): Candidate[] {
  if (!value.startsWith('['))
    return value
      .split(/[\s,]+/)
      .filter((model) => model !== '')
      .map((model) => ({ model }));
  try {
    return JSON.parse(value) as Candidate[];
  } catch {
    throw new Error(`What “${name}” stands for begins like JSON and is none.`);
  }
}
