// Every parameter, in the section on the run.

panels.settings = (settings) => runPart(make("details", {}, make("summary", {}, "Every parameter"), make("pre", {}, JSON.stringify(settings, null, 2))));
