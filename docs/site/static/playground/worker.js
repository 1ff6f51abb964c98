// Runs the generator in Python, beside the page: each message is a text, each answer what `generate` in entry.py returns.

const here = (name) => new URL(name, import.meta.url).href

// Tell the page how much has come of what takes long.
function countLoading(total) {
  const load = self.fetch.bind(self)
  let received = 0
  self.fetch = async (...request) => {
    const answer = await load(...request)
    const counter = new TransformStream({
      transform(chunk, sink) {
        received += chunk.length
        self.postMessage({ loading: { received, total } })
        sink.enqueue(chunk)
      },
    })
    return new Response(answer.body.pipeThrough(counter), answer)
  }
}

async function start() {
  const files = await fetch(here("files.json"))
  if (!files.ok) throw new Error("this copy of the site was built without the playground, which needs npm")
  countLoading((await files.json()).bytes)
  const { loadPyodide } = await import("./pyodide/pyodide.mjs")
  const archive = fetch(here("generator.zip")).then((answer) => answer.arrayBuffer())
  const python = await loadPyodide({ indexURL: here("pyodide/") })
  self.postMessage({ starting: true })
  python.unpackArchive(await archive, "zip")
  return python.pyimport("entry").generate
}

const started = start()
started.then(
  () => self.postMessage({ ready: true }),
  (error) => self.postMessage({ failed: error.message }),
)

self.onmessage = async ({ data }) => {
  const generate = await started
  self.postMessage({ result: JSON.parse(generate(data)) })
}
