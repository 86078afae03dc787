"""The command: flags in, exit codes out. Standard output is data, everything else goes to standard error."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..exceptions import (
    CanceledError,
    DivergedError,
    EigenNotConvergedError,
    FewerClustersThanComponentsError,
    NumericalError,
    ParameterError,
    SolveNotConvergedError,
    TaugraphError,
    TooFewPointsError,
    TooManyClustersError,
)
from ._errors import (
    DistributedError,
    InputError,
    InsufficientResourcesError,
    MissingDependencyError,
    OutOfMemoryError,
    ResidentLostError,
    StorageError,
    TaskFailedError,
    WorkerLostError,
    counted,
    readable_bytes,
)
from ._local import Local
from ._output import WORK, inside
from ._progress import JsonLines, Lines, Progress, duration
from ._ray import Ray

COMPUTATION, USAGE, INPUT, OUTPUT, MEMORY, INTERNAL, INTERRUPTED, PIPE = 1, 2, 3, 4, 5, 101, 130, 141
EXIT_CODES = """\
exit codes: 0 success, 1 the computation failed, 2 wrong flags or parameters,
3 the input cannot be read or used, 4 the output cannot be written, 5 not
enough memory, machines or processors, 101 an internal error, 130 interrupted,
141 the reader of a pipe went away before it had everything"""

# The first class that fits an error decides.
_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (KeyboardInterrupt, INTERRUPTED),
    (CanceledError, INTERRUPTED),
    (BrokenPipeError, PIPE),
    (InputError, INPUT),
    (MissingDependencyError, USAGE),
    (InsufficientResourcesError, MEMORY),
    (OutOfMemoryError, MEMORY),
    (MemoryError, MEMORY),
    (StorageError, OUTPUT),
    (WorkerLostError, COMPUTATION),
    (ResidentLostError, COMPUTATION),
    (ParameterError, USAGE),
    (TooFewPointsError, USAGE),
    (TooManyClustersError, USAGE),
    (FewerClustersThanComponentsError, USAGE),
    (EigenNotConvergedError, COMPUTATION),
    (SolveNotConvergedError, COMPUTATION),
    (DivergedError, COMPUTATION),
    (NumericalError, COMPUTATION),
)


class _Usage(Exception):
    """Flags that contradict each other."""


def exit_code(error: BaseException) -> int:
    """The exit code for what ended a run."""
    if isinstance(error, _Usage):
        return USAGE
    if isinstance(error, TaskFailedError):
        # What a task refused counts like a refusal by the driver; what nobody expected is internal only if it is not ours.
        cause = error.__cause__
        return exit_code(cause) if isinstance(cause, TaugraphError) and not isinstance(cause, TaskFailedError) else COMPUTATION
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    if isinstance(error, DistributedError):
        return COMPUTATION
    if isinstance(error, TaugraphError):
        # Of the library: about the rows.
        return INPUT
    if isinstance(error, OSError):
        return OUTPUT
    return INTERNAL


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m taugraph.distributed",
        description="Clusters of tables with more rows than one machine holds.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, what: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        formatter = argparse.RawDescriptionHelpFormatter
        about = f"{what[0].upper()}{what[1:]}."
        added = commands.add_parser(name, help=what, description=about, epilog=EXIT_CODES, formatter_class=formatter, allow_abbrev=False)
        added.set_defaults(run=run)
        added.add_argument("--json", action="store_true", help="JSON on standard output, and progress as lines of JSON")
        return added

    cluster = command("cluster", "cluster the rows of Parquet files", _cluster)
    cluster.add_argument("data", metavar="DATA", help="a folder, a pattern or a file of Parquet; a path or s3://…")
    cluster.add_argument("output", metavar="OUTPUT", help="where results are written; a path or s3://…")
    plan = command("plan", "what a run would take, before it begins", _plan)
    plan.add_argument("data", metavar="DATA", help="as for cluster")
    plan.add_argument("output", metavar="OUTPUT", nargs="?", help="as for cluster; its free space is looked at")
    for each in (cluster, plan):
        _add_flags(each)
    status = command("status", "what a run has done, from its output alone", _status)
    clean = command("clean", "remove what a run needed on the way", _clean)
    for each in (status, clean):
        each.add_argument("output", metavar="OUTPUT", help="the output of a run")
    clean.add_argument("--everything", action="store_true", help="remove the results, too")
    return made


def _add_flags(to: argparse.ArgumentParser) -> None:
    to.add_argument("--clusters", type=_whole(1), metavar="K", help="this many clusters [default: the number is found]")
    to.add_argument("--columns", type=_names, metavar="NAMES", help='columns, as "a, b" [default: all numbers, or the only list]')
    to.add_argument("--partitions", type=_whole(1), metavar="N", help="parts of the rows [default: by machines and memory]")
    to.add_argument("--preset", default="robust", metavar="NAME", help="parameters to begin with [default: robust]")
    to.add_argument("--set", action="append", default=[], dest="params", type=_assignment, metavar="PATH=VALUE", help="any parameter, as often as needed")
    to.add_argument("--seed", type=_whole(0), default=0, metavar="N", help="of everything random [default: 0]")
    to.add_argument("--graph", action="store_true", help="write the graph, too")
    to.add_argument("--quiet", action="store_true", help="no progress, only errors")
    where = to.add_argument_group("machines")
    where.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster: host:port, or auto [default: this machine]")
    where.add_argument("--workers", type=_whole(1), metavar="N", help="tasks at a time on this machine [default: its cores]")
    where.add_argument("--threads", type=_whole(1), metavar="N", help="threads of each task")


def _whole(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = least - 1
        if found < least:
            raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number of at least {least}")
        return found

    return number


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r}: names, with commas between them")
    return names


def _assignment(text: str) -> tuple[str, Any]:
    """A path and its value, which is JSON or text, as in the program."""
    path, sign, value = text.partition("=")
    if not sign or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: must be PATH=VALUE")
    try:
        return path.strip(), json.loads(value)
    except ValueError:
        return path.strip(), value.strip()


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    try:
        given = parser().parse_args(arguments)
    except SystemExit as error:
        # Help and version are 0, wrong flags 2; both have been said.
        return int(error.code or 0)
    try:
        code: int = given.run(given)
        sys.stdout.flush()
        return code
    except BaseException as error:
        return _failed(given, error)


def _failed(given: argparse.Namespace, error: BaseException) -> int:
    """Say in one line what ended the run."""
    code = exit_code(error)
    if code == PIPE:
        return code
    if code == INTERNAL:
        import traceback

        traceback.print_exception(error)
        return _say(given, f"an internal error, please report it: {type(error).__name__}: {error}", code)
    if code == INTERRUPTED:
        kept = ""
        if given.command == "cluster":
            kept = f"; what is finished is kept in {inside(given.output, WORK)}, the same command resumes"
        return _say(given, f"interrupted{kept}", code)
    # What a worker raised is followed by where it was raised, which helps nobody here.
    text = f"{error.key}: {error.reason}" if isinstance(error, TaskFailedError) else str(error)
    return _say(given, " ".join(text.split()) or type(error).__name__, code)


def _say(given: argparse.Namespace, message: str, code: int) -> int:
    try:
        if given.json:
            print(json.dumps({"event": "error", "message": message, "exit_code": code}), file=sys.stderr, flush=True)
        else:
            print(f"error: {message}", file=sys.stderr, flush=True)
    except OSError:
        # Nobody reads errors either.
        pass
    return code


def _progress(given: argparse.Namespace) -> Progress:
    if given.quiet:
        return Progress()
    return Progress(JsonLines() if given.json else Lines())


def _executor(given: argparse.Namespace) -> Local | Ray:
    if given.ray is None:
        return Local(workers=given.workers, threads=given.threads)
    if given.workers is not None:
        raise _Usage("--workers is for this machine, not for a Ray cluster: leave out --workers or --ray")
    return Ray(given.ray, threads=given.threads or 1)


def _run_arguments(given: argparse.Namespace) -> dict[str, Any]:
    return {
        "n_clusters": given.clusters,
        "columns": given.columns,
        "partitions": given.partitions,
        "preset": given.preset,
        "params": dict(given.params),
        "seed": given.seed,
        "graph": given.graph,
        "progress": _progress(given),
    }


def _print(given: argparse.Namespace, found: dict[str, Any], lines: Sequence[str]) -> int:
    print(json.dumps(found, indent=1) if given.json else "\n".join(lines))
    return 0


def _cluster(given: argparse.Namespace) -> int:
    from ._cluster import cluster  # type: ignore[import-not-found]

    with _executor(given) as executor:
        report = cluster(given.data, given.output, executor=executor, **_run_arguments(given))
    return _print(given, report, cluster_lines(report, given.output))


def cluster_lines(report: dict[str, Any], output: str) -> list[str]:
    """A report for people: its numbers, as far as they are single ones."""
    single = {key: value for key, value in report.items() if isinstance(value, (int, float, str, bool)) and value is not None}
    width = max((len(key) for key in single), default=0)
    return [f"{output}: finished", *(f"  {key.replace('_', ' '):<{width}} {value}" for key, value in single.items())]


def _plan(given: argparse.Namespace) -> int:
    from ._planning import plan

    with _executor(given) as executor:
        found = plan(given.data, given.output, executor=executor, **_run_arguments(given))
    return _print(given, found, plan_lines(found))


def plan_lines(found: dict[str, Any]) -> list[str]:
    """A plan for people."""
    chosen = "" if found["partitions_were_chosen"] else ", as asked for"
    memory, storage = found["memory"], found["storage"]
    free = "" if storage["free"] is None else f" of {readable_bytes(storage['free'])} that are free"
    machines = f"{counted(len(found['machines']), 'machine')}, {counted(int(sum(each['cpus'] for each in found['machines'])), 'processor')}"
    lines = [
        f"{found['rows']} rows, {counted(found['columns'], 'column')}, {readable_bytes(found['bytes'])} in {counted(found['files'], 'file')}",
        f"{counted(found['partitions'], 'partition')}{chosen}; {counted(found['chunks'], 'chunk')}; {machines}",
        "",
        f"{'stage':<15}{'tasks':>7}{'memory':>11}{'written':>11}{'moved':>11}{'time':>10}",
    ]
    lines += [
        f"{each['name']:<15}{each['tasks']:>7}{readable_bytes(each['memory']):>11}{readable_bytes(each['written']):>11}"
        f"{readable_bytes(each['moved']):>11}{duration(each['seconds']):>10}"
        for each in found["stages"]
    ]
    lines += [
        "",
        f"largest task {readable_bytes(memory['largest_task'])}, {counted(memory['n_residents'], 'resident')} {readable_bytes(memory['residents'])} together, "
        f"this process {readable_bytes(memory['driver'])}",
        f"written {readable_bytes(storage['needed'])}{free}, {readable_bytes(found['moved'])} between partitions, about {duration(found['seconds'])}",
        *(f"assumed: {each}" for each in found["assumptions"]),
    ]
    if found["resumes"]:
        lines.append("an earlier run with this output goes on: what it finished is not done again")
    return lines


def _status(given: argparse.Namespace) -> int:
    from ._status import status, status_lines

    found = status(given.output)
    return _print(given, found, status_lines(found))


def _clean(given: argparse.Namespace) -> int:
    from ._status import clean

    found = clean(given.output, given.everything)
    return _print(given, found, [f"{given.output}: removed {', '.join(found['removed']) or 'nothing'}"])
