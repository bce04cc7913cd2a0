"""A notebook's run: `driver` on our side, `watcher` and its kernel on the student's."""
