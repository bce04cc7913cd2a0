/** A step of the projector: a scene, and of several boards one. */
export interface Step {
  scene: string;
  board?: number;
}

/** What is shown in turn: each board has a turn of its own; a scene without content none, unless all are without. */
export function stepsOf(scenes: readonly string[], boards: number): Step[] {
  return scenes.flatMap((scene): Step[] =>
    scene === "board" && boards > 0 ? Array.from({ length: boards }, (_, board) => ({ scene, board })) : [{ scene }],
  );
}
