/** The extension in the editor, with the server behind it. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Editor, PYTHON, missing } from "./editor.mjs";

const MODEL = `from torch import Tensor

from qten_gen import TensorClass


class Batch(TensorClass, frozn=True):
    """Token ids of a batch."""

    tokens: Tensor
    mask: Tensor | None = None
`;

describe("the extension", { skip: missing() }, () => {
  let editor;

  before(async () => {
    editor = await Editor.open({ "pyproject.toml": "[tool.qten-gen]\n", "model.py": MODEL });
  });
  after(() => editor?.close());

  test("runs nothing before the folder is trusted", async () => {
    await editor.page.getByText("No, I don't trust the authors").click();
    await editor.show("model.py");
    await editor.page.locator(".statusbar-item").filter({ hasText: "Restricted Mode" }).waitFor();
    assert.equal(await editor.status().count(), 0);
    await editor.screenshot("restricted");
    await editor.run("Workspaces: Manage Workspace Trust");
    await editor.page.getByRole("button", { name: "Trust", exact: true }).click();
    await editor.show("model.py");
  });

  test("shows findings in the text and their number in the status bar", async () => {
    await editor.statusToBe("1 finding");
    assert.equal(await editor.page.locator(".squiggly-error").count(), 1);
    await editor.screenshot("findings");
  });

  test("shows what is understood of a field", async () => {
    await editor.goTo(9, 7);
    await editor.run("Show or Focus Hover");
    await editor.page.locator(".monaco-hover").filter({ hasText: "Batch.tokens" }).waitFor();
    await editor.screenshot("hover");
    await editor.page.keyboard.press("Escape");
  });

  test("mends a finding", async () => {
    await editor.goTo(6, 28);
    await editor.page.keyboard.press("Control+.");
    await editor.page.getByText("QG104: change to 'frozen'").first().waitFor();
    await editor.screenshot("fix");
    await editor.page.getByText("QG104: change to 'frozen'").first().click();
    await editor.page.locator(".view-line").filter({ hasText: "frozen=True" }).waitFor();
    await editor.status().filter({ hasNotText: "finding" }).waitFor();
  });

  test("generates what is not saved yet", async () => {
    await editor.run("qten-gen: Generate");
    await editor.page.locator(".notification-toast").filter({ hasText: "2 files written" }).waitFor();
    await editor.screenshot("generated");
    assert.match(readFileSync(join(editor.folder, "model.py"), "utf8"), /frozen=True/);
    assert.ok(existsSync(join(editor.folder, "model_qten.pyi")));
  });

  test("follows the Python extension, and says what to do where qten-gen is missing", async () => {
    const bare = join(editor.root, "bare");
    execFileSync(PYTHON, ["-m", "venv", "--without-pip", bare]);
    await editor.select(join(bare, "bin", "python"));
    await editor.status().locator(".codicon-circle-slash").waitFor();
    await editor.status().locator("a").click();
    const message = editor.page.locator(".notification-toast").filter({ hasText: "-m pip install qten-gen" });
    await message.getByText("Install in Terminal").waitFor();
    await editor.screenshot("missing");
  });

  test("starts with the interpreter of the setting", async () => {
    editor.write(".vscode/settings.json", JSON.stringify({ "qten-gen.interpreter": PYTHON }));
    await editor.status().locator(".codicon-check").waitFor();
  });
});
