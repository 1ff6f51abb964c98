/** Starts `qten-gen lsp` with the interpreter of the workspace, and adds what the protocol has no word for. */

import * as vscode from "vscode";
import {
  LanguageClient,
  State,
  type LanguageClientOptions,
  type ServerOptions,
} from "vscode-languageclient/node";
import { interpreter, look, onDidChangeInterpreter, SERVER_ARGUMENTS } from "./interpreter";
import { Status } from "./status";

const GENERATE = "qten-gen.generate";
const EXPLAIN = "qten-gen.explainMissing";

/** The server of a window, which is started anew when its interpreter changes. */
class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private python = "";
  private problem = "";
  private isInstallable = false;
  private work: Promise<void> = Promise.resolve();
  private readonly output = vscode.window.createOutputChannel("qten-gen", { log: true });

  constructor(private readonly status: Status) {}

  /** Starts the server, or starts it anew. Calls that come meanwhile wait. */
  restart(): Promise<void> {
    this.work = this.work.then(() => this.startAnew()).catch((error: unknown) => this.fail(String(error)));
    return this.work;
  }

  /** Runs a command of the server. That it does not run is explained. */
  async execute(command: string): Promise<void> {
    await this.work;
    if (this.client?.isRunning()) {
      await this.client.sendRequest("workspace/executeCommand", { command });
    } else {
      await this.explain();
    }
  }

  /** Says why the server does not run, and offers what helps. */
  async explain(): Promise<void> {
    const install = `"${this.python}" -m pip install qten-gen`;
    const choose = vscode.extensions.getExtension("ms-python.python") ? "Select Interpreter" : "Open Settings";
    const choices = [...(this.isInstallable ? ["Install in Terminal"] : []), choose, "Retry"];
    const message = this.isInstallable
      ? `qten-gen is not installed for ${this.python}. To install it: ${install}`
      : this.explanation();
    switch (await vscode.window.showWarningMessage(message, ...choices)) {
      case "Install in Terminal": {
        const terminal = vscode.window.createTerminal("qten-gen");
        terminal.show();
        terminal.sendText(process.platform === "win32" ? `& ${install}` : install, false);
        break;
      }
      case "Select Interpreter":
        await vscode.commands.executeCommand("python.setInterpreter");
        break;
      case "Open Settings":
        await vscode.commands.executeCommand("workbench.action.openSettings", "qten-gen.interpreter");
        break;
      case "Retry":
        await this.restart();
        break;
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    // One that did not start cannot be stopped.
    await client?.dispose().catch(() => undefined);
  }

  dispose(): void {
    this.output.dispose();
  }

  private async startAnew(): Promise<void> {
    await this.stop();
    this.status.starting();
    this.python = await interpreter();
    const found = await look(this.python);
    if ("problem" in found) {
      this.fail(found.problem, found.isInstallable);
      return;
    }
    const client = this.newClient();
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.status.running(found.version, this.python);
      } else if (newState === State.Stopped && this.client === client) {
        this.fail("the server has stopped; the output says why");
      }
    });
    this.client = client;
    await client.start();
  }

  private newClient(): LanguageClient {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const server: ServerOptions = {
      command: this.python,
      args: SERVER_ARGUMENTS,
      options: folder === undefined ? {} : { cwd: folder },
    };
    const settings = vscode.workspace.getConfiguration("qten-gen");
    const options: LanguageClientOptions = {
      documentSelector: [{ language: "python", scheme: "file" }],
      initializationOptions: { generateOnSave: settings.get("generateOnSave", false) },
      outputChannel: this.output,
      synchronize: { configurationSection: "qten-gen" },
    };
    return new LanguageClient("qten-gen", "qten-gen", server, options);
  }

  private fail(problem: string, isInstallable = false): void {
    this.problem = problem;
    this.isInstallable = isInstallable;
    this.output.warn(this.explanation());
    this.status.missing(this.explanation(), EXPLAIN);
  }

  private explanation(): string {
    return `qten-gen does not run with ${this.python}: ${this.problem}`;
  }
}

/** Writes the generated files of all projects of the window, from what is saved then. */
async function generate(server: Server): Promise<void> {
  await vscode.workspace.saveAll();
  await server.execute(GENERATE);
}

let running: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const status = new Status();
  const server = new Server(status);
  running = server;
  context.subscriptions.push(
    status,
    server,
    vscode.commands.registerCommand("qten-gen.generateAll", () => generate(server)),
    vscode.commands.registerCommand("qten-gen.restart", () => server.restart()),
    vscode.commands.registerCommand(EXPLAIN, () => server.explain()),
    await onDidChangeInterpreter(() => void server.restart()),
  );
  await server.restart();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
