import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The little that the tests need of a browser; the driver has its own types, but may not be installed. */
export interface Browser {
  newPage(options?: {
    readonly viewport?: { readonly width: number; readonly height: number };
    readonly colorScheme?: 'light' | 'dark';
  }): Promise<Page>;
  close(): Promise<void>;
}

export interface Page {
  goto(url: string): Promise<unknown>;
  url(): string;
  goBack(): Promise<unknown>;
  click(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  press(selector: string, key: string): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  getAttribute(selector: string, name: string): Promise<string | null>;
  isVisible(selector: string): Promise<boolean>;
  /** Evaluates an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  screenshot(options?: { readonly path?: string }): Promise<Buffer>;
  focus(selector: string): Promise<void>;
  setInputFiles(selector: string, file: string): Promise<void>;
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  readonly mouse: {
    move(x: number, y: number): Promise<void>;
    down(): Promise<void>;
    up(): Promise<void>;
    wheel(dx: number, dy: number): Promise<void>;
  };
  on(event: 'request', act: (request: { url(): string }) => void): void;
  on(event: 'pageerror', act: (error: Error) => void): void;
  on(event: 'dialog', act: (dialog: { accept(): Promise<void>; dismiss(): Promise<void> }) => void): void;
  close(): Promise<void>;
}

/** A Chromium that starts on this machine, or why there is none. */
export type Found =
  | { readonly kind: 'found'; readonly path: string; readonly env: NodeJS.ProcessEnv }
  | { readonly kind: 'none'; readonly reason: string };

const UNPACKED = join(import.meta.dirname, 'node_modules', '.unpacked');

const OURS = {
  path: join(UNPACKED, 'chromium'),
  env: { LD_LIBRARY_PATH: join(UNPACKED, 'al2023', 'lib'), FONTCONFIG_FILE: join(UNPACKED, 'fonts.conf') },
};

const OF_THE_SYSTEM = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** Looks for a Chromium: the one that is installed for the tests, else one of the system. */
export function findChromium(): Found {
  const candidates = [OURS, ...OF_THE_SYSTEM.map((path) => ({ path, env: {} }))];
  const found = candidates.find(({ path, env }) => starts(path, { ...process.env, ...env }));
  if (found === undefined) return { kind: 'none', reason: 'no Chromium starts here: node test/chromium/install.mjs' };
  const hasDriver = existsSync(join(import.meta.dirname, 'node_modules', 'playwright-core'));
  if (!hasDriver) return { kind: 'none', reason: 'its driver is not installed: node test/chromium/install.mjs' };
  return { kind: 'found', path: found.path, env: { ...process.env, ...found.env } };
}

const starts = (path: string, env: NodeJS.ProcessEnv): boolean =>
  spawnSync(path, ['--version'], { env, timeout: 30_000 }).status === 0;

/** Starts Chromium, without a sandbox because it has none for root. */
export async function launch({ path, env }: Extract<Found, { kind: 'found' }>): Promise<Browser> {
  const load = createRequire(import.meta.url);
  const { chromium } = load('playwright-core') as { chromium: { launch(options: object): Promise<Browser> } };
  return chromium.launch({ executablePath: path, env, args: ['--no-sandbox'] });
}
