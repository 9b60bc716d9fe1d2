// node esbuild.mjs [--production] [--tests] : bundles the extension into dist/ and the tests into out/.
import * as esbuild from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';

const production = process.argv.includes('--production');
const common = { bundle: true, platform: 'node', target: 'node20', sourcemap: production ? false : 'linked', logLevel: 'warning' };

const { metafile } = await esbuild.build({
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  format: 'cjs',
  external: ['vscode'],
  minify: production,
  metafile: true,
});

if (production) fs.writeFileSync('dist/THIRD_PARTY_NOTICES.md', notices(Object.keys(metafile.inputs)));

if (process.argv.includes('--tests')) fs.rmSync('out', { recursive: true, force: true });
if (process.argv.includes('--tests')) {
  const tests = (folder) => fs.readdirSync(folder).filter((f) => f.endsWith('.test.ts') || f === 'index.ts').map((f) => path.join(folder, f));
  // Unit and UI tests run under Node's own runner, tests in the host under mocha there.
  await esbuild.build({ ...common, entryPoints: [...tests('test/unit'), ...tests('test/ui'), 'test/tools/runhost.ts', 'test/tools/measure.ts'], outdir: 'out', outbase: 'test', format: 'esm', outExtension: { '.js': '.mjs' }, packages: 'external' });
  await esbuild.build({ ...common, entryPoints: tests('test/host'), outdir: 'out', outbase: 'test', format: 'cjs', external: ['vscode', 'mocha'] });
}

/** The licences of the packages that are in the bundle. */
function notices(inputs) {
  const packages = new Set(inputs.map((file) => /^(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter(Boolean));
  const parts = ['# Third-party software in this extension', 'The server has its own list in the repository, THIRD_PARTY_NOTICES.md.'];
  for (const folder of [...packages].sort()) {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const file = fs.readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
    if (file === undefined) throw new Error(`${name} has no licence file`);
    parts.push(`## ${name} ${version} (${license})`, '```text\n' + fs.readFileSync(path.join(folder, file), 'utf8').trim() + '\n```');
  }
  return `${parts.join('\n\n')}\n`;
}
