"""A plugin of pytest that puts SesliteSession in the place of SQLiteSession, wherever the SDK's own tests
take it from."""

import agents
import agents.memory
import agents.memory.sqlite_session

from seslite.agents import SesliteSession


class SQLiteSession(SesliteSession):
    pass


for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = SQLiteSession
