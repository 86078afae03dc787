// What was done to the input: a list of sentences.

panels.preparation = (done) => panel("What was done to the input", make("ul", {}, ...done.map((says) => make("li", {}, text(says)))));
