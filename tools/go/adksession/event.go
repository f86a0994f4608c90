package adksession

import (
	"encoding/json"
	"fmt"

	"google.golang.org/adk/v2/session"

	"example.org/seslite"
)

// encodeEvent writes an event with the store's numbers of its artifacts.
func encodeEvent(event *session.Event) ([]byte, error) {
	stored := *event
	stored.Actions.ArtifactDelta = moved(event.Actions.ArtifactDelta, -1)
	return encode(&stored)
}

// decodeEvent reads an event of any of the ADKs.
func decodeEvent(stored seslite.Event) (*session.Event, error) {
	fields := struct {
		Timestamp json.RawMessage `json:"timestamp"`
	}{}
	if err := json.Unmarshal(stored.JSON, &fields); err != nil {
		return nil, fmt.Errorf("adksession: event %d: %w", stored.Seq, err)
	}
	text := []byte(stored.JSON)
	if len(fields.Timestamp) == 0 || fields.Timestamp[0] != '"' {
		var err error
		if text, err = withTime(stored); err != nil {
			return nil, err
		}
	}
	event := &session.Event{}
	if err := json.Unmarshal(text, event); err != nil {
		return nil, fmt.Errorf("adksession: event %d: %w", stored.Seq, err)
	}
	event.Actions.ArtifactDelta = moved(event.Actions.ArtifactDelta, 1)
	return event, nil
}

// withTime writes the time of an event as adk-go does, where another ADK has written seconds.
func withTime(stored seslite.Event) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(stored.JSON, &fields); err != nil {
		return nil, err
	}
	var err error
	if fields["timestamp"], err = json.Marshal(stored.Time); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// moved adds to the versions of artifacts: those of adk-go begin with 1, and those of the store and of the other ADKs with 0.
func moved(versions map[string]int64, by int64) map[string]int64 {
	if versions == nil {
		return nil
	}
	made := make(map[string]int64, len(versions))
	for name, version := range versions {
		made[name] = max(version+by, 0)
	}
	return made
}
