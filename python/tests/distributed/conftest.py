"""Executors and storages for the tests. Every wait is bounded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import HERE, Events

from taugraph.distributed import Local
from taugraph.distributed._executor import BaseExecutor
from taugraph.distributed._storage import Storage

# Dead nodes are noticed after 3 s instead of 15 s.
FAST_CHECKS = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3, "health_check_timeout_ms": 3000}
OBJECT_STORE = 80 * 2**20


@pytest.fixture(autouse=True)
def _bounded(request: pytest.FixtureRequest) -> None:
    request.node.add_marker(pytest.mark.timeout(100))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A head without processors and two nodes with two each."""
    if not os.environ.get("TAUGRAPH_CLUSTER"):
        pytest.skip("a cluster needs two idle cores and minutes: make test-distributed")
    os.environ["RAY_IGNORE_UNHANDLED_ERRORS"] = "1"
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install taugraph[distributed]")
    from ray.cluster_utils import Cluster

    # Nodes inherit it: their workers import the tasks of the tests.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), before]))
    head = {"num_cpus": 0, "object_store_memory": OBJECT_STORE, "_system_config": FAST_CHECKS}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for name in ("first", "second"):
            add_node(cluster, name)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def add_node(cluster: Any, name: str) -> Any:
    return cluster.add_node(num_cpus=2, object_store_memory=OBJECT_STORE, env_vars={"TOY_NODE": name})


@pytest.fixture
def third_node(cluster: Any) -> Iterator[Any]:
    """A node to be killed."""
    node = add_node(cluster, "third")
    yield node
    if node in cluster.list_all_nodes():
        cluster.remove_node(node, allow_graceful=False)


@pytest.fixture(params=["local", "ray"])
def executor(request: pytest.FixtureRequest) -> Iterator[BaseExecutor]:
    if request.param == "local":
        made: BaseExecutor = Local(workers=3, memory=4 * 10**9)
    else:
        request.getfixturevalue("cluster")
        from taugraph.distributed import Ray

        made = Ray(patience=3)
    with made:
        yield made


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(str(tmp_path / "storage"))


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """An S3 server of this machine with a bucket."""
    server_of = pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    boto3 = pytest.importorskip("boto3")
    environment = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        server.start()
        host, port = server.get_host_and_port()
        boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1").create_bucket(Bucket="bucket")
        yield f"{host}:{port}"
        server.stop()
