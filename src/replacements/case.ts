// The case of what is written in the place of something.

/** A replacement with capitals stays as it is; any other is written as what it replaces: in CAPITALS, or with a Capital. */
export function cased(to: string, replaced: string): string {
  if (to === '' || to !== to.toLowerCase()) return to;
  const lower = replaced.toLowerCase();
  if (replaced === lower) return to;
  if (replaced === replaced.toUpperCase() && lettersIn(replaced) > 1) return to.toUpperCase();
  const [first = ''] = replaced.split(/\s/, 1);
  const [initial = ''] = first;
  const rest = first.slice(initial.length);
  const isCapitalised = initial !== initial.toLowerCase() && rest === rest.toLowerCase();
  return isCapitalised ? capitalised(to) : to;
}

function capitalised(text: string): string {
  const [initial = ''] = text;
  return initial.toUpperCase() + text.slice(initial.length);
}

/** Those that have two cases, up to two of them. */
function lettersIn(text: string): number {
  let count = 0;
  for (const char of text) if (char.toLowerCase() !== char.toUpperCase() && ++count === 2) break;
  return count;
}
