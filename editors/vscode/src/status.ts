/** The item of the status bar: whether the server runs, and how many findings it has. */

import * as vscode from "vscode";

export const SOURCE = "qten-gen";

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("qten-gen", vscode.StatusBarAlignment.Right, 100);
  private readonly counting = vscode.languages.onDidChangeDiagnostics(() => this.count());
  private where = "";

  constructor() {
    this.item.name = "qten-gen";
    this.starting();
    this.item.show();
  }

  starting(): void {
    this.show("$(loading~spin) qten-gen", "The server starts.", "qten-gen.restart");
  }

  /** The server answers. From now on the item shows the number of findings. */
  running(version: string, python: string): void {
    this.where = `qten-gen ${version} in ${python}`;
    this.count();
  }

  /** The server does not run. A click asks what to do. */
  missing(problem: string, command: string): void {
    this.show("$(circle-slash) qten-gen", problem, command);
  }

  dispose(): void {
    this.counting.dispose();
    this.item.dispose();
  }

  private count(): void {
    if (!this.where) {
      return;
    }
    const all = vscode.languages.getDiagnostics().flatMap(([, found]) => found);
    const own = all.filter((item) => item.source === SOURCE).length;
    const text = own === 0 ? "$(check) qten-gen" : `$(warning) qten-gen: ${own} finding${own === 1 ? "" : "s"}`;
    this.item.text = text;
    this.item.tooltip = this.where;
    this.item.command = "workbench.actions.view.problems";
  }

  private show(text: string, tooltip: string, command: string): void {
    this.where = "";
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
  }
}
