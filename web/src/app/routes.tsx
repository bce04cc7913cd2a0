import { createBrowserRouter } from "react-router";
import { Crash } from "./Crash";
import { Missing } from "./Missing";
import type { Area } from "./page";

const areas = Object.values(import.meta.glob<Area>("../pages/*/routes.tsx", { eager: true, import: "default" }));

export const router = createBrowserRouter([
  {
    errorElement: <Crash />,
    hydrateFallbackElement: <div />,
    children: [
      ...areas.flatMap((area) => area.outside ?? []),
      {
        lazy: async () => ({ Component: (await import("./Shell")).Shell }),
        children: [
          {
            errorElement: <Crash />,
            children: [...areas.flatMap((area) => area.inside ?? []), { path: "*", element: <Missing /> }],
          },
        ],
      },
    ],
  },
]);
