"""The agent layer: events that are built and read, contexts, views."""

import json

import pytest
from common import KEY, event

import seslite


def test_events_are_built_and_read(store):
    builder = seslite.Builder(store, "agent", "i1")
    builder.thought("hm").text("let me see").call("f", {"x": 1}, id="c1").part({"inlineData": {}}).delta(
        {"k": 1}
    )
    builder.field("customMetadata", {"a": 1}).field_string("branch", "b").action(
        "escalate", True
    ).action_string("transferToAgent", "t")
    content = seslite.read_event(store, builder.json())
    assert (content.text, content.is_final, content.calls) == (
        "let me see",
        False,
        [seslite.Function("c1", "f", b'{"x":1}')],
    )
    assert [(part.text, part.thought) for part in content.parts] == [
        ("hm", True),
        ("let me see", False),
        (None, False),
        (None, False),
    ]
    assert (
        content.state_delta == b'{"k":1}'
        and b"transferToAgent" in content.actions
        and content.usage is None
        and content.compaction is None
    )
    answer = (
        seslite.Builder(store, "agent", "i1")
        .response_to(content.calls[0], {"ok": 1})
        .response("g", id="c2")
        .interrupted(content.calls[0])
    )
    responses = seslite.read_event(store, answer.json()).responses
    assert [each.json for each in responses] == [
        b'{"ok":1}',
        b"{}",
        b'{"error":"interrupted"}',
    ] and responses[0].id == "c1"
    whole = seslite.read_event(
        store,
        seslite.Builder(store, "a")
        .content({"parts": [{"text": "x"}]})
        .field("errorCode", '"E"')
        .field_string("errorMessage", "m")
        .json(),
    )
    assert (whole.json, whole.error_code, whole.error_message, whole.is_final) == (
        b'{"parts":[{"text":"x"}]}',
        "E",
        "m",
        True,
    )
    read = seslite.read_event(
        store,
        {
            "usageMetadata": {"promptTokenCount": 5},
            "actions": {
                "compaction": {"startTimestamp": 1, "endTimestamp": 2, "compactedContent": {"parts": []}}
            },
        },
    )
    assert read.usage == (5, -1, -1, -1, -1, -1) and read.compaction == (
        1_000_000,
        2_000_000,
        b'{"parts":[]}',
    )
    builder.close()
    with pytest.raises(seslite.MisuseError):
        builder.text("x")


def test_context_and_pending_calls_are_read(store, session):
    session.append(
        {"author": "user", "invocationId": "i1", "content": {"role": "user", "parts": [{"text": "hi"}]}}
    )
    session.append(seslite.Builder(store, "agent", "i1").call("f", id="c1").json())
    session.append(event({"only": "state"}))
    assert [each.content for each in seslite.read_context(session)][
        0
    ] == b'{"role":"user","parts":[{"text":"hi"}]}'
    assert len(seslite.read_context((store, KEY), visible=True)) == 2
    (pending,) = seslite.pending_calls(session)
    assert (pending.call.name, pending.event.author, pending.long_running) == ("f", "agent", False)
    session.append(seslite.Builder(store, pending.event.author, "i1").interrupted(pending.call).json())
    assert seslite.pending_calls((store, KEY)) == []


def test_a_context_keeps_the_order_of_the_log(store, session):
    compaction = {"startTimestamp": 1, "endTimestamp": 1, "compactedContent": {"parts": []}}
    for name, time, actions in (
        ("old", 1, {}),
        ("sum", 2, {"compaction": compaction}),
        ("new", 9, {}),
        ("late", 8, {}),
    ):
        session.append({"id": name, "timestamp": time, "actions": actions})
    assert [each.event.id for each in seslite.read_context(session)] == ["sum", "late", "new"]
    assert [each.event.id for each in seslite.read_context(session, log_order=True)] == ["sum", "new", "late"]


