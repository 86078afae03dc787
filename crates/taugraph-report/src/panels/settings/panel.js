// Every parameter, beside the run.

panels.settings = (settings) => runPart(make("details", {}, make("summary", {}, "Every parameter"), make("pre", {}, JSON.stringify(settings, null, 2))));
