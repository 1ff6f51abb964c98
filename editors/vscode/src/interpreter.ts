/** Which Python runs the server, and whether qten-gen is installed there. */

import { PythonExtension } from "@vscode/python-extension";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

const IN_ENVIRONMENT = process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];

/** `-P` keeps files of the project, such as a `queue.py`, from standing in for modules of the library. */
export const SERVER_ARGUMENTS = ["-P", "-m", "qten_gen", "lsp"];

/** The version of qten-gen that an interpreter has, or why it has none and whether installing it helps. */
export type Found = { version: string } | { problem: string; isInstallable: boolean };

/** The interpreter of the setting, of the Python extension, of `.venv`, or of the path: the first that there is. */
export async function interpreter(): Promise<string> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  const set = vscode.workspace.getConfiguration("qten-gen", folder).get<string>("interpreter", "").trim();
  if (set) {
    return set.replaceAll("${workspaceFolder}", folder?.uri.fsPath ?? "");
  }
  const known = await environments();
  const active = await known?.resolveEnvironment(known.getActiveEnvironmentPath(folder?.uri));
  if (active?.executable.uri) {
    return active.executable.uri.fsPath;
  }
  const own = folder && join(folder.uri.fsPath, ".venv", ...IN_ENVIRONMENT);
  return own && existsSync(own) ? own : process.platform === "win32" ? "python" : "python3";
}

/** Calls when another interpreter is set here, or chosen in the Python extension. */
export async function onDidChangeInterpreter(changed: () => void): Promise<vscode.Disposable> {
  const setting = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("qten-gen.interpreter")) {
      changed();
    }
  });
  const known = await environments();
  return known ? vscode.Disposable.from(setting, known.onDidChangeActiveEnvironmentPath(changed)) : setting;
}

/** What the Python extension knows; nothing if it is missing or does not start. */
async function environments(): Promise<PythonExtension["environments"] | undefined> {
  try {
    return (await PythonExtension.api()).environments;
  } catch {
    return undefined;
  }
}

/** Looks for qten-gen in an interpreter. */
export async function look(python: string): Promise<Found> {
  const program = "import qten_gen; print(qten_gen.__version__)";
  try {
    const { stdout } = await promisify(execFile)(python, ["-P", "-c", program], { timeout: 20_000 });
    return { version: stdout.trim() };
  } catch (error) {
    const { code, stderr = "", message } = error as { code?: unknown; stderr?: string; message: string };
    if (code === "ENOENT") {
      return { problem: "there is no such interpreter", isInstallable: false };
    }
    if (stderr.includes("Unknown option: -P")) {
      return { problem: "it is older than Python 3.11", isInstallable: false };
    }
    const last = stderr.trim().split("\n").at(-1) || message;
    return { problem: last, isInstallable: last.includes("No module named 'qten_gen'") };
  }
}