def test_a_context_fits_a_budget(store, session):
    for name, author in (("a", "user"), ("b", "agent"), ("c", "user"), ("d", "agent"), ("e", "user")):
        session.append({"id": name, "author": author, "content": {"parts": [{"text": f"of {name}"}]}})

    def read(**budget):
        context = seslite.read_context((store, KEY), **budget)
        return "".join(each.event.id for each in context), tuple(context.left_out)

    size = len(seslite.read_context(session)[0].content)
    assert read() == ("abcde", (0, 0, False))
    assert read(max_bytes=3 * size) == ("cde", (2, 1, False))
    assert read(max_bytes=1) == ("e", (4, 2, True))
    assert read(max_turns=1, first_turn=True) == ("abe", (2, 1, False))
    counted = []

    def count(each):
        counted.append((each.event.id, each.content))
        return 10

    assert read(max_tokens=39, count=count) == ("cde", (2, 1, False))
    assert counted[0] == ("e", b'{"parts":[{"text":"of e"}]}')
    assert read(max_tokens=2 * size) == ("abcde", (0, 0, False))
    with pytest.raises(seslite.InvalidError):
        read(max_turns=-1)


def test_a_counter_of_tokens_that_fails(session):
    session.append({"author": "user", "content": {"parts": [{"text": "hi"}]}})
    for count, error in (
        (lambda _each: {}["model"], KeyError),
        (lambda _each: "many", TypeError),
        (lambda _each: -1, seslite.MisuseError),
    ):
        with pytest.raises(error):
            seslite.read_context(session, max_tokens=1, count=count)


def test_a_builder_appends_its_event_once(store, session):
    builder = seslite.Builder(store, "user", "i1").text("hi")
    first = builder.append(session, title="Greeting", labels={"a": "1"})
    again = builder.append((store, KEY))
    assert (first.seq, again.seq, again.duplicate) == (
        1,
        1,
        True,
    ) and first.made_id == again.made_id == session.events[0].id
    assert (session.title, session.label("a")) == ("Greeting", "1")
    named = seslite.Builder(store, "agent").delta({"user:n": 1}).field_string("id", "mine")
    assert named.append((store, KEY), version=1, delta={"k": 2}).made_id == ""
    with pytest.raises(seslite.StaleError) as stale:
        seslite.Builder(store, "agent").append((store, KEY), version=1)
    assert stale.value.key == KEY
    with pytest.raises(seslite.StaleError):
        seslite.Builder(store, "agent").append(session)
    assert seslite.Builder(store, "agent").append(session, anyway=True).seq == 3 and session.state["k"] == 2
    builder.close()
    with pytest.raises(seslite.MisuseError):
        builder.append(session)


def test_pending_calls_are_answered(store, session):
    def call(*ids):
        builder = seslite.Builder(store, "agent", "i1")
        for each in ids:
            builder.call("f", {"n": each}, id=each)
        builder.append((store, KEY), anyway=True)

    assert seslite.answer_pending_calls(session) == 0
    call("c1", "c2")
    assert (
        seslite.answer_pending_calls(session, responses=[]) == 0 and len(seslite.pending_calls(session)) == 2
    )
    asked = []

    def answer(pending):
        asked.append((pending.call.id, pending.event.author, pending.long_running))
        return {"sum": 3} if pending.call.id == "c1" else None

    assert seslite.answer_pending_calls(session, answer) == 1 and asked == [
        ("c1", "agent", False),
        ("c2", "agent", False),
    ]
    answered = seslite.read_event(store, session.events[-1].json)
    assert [(each.id, each.json) for each in answered.responses] == [("c1", b'{"sum":3}')]
    approval = seslite.Function("c2", "f", b'{"approved":true}')
    assert (
        seslite.answer_pending_calls((store, KEY), responses=[approval]) == 1
        and seslite.pending_calls(session) == []
    )
    call("c3")
    with pytest.raises(ZeroDivisionError):
        seslite.answer_pending_calls((store, KEY), lambda pending: 1 / 0)
    with pytest.raises(seslite.InvalidError):
        seslite.answer_pending_calls((store, KEY), lambda pending: {1, 2})
    with pytest.raises(seslite.Error):
        seslite.answer_pending_calls((store, KEY), lambda pending: "not an object")
    assert len(seslite.pending_calls((store, KEY))) == 1
    assert seslite.answer_pending_calls((store, KEY)) == 1 and seslite.pending_calls((store, KEY)) == []
    with pytest.raises(seslite.NotFoundError):
        seslite.answer_pending_calls((store, ("app", "user", "none")))
    with pytest.raises(seslite.LeasedError):
        call("c4")
        seslite.answer_pending_calls((store, KEY), lease=77)


