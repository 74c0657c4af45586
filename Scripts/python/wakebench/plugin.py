"""The pytest plug-in: scenario files as tests, and the fixtures of those who write their own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Callable

import pytest

from .bench import Wakebench, play
from .live import LivePhone
from .program import Program, WakebenchError
from .run import Run
from .scenario import Scenario
from .served import ServedBench

# How much of a file is looked at for the key that makes it a scenario.
HEAD = 64 << 10
# The key with its name on the same line, at the beginning of one: other tools have a `scenario:` with a mapping below it.
KEY = re.compile(rb"""(?:\{\s*)?(["']?)scenario\1\s*:\s+[^\s#&!|>{\[]""")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("wakebench", "Wakebench")
    group.addoption(
        "--wakebench",
        metavar="PROGRAM",
        help="the program; default that of the variable WAKEBENCH, else the one on PATH, else one built at the rootdir or above it",
    )
    group.addoption(
        "--wakebench-out",
        metavar="DIR",
        help="keep run folders there, each in place of that of an earlier session; default: pytest's temporary folder",
    )
    group.addoption(
        "--wakebench-arg",
        metavar="WORDS",
        action="append",
        default=[],
        help="what else `wakebench run` is given, such as --wakebench-arg='--profile ios13 --seed 7'; may be given again",
    )
    group.addoption(
        "--wakebench-reserve",
        metavar="TAG=VALUE",
        action="append",
        default=[],
        help="with labgrid: the fixture wakebench_place reserves and acquires a place with this tag; may be given again",
    )
    parser.addini(
        "wakebench_scenarios",
        "folders, from that of the ini file on, whose scenario files are tests; without it, those of every folder",
        type="paths",
        default=None,
    )


def pytest_configure(config: pytest.Config) -> None:
    for folder in _folders(config) or []:
        if not folder.is_dir():
            raise pytest.UsageError(
                f"wakebench_scenarios: no folder {folder}; name folders from that of the ini file on"
            )
    try:
        _extra_words(config)
    except ValueError as error:
        raise pytest.UsageError(f"--wakebench-arg: {error}; quote it as for a shell") from None
    if config.getoption("wakebench"):
        try:
            _find(config)
        except WakebenchError as error:
            raise pytest.UsageError(error.line) from None
    # `pytest` without paths has the scenarios too, where `testpaths` names other folders.
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        given = [Path(os.path.abspath(config.invocation_params.dir / each)) for each in config.args]
        for folder in _folders(config) or []:
            if not any(each == folder or each in folder.parents for each in given):
                config.args.append(str(folder))


def pytest_report_header(config: pytest.Config) -> str | None:
    try:
        return f"wakebench: {_find(config).path}"
    except WakebenchError:
        # Whoever needs it will hear.
        return None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    folders = _folders(parent.config)
    if folders is not None and not any(folder in file_path.parents for folder in folders):
        if not parent.session.isinitpath(file_path):
            return None
    return ScenarioFile.from_parent(parent, path=file_path) if is_scenario(file_path) else None


def is_scenario(path: Path) -> bool:
    """Whether a line near the beginning of a YAML file has the key `scenario`."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return any(KEY.match(line) for line in head.removeprefix(b"\xef\xbb\xbf").splitlines())


class ScenarioFile(pytest.File):
    """A scenario file, which is one test."""

    def collect(self) -> Iterable[pytest.Item]:
        yield ScenarioItem.from_parent(self, name=self.path.stem)


class ScenarioItem(pytest.Item):
    """A scenario: it is played in the setup, so that what cannot be played is an error, and judged in the call."""

    played: Run | None = None
    # Other plug-ins, such as labgrid's, look there without asking whether an item is a function.
    fixturenames: Sequence[str] = ()

    def setup(self) -> None:
        refused = ""
        try:
            run = self.played = self._play()
        except WakebenchError as error:
            refused = f"wakebench: {error}"
        if refused:
            pytest.fail(refused, pytrace=False)
        self.user_properties.append(("wakebench_run", str(run.folder)))
        if run.talk:
            self.add_report_section("setup", "wakebench", run.talk)
        if run.fault:
            pytest.fail(f"wakebench: {self._story(run)}", pytrace=False)

    def runtest(self) -> None:
        assert self.played is not None
        if not self.played.ok:
            pytest.fail(self._story(self.played), pytrace=False)

    def _play(self) -> Run:
        # An item that is no function has no fixtures.
        folder = _out(self) or self.config._tmp_path_factory.mktemp(_short(self.name))  # type: ignore[attr-defined]
        return play(_find(self.config), self.path, folder, _extra_words(self.config))

    def _story(self, run: Run) -> str:
        """What went wrong; places have the path from the root folder on, as pytest's have."""
        places = rf"(?m)(^|\[){re.escape(run.file)}:(?=\d)"
        return re.sub(places, lambda match: f"{match[1]}{_place(self)}:", run.story())

    def reportinfo(self) -> tuple[os.PathLike[str], None, str]:
        return self.path, None, self.name


@pytest.fixture
def wakebench(request: pytest.FixtureRequest, tmp_path: Path) -> Wakebench:
    """Plays scenarios, by path or text: `run = wakebench.run("night.yaml", seed=7)`."""
    config, node = request.config, request.node
    search = list(dict.fromkeys((request.path.parent, config.rootpath)))
    return Wakebench(
        find=lambda: _find(config),
        place=_out(node) or tmp_path,
        search=search,
        words=_extra_words(config),
        told=lambda text: node.add_report_section("call", "wakebench", text),
    )


@pytest.fixture
def scenario(request: pytest.FixtureRequest, wakebench: Wakebench) -> Scenario:
    """A scenario that the test puts together: `scenario.step(at=0, launch=pulse)`, then `run = scenario.run()`."""
    return Scenario(request.node.name, wakebench)


@pytest.fixture
def device(scenario: Scenario) -> Callable[..., str]:
    """Adds a device to the test's scenario, and gives its name: `belt = device("belt.yaml")`."""
    return scenario.device


@pytest.fixture
def app(scenario: Scenario) -> Callable[..., str]:
    """Adds an app to the test's scenario, and gives its name: `pulse = app("com.example.pulse", scan={...})`."""
    return scenario.app


@pytest.fixture(scope="session")
def wakebench_bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedBench]:
    """A running bench of this session's own, and of each worker's of pytest-xdist: `wakebench_bench.create("one", ...)`."""
    bench = ServedBench(_find(request.config), tmp_path_factory.mktemp("wakebench"))
    yield bench
    bench.stop()


class Phones:
    """The fixture `wakebench_phone`: makes phones of the running bench for one test."""

    def __init__(self, bench: ServedBench, files: Wakebench, name: str) -> None:
        self._bench, self._files, self._name = bench, files, re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:48].strip("-")
        #: Those that it made.
        self.all: list[LivePhone] = []

    def __call__(
        self, scenario: str | os.PathLike[str] | None = None, *, name: str | None = None, **options: Any
    ) -> LivePhone:
        """Makes a phone and boots it: by the path of a scenario file from the test's folder or the rootdir on, or its text.

        Options are those of `wakebench phone create`: `clock="virtual", seed=7, apps=["build"]`.
        """
        files = self._files
        if isinstance(scenario, str) and "\n" in scenario:
            scenario = files.write("scenario.yaml", scenario, files.new("scenario"))
        elif scenario is not None:
            scenario = files.existing(scenario, "scenario")
        given = options.pop("apps", [])
        folders = [given] if isinstance(given, (str, os.PathLike)) else given
        phone = self._bench.create(
            name or f"{self._name or 'phone'}-{next(self._bench.numbers)}",
            scenario,
            apps=[*folders, *files.search],
            **options,
        )
        self.all.append(phone)
        return phone.boot()


