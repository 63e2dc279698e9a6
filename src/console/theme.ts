// Light or dark, as this browser's reader has chosen; loaded before the page is drawn.
export type Theme = 'system' | 'light' | 'dark';

const NAME = 'voxgate.theme';

export function theme(): Theme {
  const kept = localStorage.getItem(NAME);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function chooseTheme(chosen: Theme): void {
  if (chosen === 'system') localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, chosen);
  show(chosen);
}

function show(chosen: Theme): void {
  document.documentElement.style.colorScheme = chosen === 'system' ? 'light dark' : chosen;
}

show(theme());