def test_texts_are_cut_between_characters():
    assert [seslite.text_cut("aä€😀", limit) for limit in (0, 1, 2, 3, 5, 6, 9, 10, 99)] == [
        "", "a", "a", "aä", "aä", "aä€", "aä€", "aä€😀", "aä€😀",
    ]  # fmt: skip
    assert seslite.text_cut("a\0b", 2) == "a\0" and seslite.text_cut("", 5) == ""
    for wrong in (("\ud800", 5), (5, 5), ("a", -1)):
        with pytest.raises(seslite.InvalidError):
            seslite.text_cut(*wrong)


def test_a_view_tracks_state(store, session):
    with session.track() as view:
        view["k"] = {"deep": [1, None]}
        view.set_json("raw", b"1.10")
        view.set_string("text", "ä\0b")
        view.set_int("int", 2**63 - 1)
        view.set_float("float", 0.1)
        view.set_bool("bool", True)
        del view["user:u"]
        assert (
            view["k"] == {"deep": [1, None]}
            and view.get("x", 5) == 5
            and "raw" in view
            and "user:u" not in view
            and view.changed
        )
        assert (view.get_json("raw"), view.get_string("text"), view.get_int("int"), view.get_float("float"), view.get_bool("bool")) == (
            b"1.10", "ä\0b", 2**63 - 1, 0.1, True,
        )  # fmt: skip
        assert (
            view.get_int("x") is None
            and view.get_string("x") is None
            and view.get_bool("x") is None
            and view.session is session
        )
        with pytest.raises(KeyError):
            view["x"]
        assert json.loads(view.delta())["raw"] == 1.1 and b'"raw":1.10' in view.json()
        assert (
            view.render("{raw} {text} {x?}|{artifact.f}", artifacts=lambda name: f"<{name}>")
            == "1.10 ä\0b |<f>"
        )
        view.append(event({"k": 0}))
        assert (
            not view.changed and session.state["k"] == {"deep": [1, None]} and "user:u" not in session.state
        )
        view["x"] = 1
        view.discard()
        assert not view.changed
        final = seslite.Builder(store, "agent").text("the end").json()
        assert (
            seslite.output_delta(store, final, "agent", "out") == b'{"out":"the end"}'
            and seslite.output_delta(store, final, "other", "out") is None
        )
        view.append_output(final, "agent", "out")
    with session.track(accumulate=True) as view:
        for text in ("a", "b"):
            view.append_output(
                seslite.Builder(store, "agent").text(text).call("f", {}).json(), "agent", "turn"
            )
        assert session.state["turn"] == "ab"
    assert seslite.render(session, "{out}{{literal}}") == "the end{{literal}}"
    assert seslite.render(session, "{{out}}", adk_braces=True) == "the end"
    assert seslite.render(session, "{\u3000out\xa0}") == "{\u3000out\xa0}"
    assert seslite.render(session, "{\u3000out\xa0}", adk_spaces=True) == "the end"
    with pytest.raises(seslite.NotFoundError, match="missing"):
        seslite.render(session, "{missing}")
    with session.track(read_only=True) as view, pytest.raises(seslite.ReadOnlyError):
        view["k"] = 1
