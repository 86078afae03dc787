// Time and memory, in the section on the run.

panels.stages = (stages) => {
  const rows = stages.map(([name, seconds, bytes]) => [name, seconds.toFixed(2), bytes === null ? "–" : grouped(Math.round(bytes / 1e6))]);
  return runPart(make("h3", {}, "Time and memory"), table(["stage", "seconds", "peak MB so far"], rows, isAfterFirst));
};
