// A host of ABI 1 for tests: node host.js module.wasm calls.json, where calls are a list of
//   {request: hex, answers: [{reply: hex} | {error: hex}]}, request "" for wrun_describe.
// It hands out everything in pieces of 7 bytes, takes 4096 bytes of output, and prints a JSON list of
//   {code, output: hex, asked: [{name, request: hex}], trap: text}.
const fs = require("node:fs");
const { WASI } = require("node:wasi");

const [file, callsFile] = process.argv.slice(2);
const compiled = new WebAssembly.Module(fs.readFileSync(file));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

function enter(call) {
  const state = { input: Buffer.from(call.request, "hex"), output: [], result: Buffer.alloc(0), answers: [...call.answers], asked: [] };
  let memory;
  const bytes = (p, n) => new Uint8Array(memory.buffer, p >>> 0, n >>> 0);
  const piece = (from) => (p, cap, off) => {
    const part = from().subarray(off, off + Math.min(cap, 7));
    bytes(p, part.length).set(part);
    return part.length;
  };
  const imports = {
    input_read: piece(() => state.input),
    result_read: piece(() => state.result),
    output_write: (p, n) => {
      if (state.output.length + n > 4096) return -1;
      state.output.push(...bytes(p, n));
      return 0;
    },
  };
  for (const { module: from, name } of WebAssembly.Module.imports(compiled)) {
    if (from !== "wrun_v1" || name in imports) continue;
    imports[name] = (p, n) => {
      state.asked.push({ name, request: hex(bytes(p, n)) });
      const answer = state.answers.shift() ?? {};
      state.result = Buffer.from(answer.error ?? answer.reply ?? "a0", "hex");
      return BigInt(answer.error ? -state.result.length : state.result.length);
    };
  }
  const wasi = new WASI({ version: "preview1", args: [], env: {} });
  const instance = new WebAssembly.Instance(compiled, { wrun_v1: imports, ...wasi.getImportObject() });
  memory = instance.exports.memory;
  wasi.initialize(instance);
  const out = { code: -1, trap: "" };
  try {
    out.code = call.request === "" ? instance.exports.wrun_describe() : instance.exports.wrun_invoke(state.input.length);
  } catch (e) {
    out.trap = String(e);
  }
  return { ...out, output: hex(state.output), asked: state.asked };
}

console.log(JSON.stringify(JSON.parse(fs.readFileSync(callsFile)).map(enter)));
