// HOME_TO_SEARCH=dir node out/tools/measure.mjs : how long from a key press to the first row, on somebody's own sessions, and how long the extension takes to
// activate. The index goes into a folder of its own. For a look at the figures, not for a verdict: the machine may be busy.

import { Workbench } from '../ui/workbench';

const home = process.env['HOME_TO_SEARCH'];
if (home === undefined) throw new Error('HOME_TO_SEARCH=dir');
const queries = ['context deadline exceeded', 'retry', 'race condition', 'parse error', 'go test', 'index', 'release notes', 'cursor', 'timeout', 'config file', 'merge conflict', 'http client', 'benchmark', 'unicode'];

const w = await Workbench.open('newest', {}, home);
try {
  const question = w.message('Search the conversations you had with coding agents?');
  await question.getByRole('button', { name: 'Enable' }).click();
  await w.status(/\d+ sessions/);
  await w.search('');
  // From the key, seen before anything else sees it, to the last change of the rows before the next key: the
  // editor draws them once when the text of the box changes, and again for the answer.
  await w.page.evaluate(`{
    window.samples = [];
    let pressed, last;
    window.addEventListener('keydown', (e) => {
      if (pressed !== undefined && last !== undefined) window.samples.push(last - pressed);
      pressed = e.key.length === 1 ? performance.now() : undefined;
      last = undefined;
    }, true);
    new MutationObserver(() => { last = performance.now(); }).observe(document.querySelector('.quick-input-list'), { subtree: true, childList: true, characterData: true });
  }`);
  for (const query of queries) {
    await w.input.fill('');
    await w.page.waitForTimeout(500);
    await w.page.keyboard.type(query, { delay: 400 });
    await w.page.waitForTimeout(500);
  }
  const samples = (await w.page.evaluate<number[]>('window.samples')).sort((a, b) => a - b);
  const at = (share: number): string => `${(samples[Math.floor(samples.length * share)] ?? Number.NaN).toFixed(0)} ms`;
  console.log(`key to first row: p50 ${at(0.5)}, p95 ${at(0.95)} (${samples.length} keys)`);
  await w.command('Developer: Show Running Extensions');
  const row = w.page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'Agent Sessions' }).first();
  await row.waitFor();
  console.log(`activation: ${(await row.innerText()).replace(/\s+/g, ' ')}`);
} finally {
  await w.close();
}
