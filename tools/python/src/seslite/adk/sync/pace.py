"""How calls are repeated, and how long to wait before."""

from __future__ import annotations

import asyncio
import email.utils
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any, Optional, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

BUSY_CODES = {408, 429, 500, 502, 503, 504}  # of HTTP
# By name, so that no library has to be there: those of httpx, aiohttp and google-auth, of SQLAlchemy and
# drivers, and of seslite.
REMOTE = {
    "TransportError",
    "ClientConnectionError",
    "OperationalError",
    "InterfaceError",
    "BusyError",
    "LeasedError",
}
# Another writer was faster. The session is read again.
RACES = {"StaleSessionError", "StaleError", "AlreadyExistsError", "SessionNotFoundError"}
MAX_WAIT = 900.0  # seconds for which a service may send us away


class GaveUp(Exception):
    """A service could not be reached, or was too busy, as often as calls may be repeated."""


def _names(error: BaseException) -> set[str]:
    return {each.__name__ for each in type(error).__mro__}


def is_race(error: BaseException) -> bool:
    return bool(_names(error) & RACES) or getattr(error, "code", None) == 409


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed later. The request may have been carried out all the same."""
    if isinstance(error, (ConnectionError, TimeoutError, asyncio.TimeoutError)) or _names(error) & REMOTE:
        return True
    code = getattr(error, "code", None)
    return isinstance(code, int) and code in BUSY_CODES


def retry_after(error: BaseException) -> Optional[float]:
    """For how many seconds a service sends us away: the header Retry-After, or google.rpc.RetryInfo."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    text = headers.get("retry-after") or headers.get("Retry-After")
    if text:
        try:
            return max(0.0, float(text))
        except ValueError:
            pass
        try:
            return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
        except (TypeError, ValueError):
            return None
    details = getattr(error, "details", None)
    inner = details.get("error") if isinstance(details, dict) else None
    for each in (inner.get("details") if isinstance(inner, dict) else None) or ():
        delay = each.get("retryDelay") if isinstance(each, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            try:
                return max(0.0, float(delay[:-1]))
            except ValueError:
                pass
    return None


class Pace:
    """`retries` calls may fail in a row; a call may take `timeout` seconds. The waits between double from
    `first` seconds to `longest`, less up to a half by chance, so that several that failed together do not
    come back together."""

    def __init__(
        self,
        *,
        retries: int = 8,
        timeout: float = 120.0,
        first: float = 1.0,
        longest: float = 60.0,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        self._retries, self._timeout, self._first, self._longest, self._sleep = (
            retries,
            timeout,
            first,
            longest,
            sleep,
        )
        self._failed = 0
        self.retried = 0
        self.waited = 0.0

    async def once(self, call: Awaitable[T]) -> T:
        """Awaits one call to a service."""
        return await asyncio.wait_for(call, self._timeout)

    def progress(self) -> None:
        """To be called when an earlier try turns out to have done something: the failures in a row begin
        anew."""
        self._failed = 0

    async def repeat(self, work: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Does work again until it succeeds. It must look first what an earlier try has done."""
        while True:
            try:
                result = await work(*arguments)
            except Exception as error:
                race = is_race(error)
                if not race and not is_transient(error):
                    raise
                await self._wait(error, race)
            else:
                self._failed = 0
                return result

    async def _wait(self, error: Exception, race: bool) -> None:
        asked = retry_after(error)
        self._failed += 1
        if self._failed > self._retries or (asked or 0.0) > MAX_WAIT:
            self._failed = 0
            if race:
                raise error
            raise GaveUp(f"{type(error).__name__}: {error}") from error
        delay = min(self._longest, self._first * 2.0 ** (self._failed - 1)) * random.uniform(0.5, 1.0)
        if asked is not None:
            delay += asked
        logger.info("again in %.1f s: %s: %s", delay, type(error).__name__, error)
        self.retried += 1
        self.waited += delay
        await self._sleep(delay)
