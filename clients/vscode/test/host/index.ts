// Loaded inside the extension host: VS Code calls run().

import fs from 'node:fs';
import path from 'node:path';
import util from 'node:util';
import type MochaType from 'mocha';
import { testPaths } from './help';

export async function run(): Promise<void> {
  // mocha is a module of its own kind and not bundled.
  const module = (await import('mocha')) as unknown as { default: typeof MochaType };
  // The host's console is full of the editor's own remarks.
  const { report } = testPaths();
  module.default.reporters.Base.consoleLog = (...line: unknown[]) => fs.appendFileSync(report, `${util.format(...line)}\n`);
  const mocha = new module.default({ ui: 'tdd', timeout: 90_000, color: false });
  for (const file of fs.readdirSync(__dirname)) {
    if (file.endsWith('.test.js')) mocha.addFile(path.join(__dirname, file));
  }
  await new Promise<void>((resolve, reject) => {
    mocha.run((failures) => (failures === 0 ? resolve() : reject(new Error(`${failures} tests failed`))));
  });
}
