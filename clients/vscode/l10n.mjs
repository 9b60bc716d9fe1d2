// node l10n.mjs [--check] : collects every text that is shown to people into l10n/bundle.l10n.json, from which translations
// are made (bundle.l10n.<language>.json). With --check it only says whether that file is as it should be.
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const file = 'l10n/bundle.l10n.json';

/** Texts of calls t('…') and vscode.l10n.t('…'), and of the phases, which are looked up. */
export function collect(folder) {
  const texts = new Set();
  const visit = (node) => {
    if (ts.isCallExpression(node)) {
      const callee = node.expression;
      const name = ts.isIdentifier(callee) ? callee.text : ts.isPropertyAccessExpression(callee) ? callee.name.text : '';
      const [first] = node.arguments;
      if (name === 't' && first !== undefined && ts.isStringLiteralLike(first)) texts.add(first.text);
    }
    if (ts.isVariableDeclaration(node) && node.name.getText() === 'phases' && ts.isObjectLiteralExpression(node.initializer)) {
      for (const p of node.initializer.properties) texts.add(p.initializer.text);
    }
    ts.forEachChild(node, visit);
  };
  for (const name of fs.readdirSync(folder, { recursive: true }).map(String).filter((f) => f.endsWith('.ts')).sort()) {
    visit(ts.createSourceFile(name, fs.readFileSync(path.join(folder, name), 'utf8'), ts.ScriptTarget.Latest, true));
  }
  return `${JSON.stringify(Object.fromEntries([...texts].sort().map((text) => [text, text])), null, 2)}\n`;
}

const wanted = collect('src');
if (!process.argv.includes('--check')) {
  fs.writeFileSync(file, wanted);
} else if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== wanted) {
  console.error(`${file} is not up to date: npm run l10n`);
  process.exit(1);
}
