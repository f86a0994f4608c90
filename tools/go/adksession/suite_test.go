//go:build adk

// The suite of adk-go itself, where its module is: go test -tags adk

package adksession_test

import (
	"testing"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"

	"example.org/seslite/adksession"
)

func TestTheSuiteOfADKGo(t *testing.T) {
	options := sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}
	sessiontestsuite.RunServiceTests(t, options, func(t *testing.T) session.Service {
		return adksession.Sessions(opened(t))
	})
}
