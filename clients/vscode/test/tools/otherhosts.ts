// Other hosts for tests: environments of the configuration file behind small scripts, and
// a stand-in for ssh. The one that answers is a second home with sessions, an index and a
// consent of its own.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { paths } from './editor';
import type { TestHome } from './home';
import { remote, remoteFolder } from './remote';

export interface OtherHosts {
  /** What ssh was called with, one line a call. */
  readonly sshCalls: string;
  /** What programs were started with on a terminal of an environment. */
  readonly terminalCalls: string;
  /** The processes of the host that hangs: one line for each that was started. */
  hanging(): number[];
  /** Adds a line to the session over there. */
  say(role: 'user' | 'assistant', text: string): void;
  /** Switches search on where it is off. */
  enable(): void;
}

export function makeOtherHosts(root: string, home: TestHome): OtherHosts {
  const repository = path.resolve('../..');
  const sessionls = path.join(paths.extension, 'server/sessionls');
  const folder = path.join(root, 'hosts');
  const sshCalls = path.join(folder, 'ssh.txt');
  const terminalCalls = path.join(folder, 'terminal.txt');
  const hangs = path.join(folder, 'hangs.txt');
  fs.mkdirSync(folder, { recursive: true });
  const script = (file: string, ...lines: string[]): string => {
    fs.writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
    return file;
  };
  /** A script that is sessionls in a home of its own. */
  const machine = (name: string): { readonly home: string; readonly run: string } => {
    const its = path.join(folder, `${name}-home`);
    fs.mkdirSync(its, { recursive: true });
    return { home: its, run: script(path.join(folder, name), `exec /usr/bin/env -i HOME='${its}' SESSIONLS_HOME='${path.join(its, '.sessionls')}' PATH=/usr/bin:/bin '${sessionls}' "$@"`) };
  };

  const other = machine('other');
  fs.cpSync(path.join(repository, 'testdata/home/claude-code'), other.home, { recursive: true });
  const file = path.join(other.home, '.claude/projects/-srv-harbour', `${remote.sessionId}.jsonl`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  let lines = 0;
  let parent: string | null = null;
  const record = (type: 'user' | 'assistant', message: object): void => {
    const uuid = `5e55bbbb-0000-4000-8000-${String(++lines).padStart(12, '0')}`;
    const timestamp = new Date(Date.parse('2026-11-03T08:00:00Z') + lines * 60_000).toISOString();
    const common = { isSidechain: false, userType: 'external', cwd: remoteFolder, sessionId: remote.sessionId, version: '2.0.0', gitBranch: 'basin' };
    fs.appendFileSync(file, `${JSON.stringify({ parentUuid: parent, ...common, type, message, uuid, timestamp })}\n`);
    parent = uuid;
  };
  const assistant = (content: object[]): void =>
    record('assistant', { id: `msg_${lines}`, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content, usage: { input_tokens: 1, output_tokens: 1 } });
  const say = (role: 'user' | 'assistant', text: string): void => {
    if (role === 'user') record('user', { role, content: text });
    else assistant([{ type: 'text', text }]);
  };
  say('user', 'The harbour basin silts up. Please plan the dredging, see src/gauge.ts:2.');
  say('assistant', 'The dredging of the basin takes three tides. Silt goes to the outer bank.');
  assistant([{ type: 'tool_use', id: 'toolu_basin', name: 'Write', input: { file_path: `${remoteFolder}/src/gauge.ts`, content: 'export const depth = 7;\n' } }]);
  record('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_basin', content: 'written' }] });
  say('assistant', 'The basin is seven metres deep after the dredging.');
  fs.appendFileSync(file, `${JSON.stringify({ type: 'summary', summary: remote.title, leafUuid: parent })}\n`);
  execFileSync(other.run, ['enable'], { stdio: 'ignore' });

  const off = machine('off');
  const gone = script(path.join(folder, 'gone'), 'echo "the environment is not running" >&2', 'exit 1');
  const hanging = script(path.join(folder, 'hangs'), `echo $$ >> '${hangs}'`, 'exec sleep 600');
  const terminal = script(path.join(folder, 'terminal'), `echo "$*" >> '${terminalCalls}'`);
  const list = (...argv: string[]): string => JSON.stringify(argv);
  fs.mkdirSync(home.own, { recursive: true });
  fs.writeFileSync(
    path.join(home.own, 'config.toml'),
    [
      '[hosts.basin]', 'label = "Dev container"', `command = ${list(other.run, 'serve')}`, `terminal = ${list(terminal)}`,
      '[hosts.bare]', 'label = "Bare box"', `command = ${list(other.run, 'serve')}`,
      '[hosts.broken]', 'label = "Broken box"',
      '[hosts.gone]', 'label = "Stopped box"', `command = ${list(gone)}`,
      '[hosts.hangs]', 'label = "Slow box"', `command = ${list(hanging)}`,
      '[hosts.off]', 'label = "Silent box"', `command = ${list(off.run, 'serve')}`,
      '',
    ].join('\n'),
  );
  fs.mkdirSync(path.join(home.home, '.ssh'), { recursive: true });
  fs.writeFileSync(path.join(home.home, '.ssh/config'), 'Host pier *.quay\n  User dev\n');
  // ssh -T <options> -- TARGET COMMAND…, or ssh -t TARGET COMMAND
  script(
    path.join(home.tools, 'ssh'),
    `echo "$*" >> '${sshCalls}'`,
    'case "$*" in',
    `  *"-- pier sessionls serve") exec '${other.run}' serve ;;`,
    '  -t*) exit 0 ;;',
    'esac',
    'echo "ssh: Could not resolve hostname: Name or service not known" >&2',
    'exit 255',
  );

  return {
    sshCalls,
    terminalCalls,
    hanging: () => (fs.existsSync(hangs) ? fs.readFileSync(hangs, 'utf8').split('\n').filter((line) => line !== '').map(Number) : []),
    say,
    enable: () => void execFileSync(off.run, ['enable'], { stdio: 'ignore' }),
  };
}
