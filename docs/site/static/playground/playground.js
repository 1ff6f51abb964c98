// The page of the playground: what is typed goes to the worker once typing rests, and what comes back is shown.

const element = (name) => document.querySelector(`.playground-${name}`)
const text = element("text")
const status = element("status")
const tabs = [...document.querySelectorAll(".playground [role=tab]")]

const REST = 150 // milliseconds without a key before a text is generated

// --- The editor: a text area over a copy of its text, in which findings are marked.

let findings = []

function make(tag, attributes, ...children) {
  const made = Object.assign(document.createElement(tag), attributes)
  made.append(...children)
  return made
}

function draw() {
  const lines = text.value.split("\n")
  element("numbers").textContent = lines.map((_, index) => index + 1).join("\n")
  element("marks").replaceChildren(...lines.flatMap((line, index) => [...marked(line, index + 1), "\n"]))
}

// The parts of a line. A finding is marked as long as its line is what it was; columns count characters, as Python does.
function marked(line, number) {
  const characters = [...line]
  const parts = []
  let from = 0
  for (const finding of findings.filter((each) => each.line === number && each.text === line)) {
    const begin = Math.max(from, finding.column - 1)
    const end = Math.max(begin, (finding.end ?? characters.length + 1) - 1)
    parts.push(characters.slice(from, begin).join(""))
    parts.push(make("mark", { className: finding.severity }, characters.slice(begin, end).join("") || " "))
    from = end
  }
  return [...parts, characters.slice(from).join("")]
}

function select(finding) {
  const lines = text.value.split("\n")
  const before = lines.slice(0, finding.line - 1).reduce((sum, line) => sum + line.length + 1, 0)
  const characters = [...(lines[finding.line - 1] ?? "")]
  const [begin, end] = [finding.column - 1, (finding.end ?? characters.length + 1) - 1]
  text.focus()
  text.setSelectionRange(before + characters.slice(0, begin).join("").length, before + characters.slice(0, end).join("").length)
}

// A new line begins where the one above does, or further in after a colon. Tab leaves the editor, so that the keyboard can.
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return
  event.preventDefault()
  const line = text.value.slice(0, text.selectionStart).split("\n").at(-1)
  document.execCommand("insertText", false, `\n${line.match(/^ */)[0]}${/:\s*$/.test(line) ? "    " : ""}`)
})

text.addEventListener("input", () => {
  draw()
  later()
})

// --- The worker: one text at a time, and of those that wait the last.

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" })
let timer
let isBusy = true
let isWaiting = false

function later() {
  clearTimeout(timer)
  timer = setTimeout(generate, REST)
}

function generate() {
  isWaiting = isBusy
  if (isBusy) return
  isBusy = true
  worker.postMessage(text.value)
}

worker.onmessage = ({ data }) => {
  if (data.loading) status.textContent = progress(data.loading)
  if (data.starting) status.textContent = "Starting the generator"
  if (data.failed) status.textContent = `The playground cannot start: ${data.failed}.`
  if (data.result) show(data.result)
  if (data.ready || data.result) {
    isBusy = false
    if (isWaiting) generate()
  }
}

worker.onerror = (event) => {
  status.textContent = `The playground cannot start: ${event.message ?? "its worker does not load"}.`
}

function progress({ received, total }) {
  const [part, whole] = [received, total].map((bytes) => (bytes / 1e6).toFixed(1))
  return received < total ? `Loading Python: ${part} of ${whole} MB` : "Starting Python"
}

// --- The results. Generated files stay while the text has errors, as they do on the disk.

function show(result) {
  findings = result.findings
  draw()
  element("findings").replaceChildren(...findings.map(shown), ...(result.crash ? [crashed(result.crash)] : []))
  const errors = findings.filter((finding) => finding.severity === "error").length
  const isBroken = errors > 0 || Boolean(result.crash)
  for (const tab of tabs) {
    const panel = panelOf(tab)
    panel.classList.toggle("is-old", isBroken)
    if (!isBroken) panel.querySelector("pre").innerHTML = result.outputs[tab.dataset.suffix] ?? ""
  }
  if (isBroken) status.textContent = `${errors || "Some"} ${errors === 1 ? "error" : "errors"}: nothing is generated until mended.`
  else status.textContent = ".py" in result.outputs ? "Generated." : "Nothing to generate: no class is declared."
}

function shown(finding) {
  const lines = finding.report.trimEnd().split(/(?<=\n)/)
  const spans = lines.map((line) => make("span", { className: /^ *\d* \|/.test(line) ? "code" : "" }, line))
  const button = make("button", { type: "button", className: finding.severity }, ...spans)
  button.addEventListener("click", () => select(finding))
  return button
}

function crashed(traceback) {
  return make("pre", { className: "error" }, `A bug of qten-gen. Please report it, with the text above:\n\n${traceback}`)
}

// --- Two tabs, of which the arrow keys choose.

const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"))

function choose(chosen) {
  for (const tab of tabs) {
    tab.setAttribute("aria-selected", tab === chosen)
    tab.tabIndex = tab === chosen ? 0 : -1
    panelOf(tab).hidden = tab !== chosen
  }
}

for (const [index, tab] of tabs.entries()) {
  tab.addEventListener("click", () => choose(tab))
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!step) return
    const next = tabs[(index + step + tabs.length) % tabs.length]
    choose(next)
    next.focus()
  })
}

// --- Texts to begin with: an example, or what stands in the fragment of the address, compressed.

async function begin() {
  const packed = location.hash.match(/^#text=([\w-]+)$/)
  try {
    text.value = packed ? await unpack(packed[1]) : await example()
  } catch {
    status.textContent = packed ? "The link is damaged: it holds no text." : "The example cannot be loaded."
    return
  }
  draw()
  generate()
}

async function example() {
  const answer = await fetch(new URL(`examples/${element("example").value}.py`, import.meta.url))
  return answer.text()
}

async function piped(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())
}

async function pack(source) {
  const bytes = await piped(new TextEncoder().encode(source), new CompressionStream("deflate-raw"))
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

async function unpack(packed) {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"))
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
  return new TextDecoder().decode(await piped(bytes, new DecompressionStream("deflate-raw")))
}

element("example").addEventListener("change", () => {
  history.replaceState(null, "", location.pathname)
  begin()
})

element("link").addEventListener("click", async () => {
  history.replaceState(null, "", `#text=${await pack(text.value)}`)
  await navigator.clipboard?.writeText(location.href).catch(() => undefined)
  status.textContent = "The address of this page now holds the text."
})

addEventListener("hashchange", begin)

choose(tabs[0])
begin()
