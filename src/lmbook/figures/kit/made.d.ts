// The modules that bundle.py makes: a text of the package, and modules as programs for a worker.
declare module "*/harbour.mjs" {
  export const text: string;
}
declare module "*/program-engine.mjs" {
  export const program: () => typeof import("../engine/engine.mjs");
}
declare module "*/wasm-kernels.mjs" {
  export const wasm: string;
}
