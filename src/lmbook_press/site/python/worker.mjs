// The worker in which a page's Python runs. kernel.mjs starts it and speaks with it; nobody else does.
//
// It is a classic script, since Pyodide's loader asks for one, and a module where the loader is one (pyodide.mjs, from
// 314 on). All files come from the folder of this one, by the names in the manifest; of each it is counted how much has
// come.
/** @typedef {{at: string, bytes: number, packed?: boolean, type?: string}} File */
/** @typedef {Record<string, string>} Put */
/**
 * @typedef {{files: string[], imports: string[], pyodide?: string, unpack?: string, put?: Put, loops?: string}} Pack
 */

(() => {
  const self = /** @type {any} */ (globalThis);
  const home = new URL(".", self.location.href);
  const fetched = self.fetch.bind(self);
  /** @type {{files: Record<string, File>, packs: Record<string, Pack>, core: string[]}} */
  let manifest;
  let pyodide;
  let kernel;
  let current = null;
  const early = new Map();
  const loaded = new Set(["core"]);
  const come = {};
  const asked = new Set();

  const post = (message) => self.postMessage(message);
  const tell = () => {
    let total = 0;
    let sofar = 0;
    for (const name of asked) {
      total += manifest.files[name].bytes;
      sofar += Math.min(come[name] ?? 0, manifest.files[name].bytes);
    }
    post({ type: "progress", loaded: sofar, total });
  };

  /** A file of the manifest as an answer whose bytes are counted on the way. */
  async function bring(name) {
    const file = manifest.files[name];
    asked.add(name);
    const answer = await fetched(new URL(file.at, home));
    if (!answer.ok) throw new Error(`${file.at}: the server answered ${answer.status}`);
    come[name] = 0;
    let body = answer.body.pipeThrough(
      new TransformStream({
        transform(piece, controller) {
          come[name] += piece.byteLength;
          tell();
          controller.enqueue(piece);
        },
      }),
    );
    if (file.packed) body = body.pipeThrough(new DecompressionStream("gzip"));
    return new Response(body, { headers: { "Content-Type": file.type ?? "application/octet-stream" } });
  }
  const got = (name) => {
    const answer = early.get(name) ?? bring(name);
    early.delete(name);
    return answer;
  };
  const prepare = (names) => {
    for (const name of names) {
      if (early.has(name) || asked.has(name)) continue;
      const answer = bring(name);
      answer.catch(() => {}); // whoever takes it is told
      early.set(name, answer);
    }
  };
  self.fetch = (address, options) => {
    const name = String(address?.url ?? address)
      .split("/")
      .pop();
    return name in manifest.files ? got(name) : fetched(address, options);
  };

  const bytes = async (name) => (await got(name)).arrayBuffer();

  async function load(name) {
    if (loaded.has(name)) return;
    loaded.add(name);
    const pack = manifest.packs[name];
    prepare(pack.files);
    if (pack.pyodide) {
      await pyodide.loadPackage(pack.pyodide, { messageCallback: () => {}, checkIntegrity: true });
      const settle = { numpy: "use_wide_indices", matplotlib: "use_theme" }[name];
      if (settle) pyodide.runPython(`import rich_output; rich_output.${settle}()`);
    }
    if (pack.loops) multiply(await bytes(pack.loops));
    for (const file of pack.files) {
      if (file === pack.loops) continue;
      if (pack.unpack) pyodide.unpackArchive(await bytes(file), "zip", { extractDir: pack.unpack });
      const place = pack.put?.[file];
      if (place) {
        pyodide.FS.mkdirTree(place.slice(0, place.lastIndexOf("/")));
        pyodide.FS.writeFile(place, new Uint8Array(await bytes(file)));
      }
    }
    pyodide.runPython("import importlib; importlib.invalidate_caches()");
  }

  /**
   * The module page_products, through which NumPy's matrices are multiplied by the loops of the figures' engine
   * (kernels.ts) in their own memory: product(c, a, b, n, I, J, K, ai, ak, bk, bj) is C = A B for n pairs one after the
   * other, which lie at c, a, b in Python's memory; entry i, k of A at i ai + k ak, entry k, j of B at k bk + j bj.
   */
  function multiply(code) {
    const own = new WebAssembly.Memory({ initial: 64 });
    const { product } = /** @type {any} */ (
      new WebAssembly.Instance(new WebAssembly.Module(code), { env: { memory: own } }).exports
    );
    const first = 1 << 13; // number of the first float that does not belong to the loops themselves
    const whole = (n) => (n + 3) & ~3;
    pyodide.registerJsModule("page_products", {
      product(c, a, b, n, I, J, K, ai, ak, bk, bj) {
        const left = first + whole(I * K);
        const right = left + whole(K * J);
        const lacks = 4 * (right + I * J) - own.buffer.byteLength;
        if (lacks > 0) own.grow(Math.ceil(lacks / 65536));
        const there = new Float32Array(own.buffer);
        const python = pyodide._module.HEAPF32;
        for (let one = 0; one < n; one += 1) {
          const x = a / 4 + one * I * K;
          const y = b / 4 + one * K * J;
          const z = c / 4 + one * I * J;
          there.set(python.subarray(x, x + I * K), first);
          there.set(python.subarray(y, y + K * J), left);
          there.fill(0, right, right + I * J);
          product(4 * right, 4 * J, 4 * first, 4 * ai, 4 * ak, 4 * left, 4 * bk, 4 * bj, I, J, K);
          python.set(there.subarray(right, right + I * J), z);
        }
      },
    });
  }

  async function start(given, first) {
    manifest = given;
    prepare([...manifest.core, ...first.flatMap((name) => manifest.packs[name]?.files ?? [])]);
    if ("pyodide.mjs" in manifest.files) self.loadPyodide = (await import(`${home}pyodide.mjs`)).loadPyodide;
    else
      for (const name of ["pyodide.js", "pyodide.asm.js"])
        self.importScripts(URL.createObjectURL(await (await got(name)).blob()));
    pyodide = await self.loadPyodide({
      indexURL: home.href,
      env: { HOME: "/home/reader", MPLBACKEND: "agg", LMBOOK_OFFLINE: "1", PYTHONUNBUFFERED: "1" },
    });
    pyodide.unpackArchive(await bytes("kernel.zip"), "zip", { extractDir: "/lib/kernel" });
    pyodide.runPython('import sys; sys.path[:0] = ["/lib/kernel", "/lib/lmbook"]; import page_kernel');
    const made = pyodide.globals.get("page_kernel") ?? pyodide.pyimport("page_kernel");
    kernel = made.Kernel(
      (text) => post({ type: "output", id: current, output: JSON.parse(text) }),
      JSON.stringify(manifest.packs),
    );
    for (const name of first) if (manifest.packs[name]) await load(name);
  }

  async function run(id, code) {
    for (let missing = JSON.parse(kernel.needs(code)); missing.some((name) => !loaded.has(name)); ) {
      post({ type: "loading", id, packs: missing.filter((name) => !loaded.has(name)) });
      for (const name of missing) await load(name);
      missing = JSON.parse(kernel.needs(code));
    }
    current = id;
    post({ type: "running", id });
    return kernel.run(code, id);
  }

  const deeds = {
    start: ({ manifest: given, packs }) => start(given, packs),
    run: ({ id, code }) => run(id, code),
    put({ path, data }) {
      pyodide.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      pyodide.FS.writeFile(path, data);
    },
  };
  let before = Promise.resolve(); // one thing after the other
  self.onmessage = ({ data }) => {
    before = before.then(async () => {
      try {
        post({ type: "done", number: data.number, value: await deeds[data.type](data) });
      } catch (error) {
        post({ type: "failed", number: data.number, message: String(error?.message ?? error) });
      }
    });
  };
})();
