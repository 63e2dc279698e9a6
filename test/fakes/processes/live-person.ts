// A person at a live gateway's console, from the sign-up to a session: with the mails that wait on the gateway's own page.
import type { LiveGateway } from './live-gateway.ts';

const PAGE = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-requested-with': 'console' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

export interface LivePerson {
  /** As a browser sends it. */
  readonly cookie: string;
  call(method: string, path: string, body?: object): Promise<Response>;
}

/** Signs up, proves the address, and logs in. */
export async function livePerson(live: LiveGateway, email: string, password: string): Promise<LivePerson> {
  const post = (path: string, body: object, headers = {}) =>
    live.request(path, { method: 'POST', headers: { ...PAGE, ...headers }, body: JSON.stringify(body) });
  await post('/console/api/sign-up', { email, password });
  // The mail is on its way while the sign-up is answered.
  let link: string | undefined;
  for (let tries = 0; link === undefined && tries < 1_000; tries++) {
    const page = await (await live.request('/console/outbox')).text();
    link = page.split(`to ${email}<`)[1]?.match(/verify\?token=([\w-]+)/)?.[1];
  }
  const sent = new URLSearchParams({ password }).toString();
  await live.request(`/verify?token=${link}`, { method: 'POST', headers: FORM, body: sent });
  const login = await post('/console/api/login', { email, password });
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0]!;
  return {
    cookie,
    call: (method, path, body) =>
      live.request(`/console/api/${path}`, {
        method,
        headers: { ...(method === 'GET' ? {} : PAGE), cookie },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
      }),
  };
}
