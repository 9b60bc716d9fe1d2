// A home directory with invented sessions: those of testdata/ and some of a project
// that lies where the test is.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { growing } from './growing';

export interface TestHome {
  readonly home: string;
  /** SESSIONLS_HOME. */
  readonly own: string;
  /** A workspace folder, which sessions of the home were held in. */
  readonly workspace: string;
  /** Where programs of the test lie, first on PATH. */
  readonly tools: string;
  /** What the agents' programs were called with, one line a call. */
  readonly calls: string;
  /** For sessions.server.environment. */
  readonly environment: Record<string, string>;
  /** Adds lines to the growing session. */
  say(role: 'user' | 'assistant', text: string): void;
}

export function makeHome(root: string): TestHome {
  const repository = path.resolve('../..');
  const home = path.join(root, 'home');
  const own = path.join(root, 'own');
  const workspace = path.join(root, 'harbour');
  const tools = path.join(root, 'tools');
  const calls = path.join(root, 'calls.txt');
  execFileSync('go', ['run', '-tags', 'sqlite_fts5', './testdata/samplehome/make', home, 'testdata/home'], { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] });

  fs.mkdirSync(path.join(workspace, 'src'), { recursive: true });
  fs.writeFileSync(path.join(workspace, 'src/gauge.ts'), 'export function gauge(height: number): number {\n  return Math.round(height * 100) / 100;\n}\n');
  fs.writeFileSync(path.join(workspace, 'broken.json'), '{ "gauge": [1, 2, }\n');
  fs.writeFileSync(path.join(workspace, 'README.md'), '# Harbour\n\nThe harbour gauge shows the height of the water.\n');

  // An agent that only writes down how it was called.
  fs.mkdirSync(tools, { recursive: true });
  fs.writeFileSync(path.join(tools, 'claude'), `#!/bin/sh\necho "$(pwd) $*" >> '${calls}'\necho "resumed $*"\n`, { mode: 0o755 });

  const file = path.join(home, '.claude/projects', workspace.replace(/[^A-Za-z0-9]/g, '-'), `${growing.sessionId}.jsonl`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  let lines = 0;
  let parent: string | null = null;
  const say = (role: 'user' | 'assistant', text: string): void => {
    const uuid = `5e55aaaa-0000-4000-8000-${String(++lines).padStart(12, '0')}`;
    const message =
      role === 'user'
        ? { role, content: text }
        : { id: `msg_${lines}`, type: 'message', role, model: 'claude-sonnet-4-5', content: [{ type: 'text', text }], usage: { input_tokens: 1, output_tokens: 1 } };
    const record = {
      parentUuid: parent, isSidechain: false, userType: 'external', cwd: workspace, sessionId: growing.sessionId, version: '2.0.0', gitBranch: 'gauge',
      type: role, message, uuid, timestamp: new Date(Date.parse('2026-11-02T08:00:00Z') + lines * 60_000).toISOString(),
    };
    fs.appendFileSync(file, `${JSON.stringify(record)}\n`);
    parent = uuid;
  };
  say('user', 'The harbour gauge shows 3.14159 metres. Please round it in src/gauge.ts:2 to centimetres.');
  say('assistant', 'The gauge is rounded in `src/gauge.ts` now: heights are shown in centimetres.\n\n## What changed\n\nThe height is multiplied, rounded and divided.');
  say('user', 'And what about negative heights, does the barometer matter?');
  say('assistant', 'Negative heights are rounded towards zero by truncation, so the rounding of the gauge is used for them, too.');
  fs.appendFileSync(file, `${JSON.stringify({ type: 'summary', summary: growing.title, leafUuid: parent })}\n`);

  return {
    home,
    own,
    workspace,
    tools,
    calls,
    environment: { HOME: home, SESSIONLS_HOME: own, PATH: `${tools}:/usr/bin:/bin`, XDG_CONFIG_HOME: path.join(home, '.config') },
    say,
  };
}
