export { type Browser, chromium, type Page, type WebSocketRoute } from 'playwright-core';
