// What a page of the docs can do beside being read: copy a block of code, and unfold the menu on a phone. Without scripts the page is whole.

const COPIED_MS = 2_000;

for (const block of document.querySelectorAll<HTMLElement>('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent ?? '');
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
  const frame = document.createElement('div');
  frame.className = 'code';
  block.replaceWith(frame);
  frame.append(block, button);
}

const menu = document.querySelector<HTMLElement>('.menu');
const unfold = menu?.querySelector('.menu-button');
unfold?.addEventListener('click', () => {
  const isOpen = menu?.dataset.open !== 'true';
  menu?.setAttribute('data-open', String(isOpen));
  unfold.setAttribute('aria-expanded', String(isOpen));
});
// Of a long list, the page that is read.
const current = menu?.querySelector<HTMLElement>('[aria-current]');
if (menu && current && current.offsetTop > menu.clientHeight * 0.8)
  menu.scrollTop = current.offsetTop - menu.clientHeight / 3;
