/**
 * An icon inline, so that it takes the colour of the text beside it, which says the same in words.
 *
 * @param svg of the package of icons, taken at the build
 */
export function Icon({ svg }: { svg: string }) {
  return <span class="icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg }} />;
}
