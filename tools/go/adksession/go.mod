module example.org/seslite/adksession

go 1.26

require (
	example.org/seslite v0.0.0
	google.golang.org/adk/v2 v2.2.0
	google.golang.org/genai v1.66.0
)
