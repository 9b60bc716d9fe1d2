// serve-floor.cjs VSCODE PORT STATE [--smoke] : serves an old (CommonJS) code-server build, which cannot start by itself.
// serve-floor.cjs VSCODE install STATE FILE.vsix : installs an extension into STATE.
const http = require('node:http');
const path = require('node:path');

const [vscode, port, state, extra] = process.argv.slice(2);
const folders = { 'server-data-dir': state, 'user-data-dir': `${state}/user`, 'extensions-dir': `${state}/ext`, 'builtin-extensions-dir': path.join(vscode, 'extensions') };
const common = { _: [], 'accept-server-license-terms': true, 'telemetry-level': 'off', ...folders };

async function main() {
  const code = await require(path.join(vscode, 'out/server-main')).loadCodeWithNls();
  if (port === 'install') {
    await code.spawnCli({ ...common, 'install-extension': [extra] });
    return;
  }
  const server = await code.createServer(null, {
    ...common, host: '127.0.0.1', port, compatibility: '1.64', 'without-connection-token': true, 'disable-workspace-trust': true,
    ...(extra === '--smoke' ? { 'enable-smoke-test-driver': true } : {}),
  });
  http.createServer((request, response) => server.handleRequest(request, response))
    .on('upgrade', (request, socket) => server.handleUpgrade(request, socket))
    .listen(Number(port), '127.0.0.1');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
