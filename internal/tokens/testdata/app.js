import { readFile } from "node:fs/promises";

const cache = new Map();

/** Loads a template once and fills in the values of the given object. */
export async function render(name, values = {}) {
  if (!cache.has(name)) {
    const text = await readFile(`templates/${name}.html`, "utf8");
    cache.set(name, text);
  }
  return cache.get(name).replace(/\{\{(\w+)\}\}/g, (match, key) => {
    const value = values[key];
    return value === undefined ? match : String(value).replaceAll("<", "&lt;");
  });
}

export class Router {
  #routes = [];

  on(method, pattern, handler) {
    this.#routes.push({ method, pattern: new RegExp(`^${pattern}$`), handler });
    return this;
  }

  async handle(request, response) {
    for (const { method, pattern, handler } of this.#routes) {
      const found = pattern.exec(request.url);
      if (request.method === method && found) {
        try {
          await handler(request, response, ...found.slice(1));
        } catch (error) {
          console.error("handler failed:", error.message);
          response.statusCode = 500;
          response.end("Internal error\n");
        }
        return;
      }
    }
    response.statusCode = 404;
    response.end("Not found\n");
  }
}
