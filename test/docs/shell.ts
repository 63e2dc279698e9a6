// Commands for a shell, taken apart far enough to say which program is called with what. It runs nothing.

const WORD = /(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+/g;
const SEPARATORS = new Set(['&&', '||', '|', ';', 'do', 'then', '{']);
/** They run the command that follows. */
const PREFIXES = new Set(['sudo', 'env', 'export', 'exec', 'until']);

/** The simple commands of a script, each as its words; what is set in front of one is left out, and so are texts within `<<`. */
export function commandsOf(script: string): string[][] {
  const text = script
    .replaceAll(/<<'?(\w+)'?([^\n]*)\n[\s\S]*?^\1$/gm, '$2')
    .replaceAll('\\\n', ' ')
    .replaceAll(/(^|\s)#.*$/gm, '');
  return text.split('\n').flatMap(commandsOfLine);
}

function commandsOfLine(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const word of line.replaceAll(/;(?=\s|$)/g, ' ; ').match(WORD) ?? []) {
    if (SEPARATORS.has(word)) commands.push([]);
    else commands.at(-1)?.push(word);
  }
  return commands.map(withoutPrefixes).filter(([program]) => program !== undefined && program !== '}');
}

const isPrefix = (word: string): boolean => PREFIXES.has(word) || /^\w+=/.test(word);

function withoutPrefixes(words: string[]): string[] {
  const first = words.findIndex((word) => !isPrefix(word));
  return first === -1 ? [] : words.slice(first);
}