@pytest.fixture
def wakebench_phone(
    request: pytest.FixtureRequest, wakebench_bench: ServedBench, wakebench: Wakebench
) -> Iterator[Phones]:
    """Boots phones that the test drives: `phone = wakebench_phone("belt.yaml", clock="virtual")`; they are shut down after it."""
    phones = Phones(wakebench_bench, wakebench, request.node.name)
    yield phones
    out = _out(request.node)
    story = []
    for phone in phones.all:
        try:
            phone.shutdown()
            folder = Path(phone.folder)
            if out and folder.is_dir():
                kept = out / phone.name
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
                folder = kept
            story.append(f"{phone.name}: {folder}")
        except WakebenchError as error:
            # The test may have deleted it; a daemon that died has said why.
            story.append(f"{phone.name}: {error.line}")
    request.node.add_report_section("teardown", "wakebench", "\n".join([*story, wakebench_bench.talk]))


@pytest.fixture(scope="session")
def wakebench_place(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """A place of labgrid, reserved by the tags of --wakebench-reserve and acquired; in its --lg-env it is `RemotePlace: {name: +}`.

    It is given back at the end. Without that option nothing is reserved: who started pytest has acquired the place.
    """
    tags = request.config.getoption("wakebench_reserve")
    if not tags:
        yield None
        return
    from .labgrid.place import reserved

    with reserved(tags, request.config.getoption("lg_coordinator")) as place:
        yield place


@pytest.fixture(scope="session")
def wakebench_target(wakebench_place: str | None, request: pytest.FixtureRequest) -> Any:
    """labgrid's target `main`, once its place is acquired."""
    return request.getfixturevalue("target")


def _find(config: pytest.Config) -> Program:
    return Program.find(config.getoption("wakebench"), config.rootpath, config.invocation_params.dir)


def _folders(config: pytest.Config) -> list[Path] | None:
    folders = config.getini("wakebench_scenarios")
    return None if folders is None else [Path(os.path.abspath(folder)) for folder in folders]


def _extra_words(config: pytest.Config) -> list[str]:
    return [word for words in config.getoption("wakebench_arg") for word in shlex.split(words)]


def _out(node: pytest.Item) -> Path | None:
    """The folder of a test below that of --wakebench-out: its path, and its name unless that is the file's."""
    out = node.config.getoption("wakebench_out")
    if not out:
        return None
    folder = Path(os.path.abspath(node.config.invocation_params.dir / out))
    # A file outside of the root folder has a path that leads up.
    folder = folder.joinpath(*(part for part in Path(_place(node)).with_suffix("").parts if part != ".."))
    return folder if isinstance(node, ScenarioItem) else folder / _short(node.nodeid.partition("::")[2])


def _place(node: pytest.Item) -> str:
    """The path of a test's file from the root folder on."""
    return os.path.relpath(node.path, node.config.rootpath)


def _short(name: str) -> str:
    """A name for a folder; what is changed in it is told apart by a sum."""
    plain = re.sub(r"[^\w.-]+", "-", name)
    return name if plain == name and len(name) <= 100 else f"{plain[:90]}-{zlib.crc32(name.encode()):08x}"
