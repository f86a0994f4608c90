// Package adksession keeps the sessions, artifacts and memory of adk-go in a store of seslite, which programs in other
// languages can use at the same time.
//
//	store, err := seslite.Open("agents.db")
//	...
//	r, err := runner.New(runner.Config{
//		SessionService:  adksession.Sessions(store),
//		ArtifactService: adksession.Artifacts(store),
//		MemoryService:   adksession.Memory(store),
//		...
//	})
package adksession

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"example.org/seslite"
)

// encode writes a value as JSON, with <, > and & as they are.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// decode reads a value of a state. A number is a float64, as adk-go has it, unless that would not be the same number.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return numbers(value), nil
}

func numbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, each := range value {
			value[name] = numbers(each)
		}
	case []any:
		for i, each := range value {
			value[i] = numbers(each)
		}
	case json.Number:
		if float, err := value.Float64(); err == nil && exact(value, float) {
			return float
		}
	}
	return value
}

// exact reports whether an integer is the same as a float64. Fractions are what their nearest float64 is.
func exact(number json.Number, float float64) bool {
	integer, err := number.Int64()
	if err == nil {
		return int64(float) == integer && float < 1<<63
	}
	if _, err := strconv.ParseUint(string(bytes.TrimLeft([]byte(number), "-")), 10, 64); err == nil {
		return false
	}
	return len(number) < 25
}

// missing makes what is not found an fs.ErrNotExist as well, which adk-go looks for.
func missing(err error) error {
	if errors.Is(err, seslite.ErrNotFound) {
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}
