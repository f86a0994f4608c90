"""A server on localhost that speaks the REST of Vertex AI Agent Engine's sessions, as google-adk's
VertexAiSessionService uses it, and fails as it is told to."""

import datetime
import http.server
import itertools
import json
import re
import threading
import time
import urllib.parse

from google.adk.sessions.vertex_ai_session_service import VertexAiSessionService
from google.auth.credentials import Credentials
from google.genai import types

ENGINE = "projects/p/locations/us-central1/reasoningEngines/1"


class Token(Credentials):
    """Credentials that need no one to ask."""

    def __init__(self):
        super().__init__()
        self.token = "token"

    def refresh(self, _request):
        raise AssertionError("this token does not expire")


class LocalVertex(VertexAiSessionService):
    """google-adk's client, with another address. google.auth.default must give it a Token."""

    def __init__(self, base):
        super().__init__("p", "us-central1", "1")
        self._base = base

    def _api_client_http_options_override(self):
        plain = {"verify": False}  # there is nothing to verify, and to read all certificates takes long
        return types.HttpOptions(base_url=self._base, client_args=plain, async_client_args=plain)


def _now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def _camel(value):
    """Names as the API gives them. What was sent within actions and metadata is in snake case."""
    if isinstance(value, dict):
        return {
            re.sub("_([a-z])", lambda found: found[1].upper(), name): each for name, each in value.items()
        }
    return value


class Fault:
    """What happens to one request, before or after it is carried out: "500", "503", "429", "cut" (no answer),
    "slow" (later than the client waits)."""

    def __init__(self, kind, *, after=False, headers=None, seconds=0.0):
        self.kind, self.after, self.headers, self.seconds = kind, after, headers or {}, seconds


class Vertex:
    """The sessions of one engine. `faults` maps numbers of requests, counted from 1, to faults, and "append"
    to that of the next append; `requests` lists the requests as (method, path, body). `page` is how many
    items an answer has. With `waits`, a session is not yet there when it is created. Without `keeps_raw`, the
    server is one from before there was rawEvent."""

    def __init__(self, *, page=2, keeps_raw=True, waits=False):
        self.sessions = {}  # id: {"session": ..., "events": [...]}
        self.requests, self.faults = [], {}
        self.page, self.keeps_raw, self.waits = page, keeps_raw, waits
        self._numbers = itertools.count(1000)
        self._lock = threading.Lock()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = (
                True  # else a body waits 40 ms for the client to acknowledge the headers
            )

            def log_message(self, *_):
                pass

            def _serve(self):
                owner._serve(self)

            do_GET = do_POST = do_DELETE = _serve

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def put(self, recorded):
        """Adds a session as it was recorded; its id."""
        events = recorded.get("events") or [each for page in recorded.get("eventPages", []) for each in page]
        name = recorded["session"]["name"].split("/")[-1]
        self.sessions[name] = {"session": recorded["session"], "events": events}
        return name

    def answer_counts(self):
        """How often each request was made, by its kind."""
        kinds = [
            ("append" if path.endswith(":appendEvent") else "create" if method == "POST" else method.lower())
            for method, path, _ in self.requests
        ]
        return {kind: kinds.count(kind) for kind in kinds}

    # -------------------------------------------------------------------------------------------- HTTP

    def _serve(self, request):
        length = int(request.headers.get("content-length") or 0)
        body = json.loads(request.rfile.read(length) or b"{}") if length else {}
        with self._lock:
            self.requests.append((request.command, request.path, body))
            fault = self.faults.get(len(self.requests))
            if request.path.endswith(":appendEvent"):
                fault = self.faults.pop("append", fault)
            failed = fault is not None and not fault.after
            code, answer = (0, {}) if failed else self._carry_out(request.command, request.path, body)
        if fault is not None:
            if fault.kind == "slow":
                time.sleep(fault.seconds)
            if fault.kind in ("cut", "slow"):
                request.close_connection = True
                request.connection.close()
                return
            code = int(fault.kind)
            answer = {"error": {"code": code, "status": "UNAVAILABLE", "message": "as it was told to"}}
        text = json.dumps(answer).encode()
        request.send_response(code)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(text)))
        for name, value in (fault.headers if fault else {}).items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(text)

    def _carry_out(self, method, path, body):
        """A request, by its path within the engine."""
        parts = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        found = re.fullmatch(f"/v1beta1/(?:{ENGINE}/)?(.*)", parts.path)
        words = found[1].split("/") if found else []
        if method == "POST" and words == ["sessions"]:
            return self._create(query.get("sessionId"), body)
        if method == "GET" and words == ["sessions"]:
            return self._list(query)
        name = words[1].removesuffix(":appendEvent") if len(words) > 1 else ""
        if name not in self.sessions:
            return self._error(404, "NOT_FOUND")
        stored = self.sessions[name]
        if method == "POST" and words[1].endswith(":appendEvent"):
            return self._append(name, stored, body)
        if method == "DELETE":
            del self.sessions[name]
            return 200, {"name": f"{ENGINE}/sessions/{name}/operations/1", "done": True}
        if len(words) == 2:
            return 200, stored["session"]
        if words[2] == "events":
            return 200, self._page(stored["events"], "sessionEvents", query)
        return 200, {
            "name": f"{ENGINE}/sessions/{name}/operations/1",
            "done": True,
            "response": stored["session"],
        }

    def _error(self, code, status):
        return code, {"error": {"code": code, "status": status, "message": status}}

    def _page(self, items, name, query):
        first = int(query.get("pageToken") or 0)
        answer = {name: items[first : first + self.page]}
        if first + self.page < len(items):
            answer["nextPageToken"] = str(first + self.page)
        return answer

    # ---------------------------------------------------------------------------------------- sessions

    def _create(self, name, body):
        name = name or str(next(self._numbers))
        if name in self.sessions:
            return self._error(409, "ALREADY_EXISTS")
        session = {"name": f"{ENGINE}/sessions/{name}", "createTime": _now(), "updateTime": _now(), **body}
        self.sessions[name] = {"session": session, "events": []}
        done = {} if self.waits else {"done": True, "response": session}
        return 200, {"name": f"{ENGINE}/sessions/{name}/operations/1", **done}

    def _list(self, query):
        user = re.fullmatch('user_id="(.*)"', query.get("filter", ""))
        wanted = [
            each["session"]
            for each in self.sessions.values()
            if not user or each["session"]["userId"] == user[1]
        ]
        return 200, self._page(wanted, "sessions", query)

    def _append(self, name, stored, body):
        event = {**body, "name": f"{ENGINE}/sessions/{name}/events/{next(self._numbers)}"}
        for member in ("actions", "eventMetadata"):
            event[member] = _camel(event.get(member, {}))
        if not self.keeps_raw:
            event.pop("rawEvent", None)
        stored["events"].append(event)
        state = stored["session"].setdefault("sessionState", {})
        state.update(event["actions"].get("stateDelta", {}))
        stored["session"]["updateTime"] = _now()
        return 200, {}
