#!/usr/bin/env node
// Starts the program of fsmcp for this system, which lies in an optional package of its own.
"use strict";

const { spawn } = require("node:child_process");

const system = `${process.platform}-${process.arch}`;
const systems = Object.keys(require("../package.json").optionalDependencies);

function find() {
  const name = `@fsmcp/${system}`;
  if (!systems.includes(name)) {
    return fail(`fsmcp has no program for ${system}: it runs on ${systems.map((s) => s.split("/")[1]).join(", ")}.`);
  }
  try {
    return require.resolve(`${name}/bin/fsmcp${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    return fail(`fsmcp: the package ${name}, which holds the program, is not installed: install fsmcp again with its optional packages.`);
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

const program = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
program.on("error", (error) => fail(`fsmcp: the program cannot be started: ${error.message}`));

// A terminal sends Ctrl-C to the program, too; sent on, it would arrive twice.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY || program.kill(signal));
}
program.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal); // ends as the program did
});
