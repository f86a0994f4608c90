"""The same cases over the ADK's session services and ours. Where one shows something else, DIFFERENCES says
what; for ours with the sentences of the contract (the headers) that say why."""

import datetime
import pathlib
import re

import cases
import pytest
import services

HEADERS = pathlib.Path(__file__).parents[2] / "csrc"
UNKNOWN = object()  # it depends on how threads run

IDS = "Ids are byte strings of valid UTF-8, 1 to 512 bytes long, and are compared byte by byte."
TOMBSTONE = 'The tombstone is the string "__ADK_SENTINEL_REMOVED__". Writing it as a value removes the key.'
ONE_ID = (
    "If the session already has an event with this id, the result is SES_DUPLICATE when the stored event is the same (a retry "
    "is safe), and EXISTS when its content is different."
)
NEVER_BACK = "microseconds; never goes back"
STRICT = "the text is not strict JSON (RFC 8259)"
TEXT = "Text is UTF-8."
NUL = "Authors of bindings: reject a NUL inside a string before the call, or the library sees only the part in front of it."
EXACT = (
    "Its `actions.stateDelta` restores the own state of the point: keys that differ get their bytes back, and keys that did "
    "not exist are removed."
)
CONSTRAINT = "IntegrityError: UNIQUE constraint failed: events.app_name, e"
CONSTRAINT_2 = "IntegrityError: (sqlite3.IntegrityError) UNIQUE constraint f"

# case: {service: (what it shows, why)}
DIFFERENCES = {
    "an_id_is_stripped": {"database": (" s ", "ids as they are"), "seslite": (" s ", IDS)},
    "an_empty_id_asks_for_one": {
        "seslite": ("InvalidError: the session id is empty; it must have 1 to 512", IDS)
    },
    "a_stale_session_takes_no_event": {
        "memory": (("nothing", ["e1", "e2"], {"a": 2}, ["e1", "e2", "e3"]), "no check")
    },
    "a_writer_with_a_slow_clock_is_found_stale": {
        "memory": (("nothing", 2), "no check"),
        "sqlite": (("nothing", 2), "compares times"),
    },
    "a_session_of_a_deleted_one_s_name_is_another": {"memory": ("nothing", "no check")},
    "branches_of_one_session_append_side_by_side": {
        "sqlite": (UNKNOWN, "each append has a connection and no turn")
    },
    "the_tombstone_is_a_text": {"seslite": ((["a"], None, ["a"], None), TOMBSTONE)},
    "the_same_event_twice_is_one": {
        "sqlite": ((CONSTRAINT, 1, 1), "no retry"),
        "database": ((CONSTRAINT_2, 1, 1), "no retry"),
    },
    "another_event_of_the_same_id_is_kept": {
        "sqlite": ((CONSTRAINT, 1), "ids are unique"),
        "database": ((CONSTRAINT_2, 1), "ids are unique"),
        "seslite": (("AlreadyExistsError", 1), ONE_ID),
    },
    "a_late_event_sets_the_time_back": {
        "sqlite": ((2e9 - 5, ["old", "new"]), "sorted by time"),
        "database": ((2e9 - 5, ["old", "new"]), "sorted by time"),
        "seslite": ((2e9, ["new", "old"]), NEVER_BACK),
    },
    "a_nan_is_stored": {
        "sqlite": (("OperationalError: malformed JSON", False), "SQLite's JSON functions"),
        "seslite": (("InvalidError: the state delta cannot be written as JSON: it ", False), STRICT),
    },
    "rich_values_become_json": {
        "memory": ({"when": datetime.datetime(2026, 1, 2, 3, 4, 5), "pair": (1, 2)}, "keeps objects"),
    },
    "a_function_in_state_becomes_its_repr": {"memory": (False, "keeps objects")},
    "a_lone_surrogate_is_stored": {
        "sqlite": ("PydanticSerializationError: Error serializing to JSON: Unico", "UTF-8"),
        "database": ("nothing", "escapes"),
        "seslite": ("InvalidError: the state delta cannot be written as JSON: Err", TEXT),
    },
    "an_id_may_hold_a_nul": {"seslite": ("the session's id holds a NUL at character 1", NUL)},
    "a_rewind_event_brings_its_own_delta": {"seslite": (({"user:u": 1, "first": 1, "n": 0}, 5), EXACT)},
}


@pytest.mark.parametrize("name", services.NAMES)
@pytest.mark.parametrize("case", cases.ALL)
def test_service(case, name, tmp_path):
    function, expected = cases.ALL[case]
    ours = "seslite" if name == "server" else name
    shown, _ = DIFFERENCES.get(case, {}).get(ours, (expected, ""))
    if shown is UNKNOWN:
        pytest.skip("it depends on how threads run")
    assert services.run(name, tmp_path, function) == shown


def test_each_difference_of_ours_stands_in_the_contract():
    text = "".join(path.read_text(encoding="utf-8") for path in HEADERS.glob("*.h"))
    header = re.sub(r"[ \n]*\n \*[ \n]*", " ", text)
    for case, of_services in DIFFERENCES.items():
        assert case in cases.ALL
        assert "seslite" not in of_services or of_services["seslite"][1] in header, case
