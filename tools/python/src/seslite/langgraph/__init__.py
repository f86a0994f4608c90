"""The checkpointer of LangGraph in a store:

    from seslite.langgraph import SesliteSaver

    with SesliteSaver("agents.db") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke(inputs, {"configurable": {"thread_id": "thread 1"}})

It needs the package langgraph-checkpoint: pip install seslite[langgraph].

A thread is a session. A checkpoint is an event that names the values of its channels: short ones are in it,
others are events of their own, which later checkpoints with the same value share. Each put_writes is one
event. All are found by their ids, however long the thread is:

    c|GENERATION|NAMESPACE|CHECKPOINT           a checkpoint
    w|GENERATION|NAMESPACE|CHECKPOINT|NUMBER    writes to it, numbered from 0 without a gap
    b|GENERATION|DIGEST                         a value

The state has the `generation`, which changes when checkpoints are deleted: those that stay are written again.
It also has the `newest` id of all, the `latest` of each namespace, and `unordered` if an older id came after
a newer one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from .._peers import read_in_thread, write_in_thread
from .deleting import Deleting

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
    from typing_extensions import Self

__all__ = ["SesliteSaver"]


class SesliteSaver(Deleting):
    """Keeps the checkpoints of graphs in a store, for graphs that run with threads or with asyncio.

    `store` is a file, the address of a database, or a Store that is open, which stays open when the saver is
    closed. Any threads, tasks and processes may use the same threads of a graph. A thread is the session
    `thread_id` of an `app` and a `user`.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await read_in_thread(self.store, self.close)

    # ------------------------------------------------------------------------------------------- asyncio

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As get_tuple."""
        return await read_in_thread(self.store, self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As list."""
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (each := await read_in_thread(self.store, next, found, None)) is not None:
            yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As put."""
        return await write_in_thread(self.store, self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As put_writes."""
        await write_in_thread(self.store, self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """As delete_thread."""
        await write_in_thread(self.store, self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """As delete_for_runs."""
        await write_in_thread(self.store, self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """As copy_thread."""
        await write_in_thread(self.store, self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """As prune."""
        await write_in_thread(self.store, lambda: self.prune(thread_ids, strategy=strategy))
