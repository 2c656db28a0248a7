"""A Slurm of one node on loopback: daemons, state and keys under one folder, gone afterwards."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
SYSTEM_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
SECONDS_TO_START = 60

CONFIGURATION = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing_programs() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name, path=SYSTEM_PATH) is None]


@contextlib.contextmanager
def one_node_cluster(folder: Path, cpus: int) -> Iterator[dict[str, str]]:
    """Run Slurm in the block; yields the environment in which its commands find it."""
    environment = configure(folder, cpus)
    munge = folder / "munge"
    files = [f"--{name}-file={munge}/{name}" for name in ("key", "log", "pid", "seed")]

    def node_is_idle() -> bool:
        return slurm(environment, "sinfo", "--noheader", "--format=%t").strip() == "idle"

    with contextlib.ExitStack() as daemons:

        def start(*command: str) -> None:
            daemons.enter_context(daemon(folder / f"{command[0]}.out", command, environment))

        start("munged", "--foreground", "--force", f"--socket={munge}/socket", *files)
        wait_for((munge / "socket").exists, "munged opens its socket", folder)
        start("slurmctld", "-D")
        start("slurmd", "-D")
        wait_for(node_is_idle, "the node is idle", folder)
        try:
            yield environment
        finally:
            # A job outlives the daemon that started it.
            slurm(environment, "scancel", f"--user={getpass.getuser()}")
            wait_for(node_is_idle, "no job is left", folder)


def configure(folder: Path, cpus: int) -> dict[str, str]:
    """Write the key, the configuration and the wrapper of srun."""
    # Others' daemons may run beside: nothing here is at a fixed place or port.
    for name in ("munge", "state", "spool", "bin"):
        (folder / name).mkdir(parents=True)
    for part in (folder, folder / "munge"):
        part.chmod(0o755)
    key = folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    with socket.socket() as controller, socket.socket() as node:
        for each in (controller, node):
            each.bind(("127.0.0.1", 0))
        controller_port, node_port = (each.getsockname()[1] for each in (controller, node))
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder,
            host=socket.gethostname().partition(".")[0],
            user=getpass.getuser(),
            cpus=cpus,
            memory=cpus * 2500,
            controller_port=controller_port,
            node_port=node_port,
        )
    )
    # The plugin's job step drops SLURM_CONF before it calls srun.
    srun = shutil.which("srun", path=SYSTEM_PATH)
    wrapper = folder / "bin" / "srun"
    wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={configuration} exec {srun} "$@"\n')
    wrapper.chmod(0o755)
    path = f"{folder}/bin:{SYSTEM_PATH}"
    return {**os.environ, "PATH": path, "SLURM_CONF": str(configuration)}


@contextlib.contextmanager
def daemon(log: Path, command: tuple[str, ...], environment: Mapping[str, str]) -> Iterator[None]:
    """Run a program in the foreground of a session of its own, and end the whole session."""
    line = [shutil.which(command[0], path=SYSTEM_PATH), *command[1:]]
    streams = {"stdout": log.open("wb"), "stderr": subprocess.STDOUT}
    with subprocess.Popen(line, env=environment, start_new_session=True, **streams) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def slurm(environment: Mapping[str, str], *command: str) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def wait_for(condition: Callable[[], bool], name: str, folder: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not condition():
        if time.monotonic() > deadline:
            logs = [*folder.glob("*.out"), *folder.glob("*.log")]
            ends = [f"{log.name}: {log.read_text(errors='replace')[-500:]}" for log in logs]
            raise TimeoutError("\n".join([f"waited in vain until {name}:", *ends]))
        time.sleep(0.2)
