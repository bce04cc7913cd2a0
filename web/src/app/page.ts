import type { ComponentType } from "react";
import type { RouteObject } from "react-router";

/** Pages of an area; `outside` ones are seen without signing in and without the menu. */
export interface Area {
  inside?: RouteObject[];
  outside?: RouteObject[];
}

/** A page that is fetched when it is first looked at: `page("/jobs", () => import("./Jobs"))`. */
export function page(path: string, load: () => Promise<{ default: ComponentType }>): RouteObject {
  return { path, lazy: async () => ({ Component: (await load()).default }) };
}
