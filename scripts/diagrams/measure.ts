// How wide a text is, without a browser: a table of character widths, rounded up over the fonts that readers have.
// Drawings are committed and compared byte by byte, so nothing here may depend on the machine that draws.

/** Widths in thousandths of the font size. */
const WIDTHS: readonly (readonly [number, string])[] = [
  [240, "'ijl"],
  [290, ' !,.:;I|'],
  [370, '()[]{}/\\frt-`"'],
  [500, '*^_'],
  [565, '1?7Jcksvxyz'],
  [625, '$023456789FLabdeghnopqu'],
  [670, '#+<=>ABEKPSTXYZ~'],
  [745, 'CDHNRUV'],
  [785, 'GOQ'],
  [900, '%&Mmw'],
  [1020, '@W'],
];
const WIDTH_OTHERS = 700;
const BOLD_FACTOR = 1.06;

const widthOf = new Map(
  WIDTHS.flatMap(([width, characters]) => [...characters].map((character) => [character, width])),
);

/** Width of one line of text in pixels. */
export function textWidth(text: string, sizePx: number, bold = false): number {
  const thousandths = [...text].reduce((sum, character) => sum + (widthOf.get(character) ?? WIDTH_OTHERS), 0);
  return (thousandths / 1000) * sizePx * (bold ? BOLD_FACTOR : 1);
}

/** Breaks a sentence into lines that are no wider than asked for; a longer word keeps its own line. */
export function wrapText(text: string, sizePx: number, widthMax: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`, sizePx) <= widthMax)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
