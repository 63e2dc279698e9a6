// Languages of services that want the region with each.

/** The language with a region: its own, or the one where most people speak it. What is no language stays as it is. */
export function regional(language: string): string {
  if (language.includes('-')) return language;
  try {
    const { region } = new Intl.Locale(language).maximize();
    return region === undefined ? language : `${language}-${region}`;
  } catch {
    return language;
  }
}
